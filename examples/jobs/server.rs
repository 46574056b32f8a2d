//! The handler: one actor a request, whose state is the job that it waits for.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use ractor_mcp::prelude::*;
use ractor_mcp::wire::{
    CallToolRequest, CallToolResult, Implementation, ListToolsResult, Request, ServerCapabilities, Tool,
};
use serde_json::{Value, json};

use crate::queue::{Job, Queue, Update};

#[derive(Default)]
pub struct Jobs {
    queue: Arc<Queue>,
    mcp: Arc<OnceLock<McpSupervisor>>,
}

impl Jobs {
    /// Where the tool `tree` finds the server to show.
    pub fn shown(&self) -> Arc<OnceLock<McpSupervisor>> {
        Arc::clone(&self.mcp)
    }

    fn render(&self, call: &CallToolRequest, request: &Channel<Update>) -> Option<Job> {
        let argument = |name| call.arguments.get(name).and_then(Value::as_u64);
        let (frames, delay) = (argument("frames").filter(|frames| *frames > 0)?, argument("delay_ms")?);
        Some(self.queue.enqueue(frames, Duration::from_millis(delay), request.address()))
    }
}

impl Handler for Jobs {
    type State = Option<Job>;
    type Message = Update;

    async fn init(&self, _: &Channel<Update>) -> Result<Option<Job>, RpcError> {
        Ok(None)
    }

    async fn handle_request(
        &self,
        request: Request,
        channel: &Channel<Update>,
        job: &mut Option<Job>,
    ) -> Result<Reply, RpcError> {
        let call = match request {
            Request::ListTools(_) => return Ok(ListToolsResult::new(tools()).into()),
            Request::CallTool(call) => call,
            other => return Err(RpcError::method_not_found(other.method())),
        };
        let tree = || self.mcp.get().map(|mcp| mcp.tree().to_string()).unwrap_or_default();
        match call.name.as_str() {
            "render" => *job = self.render(&call, channel),
            "running" => return Ok(CallToolResult::text(self.queue.running().to_string()).into()),
            "tree" => return Ok(CallToolResult::text(tree()).into()),
            _ => return Err(RpcError::invalid_params("unknown tool")),
        }
        match job {
            Some(_) => Ok(Reply::Stream),
            None => Ok(CallToolResult::error("`frames` (at least 1) and `delay_ms` are integers").into()),
        }
    }

    async fn handle_message(
        &self,
        update: Update,
        channel: &Channel<Update>,
        job: &mut Option<Job>,
    ) -> Result<Reply, RpcError> {
        let frames = job.as_ref().map_or(0, |job| job.frames);
        let Update::Frame(frame) = update else {
            return Ok(CallToolResult::text(format!("rendered {frames} frames")).into());
        };
        channel.send_progress(frame as f64, frames as f64, "rendering").await?;
        Ok(Reply::Stream)
    }

    async fn handle_close(&self, _: &Channel<Update>, job: &mut Option<Job>) {
        println!(
            "the client left: {} frames are not wanted any more",
            job.as_ref().map_or(0, |job| job.frames)
        );
    }

    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::new().tools(false)
    }

    fn server_info(&self) -> Option<Implementation> {
        Some(Implementation::new("jobs", "1.0.0"))
    }
}

fn tools() -> Vec<Tool> {
    let render = json!({
        "type": "object",
        "properties": { "frames": { "type": "integer", "minimum": 1 }, "delay_ms": { "type": "integer" } },
        "required": ["frames", "delay_ms"]
    });
    let nothing = json!({ "type": "object", "additionalProperties": false });
    vec![
        Tool::new("render", render).description("Renders frames, one after another, and reports each."),
        Tool::new("running", nothing.clone()).description("How many jobs run."),
        Tool::new("tree", nothing).description("The actor tree of the server."),
    ]
}
