//! Structs as tools that stay open and answer what the application sends.

use std::time::Duration;

use ractor_mcp::otp::{ExitReason, SendError, Tag, TrySendError};
use ractor_mcp::prelude::*;
use ractor_mcp::suite::ToolAddress;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::support::{Client, Server, call};

/// Watches something and counts what it hears.
#[derive(Deserialize, JsonSchema)]
struct Watch {
    what: String,
}

enum Heard {
    Step,
    Task(u32),
    Timer,
    Last,
    Fail,
    Refuse,
}

#[derive(Default)]
struct Memory {
    what: String,
    heard: u32,
}

/// Lends each call's address to the test, and tells what `handle_close` saw.
struct Watcher {
    opened: mpsc::UnboundedSender<ToolAddress<Heard>>,
    closed: mpsc::UnboundedSender<(String, u32)>,
}

impl Tool for Watcher {
    type Args = Watch;
    type Output = Json<u32>;
    type State = Memory;
    type Message = Heard;

    async fn call(
        &self,
        Watch { what }: Watch,
        call: &Call<Heard>,
        state: &mut Memory,
    ) -> Result<ToolReply<Json<u32>>, ToolError> {
        state.what = what;
        let _ = self.opened.send(call.address());
        Ok(ToolReply::Stream)
    }

    async fn handle_message(
        &self,
        message: Heard,
        call: &Call<Heard>,
        state: &mut Memory,
    ) -> Result<ToolReply<Json<u32>>, ToolError> {
        match message {
            Heard::Step => {
                call.spawn_to(async { 20 }, |output| Heard::Task(output.unwrap_or_default()));
            }
            Heard::Task(more) => {
                state.heard += more;
                call.progress(state.heard, None, None).await?;
                call.send_after(Duration::ZERO, Heard::Timer);
            }
            Heard::Timer => {
                state.heard += 1;
                call.progress(state.heard, None, None).await?;
            }
            Heard::Last => return Ok(ToolReply::Answer(Json(state.heard))),
            Heard::Fail => return Err(ToolError::new("cannot go on")),
            Heard::Refuse => return Err(RpcError::invalid_params("no").into()),
        }
        Ok(ToolReply::Stream)
    }

    async fn handle_close(&self, call: &Call<Heard>, state: &mut Memory) {
        assert!(call.is_closed());
        let _ = self.closed.send((state.what.clone(), state.heard));
    }
}

struct Watching {
    _server: Server,
    client: Client,
    address: ToolAddress<Heard>,
    closes: mpsc::UnboundedReceiver<(String, u32)>,
}

async fn watching(timeout: Option<Duration>) -> Watching {
    let (opened, mut opens) = mpsc::unbounded_channel();
    let (closed, closes) = mpsc::unbounded_channel();
    let spec = tool(Watcher { opened, closed });
    let spec = match timeout {
        Some(limit) => spec.timeout(limit),
        None => spec,
    };
    let server = Server::start(Suite::new("watch", "1").tool("watch", spec)).await;
    let mut client = server.client().await;
    let post = call("watch", json!({"what": "it"})).with_meta("progressToken", json!("p"));
    client.write(&post).await;
    let address = opens.recv().await.unwrap();
    client.read_head().await;
    Watching { _server: server, client, address, closes }
}

async fn last_event(client: &mut Client) -> Value {
    let mut last = Value::Null;
    while let Some(event) = client.read_event().await {
        last = event;
    }
    last
}

#[tokio::test]
async fn messages_tasks_and_timers_reach_the_call_in_order_and_one_of_them_answers() {
    let mut watching = watching(None).await;
    watching.address.send(Heard::Step).await.unwrap();
    let client = &mut watching.client;
    assert_eq!(client.read_event().await.unwrap()["params"]["progress"], 20.0);
    assert_eq!(client.read_event().await.unwrap()["params"]["progress"], 21.0);
    watching.address.try_send(Heard::Last).unwrap();
    let answer = last_event(client).await;
    assert_eq!(answer["result"]["structuredContent"], 21);
    assert_eq!(watching.address.pid().join().await, ExitReason::ShutdownWith(Tag::REPLY));
    assert!(watching.address.is_closed());
    assert!(watching.closes.try_recv().is_err(), "an answer is no end from outside");
}

#[tokio::test]
async fn a_message_that_cannot_be_sent_comes_back() {
    let mut watching = watching(None).await;
    let address = &watching.address;
    // The call runs on this thread, and so takes none meanwhile.
    let full = (0..).find_map(|count| address.try_send(Heard::Task(count)).err());
    assert!(matches!(full, Some(TrySendError::Full(Heard::Task(1000)))), "{full:?}");
    address.send(Heard::Last).await.unwrap();
    last_event(&mut watching.client).await;
    address.pid().join().await;
    let closed = address.send(Heard::Task(1)).await;
    assert!(matches!(closed, Err(SendError(Heard::Task(1)))), "{closed:?}");
    let closed = address.try_send(Heard::Task(2));
    assert!(matches!(closed, Err(TrySendError::Closed(Heard::Task(2)))), "{closed:?}");
}

#[tokio::test]
async fn an_error_of_a_message_answers_the_call() {
    let mut failed = watching(None).await;
    failed.address.send(Heard::Fail).await.unwrap();
    let answer = last_event(&mut failed.client).await;
    assert_eq!(answer["result"]["isError"], true);
    assert_eq!(answer["result"]["content"][0]["text"], "cannot go on");
    let mut refused = watching(None).await;
    refused.address.send(Heard::Refuse).await.unwrap();
    assert_eq!(last_event(&mut refused.client).await["error"]["code"], -32602);
}

#[tokio::test]
async fn a_client_that_leaves_ends_the_call_and_its_state_is_seen_once_more() {
    let mut watching = watching(None).await;
    drop(watching.client);
    assert_eq!(watching.closes.recv().await, Some(("it".into(), 0)));
    assert_eq!(watching.address.pid().join().await, ExitReason::ShutdownWith(Tag::CLIENT_DISCONNECTED));
}

#[tokio::test]
async fn a_stream_whose_time_is_over_is_answered_and_closed() {
    let mut watching = watching(Some(Duration::from_millis(50))).await;
    let answer = last_event(&mut watching.client).await;
    assert_eq!(answer["result"]["isError"], true);
    assert_eq!(watching.closes.recv().await, Some(("it".into(), 0)));
    assert_eq!(watching.address.pid().join().await, ExitReason::ShutdownWith(Tag::EXPIRED));
}
