//! The fixture tools of the field cases, as a suite.

use std::time::Duration;

use ractor_mcp::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::time::sleep;

/// Answers its text.
#[derive(Deserialize, JsonSchema)]
pub struct Echo {
    pub text: String,
}

/// Takes its time, with one progress step each 100 ms.
#[derive(Deserialize, JsonSchema)]
pub struct Slow {
    pub ms: u64,
}

/// Takes anything under `n`.
#[derive(Deserialize, JsonSchema)]
pub struct Anything {
    #[allow(dead_code)]
    n: serde_json::Value,
}

/// Answers so many bytes.
#[derive(Deserialize, JsonSchema)]
pub struct Big {
    pub bytes: usize,
}

pub async fn echo(Echo { text }: Echo) -> String {
    text
}

pub async fn slow(Slow { ms }: Slow, call: Call) -> Result<String, ToolError> {
    for done in (0..ms).step_by(100) {
        call.progress(done, ms, None).await?;
        sleep(Duration::from_millis(100.min(ms - done))).await;
    }
    Ok(format!("worked for {ms} ms"))
}

pub async fn boom(_: NoArguments) -> String {
    panic!("boom with secret-marker")
}

pub async fn boom_oddly(_: NoArguments) -> String {
    std::panic::panic_any(42_u64)
}

pub async fn anything(_: Anything) -> &'static str {
    "taken"
}

pub async fn big(Big { bytes }: Big) -> String {
    "x".repeat(bytes)
}

pub fn suite() -> Suite {
    Suite::new("fixture", "1.0.0")
        .tool("echo", echo)
        .tool("slow", slow)
        .tool("boom", tool(boom).description("Panics."))
        .tool("boom_oddly", tool(boom_oddly).description("Panics with a value that is no text."))
        .tool("anything", anything)
        .tool("big", big)
}
