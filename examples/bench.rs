//! The server that benchmarks measure: `add`, `publish` (tells all streams of a change), and `TOOLS` more tools.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

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
    let address = std::env::var("ADDR").unwrap_or_else(|_| {
        let port = std::env::var("PORT").unwrap_or_else(|_| "3000".into());
        format!("127.0.0.1:{port}")
    });
    let more = std::env::var("TOOLS").ok().and_then(|tools| tools.parse().ok()).unwrap_or(0);
    let server = Arc::new(OnceLock::<McpSupervisor>::new());
    let told = Arc::clone(&server);
    let publish = move || {
        let began = Instant::now();
        let told = told.get().map_or(0, McpSupervisor::notify_tools_changed);
        println!("told {told} streams in {:?}", began.elapsed());
        async move { told as u64 }
    };
    let suite = Suite::new("bench", "1.0.0").list_changes().tool("add", add);
    let suite =
        suite.tool("publish", tool(publish).description("Tells all streams that the list of tools changed."));
    let suite = (0..more).fold(suite, |suite, n: u32| suite.tool(&format!("add_{n}"), add));
    let mcp = McpSupervisor::start(suite).await?;
    let _ = server.set(mcp.clone());
    println!("listening on {}", mcp.listen(address).await?.addr());
    mcp.run_until(shutdown_signal()).await
}
