//! Graceful shutdown (C1, C2, C3, C7, C8).

use std::sync::Arc;
use std::time::{Duration, Instant};

use ractor_mcp::Options;
use ractor_mcp::otp::ExitReason;
use ractor_mcp::prelude::*;
use serde_json::json;

use crate::support::logs::Logs;
use crate::support::{Server, Summary, call, fixture, request, shut_down};

#[tokio::test]
async fn c1_streams_that_never_end_do_not_block_a_shutdown() {
    let server = Server::start(fixture::suite()).await;
    let mut endless = Vec::new();
    for _ in 0..20 {
        let mut stream = server.client().await;
        stream.write(&call("slow", json!({"ms": 600_000})).progress(json!(1))).await;
        stream.read_head().await;
        endless.push(stream);
    }
    let mut short = server.client().await;
    short.write(&call("slow", json!({"ms": 300})).id("\"short\"")).await;
    server.await_process("request tools/call slow #\"short\"").await;
    let stopping = shut_down(&server, Duration::from_secs(1));
    assert_eq!(short.read_response().await.text(), "worked for 300 ms");
    for stream in &mut endless {
        let mut last = None;
        while let Some(event) = stream.read_event().await {
            last = Some(event);
        }
        assert_eq!(last.expect("an answer")["error"]["code"], -32603);
        assert!(stream.read_to_end().await.is_empty(), "the connection is closed");
    }
    let summary: Summary = stopping.await.expect("no panic");
    assert_eq!((summary.running, summary.interrupted, summary.killed), (21, 20, 0), "{summary}");
    assert_eq!(server.mcp.stopped().await, ExitReason::Shutdown);
}

#[tokio::test]
async fn c2_a_stream_in_flight_is_finished_and_an_idle_connection_is_told_to_come_again() {
    let server = Server::start(fixture::suite()).await;
    let mut idle = server.client().await;
    assert_eq!(idle.send(&request("tools/list", json!({}))).await.status, 200);
    let mut busy = server.client().await;
    busy.write(&call("slow", json!({"ms": 500})).progress(json!(1))).await;
    busy.read_head().await;
    busy.read_event().await.expect("progress");

    let stopping = shut_down(&server, Duration::from_secs(20));
    // The first step of a drain.
    server.await_no_process("acceptor").await;
    let refused = idle.send(&request("tools/list", json!({}))).await;
    assert_eq!((refused.status, refused.code()), (503, 503));
    assert!(refused.header("retry-after").is_some());
    assert_eq!(refused.header("connection"), Some("close"));
    assert!(idle.read_to_end().await.is_empty());

    let mut events = Vec::new();
    while let Some(event) = busy.read_event().await {
        events.push(event);
    }
    let answer = events.pop().expect("an answer");
    assert_eq!(answer["result"]["content"][0]["text"], "worked for 500 ms");
    assert_eq!(events.len(), 4, "the progress that was left, too");
    let summary = stopping.await.expect("no panic");
    assert_eq!((summary.interrupted, summary.killed), (0, 0), "{summary}");
}

#[tokio::test]
async fn c3_a_server_is_stopped_by_its_handle_and_its_neighbour_goes_on() {
    let (one, two) = (Server::start(fixture::suite()).await, Server::start(fixture::suite()).await);
    let (mut first, mut second) = (one.client().await, two.client().await);
    first.write(&call("slow", json!({"ms": 60_000})).progress(json!(1))).await;
    second.write(&call("slow", json!({"ms": 300})).progress(json!(1))).await;
    first.read_head().await;
    second.read_head().await;
    let summary = one.mcp.shutdown(Duration::ZERO).await;
    assert_eq!((summary.running, summary.interrupted), (1, 1), "{summary}");
    assert!(!one.mcp.pid().is_alive());
    let mut last = None;
    while let Some(event) = second.read_event().await {
        last = Some(event);
    }
    assert_eq!(last.expect("an answer")["result"]["content"][0]["text"], "worked for 300 ms");
    assert_eq!(two.send(call("echo", json!({"text": "here"}))).await.text(), "here");
}

/// The tool holds a worker thread until the test lets it go: nothing can interrupt or kill it.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn c7_blocking_work_is_left_behind_in_time_and_named() {
    let (logs, _guard) = Logs::record(tracing::Level::ERROR);
    let (release, held) = std::sync::mpsc::channel::<()>();
    let held = Arc::new(std::sync::Mutex::new(held));
    let block = move |_: NoArguments| {
        let held = Arc::clone(&held);
        async move {
            let _ = held.lock().expect("no panic").recv();
        }
    };
    let options = Options::new().close_time(Duration::from_millis(50));
    let server = Server::start_with(Suite::new("blocking", "1").tool("block", block), options).await;
    let mut client = server.client().await;
    client.write(&call("block", json!({}))).await;
    server.await_process("request tools/call block").await;
    let began = Instant::now();
    let summary = server.mcp.shutdown(Duration::from_millis(100)).await;
    assert!(began.elapsed() < Duration::from_secs(15), "bounded: {:?}", began.elapsed());
    assert_eq!(summary.stuck, ["request tools/call block #1"], "{summary}");
    let told = logs.lines("ERROR").join("\n");
    assert!(told.contains("request tools/call block #1"), "{told}");
    drop(release);
}

#[tokio::test]
async fn c8_a_generous_limit_is_not_waited_out() {
    let server = Server::start(fixture::suite()).await;
    let mut client = server.client().await;
    client.write(&call("slow", json!({"ms": 200}))).await;
    server.await_process("request").await;
    let began = Instant::now();
    let summary = server.mcp.shutdown(Duration::from_secs(600)).await;
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    assert_eq!((summary.running, summary.interrupted), (1, 0), "{summary}");
    assert_eq!(client.read_response().await.text(), "worked for 200 ms");
}

/// The limit for calls and the limit for their clean-up are two. What the first leaves is named, what the second leaves counted.
#[tokio::test]
async fn c8_clean_up_has_a_limit_of_its_own() {
    let (logs, _guard) = Logs::record(tracing::Level::INFO);
    let stubborn = |_: NoArguments, call: Call| async move {
        call.uninterrupted(std::future::pending::<()>()).await;
    };
    let options = Options::new().close_time(Duration::from_millis(50));
    let suite = Suite::new("limits", "1").tool("stubborn", stubborn).tool("slow", fixture::slow);
    let server = Server::start_with(suite, options).await;
    let (mut one, mut two) = (server.client().await, server.client().await);
    one.write(&call("stubborn", json!({}))).await;
    two.write(&call("slow", json!({"ms": 300}))).await;
    server.await_process("request tools/call stubborn").await;
    server.await_process("request tools/call slow").await;
    let summary = server.mcp.shutdown(Duration::from_secs(1)).await;
    assert_eq!((summary.running, summary.interrupted, summary.killed), (2, 1, 1), "{summary}");
    let warned = logs.lines("WARN");
    let left: Vec<_> = warned.iter().filter(|told| told.contains("not finished in time")).collect();
    assert!(left.len() == 1 && left[0].contains("request tools/call stubborn #1"), "{warned:?}");
    let told = logs.lines("INFO").pop().expect("the end");
    assert!(told.contains("1 finished, 1 interrupted, 1 killed"), "{told}");
    assert_eq!(two.read_response().await.text(), "worked for 300 ms");
    assert_eq!(one.read_response().await.code(), -32603);
}
