//! The handler: one actor a request, whose state is the job that it waits for.

use ractor_mcp::prelude::*;
use ractor_mcp::wire::{CallToolResult, Implementation, ListToolsResult, Request, ServerCapabilities};

use crate::Jobs;
use crate::queue::{Job, Update};
use crate::tools;

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
            Request::ListTools(_) => return Ok(ListToolsResult::new(tools::list()).into()),
            Request::CallTool(call) => call,
            other => return Err(RpcError::method_not_found(other.method())),
        };
        let tree = || self.mcp.get().map(|mcp| mcp.tree().to_string()).unwrap_or_default();
        match call.name.as_str() {
            "render" => {
                *job = tools::frames_and_delay(&call)
                    .map(|(frames, delay)| self.queue.enqueue(frames, delay, channel.address()));
            }
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
