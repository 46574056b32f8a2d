//! The arguments are taken one by one, not in a struct.

use ractor_mcp::prelude::*;

async fn add(a: i64, b: i64) -> i64 {
    a + b
}

fn main() {
    let _ = Suite::new("calculator", "1.0.0").tool("add", add);
}
