//! A client that leaves is the cancel: in every mode, without a byte having to be written.

use std::sync::{Arc, Mutex};

use ractor_mcp::otp::{ExitReason, Tag};
use ractor_mcp::prelude::*;
use ractor_mcp::wire::{Request, ServerCapabilities};
use serde_json::json;
use tokio::sync::mpsc;

use crate::support::{Post, Server, call};

/// A handler that waits for ever and tells what its `handle_close` sees.
struct Waiting {
    closed: mpsc::UnboundedSender<Vec<&'static str>>,
    streaming: bool,
}

impl Handler for Waiting {
    type State = Vec<&'static str>;
    type Message = ();

    async fn init(&self, _: &Channel<()>) -> Result<Self::State, RpcError> {
        Ok(vec!["init"])
    }

    async fn handle_request(
        &self,
        _: Request,
        channel: &Channel<()>,
        state: &mut Self::State,
    ) -> Result<Reply, RpcError> {
        state.push("request");
        if self.streaming {
            return Ok(Reply::Stream);
        }
        channel.start_stream().await?;
        std::future::pending::<()>().await;
        state.push("never");
        Ok(Reply::Stream)
    }

    async fn handle_close(&self, channel: &Channel<()>, state: &mut Self::State) {
        assert!(channel.is_closed());
        assert!(channel.send_progress(1.0, None, None).await.is_err());
        let _ = self.closed.send(state.clone());
    }

    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::new().tools(false)
    }
}

async fn leaves(streaming: bool, post: Post, reset: bool) {
    let (closed, mut closes) = mpsc::unbounded_channel();
    let server = Server::start(Waiting { closed, streaming }).await;
    let mut client = server.client().await;
    client.write(&post).await;
    let request = server.await_process("request").await;
    if reset {
        client.reset();
    } else {
        drop(client);
    }
    assert_eq!(request.join().await, ExitReason::ShutdownWith(Tag::CLIENT_DISCONNECTED));
    assert_eq!(closes.recv().await.expect("handle_close ran"), ["init", "request"]);
    server.await_no_process("connection").await;
}

#[tokio::test]
async fn a_closed_connection_interrupts_a_callback_in_json_mode() {
    leaves(false, call("any", json!({})).json_only(), false).await;
}

#[tokio::test]
async fn a_reset_connection_interrupts_a_callback_in_json_mode() {
    leaves(false, call("any", json!({})).json_only(), true).await;
}

#[tokio::test]
async fn a_closed_connection_interrupts_a_callback_that_has_opened_a_stream() {
    leaves(false, call("any", json!({})), false).await;
}

#[tokio::test]
async fn a_reset_connection_ends_a_handler_that_waits_for_messages() {
    leaves(true, call("any", json!({})), true).await;
}

#[tokio::test]
async fn h9_what_must_not_be_cut_is_finished_and_nothing_after_it_runs() {
    #[derive(Clone, Default)]
    struct Writes(Arc<Mutex<Vec<&'static str>>>);
    impl Writes {
        fn push(&self, what: &'static str) {
            self.0.lock().unwrap().push(what);
        }
    }
    let writes = Writes::default();
    let (started, mut starts) = mpsc::unbounded_channel();
    let (go, gone) = tokio::sync::watch::channel(false);
    let tool = {
        let writes = writes.clone();
        move |_: NoArguments, call: Call| {
            let (writes, started, mut gone) = (writes.clone(), started.clone(), gone.clone());
            async move {
                call.uninterrupted(async {
                    started.send(()).unwrap();
                    gone.wait_for(|gone| *gone).await.unwrap();
                    writes.push("shielded");
                })
                .await;
                std::future::pending::<()>().await;
                writes.push("after");
            }
        }
    };
    let server = Server::start(Suite::new("shield", "1").tool("write", tool)).await;
    let mut client = server.client().await;
    client.write(&call("write", json!({}))).await;
    starts.recv().await.unwrap();
    let request = server.await_process("request").await;
    drop(client);
    request.exiting().await;
    assert!(request.is_alive(), "the exit waits for the shielded part");
    go.send(true).unwrap();
    assert_eq!(request.join().await, ExitReason::ShutdownWith(Tag::CLIENT_DISCONNECTED));
    assert_eq!(*writes.0.lock().unwrap(), ["shielded"]);
}
