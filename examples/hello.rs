//! The smallest server: one function as a tool. `curl` it as the README shows.

use ractor_mcp::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;

/// Adds two integers.
#[derive(Deserialize, JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

async fn add(Add { a, b }: Add) -> i64 {
    a + b
}

#[tokio::main]
async fn main() -> Result<(), ractor_mcp::Error> {
    let address = std::env::var("ADDR").unwrap_or_else(|_| "127.0.0.1:3000".into());
    let suite = Suite::new("calculator", "1.0.0").tool("add", add);
    let mcp = McpSupervisor::start(suite).await?;
    let listener = mcp.listen(address).await?;
    println!("listening on {}", listener.addr());
    println!("{}", mcp.tree());
    mcp.run_until(shutdown_signal()).await
}
