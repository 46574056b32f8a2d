//! The context comes before the arguments.

use ractor_mcp::prelude::*;

async fn swapped(call: Call, _: NoArguments) -> String {
    call.tool().to_owned()
}

fn main() {
    let _ = Suite::new("swapped", "1.0.0").tool("swapped", swapped);
}
