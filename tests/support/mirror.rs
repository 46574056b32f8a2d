//! A handler that shows what reached it, under any tool name: for what plain functions cannot show.

use ractor_mcp::prelude::*;
use ractor_mcp::wire::{CallToolResult, CustomResult, Request, ServerCapabilities};
use serde_json::{Map, Value, json};

/// Answers each call with what it saw of it. The tool `fail` answers the JSON-RPC error of its arguments `code` and
/// `data`. The method `example/echo` is its own.
pub struct Mirror;

impl Handler for Mirror {
    type State = ();
    type Message = ();

    async fn init(&self, _: &Channel<()>) -> Result<(), RpcError> {
        Ok(())
    }

    async fn handle_request(
        &self,
        request: Request,
        channel: &Channel<()>,
        (): &mut (),
    ) -> Result<Reply, RpcError> {
        match request {
            Request::CallTool(call) if call.name == "fail" => {
                let code = call.arguments.get("code").and_then(Value::as_i64).unwrap_or(1);
                let data = call.arguments.get("data").cloned().unwrap_or_default();
                Err(RpcError::new(code, "failed as asked").with_data(data))
            }
            Request::CallTool(call) => {
                let meta = channel.meta();
                let seen = json!({
                    "tool": call.name,
                    "arguments": call.arguments,
                    "version": meta.protocol_version,
                    "client": meta.client_info.as_ref().map(|info| &info.name),
                    "capabilities": meta.client_capabilities.as_map(),
                    "traceparent": meta.traceparent,
                    "tracestate": meta.tracestate,
                    "baggage": meta.baggage,
                });
                Ok(CallToolResult::text(seen.to_string()).into())
            }
            Request::Custom { method, .. } => {
                let members = Map::from_iter([("method".to_owned(), Value::from(method))]);
                Ok(CustomResult::new(members).into())
            }
            other => Err(RpcError::method_not_found(other.method())),
        }
    }

    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::new().tools(false).extension("com.example/mirror", json!({"depth": 1}))
    }

    fn serves(&self, method: &str) -> bool {
        method == "example/echo"
    }
}

/// What the mirror saw of a call.
pub fn seen(response: &super::Response) -> Value {
    serde_json::from_str(&response.text()).expect("the mirror answers JSON")
}
