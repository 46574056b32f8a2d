//! Methods of one's own that stream, and results of several kinds (K6, N6).

use std::sync::{Arc, Mutex};
use std::time::Duration;

use ractor_mcp::otp::{Address, ExitReason, Tag};
use ractor_mcp::prelude::*;
use ractor_mcp::testing::{TestCall, TestServer};
use ractor_mcp::wire::{CustomResult, Request, ServerCapabilities, ServerNotification};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

const WATCH: &str = "com.example/watch";

/// What the application tells a running watch.
enum Told {
    Price(u64),
    End,
}

/// Streams prices under a method of its own, until the application ends it or its client leaves.
struct Watch {
    watching: Arc<Mutex<Vec<Address<Told>>>>,
    closed: mpsc::UnboundedSender<(u64, ExitReason)>,
}

fn notification(name: &str, members: Value) -> ServerNotification {
    let members = members.as_object().cloned().unwrap_or_default();
    ServerNotification::custom(format!("notifications/com.example/{name}"), members)
}

impl Handler for Watch {
    /// How many prices were told.
    type State = u64;
    type Message = Told;

    async fn init(&self, _: &Channel<Told>) -> Result<u64, RpcError> {
        Ok(0)
    }

    async fn handle_request(
        &self,
        request: Request,
        channel: &Channel<Told>,
        _: &mut u64,
    ) -> Result<Reply, RpcError> {
        match request {
            Request::Custom { method, params } if method == WATCH => {
                let symbol = params.get("symbol").and_then(Value::as_str);
                let symbol = symbol.ok_or_else(|| RpcError::invalid_params("`symbol` is missing"))?;
                channel.send_notification(notification("watching", json!({ "symbol": symbol }))).await?;
                self.watching.lock().expect("no panic").push(channel.address());
                Ok(Reply::Stream)
            }
            other => Err(RpcError::method_not_found(other.method())),
        }
    }

    async fn handle_message(
        &self,
        told: Told,
        channel: &Channel<Told>,
        count: &mut u64,
    ) -> Result<Reply, RpcError> {
        match told {
            Told::Price(price) => {
                *count += 1;
                channel.send_notification(notification("price", json!({ "price": price }))).await?;
                Ok(Reply::Stream)
            }
            Told::End => Ok(CustomResult::new(Map::from_iter([("told".to_owned(), json!(count))])).into()),
        }
    }

    async fn handle_close(&self, channel: &Channel<Told>, count: &mut u64) {
        let reason = channel.pid().exit_requested().expect("an end from outside");
        self.closed.send((*count, reason)).expect("the test listens");
    }

    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::new().extension("com.example/watch", json!({}))
    }

    fn serves(&self, method: &str) -> bool {
        assert_ne!(method, "com.example/bug", "a bug of the handler");
        method == WATCH
    }
}

struct Fixture {
    server: TestServer,
    watching: Arc<Mutex<Vec<Address<Told>>>>,
    closes: mpsc::UnboundedReceiver<(u64, ExitReason)>,
}

async fn start() -> Fixture {
    let (closed, closes) = mpsc::unbounded_channel();
    let watching = Arc::<Mutex<_>>::default();
    let server = TestServer::start(Watch { watching: Arc::clone(&watching), closed }).await;
    Fixture { server, watching, closes }
}

impl Fixture {
    /// Starts to watch, and reads the acknowledgement.
    async fn watch(&self) -> (TestCall, Address<Told>) {
        let client = self.server.connect().await;
        let mut stream = client.request(WATCH, json!({"symbol": "X"})).id("w").start().await;
        let first = stream.next_event().await.expect("an acknowledgement");
        assert_eq!(first["method"], "notifications/com.example/watching");
        assert_eq!(first["params"]["symbol"], "X");
        let address = self.watching.lock().expect("no panic").pop().expect("a watch");
        (stream, address)
    }
}

async fn tell(address: &Address<Told>, told: Told) {
    assert!(address.send(told).await.is_ok(), "the watch lives");
}

/// It runs before the request has an actor whose end it could be.
#[tokio::test(start_paused = true)]
async fn a_panic_in_serves_costs_one_answer() {
    let fixture = start().await;
    let (mut stream, address) = fixture.watch().await;
    let client = fixture.server.connect().await;
    let answer = client.request("com.example/bug", json!({})).id("b").await;
    assert_eq!((answer.status(), answer.code(), &answer.response()["id"]), (500, -32603, &json!("b")));
    assert_eq!(client.request("com.example/none", json!({})).await.code(), -32601);
    tell(&address, Told::End).await;
    assert_eq!(stream.next_event().await.expect("a result")["id"], "w");
}

#[tokio::test(start_paused = true)]
async fn n6_a_method_of_ones_own_streams_its_own_notifications_and_ends_with_its_result() {
    let fixture = start().await;
    let (mut stream, address) = fixture.watch().await;
    for price in [7, 8] {
        tell(&address, Told::Price(price)).await;
        let told = stream.next_event().await.expect("a price");
        assert_eq!(
            (&told["method"], &told["params"]["price"]),
            (&json!("notifications/com.example/price"), &json!(price))
        );
    }
    // Silent for an hour: keep-alives flow on it as on any stream.
    tokio::time::sleep(Duration::from_secs(3600)).await;
    tell(&address, Told::End).await;
    let end = stream.answer().await;
    assert_eq!((&end.response()["id"], &end.result()["told"]), (&json!("w"), &json!(2)));
    assert_eq!(end.result()["resultType"], "complete");
}

#[tokio::test(start_paused = true)]
async fn n6_a_client_that_leaves_cancels_it_and_the_state_is_seen_once_more() {
    let mut fixture = start().await;
    let (mut stream, address) = fixture.watch().await;
    tell(&address, Told::Price(7)).await;
    stream.next_event().await.expect("a price");
    stream.hang_up();
    let closed = fixture.closes.recv().await.expect("a close");
    assert_eq!(closed, (1, ExitReason::ShutdownWith(Tag::CLIENT_DISCONNECTED)));
    fixture.server.await_none("request").await;
    assert!(address.send(Told::End).await.is_err(), "nobody is there any more");
}

#[tokio::test(start_paused = true)]
async fn n6_a_drain_interrupts_it_and_an_error_before_the_stream_is_no_stream() {
    let mut fixture = start().await;
    let client = fixture.server.connect().await;
    let refused = client.request(WATCH, json!({})).await;
    assert!(!refused.is_stream());
    assert_eq!(refused.code(), -32602);

    let (stream, _) = fixture.watch().await;
    let summary = fixture.server.mcp().shutdown(Duration::from_secs(1)).await;
    assert_eq!((summary.running, summary.interrupted), (1, 1), "{summary}");
    assert_eq!(fixture.closes.recv().await.expect("a close").1, ExitReason::Shutdown);
    assert_eq!(stream.answer().await.code(), -32603, "the one response that is due");
}

#[tokio::test(start_paused = true)]
async fn k6_a_question_is_told_apart_from_an_empty_result_by_its_type_first() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    #[allow(dead_code)]
    struct Name {
        name: String,
    }
    async fn ask(_: NoArguments, call: Call) -> Result<String, ToolError> {
        call.elicit::<Name>("name", "Who?")?;
        Ok(String::new())
    }
    async fn nothing() -> Vec<ractor_mcp::wire::Content> {
        Vec::new()
    }
    let suite = Suite::new("kinds", "1").tool("ask", ask).tool("nothing", nothing).prompt("ask", ask);
    let server = TestServer::start(suite).await;
    let client = server.connect().await.client_capabilities(json!({"elicitation": {}}));
    let (asked, empty) =
        (client.call_tool("ask", json!({})).await, client.call_tool("nothing", json!({})).await);
    for (response, kind, own, foreign) in [
        (&asked, "input_required", "inputRequests", "content"),
        (&empty, "complete", "content", "inputRequests"),
    ] {
        let result = response.result();
        assert_eq!(result["resultType"], kind);
        assert!(result.get("_meta").is_some(), "which other clients took for an empty result: {result}");
        assert!(result.get(own).is_some() && result.get(foreign).is_none(), "{result}");
    }
    assert!(!asked.is_error());
    // The kit does not read a question as a result without text either.
    let read = tokio::spawn(async move { asked.text().to_owned() }).await;
    assert!(read.is_err(), "a question has no text");
    let prompt = client.request("prompts/get", json!({"name": "ask"})).await;
    assert_eq!(prompt.result()["resultType"], "input_required");
    assert!(prompt.result().get("messages").is_none());
}
