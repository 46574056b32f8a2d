//! A function that blocks has arguments without `JsonSchema` and an output without `Json`.

use ractor_mcp::prelude::*;

#[derive(serde::Deserialize)]
struct Add {
    a: i64,
    b: i64,
}

struct Sum(i64);

fn add(Add { a, b }: Add) -> Sum {
    Sum(a + b)
}

fn main() {
    let _ = Suite::new("calculator", "1.0.0").tool("add", tool(blocking(add)).max_concurrent(1));
}
