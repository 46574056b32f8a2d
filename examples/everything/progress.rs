//! Tools that take their time and tell how far they are.

use std::time::Duration;

use ractor_mcp::prelude::*;
use ractor_mcp::wire::LogLevel;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::time::sleep;

/// Reports progress in three steps.
#[derive(Deserialize, JsonSchema)]
pub struct Steps {}

pub async fn steps(_: Steps, call: Call) -> Result<&'static str, ToolError> {
    for progress in [0, 50, 100] {
        call.progress(progress, 100, None).await?;
        sleep(Duration::from_millis(50)).await;
    }
    Ok("All steps are done.")
}

/// Logs once, if the call asked for logs.
#[derive(Deserialize, JsonSchema)]
pub struct Logging {}

pub async fn logging(_: Logging, call: Call) -> Result<&'static str, ToolError> {
    call.log(LogLevel::Info, "the logging tool ran").await?;
    Ok("Logged.")
}

/// Works for a while, with one progress step each 100 ms.
#[derive(Deserialize, JsonSchema)]
pub struct Slow {
    /// How long, in milliseconds.
    ms: u64,
}

pub async fn slow(Slow { ms }: Slow, call: Call) -> Result<String, ToolError> {
    for done in (0..ms).step_by(100) {
        call.progress(done, ms as f64, None).await?;
        sleep(Duration::from_millis(100.min(ms - done))).await;
    }
    Ok(format!("worked for {ms} ms"))
}
