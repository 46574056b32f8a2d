//! The function is not async.

use ractor_mcp::prelude::*;

fn now(_: NoArguments) -> String {
    String::from("now")
}

fn main() {
    let _ = Suite::new("clock", "1.0.0").tool("now", now);
}
