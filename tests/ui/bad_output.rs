//! The output is a struct of the user's without `Json`.

use ractor_mcp::prelude::*;

struct Sum(i64);

async fn sum(_: NoArguments) -> Sum {
    Sum(1)
}

fn main() {
    let _ = Suite::new("calculator", "1.0.0").tool("sum", sum);
}
