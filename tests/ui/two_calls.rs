//! The context is asked for twice.

use ractor_mcp::prelude::*;

async fn twice(_: NoArguments, call: Call, again: Call) -> String {
    format!("{} {}", call.tool(), again.tool())
}

fn main() {
    let _ = Suite::new("twice", "1.0.0").tool("twice", twice);
}
