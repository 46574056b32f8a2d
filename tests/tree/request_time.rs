//! The time that the server gives a request, of any handler. Under a paused clock.

use std::time::Duration;

use ractor_mcp::Options;
use ractor_mcp::otp::{ExitReason, Tag};
use ractor_mcp::prelude::*;
use ractor_mcp::testing::{TestClient, TestResponse, TestServer};
use ractor_mcp::wire::{CallToolResult, Notification, Request, ServerCapabilities};
use serde_json::json;
use tokio::sync::mpsc;
use tokio::time::sleep;

use crate::support::logs::Logs;

const LIMIT: Duration = Duration::from_secs(7);
/// How far from a limit a test stays.
const EDGE: Duration = Duration::from_millis(10);
const EXPIRED: ExitReason = ExitReason::ShutdownWith(Tag::EXPIRED);

/// Does what a call is named after, and tells when it is closed.
struct Slow {
    closed: mpsc::UnboundedSender<()>,
    /// How long each `init` takes.
    init: Duration,
}

impl Handler for Slow {
    type State = ();
    type Message = ();

    async fn init(&self, _: &Channel<()>) -> Result<(), RpcError> {
        sleep(self.init).await;
        Ok(())
    }

    async fn handle_request(
        &self,
        request: Request,
        channel: &Channel<()>,
        (): &mut (),
    ) -> Result<Reply, RpcError> {
        let call = match request {
            Request::CallTool(call) => call,
            Request::Listen(listen) => return Ok(Reply::subscribe(listen.notifications)),
            other => return Err(RpcError::method_not_found(other.method())),
        };
        match &*call.name {
            "in time" => sleep(LIMIT - EDGE).await,
            "late" => sleep(LIMIT + EDGE).await,
            "streams" => return Ok(Reply::Stream),
            "answers before" => {
                channel.send_result(CallToolResult::text("early"))?;
                std::future::pending().await
            }
            "finishes" => channel.uninterrupted(sleep(LIMIT + EDGE)).await,
            "keeps its own time" => {
                assert_eq!(channel.take_request_time(), Some(LIMIT));
                sleep(LIMIT + EDGE).await;
            }
            other => return Err(RpcError::invalid_params(other.to_owned())),
        }
        Ok(CallToolResult::text("done").into())
    }

    async fn handle_close(&self, channel: &Channel<()>, (): &mut ()) {
        assert!(channel.is_closed());
        sleep(2 * EDGE).await;
        let _ = self.closed.send(());
    }

    async fn handle_notification(&self, _: Notification, _: &Channel<()>, (): &mut ()) {
        std::future::pending().await
    }

    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::new().tools(true)
    }
}

struct Fixture {
    server: TestServer,
    client: TestClient,
    closes: mpsc::UnboundedReceiver<()>,
}

async fn start(init: Duration) -> Fixture {
    let (closed, closes) = mpsc::unbounded_channel();
    let handler = Slow { closed, init };
    let server = TestServer::start_with(handler, Options::new().request_time(LIMIT)).await;
    let client = server.connect().await;
    Fixture { server, client, closes }
}

impl Fixture {
    /// What a call answers, and why its actor ended.
    async fn call(&self, name: &str) -> (TestResponse, ExitReason) {
        let answer = self.client.call_tool(name, json!({})).await;
        (answer, self.server.await_exit("request").await)
    }
}

fn assert_expired((answer, reason): (TestResponse, ExitReason)) {
    assert_eq!((answer.status(), answer.code()), (200, -32603), "{answer}");
    assert_eq!(answer.error()["message"], "the request did not finish within 7s and was interrupted");
    assert_eq!(reason, EXPIRED);
}

#[tokio::test(start_paused = true)]
async fn a_request_whose_time_is_over_is_answered_interrupted_and_closed() {
    let mut fixture = start(Duration::ZERO).await;
    assert_expired(fixture.call("late").await);
    assert_eq!(fixture.closes.recv().await, Some(()));
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_in_time_is_not_touched() {
    let mut fixture = start(Duration::ZERO).await;
    let (answer, reason) = fixture.call("in time").await;
    assert_eq!((answer.text(), reason), ("done", ExitReason::ShutdownWith(Tag::REPLY)));
    sleep(LIMIT).await;
    assert!(fixture.closes.try_recv().is_err(), "an answer is no end from outside");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_streams_has_the_same_time() {
    let mut fixture = start(Duration::ZERO).await;
    let (answer, reason) = fixture.call("streams").await;
    assert!(answer.is_stream());
    assert_expired((answer, reason));
    assert_eq!(fixture.closes.recv().await, Some(()));
}

#[tokio::test(start_paused = true)]
async fn the_time_begins_with_init() {
    let fixture = start(LIMIT + EDGE).await;
    assert_expired(fixture.call("in time").await);
    let fixture = start(2 * EDGE).await;
    assert_expired(fixture.call("in time").await);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_goes_on_after_its_answer_ends_as_well() {
    let fixture = start(Duration::ZERO).await;
    let (answer, reason) = fixture.call("answers before").await;
    assert_eq!((answer.text(), reason), ("early", EXPIRED));
}

#[tokio::test(start_paused = true)]
async fn what_must_not_be_cut_is_finished_behind_the_answer() {
    let (logs, _guard) = Logs::record(tracing::Level::WARN);
    let fixture = start(Duration::ZERO).await;
    assert_expired(fixture.call("finishes").await);
    let warnings = logs.lines("WARN");
    assert!(matches!(&*warnings, [line] if line.contains("did not finish in time")), "{warnings:?}");
}

#[tokio::test(start_paused = true)]
async fn the_warning_of_a_late_request_says_where_it_came_from() {
    let (logs, _guard) = Logs::record(tracing::Level::WARN);
    let fixture = start(Duration::ZERO).await;
    let peer = "192.0.2.7:4711".parse().expect("an address");
    let client = fixture.server.connect_from(peer).await;
    assert_eq!(client.call_tool("late", json!({})).await.code(), -32603);
    let told = logs.await_line("WARN").await;
    assert!(told.contains("request=request tools/call late #1 from 192.0.2.7:4711 limit=7s"), "{told}");
    assert_eq!(client.notify("notifications/progress", json!({})).await.status(), 202);
    assert_eq!(fixture.server.await_exit("notification").await, EXPIRED);
    let told = logs.await_line("WARN").await;
    assert!(told.contains("request=notification notifications/progress from 192.0.2.7:4711"), "{told}");
}

#[tokio::test(start_paused = true)]
async fn a_notification_has_the_same_time() {
    let fixture = start(Duration::ZERO).await;
    assert_eq!(fixture.client.notify("notifications/progress", json!({})).await.status(), 202);
    assert_eq!(fixture.server.await_exit("notification").await, EXPIRED);
}

#[tokio::test(start_paused = true)]
async fn a_stream_is_left_to_its_own_limits() {
    let fixture = start(Duration::ZERO).await;
    let filter = json!({"notifications": {"toolsListChanged": true}});
    let mut stream = fixture.client.request("subscriptions/listen", filter).start().await;
    stream.next_event().await.expect("the acknowledgement");
    sleep(10 * LIMIT).await;
    assert_eq!(fixture.server.mcp().notify_tools_changed(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_handler_may_take_the_time_over() {
    let fixture = start(Duration::ZERO).await;
    let (answer, reason) = fixture.call("keeps its own time").await;
    assert_eq!((answer.text(), reason), ("done", ExitReason::ShutdownWith(Tag::REPLY)));
}

#[tokio::test(start_paused = true)]
async fn the_clean_up_behind_another_end_has_its_own_time() {
    let (logs, _guard) = Logs::record(tracing::Level::WARN);
    let mut fixture = start(Duration::ZERO).await;
    let call = fixture.client.call_tool("late", json!({})).start().await;
    sleep(LIMIT - EDGE).await;
    call.hang_up();
    assert_eq!(fixture.closes.recv().await, Some(()), "after the request's time");
    let reason = fixture.server.await_exit("request").await;
    assert_eq!(reason, ExitReason::ShutdownWith(Tag::CLIENT_DISCONNECTED));
    assert!(logs.lines("WARN").is_empty(), "{}", logs.text());
}

#[tokio::test(start_paused = true)]
async fn without_the_option_a_request_takes_as_long_as_it_likes() {
    let (closed, _closes) = mpsc::unbounded_channel();
    let server = TestServer::start(Slow { closed, init: 100 * LIMIT }).await;
    assert_eq!(server.connect().await.call_tool("late", json!({})).await.text(), "done");
}

/// What a handler takes to accept a stream is a request's time; the stream then has its lifetime.
#[tokio::test(start_paused = true)]
async fn a_listen_request_that_is_not_accepted_in_time_ends_and_one_that_is_accepted_stays() {
    for (init, accepted) in [(LIMIT + EDGE, false), (LIMIT - EDGE, true)] {
        let Fixture { server, client, .. } = start(init).await;
        let filter = json!({"notifications": {"toolsListChanged": true}});
        let listen = client.request("subscriptions/listen", filter).start().await;
        sleep(LIMIT * 2).await;
        assert_eq!(server.has("request subscriptions/listen"), accepted, "after an init of {init:?}");
        drop(listen);
    }
}
