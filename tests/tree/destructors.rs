//! Destructors that panic: the worst that user code can do.

use std::time::Duration;

use ractor_mcp::prelude::*;
use ractor_mcp::wire::{CallToolResult, Request, ServerCapabilities};
use serde_json::json;

use crate::support::{Server, call, fixture, next_request};

struct PanicsInDrop;

impl Drop for PanicsInDrop {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("a destructor");
        }
    }
}

#[tokio::test]
async fn a_destructor_that_panics_costs_its_own_request_alone() {
    async fn answers(_: NoArguments) -> &'static str {
        let _held = PanicsInDrop;
        "answered"
    }
    async fn waits(_: NoArguments) -> &'static str {
        let _held = PanicsInDrop;
        std::future::pending().await
    }
    let suite = fixture::suite().tool("answers", answers).tool("waits", waits);
    let server = Server::start(suite).await;
    let mut client = server.client().await;
    assert_eq!(client.send(&call("answers", json!({}))).await.code(), -32603);
    let mut leaving = server.client().await;
    leaving.write(&call("waits", json!({}))).await;
    let request = server.await_process("request tools/call waits").await;
    drop(leaving);
    assert!(!request.join().await.is_clean(), "the panic is the reason, and nothing more");
    assert_eq!(
        client.send(&call("echo", json!({"text": "same connection"}))).await.text(),
        "same connection"
    );
}

/// The future of the hook is dropped when its time is over, in the task of its connection.
#[tokio::test]
async fn a_destructor_of_the_connect_hook_that_panics_costs_no_connection() {
    let options = Options::new().connect(|request| async move {
        if request.bearer_token().is_some() {
            let _held = PanicsInDrop;
            std::future::pending::<()>().await;
        }
        Ok(Principal::anonymous())
    });
    let options = options.connect_time(Duration::from_millis(50));
    let server = Server::start_with(fixture::suite(), options).await;
    let mut client = server.client().await;
    let echo = call("echo", json!({"text": "same connection"}));
    let refused = client.send(&echo.clone().header("Authorization", "Bearer slow")).await;
    assert_eq!(refused.status, 503);
    assert_eq!(client.send(&echo).await.text(), "same connection");
}

/// Replies, and panics when its state is dropped.
struct Replies;

impl Handler for Replies {
    type State = PanicsInDrop;
    type Message = ();

    async fn init(&self, _: &Channel<()>) -> Result<PanicsInDrop, RpcError> {
        Ok(PanicsInDrop)
    }

    async fn handle_request(
        &self,
        _: Request,
        _: &Channel<()>,
        _: &mut PanicsInDrop,
    ) -> Result<Reply, RpcError> {
        Ok(CallToolResult::text("answered").into())
    }

    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::new().tools(false)
    }
}

#[tokio::test]
async fn a_state_whose_destructor_panics_takes_back_no_reply() {
    let server = Server::start(Replies).await;
    let mut exits = server.mcp.exits();
    assert_eq!(server.send(call("any", json!({}))).await.text(), "answered");
    assert!(!next_request(&mut exits).await.reason.is_clean(), "the panic is the reason");
}
