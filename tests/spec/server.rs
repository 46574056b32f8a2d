//! The server that most pages are tested on: the fixture tools, and one for each thing that the pages speak of.

use ractor_mcp::prelude::*;
use ractor_mcp::wire::{
    Annotations, ClientCapabilities, Content, Icon, Implementation, LogLevel, ResourceContents, Role, Theme,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::support::{Server, fixture};

/// Reports these steps as progress.
#[derive(Deserialize, JsonSchema)]
struct Steps {
    steps: Vec<Step>,
}

#[derive(Deserialize, JsonSchema)]
struct Step {
    progress: f64,
    total: Option<f64>,
    message: Option<String>,
}

/// A point in the plane.
#[derive(Deserialize, Serialize, JsonSchema)]
struct Point {
    x: i64,
    y: i64,
}

async fn steps(Steps { steps }: Steps, call: Call) -> Result<String, ToolError> {
    let mut fates = Vec::new();
    for step in steps {
        let sent = call.progress(step.progress, step.total, step.message.as_deref()).await?;
        fates.push(format!("{sent:?}"));
    }
    Ok(fates.join(" "))
}

/// Logs once at each level, from the least to the most severe.
async fn logs(_: NoArguments, call: Call) -> Result<&'static str, ToolError> {
    for level in LEVELS {
        let level = LogLevel::from_name(level).expect("a level");
        call.log(level, "a record").await?;
    }
    Ok("logged")
}

/// The levels from the least to the most severe.
pub(crate) const LEVELS: [&str; 8] =
    ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

async fn fails() -> Result<&'static str, &'static str> {
    Err("the printer is out of paper")
}

async fn samples(_: NoArguments, call: Call) -> Result<&'static str, RpcError> {
    if call.meta().client_capabilities.sampling() {
        Ok("sampled")
    } else {
        Err(RpcError::missing_capability(&ClientCapabilities::only_sampling()))
    }
}

/// Streams before it finds out that it cannot go on.
async fn fails_late(_: NoArguments, call: Call) -> Result<&'static str, ToolError> {
    call.start_stream().await?;
    Err(RpcError::missing_capability(&ClientCapabilities::only_sampling()).into())
}

async fn streams(_: NoArguments, call: Call) -> Result<&'static str, ToolError> {
    call.start_stream().await?;
    Ok("streamed")
}

async fn fails_streaming(_: NoArguments, call: Call) -> Result<&'static str, ToolError> {
    call.start_stream().await?;
    Err(ToolError::new("the printer is out of paper"))
}

async fn boom_streaming(_: NoArguments, call: Call) -> Result<(), ToolError> {
    call.start_stream().await?;
    panic!("boom with secret-marker")
}

async fn mirrored(point: Point) -> Json<Point> {
    Json(Point { x: point.y, y: point.x })
}

async fn numbers() -> Json<Vec<u8>> {
    Json(vec![1, 2, 3])
}

async fn contents() -> Vec<Content> {
    let resource = ResourceContents::text("test://text", "contents").mime_type("text/plain");
    let read_by_users =
        Annotations::new().audience(Role::User).priority(0.5).last_modified("2026-07-28T00:00:00Z");
    vec![
        Content::text("text").annotated(read_by_users),
        Content::image([0xff, 0x00], "image/png"),
        Content::audio([0xff], "audio/wav"),
        Content::resource(resource),
        Content::link("test://link", "a link"),
    ]
}

async fn nothing() {}

fn identity() -> Implementation {
    let icon =
        Icon::new("https://example.com/icon.png").mime_type("image/png").size("48x48").theme(Theme::Dark);
    Implementation::new("fixture", "1.0.0").title("The fixture").icon(icon)
}

pub(crate) fn suite() -> Suite {
    fixture::suite()
        .info(identity())
        .instructions("Call echo first.")
        .tool("steps", steps)
        .tool("logs", logs)
        .tool("fails", fails)
        .tool("samples", samples)
        .tool("fails_late", fails_late)
        .tool("streams", streams)
        .tool("fails_streaming", fails_streaming)
        .tool("boom_streaming", boom_streaming)
        .tool("mirrored", mirrored)
        .tool("numbers", numbers)
        .tool("contents", contents)
        .tool("nothing", nothing)
}

pub(crate) async fn start() -> Server {
    Server::start(suite()).await
}
