//! The context is asked for twice.

use ractor_mcp::prelude::*;

async fn twice(_: NoArguments, call: Call, again: Call) -> String {
    format!("{} {}", call.name(), again.name())
}

fn main() {
    let _ = Suite::new("twice", "1.0.0").tool("twice", twice);
}
