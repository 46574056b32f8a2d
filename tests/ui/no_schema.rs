//! The arguments have no `JsonSchema`.

use ractor_mcp::prelude::*;

#[derive(serde::Deserialize)]
struct Add {
    a: i64,
    b: i64,
}

async fn add(Add { a, b }: Add) -> i64 {
    a + b
}

fn main() {
    let _ = Suite::new("calculator", "1.0.0").tool("add", add);
}
