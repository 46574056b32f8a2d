//! The options that bound a request and its connection, each at its edge: at the limit it works, beyond it is refused
//! with the documented answer. Under a paused clock, so that a limit of 30 s takes no time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ractor_mcp::otp::{ExitReason, Tag};
use ractor_mcp::prelude::*;
use ractor_mcp::testing::TestServer;
use ractor_mcp::{Error, McpSupervisor, Options, Principal};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::time::{Instant, sleep};

use crate::support::{Post, Server, call, fixture, request};

const LIMIT: Duration = Duration::from_secs(7);
/// How far from a limit a test stays.
const EDGE: Duration = Duration::from_millis(10);

async fn start(options: Options) -> TestServer {
    TestServer::start_with(fixture::suite(), options).await
}

fn echo() -> Post {
    call("echo", json!({"text": "x"}))
}

/// Sends a request in two parts with a pause between them, and reads until the server closes.
async fn in_two_parts(server: &TestServer, post: Post, first: usize, pause: Duration) -> String {
    let bytes = post.header("Connection", "close").to_bytes("localhost");
    let mut connection = server.connect_raw().await;
    let (one, two) = bytes.split_at(first);
    connection.write_all(one).await.expect("the server reads");
    sleep(pause).await;
    // The server may have closed by now.
    let _ = connection.write_all(two).await;
    rest(&mut connection).await
}

async fn rest(connection: &mut DuplexStream) -> String {
    let mut answer = String::new();
    connection.read_to_string(&mut answer).await.expect("text");
    answer
}

fn assert_status(answer: &str, status: u16) {
    assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{status} expected: {answer:?}");
}

#[tokio::test(start_paused = true)]
async fn body_time() {
    let server = start(Options::new().body_time(LIMIT)).await;
    let bytes = echo().header("Connection", "close").to_bytes("localhost").len();
    assert_status(&in_two_parts(&server, echo(), bytes - 1, LIMIT - EDGE).await, 200);
    assert_status(&in_two_parts(&server, echo(), bytes - 1, LIMIT + EDGE).await, 408);
}

#[tokio::test(start_paused = true)]
async fn first_byte_time() {
    let server = start(Options::new().first_byte_time(LIMIT)).await;
    assert_status(&in_two_parts(&server, echo(), 0, LIMIT - EDGE).await, 200);
    assert_eq!(in_two_parts(&server, echo(), 0, LIMIT + EDGE).await, "", "closed without a word");
}

#[tokio::test(start_paused = true)]
async fn head_time_of_a_head_that_comes_slowly() {
    let server = start(Options::new().head_time(LIMIT)).await;
    assert_status(&in_two_parts(&server, echo(), 40, LIMIT - EDGE).await, 200);
    let late = in_two_parts(&server, echo(), 40, LIMIT + EDGE).await;
    assert!(!late.contains(" 200 "), "closed: {late:?}");
}

#[tokio::test(start_paused = true)]
async fn head_time_of_a_connection_that_is_kept() {
    let server = start(Options::new().head_time(LIMIT)).await;
    let client = server.connect().await;
    let echo = || client.call_tool("echo", json!({"text": "x"}));
    echo().await;
    let first = client.idle_connections();
    sleep(LIMIT - EDGE).await;
    echo().await;
    assert_eq!(first.len(), 1);
    assert_eq!(client.idle_connections(), first, "kept");
    sleep(LIMIT + EDGE).await;
    server.await_none("connection").await;
    assert_eq!(echo().await.text(), "x", "on a new connection");
}

#[tokio::test(start_paused = true)]
async fn max_head() {
    const HEAD: usize = 8 * 1024;
    let server = start(Options::new().max_head(HEAD)).await;
    let padded = |head: usize| {
        let post = echo().header("Connection", "close").header("X-Padding", "");
        let bytes = post.to_bytes("localhost").len() - post.body.len();
        post.header("X-Padding", &"x".repeat(head - bytes))
    };
    assert_status(&in_two_parts(&server, padded(HEAD - 1), 0, EDGE).await, 200);
    assert_status(&in_two_parts(&server, padded(HEAD + 1), 0, EDGE).await, 431);
}

#[tokio::test(start_paused = true)]
async fn max_body() {
    let server = start(Options::new().max_body(4096)).await;
    let padded = |bytes: usize| {
        let post = echo();
        let body = [post.body.clone(), vec![b' '; bytes - post.body.len()]].concat();
        post.body(body)
    };
    assert_status(&in_two_parts(&server, padded(4096), 0, EDGE).await, 200);
    assert_status(&in_two_parts(&server, padded(4097), 0, EDGE).await, 413);
}

#[tokio::test(start_paused = true)]
async fn max_depth() {
    let client = start(Options::new().max_depth(10)).await.connect().await;
    // The body, its parameters and the arguments are three levels.
    let nested = |levels: usize| {
        let inside = format!("{}{}", "[".repeat(levels - 3), "]".repeat(levels - 3));
        let value: serde_json::Value = serde_json::from_str(&inside).expect("JSON");
        client.call_tool("anything", json!({ "n": value }))
    };
    assert_eq!(nested(10).await.status(), 200);
    let refused = nested(11).await;
    assert_eq!((refused.status(), refused.code()), (400, -32600));
}

#[tokio::test(start_paused = true)]
async fn keep_alive() {
    let client = start(Options::new().keep_alive(LIMIT)).await.connect().await;
    let slow = |time: Duration| client.call_tool("slow", json!({"ms": time.as_millis() as u64}));
    assert!(!slow(LIMIT - EDGE).await.is_stream(), "one JSON object");
    let began = Instant::now();
    let mut call = slow(2 * LIMIT + EDGE).start().await;
    assert_eq!(call.status().await, 200);
    assert_eq!(began.elapsed().as_secs(), LIMIT.as_secs(), "the response has become a stream");
    assert_eq!(call.next_raw_event().await.as_deref(), Some(":"));
    assert_eq!(began.elapsed().as_secs(), 2 * LIMIT.as_secs(), "a comment");
    assert_eq!(call.answer().await.text(), "worked for 14010 ms");
}

/// A tool that reports without end, each millisecond, and how often it did.
fn flood(text: usize) -> (Suite, Arc<AtomicUsize>) {
    let sent = Arc::<AtomicUsize>::default();
    let counting = Arc::clone(&sent);
    let flood = move |_: NoArguments, call: Call| {
        let (sent, text) = (Arc::clone(&counting), "x".repeat(text));
        async move {
            for step in 1_u64.. {
                call.progress(step, None, &*text).await?;
                sent.fetch_add(1, Ordering::Relaxed);
                sleep(Duration::from_millis(1)).await;
            }
            Ok::<_, ToolError>("never")
        }
    };
    (Suite::new("flood", "1").tool("flood", flood), sent)
}

/// How many reports of a size are taken from a tool whose client reads none of them.
async fn taken(options: Options, size: usize) -> usize {
    let (suite, sent) = flood(size);
    let server = TestServer::start_with(suite, options).await;
    let mut call = server.connect().await.call_tool("flood", json!({})).progress_token(1).start().await;
    call.status().await;
    call.stall();
    sleep(Duration::from_secs(1)).await;
    let taken = sent.load(Ordering::Relaxed);
    sleep(Duration::from_secs(1)).await;
    assert_eq!(sent.load(Ordering::Relaxed), taken, "the tool waits");
    taken
}

/// Buffers of the connection take some too, and the same in each case: the difference is the outbox.
#[tokio::test(start_paused = true)]
async fn outbox() {
    const MIB: usize = 1024 * 1024;
    const LARGE: usize = 128 * 1024;
    let by_messages = |messages| taken(Options::new().outbox(messages, 100 * MIB), LARGE);
    assert_eq!(by_messages(50).await, by_messages(10).await + 40);
    let by_bytes = |bytes| taken(Options::new().outbox(10_000, bytes), LARGE);
    let (few, many) = (by_bytes(MIB).await, by_bytes(5 * MIB).await);
    assert!((28..=32).contains(&(many - few)), "4 MiB hold {} of 128 KiB", many - few);
}

#[tokio::test(start_paused = true)]
async fn write_stall() {
    let (suite, _) = flood(1000);
    let server = TestServer::start_with(suite, Options::new().write_stall(LIMIT)).await;
    let client = server.connect().await;
    let mut call = client.call_tool("flood", json!({})).progress_token(1).start().await;
    call.status().await;
    for _ in 0..3 {
        call.stall();
        sleep(LIMIT - EDGE).await;
        assert!(server.has("request tools/call flood"));
        call.resume();
        sleep(EDGE).await;
    }
    call.stall();
    let stalled = Instant::now();
    let reason = server.await_exit("request tools/call flood").await;
    assert_eq!(reason, ExitReason::ShutdownWith(Tag::STALLED));
    assert!((LIMIT..LIMIT + 2 * EDGE).contains(&stalled.elapsed()), "{:?}", stalled.elapsed());
}

#[tokio::test(start_paused = true)]
async fn max_in_flight_of_the_server() {
    let server = start(Options::new().max_in_flight(2, 100)).await;
    let client = server.connect().await;
    let slow = || client.call_tool("slow", json!({"ms": 1000}));
    let (one, two) = (slow().start().await, slow().start().await);
    server.pid_of("request tools/call slow #2").await;
    let refused = slow().await;
    assert_eq!((refused.status(), refused.code()), (503, 503));
    assert_eq!(refused.header("retry-after"), Some("1"));
    // Lists are counted apart.
    assert_eq!(client.request("tools/list", json!({})).await.status(), 200);
    one.answer().await;
    two.answer().await;
    server.await_none("request").await;
    assert_eq!(slow().await.status(), 200);
}

#[tokio::test(start_paused = true)]
async fn close_time() {
    for (clean_up, reason) in [
        (LIMIT - EDGE, ExitReason::ShutdownWith(Tag::CLIENT_DISCONNECTED)),
        (LIMIT + EDGE, ExitReason::Killed),
    ] {
        let shielded = move |_: NoArguments, call: Call| async move {
            call.uninterrupted(sleep(Duration::from_secs(1) + clean_up)).await;
            std::future::pending::<()>().await;
        };
        let suite = Suite::new("shielded", "1").tool("shielded", shielded);
        let server = TestServer::start_with(suite, Options::new().close_time(LIMIT)).await;
        let call = server.connect().await.call_tool("shielded", json!({})).start().await;
        server.pid_of("request tools/call shielded").await;
        sleep(Duration::from_secs(1)).await;
        call.hang_up();
        assert_eq!(server.await_exit("request tools/call shielded").await, reason, "{clean_up:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn drain() {
    for (work, answered) in [(LIMIT - EDGE, true), (LIMIT + EDGE, false)] {
        let mcp = McpSupervisor::start_with(fixture::suite(), Options::new().drain(LIMIT)).await.unwrap();
        let server = TestServer::of(mcp.clone());
        let client = server.connect().await;
        let call = client.call_tool("slow", json!({"ms": work.as_millis() as u64})).start().await;
        server.pid_of("request tools/call slow").await;
        let began = Instant::now();
        mcp.run_until(std::future::ready(())).await.expect("an end in order");
        assert!(began.elapsed() <= LIMIT + EDGE, "{:?}", began.elapsed());
        let answer = call.answer().await;
        assert_eq!(answer.response().get("result").is_some(), answered, "{work:?}: {answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn connect_time() {
    for (time, status) in [(LIMIT - EDGE, 200), (LIMIT + EDGE, 503)] {
        let slow = move |_| async move {
            sleep(time).await;
            Ok(Principal::new("alice"))
        };
        let server = start(Options::new().connect(slow).connect_time(LIMIT)).await;
        let answer = server.connect().await.call_tool("echo", json!({"text": "x"})).await;
        assert_eq!(answer.status(), status, "{time:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn max_connections_are_waited_for() {
    // A listener has sockets, which no paused clock knows: the waits are for what happens.
    let server =
        crate::support::Server::start_with(fixture::suite(), Options::new().max_connections(2)).await;
    let mut clients = [server.client().await, server.client().await];
    for client in &mut clients {
        assert_eq!(client.send(&echo()).await.text(), "x");
    }
    let mut third = server.client().await;
    third.write(&echo()).await;
    let connections = server.await_process("connections").await;
    assert_eq!(clients[0].send(&echo()).await.text(), "x");
    assert_eq!(connections.children().len(), 2, "the third waits");
    drop(clients);
    assert_eq!(third.read_response().await.text(), "x");
}

#[tokio::test(start_paused = true)]
async fn path() {
    let server = start(Options::new().path("/svc/mcp")).await;
    for (path, status) in
        [("/svc/mcp", 200), ("/svc/mcp/", 200), ("/mcp", 404), ("/svc", 404), ("/svc/mcp/x", 404)]
    {
        assert_status(&in_two_parts(&server, echo().path(path), 0, EDGE).await, status);
    }
}

#[tokio::test(start_paused = true)]
async fn allowed_hosts_and_any_host() {
    let foreign = || request("tools/list", json!({})).header("Host", "mcp.example.com:8443");
    for (options, status) in [
        (Options::new(), 403),
        (Options::new().allowed_hosts(["other.example.com"]), 403),
        (Options::new().allowed_hosts(["mcp.example.com"]), 200),
        (Options::new().any_host(), 200),
    ] {
        let server = start(options).await;
        assert_status(&in_two_parts(&server, foreign(), 0, EDGE).await, status);
    }
}

#[tokio::test(start_paused = true)]
async fn allowed_origins_and_null_origin() {
    let listed = || Options::new().allowed_origins(["https://app.example.com"]);
    for (options, origin, status) in [
        (listed(), "https://app.example.com", 200),
        (listed(), "https://app.example.com:8443", 200),
        (listed().allowed_origins(["https://other.example.com"]), "https://app.example.com", 403),
        (listed(), "http://app.example.com", 403),
        (listed(), "null", 403),
        (listed().null_origin(true), "null", 200),
        (Options::new().null_origin(true), "null", 200),
        (Options::new().null_origin(true).null_origin(false), "null", 403),
    ] {
        let client = start(options).await.connect().await.header("origin", origin);
        assert_eq!(client.request("tools/list", json!({})).await.status(), status, "{origin}");
    }
}

#[tokio::test]
async fn an_option_below_its_least_value_is_refused_at_the_start_by_its_name() {
    let zero = Duration::ZERO;
    let options = Options::new()
        .path("mcp?")
        .max_body(0)
        .body_time(zero)
        .head_time(zero)
        .first_byte_time(zero)
        .max_head(8191)
        .write_stall(zero)
        .max_depth(7)
        .max_id(63)
        .max_token(8191)
        .keep_alive(zero)
        .outbox(0, 0)
        .progress_rate(0)
        .log_rate(0)
        .max_connections(0)
        .max_in_flight(0, 0)
        .max_in_flight_per_principal(0)
        .request_time(zero)
        .close_time(zero)
        .mailbox(0)
        .max_streams(0, 0)
        .stream_lifetime(zero)
        .stream_idle(zero)
        .authorize_time(zero)
        .max_filter(0)
        .stream_queue(0)
        .stream_queue_bytes(0)
        .connect_time(zero)
        .allowed_hosts(Vec::<String>::new())
        .allowed_origins(["not an origin"]);
    let Err(Error::Misconfigured(faults)) = McpSupervisor::start_with(fixture::suite(), options).await else {
        panic!("the server does not start")
    };
    let named = [
        "path `mcp?`",
        "max_body",
        "body_time",
        "head_time",
        "first_byte_time",
        "max_head",
        "write_stall",
        "max_depth",
        "max_id",
        "max_token",
        "keep_alive",
        "outbox messages",
        "outbox bytes",
        "progress_rate",
        "log_rate",
        "max_connections",
        "max_in_flight of the server",
        "max_in_flight of a connection",
        "max_in_flight_per_principal",
        "request_time",
        "close_time",
        "mailbox",
        "max_streams of the server",
        "max_streams of a principal",
        "stream_lifetime",
        "stream_idle",
        "authorize_time",
        "max_filter",
        "stream_queue",
        "stream_queue_bytes",
        "connect_time",
        "allowed_hosts",
        "allowed_origins",
    ];
    for (fault, option) in faults.faults().iter().zip(named) {
        assert!(fault.starts_with(option), "{option}: {fault}");
    }
    assert_eq!(faults.faults().len(), named.len(), "{faults}");
}

/// Whoever means "no limit" writes the longest time and the largest number.
#[tokio::test]
async fn the_largest_values_are_no_limits() {
    let far = Duration::MAX;
    let options = Options::new()
        .body_time(far)
        .head_time(far)
        .first_byte_time(far)
        .write_stall(far)
        .keep_alive(far)
        .request_time(far)
        .close_time(far)
        .long_schedule(far)
        .stream_lifetime(far)
        .stream_idle(far)
        .authorize_time(far)
        .connect_time(far)
        .drain(far)
        .drain_delay(far)
        .max_connections(usize::MAX)
        .max_id(usize::MAX)
        .max_token(usize::MAX)
        .max_head(usize::MAX)
        .max_in_flight(usize::MAX, usize::MAX)
        .max_in_flight_per_principal(usize::MAX)
        .max_streams(usize::MAX, usize::MAX)
        .body_budget(usize::MAX)
        .max_body(usize::MAX)
        .max_depth(usize::MAX)
        .max_filter(usize::MAX)
        .outbox(usize::MAX, usize::MAX)
        .stream_queue(usize::MAX)
        .stream_queue_bytes(usize::MAX)
        .mailbox(usize::MAX)
        .progress_rate(u32::MAX)
        .log_rate(u32::MAX);
    let suite = fixture::suite().list_changes().resource("note:a", || async { "a" }).resource_updates();
    // What the application has to allow waits in a queue of its own.
    let suite = suite.authorize_resource_subscriptions(|uris, _| async { uris });
    let server = Server::start_with(suite, options).await;
    let mut client = server.client().await;
    assert_eq!(client.send(&call("echo", json!({"text": "far"}))).await.text(), "far");
    let mut listening = server.client().await;
    let filter = json!({"toolsListChanged": true, "resourceSubscriptions": ["note:a"]});
    listening.write(&request("subscriptions/listen", json!({ "notifications": filter }))).await;
    assert!(listening.read_head().await.is_stream());
    listening.read_event().await.expect("the acknowledgement");
    assert_eq!(server.mcp.notify_tools_changed(), 1);
    assert_eq!(
        listening.read_event().await.expect("the change")["method"],
        "notifications/tools/list_changed"
    );
    assert_eq!(server.mcp.notify_resource_updated("note:a"), 1);
    assert_eq!(listening.read_event().await.expect("the change")["params"]["uri"], "note:a");
    server.mcp.shutdown(Duration::MAX).await;
    let text = String::from_utf8(listening.read_to_end().await).expect("text");
    assert!(text.contains("notifications/cancelled"), "{text}");
}
