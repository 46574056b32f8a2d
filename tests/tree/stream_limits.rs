//! The options that bound streams, and what waits for a request, each at its edge. Under a paused clock.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ractor_mcp::otp::{Address, ExitReason, Tag};
use ractor_mcp::prelude::*;
use ractor_mcp::testing::{TestCall, TestClient, TestServer};
use ractor_mcp::wire::{Notification, Request, ServerCapabilities, ServerNotification, SubscriptionFilter};
use ractor_mcp::{Grant, Options, Principal, Topic};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

const LIMIT: Duration = Duration::from_secs(7);
/// How far from a limit a test stays.
const EDGE: Duration = Duration::from_millis(10);

/// Accepts every stream; each message to one, and each notification, takes a permit.
struct Gated {
    gate: Arc<Semaphore>,
    streams: Arc<Mutex<Vec<Address<()>>>>,
    grant: fn(SubscriptionFilter) -> Grant,
}

impl Gated {
    async fn pass(&self) {
        self.gate.acquire().await.expect("the gate stays").forget();
    }
}

impl Handler for Gated {
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
        let Request::Listen(listen) = request else {
            return Err(RpcError::method_not_found(request.method()));
        };
        self.streams.lock().unwrap().push(channel.address());
        Ok(Reply::subscribe((self.grant)(listen.notifications)))
    }

    async fn handle_message(&self, (): (), _: &Channel<()>, (): &mut ()) -> Result<Reply, RpcError> {
        self.pass().await;
        Ok(Reply::Stream)
    }

    async fn handle_notification(&self, _: Notification, _: &Channel<()>, (): &mut ()) {
        self.pass().await;
    }

    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::new().tools(true).resources(true, true)
    }
}

struct Fixture {
    server: TestServer,
    client: TestClient,
    gate: Arc<Semaphore>,
    streams: Arc<Mutex<Vec<Address<()>>>>,
}

async fn start(options: Options) -> Fixture {
    start_with(options, Grant::new).await
}

async fn start_with(options: Options, grant: fn(SubscriptionFilter) -> Grant) -> Fixture {
    let (gate, streams) = (Arc::new(Semaphore::new(0)), Arc::default());
    let handler = Gated { gate: Arc::clone(&gate), streams: Arc::clone(&streams), grant };
    let server = TestServer::start_with(handler, options).await;
    let client = server.connect().await;
    Fixture { server, client, gate, streams }
}

impl Fixture {
    /// Opens a stream and reads its acknowledgement.
    async fn open(&self, filter: Value) -> TestCall {
        let listen = self.client.request("subscriptions/listen", json!({ "notifications": filter }));
        let mut stream = listen.start().await;
        let acknowledged = stream.next_event().await.expect("an acknowledgement");
        assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
        stream
    }

    fn is_open(&self) -> bool {
        self.server.mcp().subscribers(&Topic::Tools).len() == 1
    }

    async fn reason(&self) -> ExitReason {
        self.server.await_exit("request subscriptions/listen").await
    }
}

fn tools() -> Value {
    json!({"toolsListChanged": true})
}

#[tokio::test(start_paused = true)]
async fn stream_lifetime() {
    let fixture = start(Options::new().stream_lifetime(LIMIT)).await;
    let mut stream = fixture.open(tools()).await;
    sleep(LIMIT - EDGE).await;
    assert_eq!(fixture.server.mcp().notify_tools_changed(), 1);
    assert_eq!(stream.next_event().await.expect("a change")["method"], "notifications/tools/list_changed");
    sleep(2 * EDGE).await;
    assert_eq!(fixture.reason().await, ExitReason::ShutdownWith(Tag::EXPIRED));
    assert_eq!(stream.answer().await.result()["resultType"], "complete");
}

#[tokio::test(start_paused = true)]
async fn stream_idle() {
    let fixture = start(Options::new().stream_idle(LIMIT)).await;
    let mut stream = fixture.open(tools()).await;
    for _ in 0..3 {
        sleep(LIMIT - EDGE).await;
        assert_eq!(fixture.server.mcp().notify_tools_changed(), 1, "what it is told begins the time anew");
        stream.next_event().await.expect("a change");
    }
    sleep(LIMIT + EDGE).await;
    assert_eq!(fixture.reason().await, ExitReason::ShutdownWith(Tag::IDLE));
    assert_eq!(stream.answer().await.result()["resultType"], "complete");
}

#[tokio::test(start_paused = true)]
async fn authorize_time() {
    let slowly: fn(SubscriptionFilter) -> Grant = |filter| {
        Grant::new(filter).authorized_by(|uris| async move {
            let late = uris.iter().any(|uri| uri.contains("late"));
            sleep(if late { LIMIT + EDGE } else { LIMIT - EDGE }).await;
            uris
        })
    };
    let fixture = start_with(Options::new().authorize_time(LIMIT), slowly).await;
    let mut stream = fixture.open(json!({"resourceSubscriptions": ["x:late", "x:soon"]})).await;
    let mcp = fixture.server.mcp();
    mcp.notify_resource_updated("x:late");
    sleep(LIMIT + 2 * EDGE).await;
    mcp.notify_resource_updated("x:soon");
    assert_eq!(stream.next_event().await.expect("a change")["params"]["uri"], "x:soon", "and no other");
}

#[tokio::test(start_paused = true)]
async fn max_filter() {
    let fixture = start(Options::new().max_filter(3)).await;
    let uris = |count: usize| -> Value { (0..count).map(|n| format!("x:{n}")).collect() };
    let _stream = fixture.open(json!({ "resourceSubscriptions": uris(3) })).await;
    let filter = json!({"notifications": {"resourceSubscriptions": uris(4)}});
    assert_eq!(fixture.client.request("subscriptions/listen", filter).await.code(), -32602);
}

#[tokio::test(start_paused = true)]
async fn stream_queue() {
    let fixture = start(Options::new().stream_queue(3)).await;
    let mut stream = fixture.open(tools()).await;
    let publish = || {
        let notification = ServerNotification::custom("notifications/com.example/x", Default::default());
        fixture.server.mcp().publish(&Topic::Tools, &notification)
    };
    // Nothing is written while the test does not wait.
    assert_eq!([publish(), publish(), publish(), publish()], [1, 1, 1, 0], "the fourth is missed");
    for _ in 0..3 {
        stream.next_event().await.expect("one of three");
    }
    assert_eq!(publish(), 1, "and the stream goes on");
    assert!(fixture.is_open());
}

#[tokio::test(start_paused = true)]
async fn stream_queue_bytes() {
    let fixture = start(Options::new().stream_queue_bytes(1000)).await;
    let mut stream = fixture.open(tools()).await;
    let publish = |size: usize| {
        let params = json!({"text": "x".repeat(size)}).as_object().cloned().expect("an object");
        let notification = ServerNotification::custom("notifications/com.example/x", params);
        fixture.server.mcp().publish(&Topic::Tools, &notification)
    };
    assert_eq!([publish(300), publish(300), publish(600), publish(10)], [1, 1, 0, 1], "the third is missed");
    for _ in 0..3 {
        stream.next_event().await.expect("one of three");
    }
    assert_eq!(publish(5000), 1, "one that is larger waits alone");
    assert_eq!(publish(1), 0);
    assert!(fixture.is_open());
}

/// The hook that is asked of a stream's caller: how often it was, and what it says.
struct Asked {
    times: Arc<AtomicUsize>,
    valid: Arc<AtomicBool>,
}

impl Asked {
    /// One that says yes for now, asked at each keep-alive of [`LIMIT`].
    async fn start() -> (Fixture, Self) {
        let asked = Self { times: Arc::default(), valid: Arc::new(AtomicBool::new(true)) };
        let (times, valid) = (Arc::clone(&asked.times), Arc::clone(&asked.valid));
        let options = Options::new().keep_alive(LIMIT).connect(|_| async { Ok(Principal::new("alice")) });
        let options = options.still_valid(move |caller| {
            assert_eq!(caller.id(), Some("alice"));
            times.fetch_add(1, Ordering::SeqCst);
            let valid = valid.load(Ordering::SeqCst);
            async move { valid }
        });
        (start(options).await, asked)
    }

    fn times(&self) -> usize {
        self.times.load(Ordering::SeqCst)
    }

    fn revoke(&self) {
        self.valid.store(false, Ordering::SeqCst);
    }
}

#[tokio::test(start_paused = true)]
async fn f12_still_valid_is_asked_at_each_keep_alive() {
    let (fixture, asked) = Asked::start().await;
    let _stream = fixture.open(tools()).await;
    sleep(2 * LIMIT + EDGE).await;
    assert_eq!((asked.times(), fixture.is_open()), (2, true));
    asked.revoke();
    sleep(LIMIT - 2 * EDGE).await;
    assert!(fixture.is_open(), "not asked yet");
    sleep(2 * EDGE).await;
    assert_eq!(fixture.reason().await, ExitReason::ShutdownWith(Tag::EXPIRED));
    assert_eq!(fixture.server.mcp().notify_tools_changed(), 0);
}

/// A stream that is never silent for so long gets no comment, but its caller is asked about once in each such time all the same.
#[tokio::test(start_paused = true)]
async fn f12_still_valid_is_asked_of_a_busy_stream_too() {
    let (fixture, asked) = Asked::start().await;
    let mut stream = fixture.open(tools()).await;
    sleep(EDGE).await;
    for half in 1..=6 {
        sleep(LIMIT / 2).await;
        assert_eq!(asked.times(), half / 2, "after {half} half periods");
        assert_eq!(fixture.server.mcp().notify_tools_changed(), 1);
        let changed = stream.next_event().await.expect("a change");
        assert_eq!(changed["method"], "notifications/tools/list_changed");
    }
    asked.revoke();
    sleep(LIMIT / 2).await;
    assert_eq!(fixture.server.mcp().notify_tools_changed(), 1, "not asked yet");
    stream.next_event().await.expect("a change");
    sleep(LIMIT / 2 - 2 * EDGE).await;
    assert!(fixture.is_open(), "not asked yet");
    sleep(2 * EDGE).await;
    assert_eq!(fixture.reason().await, ExitReason::ShutdownWith(Tag::EXPIRED));
    assert_eq!((asked.times(), fixture.server.mcp().notify_tools_changed()), (4, 0));
}

#[tokio::test(start_paused = true)]
async fn f12_no_answer_ends_a_stream_too() {
    let panics = Options::new().still_valid(|_| async { panic!("no answer") });
    let hangs = Options::new().connect_time(LIMIT).still_valid(|_| std::future::pending());
    for (options, last) in [(panics, LIMIT), (hangs, 2 * LIMIT)] {
        let fixture = start(options.keep_alive(LIMIT)).await;
        let _stream = fixture.open(tools()).await;
        sleep(last - EDGE).await;
        assert!(fixture.is_open());
        sleep(2 * EDGE).await;
        assert_eq!(fixture.reason().await, ExitReason::ShutdownWith(Tag::EXPIRED));
    }
}

#[tokio::test(start_paused = true)]
async fn max_streams_of_the_server() {
    let fixture = start(Options::new().max_streams(2, 100)).await;
    let (one, _two) = (fixture.open(tools()).await, fixture.open(tools()).await);
    let third = fixture.client.request("subscriptions/listen", json!({"notifications": tools()}));
    let refused = third.await;
    assert_eq!((refused.status(), refused.code()), (503, 503));
    assert_eq!(refused.header("retry-after"), Some("1"));
    one.hang_up();
    fixture.reason().await;
    let _third = fixture.open(tools()).await;
}

#[tokio::test(start_paused = true)]
async fn max_streams_of_a_principal_and_cap_anonymous_streams() {
    let fixture = start(Options::new().max_streams(100, 2).cap_anonymous_streams(true)).await;
    let one = fixture.open(tools()).await;
    let _two = fixture.open(tools()).await;
    assert_eq!(fixture.server.mcp().notify_tools_changed(), 2);
    let _three = fixture.open(tools()).await;
    assert_eq!(fixture.reason().await, ExitReason::ShutdownWith(Tag::SUPERSEDED));
    assert_eq!(one.answer().await.result()["resultType"], "complete", "the oldest");

    let fixture = start(Options::new().max_streams(100, 2)).await;
    let mut streams = Vec::new();
    for _ in 0..5 {
        streams.push(fixture.open(tools()).await);
    }
    assert_eq!(fixture.server.mcp().notify_tools_changed(), 5, "anonymous callers have no cap of their own");
}

/// On HTTP/1.1 a connection has one request at a time, but a notification is answered before its handler is done.
#[tokio::test(start_paused = true)]
async fn max_in_flight_of_a_connection() {
    let fixture = start(Options::new().max_in_flight(100, 2)).await;
    let notify = || fixture.client.notify("notifications/progress", json!({}));
    assert_eq!([notify().await.status(), notify().await.status()], [202, 202]);
    let refused = notify().await;
    assert_eq!(refused.status(), 503);
    assert_eq!(refused.header("retry-after"), Some("1"));
    let other = fixture.server.connect().await;
    assert_eq!(other.notify("notifications/progress", json!({})).await.status(), 202, "another connection");
    fixture.gate.add_permits(3);
    fixture.server.await_none("notification").await;
    assert_eq!(notify().await.status(), 202);
}

#[tokio::test(start_paused = true)]
async fn mailbox() {
    let fixture = start(Options::new().mailbox(2)).await;
    let _stream = fixture.open(tools()).await;
    let address = fixture.streams.lock().unwrap()[0].clone();
    // The first is taken out of the mailbox, and waits in the handler.
    address.send(()).await.expect("room");
    sleep(EDGE).await;
    assert!(address.try_send(()).is_ok() && address.try_send(()).is_ok(), "two may wait");
    assert!(address.try_send(()).is_err(), "no room for a third");
    assert!(timeout(LIMIT, address.send(())).await.is_err(), "its sender waits");
    fixture.gate.add_permits(1);
    timeout(LIMIT, address.send(())).await.expect("room again").expect("the stream lives");
}
