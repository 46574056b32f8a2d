//! A resource that changes, and two servers that tell of it: one through the registry, one with a subscription handler.
//!
//! ```text
//! cargo run --example watch
//! ```
#![allow(
    clippy::print_stdout,
    unreachable_pub,
    reason = "an example talks to its terminal, and its modules to each other"
)]

mod alarm;
mod registry;
mod thermometer;

use ractor_mcp::prelude::*;

use thermometer::{Thermometer, URI};

#[tokio::main]
async fn main() -> Result<(), ractor_mcp::Error> {
    let thermometer = Thermometer::start();
    let every = registry::start(&thermometer).await?;
    let hot = alarm::start(&thermometer).await?;
    let address = |name: &str, default: &str| std::env::var(name).unwrap_or_else(|_| default.into());
    let every_at = every.listen(address("ADDR", "127.0.0.1:3000")).await?.addr();
    let hot_at = hot.listen(address("ALARM_ADDR", "127.0.0.1:3001")).await?.addr();
    println!("listening on {every_at}\n\nEvery change:\n\n{}", curl(every_at));
    println!("\nOnly when it becomes too hot, or no longer is:\n\n{}", curl(hot_at));
    let (every, hot) = tokio::join!(every.run_until(shutdown_signal()), hot.run_until(shutdown_signal()));
    every.and(hot)
}

/// What opens a stream of changes.
fn curl(address: std::net::SocketAddr) -> String {
    format!(
        r#"curl -sN http://{address}/mcp \
    -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' \
    -H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: subscriptions/listen' \
    -d '{{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{{
         "notifications":{{"resourceSubscriptions":["{URI}"]}},"_meta":{{
         "io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}'"#
    )
}
