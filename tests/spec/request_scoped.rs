//! What a handler sends by hand on the response to a request (SSE-02), and what it may not.

use ractor_mcp::prelude::*;
use ractor_mcp::wire::{CallToolResult, LogLevel, Request, ServerCapabilities, ServerNotification};
use serde_json::{Map, json};

use crate::support::logs::Logs;
use crate::support::{Server, call};

/// Sends what its tool is named after, and answers what became of that. It declares no `logging`.
struct Sends;

impl Handler for Sends {
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
        let Request::CallTool(call) = request else {
            return Err(RpcError::method_not_found(request.method()));
        };
        let sent = match &*call.name {
            "log" => channel.send_log(LogLevel::Error, "a record", None).await?,
            "tools" => channel.send_notification(ServerNotification::tools_list_changed()).await?,
            "resource" => {
                channel.send_notification(ServerNotification::resource_updated("file:///a")).await?
            }
            method => channel.send_notification(ServerNotification::custom(method, Map::new())).await?,
        };
        Ok(CallToolResult::text(format!("{sent:?}")).into())
    }

    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::new().tools(true).resources(true, true)
    }
}

/// What became of what was sent, how many messages the client read, and whether it was traced as a bug.
async fn sent(what: &str) -> (String, usize, bool) {
    let (logs, _guard) = Logs::record(tracing::Level::ERROR);
    let server = Server::start(Sends).await;
    let wants_all = call(what, json!({}))
        .progress(json!("token"))
        .with_meta("io.modelcontextprotocol/logLevel", json!("debug"));
    let response = server.send(wants_all).await;
    (response.text(), response.messages().len(), logs.text().contains("bug of the handler"))
}

fn refused() -> (String, usize, bool) {
    ("Dropped".to_owned(), 1, true)
}

#[tokio::test]
async fn log_01_without_the_capability_no_record_is_sent_though_the_client_asks() {
    assert_eq!(sent("log").await, refused());
}

#[tokio::test]
async fn log_02_prog_01_canc_02_what_has_conditions_is_not_sent_by_hand() {
    for method in ["message", "progress", "cancelled", "subscriptions/acknowledged"] {
        assert_eq!(sent(&format!("notifications/{method}")).await, refused(), "{method}");
    }
}

#[tokio::test]
async fn sse_02_res_20_changes_are_not_told_on_the_response_of_a_call() {
    for change in ["tools", "resource", "notifications/resources/list_changed", "notifications/tasks"] {
        assert_eq!(sent(change).await, refused(), "{change}");
    }
}

#[tokio::test]
async fn a_notification_outside_of_the_specification_goes_out_as_it_is() {
    assert_eq!(sent("notifications/com.example/news").await, ("Delivered".to_owned(), 2, false));
}
