//! A `Handler` by hand: a call queues a job, streams its progress, and drops it when the client leaves.

mod queue;
mod server;
mod tools;

use ractor_mcp::prelude::*;

#[tokio::main]
async fn main() -> Result<(), ractor_mcp::Error> {
    let address = std::env::var("ADDR").unwrap_or_else(|_| "127.0.0.1:3000".into());
    let jobs = server::Jobs::default();
    let shown = jobs.shown();
    let mcp = McpSupervisor::start(jobs).await?;
    let _ = shown.set(mcp.clone());
    println!("listening on {}", mcp.listen(address).await?.addr());
    mcp.run_until(shutdown_signal()).await
}
