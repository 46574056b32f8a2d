//! The ends of a stream: each has its reason, each releases everything, and the client reads the same bytes whatever it was.

use std::rc::Rc;
use std::time::{Duration, SystemTime};

use ractor_mcp::otp::{ExitReason, Pid, Tag};
use ractor_mcp::prelude::*;
use ractor_mcp::wire::{CallToolResult, ListenResult, ResultBody};
use ractor_mcp::{ManualClock, Options, Principal, Topic};
use serde_json::json;
use tokio::time::sleep;

use crate::support::logs::Logs;
use crate::support::streams::{ALL, Fixture, Order, acknowledged, expect_teardown, listen, start};
use crate::support::{Client, call, next_request, shut_down};

/// By a paused clock, and before the first keep-alive.
const SOON: Duration = Duration::from_millis(50);
const ROOM: usize = 64 * 1024;

/// Opens a stream, ends it in some way, and checks all that an end from the server side has: the bytes, the reason, whether
/// `handle_close` ran, and that nothing is left. One stream has place on the server.
async fn ends<F: Future<Output = ()>>(
    options: Options,
    end: impl FnOnce(Pid, Rc<Fixture>) -> F,
    reason: fn(&ExitReason) -> bool,
    closes: bool,
) {
    let fixture = Rc::new(start(options.max_streams(1, 4), ALL).await);
    let mut client = fixture.open_pipe(json!({"toolsListChanged": true}), ROOM).await;
    let stream = fixture.stream().await;
    assert_eq!(fixture.server.mcp.subscribers(&Topic::Tools).first(), Some(&stream));
    end(stream.clone(), Rc::clone(&fixture)).await;
    expect_teardown(&mut client).await;
    let found = stream.join().await;
    assert!(reason(&found), "{found}");
    assert_eq!(fixture.server.mcp.subscribers(&Topic::Tools), []);
    let mut fixture = Rc::into_inner(fixture).expect("nobody else holds it");
    assert_eq!(fixture.closes.try_recv().ok(), closes.then_some(found));
    fixture.server.await_no_process("request").await;
    if fixture.server.mcp.pid().is_alive() {
        // The place is free again, on the same connection.
        acknowledged(client, &listen(json!({}))).await;
    }
}

#[tokio::test]
async fn a_handler_that_stops_names_the_reason() {
    let stop = |_, fixture: Rc<Fixture>| async move { fixture.order(Order::Stop(ExitReason::Normal)).await };
    ends(Options::new(), stop, |reason| *reason == ExitReason::Normal, false).await;
}

#[tokio::test]
async fn an_error_of_the_handler_is_no_error_for_the_client() {
    let fail = |_, fixture: Rc<Fixture>| async move { fixture.order(Order::Fail).await };
    ends(Options::new(), fail, |reason| *reason == ExitReason::ShutdownWith(Tag::REPLY), false).await;
}

#[tokio::test]
async fn a_handler_that_panics_ends_its_stream_alone() {
    let panic = |_, fixture: Rc<Fixture>| async move { fixture.order(Order::Panic).await };
    ends(Options::new(), panic, |reason| matches!(reason, ExitReason::Crash(_)), false).await;
}

#[tokio::test]
async fn a_handler_that_closes_its_channel_is_called_to_clean_up() {
    let close = |_, fixture: Rc<Fixture>| async move { fixture.order(Order::Close).await };
    ends(Options::new(), close, |reason| *reason == ExitReason::ShutdownWith(Tag::CLOSED), true).await;
}

/// SUB-14, CANC-01: what answers any other request early is one more end of a stream.
#[tokio::test]
async fn an_early_answer_to_an_open_stream_ends_it_as_all_ends_do() {
    let closed = |reason: &ExitReason| *reason == ExitReason::ShutdownWith(Tag::CLOSED);
    let of_a_stream = || Ok(ListenResult::new().into());
    let of_a_call = || Ok(CallToolResult::text("an answer").into());
    let refusal = || Err(RpcError::internal("the source is gone"));
    let answers: [fn() -> Result<ResultBody, RpcError>; 3] = [of_a_stream, of_a_call, refusal];
    for answer in answers {
        let order =
            move |_, fixture: Rc<Fixture>| async move { fixture.order(Order::Answer(answer())).await };
        ends(Options::new(), order, closed, true).await;
    }
}

#[tokio::test]
async fn a_stream_killed_from_outside_is_torn_down_all_the_same() {
    let kill = |stream: Pid, _| async move { stream.kill() };
    ends(Options::new(), kill, |reason| *reason == ExitReason::Killed, false).await;
}

#[tokio::test(start_paused = true)]
async fn a10_the_maximum_lifetime_ends_a_stream() {
    let expired = |reason: &ExitReason| *reason == ExitReason::ShutdownWith(Tag::EXPIRED);
    ends(Options::new().stream_lifetime(SOON), |_, _| async {}, expired, true).await;
}

#[tokio::test]
async fn f12_the_expiry_of_its_principal_ends_a_stream() {
    let clock = ManualClock::new(SystemTime::UNIX_EPOCH);
    let known = clock.clone();
    let options = Options::new().clock(clock.clone()).connect(move |_| {
        let principal = Principal::new("alice").expiring_at(known.now() + SOON);
        async { Ok(principal) }
    });
    let expired = |reason: &ExitReason| *reason == ExitReason::ShutdownWith(Tag::EXPIRED);
    ends(options, |_, _| async move { clock.advance(SOON) }, expired, true).await;
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_told_nothing_ends_idle_if_the_server_says_so() {
    let idle = |reason: &ExitReason| *reason == ExitReason::ShutdownWith(Tag::IDLE);
    ends(Options::new().stream_idle(SOON), |_, _| async {}, idle, true).await;
}

#[tokio::test]
async fn a_drain_ends_a_stream_at_once() {
    let drain = |_, fixture: Rc<Fixture>| async move {
        drop(shut_down(&fixture.server, Duration::from_secs(20)));
    };
    ends(Options::new(), drain, |reason| *reason == ExitReason::Shutdown, true).await;
}

#[tokio::test]
async fn the_oldest_stream_of_a_principal_with_too_many_is_superseded() {
    let options = Options::new()
        .max_streams(100, 2)
        .connect(|request| async move { Ok(Principal::new(request.bearer_token().unwrap_or("nobody"))) });
    let mut fixture = start(options, ALL).await;
    let filter = listen(json!({"toolsListChanged": true})).header("Authorization", "Bearer alice");
    let (mut first, _) = acknowledged(fixture.server.client().await, &filter).await;
    let oldest = fixture.stream().await;
    let (_second, _) = acknowledged(fixture.server.client().await, &filter).await;
    let (_third, _) = acknowledged(fixture.server.client().await, &filter).await;
    expect_teardown(&mut first).await;
    assert_eq!(oldest.join().await, ExitReason::ShutdownWith(Tag::SUPERSEDED));
    assert_eq!(fixture.closes.recv().await, Some(ExitReason::ShutdownWith(Tag::SUPERSEDED)));
    assert_eq!(fixture.server.mcp.notify_tools_changed(), 2, "two are left");
}

/// The client is the cancel: it reads nothing more, by any way of leaving.
#[tokio::test]
async fn canc_03_sub_15_a_client_that_leaves_ends_its_stream() {
    let mut fixture = start(Options::new(), ALL).await;
    let gone = ExitReason::ShutdownWith(Tag::CLIENT_DISCONNECTED);
    for reset in [true, false] {
        let (client, _) = fixture.open(json!({"toolsListChanged": true})).await;
        let stream = fixture.stream().await;
        if reset {
            client.reset()
        } else {
            drop(client)
        }
        assert_eq!(stream.join().await, gone, "reset: {reset}");
        assert_eq!(fixture.closes.recv().await, Some(gone.clone()));
        assert_eq!(fixture.server.mcp.subscribers(&Topic::Tools), []);
    }
}

/// A connection that is lost on the server's side answers nobody, and takes its stream along.
#[tokio::test]
async fn a_connection_that_is_killed_leaves_no_stream_behind() {
    let fixture = start(Options::new(), ALL).await;
    let (mut client, _) = fixture.open(json!({"toolsListChanged": true})).await;
    let stream = fixture.stream().await;
    fixture.server.await_process("connection").await.kill();
    assert_eq!(stream.join().await, ExitReason::Killed);
    client.read_to_end().await;
    assert_eq!(fixture.server.mcp.subscribers(&Topic::Tools), []);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_reads_nothing_for_the_stall_time_loses_its_stream() {
    let mut fixture = start(Options::new().write_stall(SOON), ALL).await;
    let mut exits = fixture.server.mcp.exits();
    let client = fixture.open_pipe(json!({"toolsListChanged": true}), 512).await;
    let stalled = ExitReason::ShutdownWith(Tag::STALLED);
    let end = loop {
        fixture.server.mcp.notify_tools_changed();
        tokio::select! {
            end = next_request(&mut exits) => break end,
            () = sleep(SOON / 50) => {}
        }
    };
    assert_eq!((end.reason, fixture.closes.recv().await), (stalled.clone(), Some(stalled)));
    assert_eq!(fixture.server.mcp.subscribers(&Topic::Tools), []);
    drop(client);
}

#[tokio::test(start_paused = true)]
async fn c8_streams_end_at_once_while_a_call_goes_on_and_the_trace_tells_of_both() {
    use crate::support::{Server, fixture::slow};
    let (logs, _guard) = Logs::record(tracing::Level::INFO);
    let suite = ractor_mcp::Suite::new("s", "1").list_changes().tool("slow", slow);
    let server = Server::start(suite).await;
    let mut calling = Client::pipe(&server, ROOM).await;
    calling.write(&call("slow", json!({"ms": 400}))).await;
    let running = server.await_process("request tools/call slow").await;
    let client = Client::pipe(&server, ROOM).await;
    let (mut client, _) = acknowledged(client, &listen(json!({"toolsListChanged": true}))).await;
    let stopping = shut_down(&server, Duration::from_secs(20));
    assert_eq!(client.read_event().await.expect("a cancellation")["method"], "notifications/cancelled");
    assert_eq!(client.read_event().await.expect("a result")["result"]["resultType"], "complete");
    assert_eq!(client.read_event().await, None);
    assert!(running.is_alive(), "the call goes on");
    assert_eq!(calling.read_response().await.text(), "worked for 400 ms");
    let summary = stopping.await.expect("no panic");
    assert_eq!((summary.interrupted, summary.killed), (0, 0), "{summary}");
    let [begins, ends] = &logs.lines("INFO")[..] else { panic!("{}", logs.text()) };
    assert!(begins.contains("running=1 streams=1 deadline=20s"), "{begins}");
    assert!(ends.contains("1 finished, 0 interrupted, 0 killed"), "{ends}");
}

#[tokio::test]
async fn the_trace_tells_what_became_of_the_notifications_of_a_stream() {
    let (logs, _guard) = Logs::record(tracing::Level::DEBUG);
    let fixture = start(Options::new(), ALL).await;
    let (mut client, _) = fixture.open(json!({"toolsListChanged": true})).await;
    // The test has the only thread: nothing is written in between.
    for _ in 0..3 {
        fixture.server.mcp.notify_tools_changed();
    }
    client.read_event().await.expect("one of three");
    fixture.order(Order::Stop(ExitReason::Normal)).await;
    expect_teardown(&mut client).await;
    fixture.server.await_no_process("request").await;
    let lines = logs.lines("DEBUG");
    let told = lines.iter().find(|line| line.contains("the stream ended")).expect("a line");
    // The acknowledgement counts.
    for part in ["delivered=2", "coalesced=2", "dropped=0", "waiting=0", "request subscriptions/listen #1"] {
        assert!(told.contains(part), "{part} in {told}");
    }
}
