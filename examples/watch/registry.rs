//! The common case: the application says what changed, and the registry knows the streams that want to be told.

use ractor_mcp::prelude::*;

use super::thermometer::{Thermometer, URI};

pub async fn start(thermometer: &Thermometer) -> Result<McpSupervisor, ractor_mcp::Error> {
    let mcp = McpSupervisor::start(thermometer.suite().resource_updates()).await?;
    let (told, mut changes) = (mcp.clone(), thermometer.changes());
    tokio::spawn(async move {
        while changes.changed().await.is_ok() {
            told.notify_resource_updated(URI);
        }
    });
    Ok(mcp)
}
