//! A `Handler` by hand: a call queues a job, streams its progress, and drops it when the client leaves.

mod queue;
mod server;
mod tools;

use std::sync::{Arc, OnceLock};

use ractor_mcp::prelude::*;

use queue::Queue;

#[derive(Default)]
struct Jobs {
    queue: Arc<Queue>,
    /// The running server, for the tool that shows its tree.
    mcp: Arc<OnceLock<McpSupervisor>>,
}

#[tokio::main]
async fn main() -> Result<(), ractor_mcp::Error> {
    let address = std::env::var("ADDR").unwrap_or_else(|_| "127.0.0.1:3000".into());
    let jobs = Jobs::default();
    let shown = Arc::clone(&jobs.mcp);
    let mcp = McpSupervisor::start(jobs).await?;
    let _ = shown.set(mcp.clone());
    println!("listening on {}", mcp.listen(address).await?.addr());
    mcp.run_until(shutdown_signal()).await
}
