//! The drain, in order.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use ractor_mcp::otp::ExitReason;
use ractor_mcp::prelude::*;
use ractor_mcp::testing::TestServer;
use serde_json::json;

use crate::support::logs::Logs;
use crate::support::{Server, call, fixture, request};

#[tokio::test]
async fn running_calls_finish_the_port_is_closed_and_kept_connections_answer_503() {
    let server = Server::start(fixture::suite()).await;
    let mut idle = server.client().await;
    assert_eq!(idle.send(&request("tools/list", json!({}))).await.status, 200);
    let mut busy = server.client().await;
    busy.write(&call("slow", json!({"ms": 300}))).await;
    server.await_process("request").await;

    let mcp = server.mcp.clone();
    let stopping = tokio::spawn(async move { mcp.shutdown(Duration::from_secs(20)).await });
    server.await_no_process("acceptor").await;
    assert!(tokio::net::TcpStream::connect(server.addr).await.is_err(), "the port is closed");
    let refused = idle.send(&request("tools/list", json!({}))).await;
    assert_eq!(refused.status, 503);
    assert!(refused.header("retry-after").is_some());
    assert_eq!(refused.header("connection"), Some("close"));

    assert_eq!(busy.read_response().await.text(), "worked for 300 ms");
    let summary = stopping.await.unwrap();
    assert_eq!((summary.running, summary.interrupted, summary.killed), (1, 0, 0), "{summary}");
    assert_eq!(server.mcp.stopped().await, ExitReason::Shutdown);
}

#[tokio::test(start_paused = true)]
async fn a_drain_that_nobody_waits_for_any_more_goes_on() {
    let server = TestServer::start(fixture::suite()).await;
    let client = server.connect().await;
    let slow = client.call_tool("slow", json!({"ms": 60_000})).start().await;
    server.pid_of("request tools/call slow").await;
    let mcp = server.mcp().clone();
    tokio::select! {
        biased;
        _ = mcp.shutdown(Duration::from_secs(1)) => unreachable!("a call runs"),
        () = std::future::ready(()) => {}
    }
    assert_eq!(slow.answer().await.code(), -32603);
    assert_eq!(mcp.stopped().await, ExitReason::Shutdown);
    assert_eq!(mcp.shutdown(Duration::ZERO).await.interrupted, 1, "a second call is told of the first");
}

#[tokio::test(start_paused = true)]
async fn the_warning_of_an_interrupted_call_says_where_it_came_from() {
    let (logs, _guard) = Logs::record(tracing::Level::WARN);
    let server = TestServer::start(fixture::suite()).await;
    let client = server.connect_from("192.0.2.7:4711".parse().unwrap()).await;
    let slow = client.call_tool("slow", json!({"ms": 60_000})).start().await;
    server.pid_of("request tools/call slow").await;
    server.mcp().shutdown(Duration::ZERO).await;
    assert_eq!(slow.answer().await.code(), -32603);
    let told = logs.lines("WARN");
    let expected = "not finished in time: interrupted request=request tools/call slow #1 from 192.0.2.7:4711";
    assert!(matches!(&*told, [line] if line.ends_with(expected)), "{told:#?}");
}

/// The drain interrupts the very call that ordered it.
#[tokio::test(start_paused = true)]
async fn a_tool_may_order_the_drain() {
    let own = Arc::new(OnceLock::<McpSupervisor>::new());
    let known = Arc::clone(&own);
    let stop = move |_: NoArguments, _: Call| {
        let mcp = known.get().expect("it is set below").clone();
        async move { mcp.shutdown(Duration::from_secs(1)).await.to_string() }
    };
    let server = TestServer::start(Suite::new("stops", "1").tool("stop", stop)).await;
    let mcp = own.get_or_init(|| server.mcp().clone());
    let answer = server.connect().await.call_tool("stop", json!({})).await;
    assert_eq!(answer.code(), -32603);
    assert_eq!(mcp.stopped().await, ExitReason::Shutdown);
    assert_eq!(mcp.shutdown(Duration::ZERO).await.to_string(), "0 finished, 1 interrupted, 0 killed");
}

#[tokio::test]
async fn a_request_whose_body_arrives_after_the_drain_began_is_refused_and_runs_nothing() {
    let server = Server::start(fixture::suite()).await;
    let mut exits = server.mcp.exits();
    let mut client = server.client().await;
    let bytes = call("echo", json!({"text": "late"})).to_bytes(&server.addr.to_string());
    let (most, rest) = bytes.split_at(bytes.len() - 10);
    client.write_bytes(most).await;
    let mut busy = server.client().await;
    busy.write(&call("slow", json!({"ms": 1000}))).await;
    server.await_process("request tools/call slow").await;

    let mcp = server.mcp.clone();
    let stopping = tokio::spawn(async move { mcp.shutdown(Duration::from_secs(20)).await });
    server.await_no_process("acceptor").await;
    client.write_bytes(rest).await;
    assert_eq!(client.read_response().await.status, 503);
    assert_eq!(busy.read_response().await.text(), "worked for 1000 ms");
    stopping.await.unwrap();
    // The root ends last: whatever ran has ended before.
    loop {
        let exit = exits.next().await.expect("an exit").expect("none was missed");
        assert!(!exit.label.contains("echo"), "the late call ran: {}", exit.label);
        if exit.label == "mcp" {
            break;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_does_not_finish_in_time_is_interrupted_and_answers() {
    let server = TestServer::start(fixture::suite()).await;
    let call = server.connect().await.call_tool("slow", json!({"ms": 60_000})).start().await;
    server.pid_of("request tools/call slow").await;
    let summary = server.mcp().shutdown(Duration::from_secs(10)).await;
    assert_eq!((summary.running, summary.interrupted, summary.killed), (1, 1, 0), "{summary}");
    assert_eq!(call.answer().await.code(), -32603);
    let reason = server.await_exit("request tools/call slow").await;
    assert_eq!(reason, ExitReason::Shutdown);
}

#[tokio::test(start_paused = true)]
async fn what_does_not_let_itself_be_interrupted_is_killed() {
    use ractor_mcp::prelude::*;
    async fn stubborn(_: NoArguments, call: Call) {
        call.uninterrupted(std::future::pending::<()>()).await;
    }
    let server = TestServer::start(Suite::new("s", "1").tool("stubborn", stubborn)).await;
    let call = server.connect().await.call_tool("stubborn", json!({})).start().await;
    server.pid_of("request tools/call stubborn").await;
    let summary = server.mcp().shutdown(Duration::ZERO).await;
    assert_eq!((summary.interrupted, summary.killed), (1, 1), "{summary}");
    let reason = server.await_exit("request tools/call stubborn").await;
    assert_eq!(reason, ExitReason::Killed);
    assert_eq!(call.answer().await.code(), -32603);
}

#[tokio::test]
async fn a_second_shutdown_waits_for_the_first_and_returns_the_same() {
    let server = Server::start(fixture::suite()).await;
    let (one, two) = (server.mcp.clone(), server.mcp.clone());
    let both = tokio::join!(one.shutdown(Duration::from_secs(1)), two.shutdown(Duration::from_secs(9)));
    assert_eq!(both.0, both.1);
    assert!(matches!(server.mcp.listen("127.0.0.1:0").await, Err(ractor_mcp::Error::Stopped(_))));
}

#[tokio::test]
async fn run_until_ends_with_its_signal() {
    let server = Server::start(fixture::suite()).await;
    let (send, receive) = tokio::sync::oneshot::channel::<()>();
    let mcp = server.mcp.clone();
    let running = tokio::spawn(async move {
        mcp.run_until(async {
            let _ = receive.await;
        })
        .await
    });
    assert_eq!(server.send(request("tools/list", json!({}))).await.status, 200);
    send.send(()).unwrap();
    running.await.unwrap().expect("an ordered end is no error");
    assert!(!server.mcp.pid().is_alive());
}

/// `run_until` learns of the end of the server before whoever ordered it has the summary.
#[tokio::test]
async fn run_until_ends_well_when_another_task_shuts_down() {
    let server = Server::start(fixture::suite()).await;
    let mcp = server.mcp.clone();
    let running = tokio::spawn(async move { mcp.run_until(std::future::pending()).await });
    // The test has the only thread: it waits for the end before the shutdown does.
    tokio::task::yield_now().await;
    server.mcp.shutdown(Duration::from_secs(1)).await;
    running.await.unwrap().expect("an ordered end is no error");
}

#[tokio::test]
async fn run_until_tells_the_reason_of_an_end_that_nobody_ordered() {
    let server = Server::start(fixture::suite()).await;
    let mcp = server.mcp.clone();
    let running = tokio::spawn(async move { mcp.run_until(std::future::pending()).await });
    server.mcp.pid().exit(ExitReason::Shutdown);
    let ended = running.await.unwrap();
    assert!(matches!(ended, Err(ractor_mcp::Error::Stopped(ExitReason::Shutdown))), "{ended:?}");
}

/// A runtime of its own for a thread that orders the drain, as a signal handler might have it: without timers, and gone soon.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_drain_that_another_runtime_orders_runs_where_the_server_does() {
    let server = Server::start(fixture::suite()).await;
    let mut busy = server.client().await;
    busy.write(&call("slow", json!({"ms": 500}))).await;
    server.await_process("request tools/call slow").await;
    let mcp = server.mcp.clone();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            tokio::select! {
                biased;
                _ = mcp.shutdown(Duration::from_secs(20)) => unreachable!("a call runs"),
                () = std::future::ready(()) => {}
            }
        });
    })
    .join()
    .unwrap();
    assert_eq!(busy.read_response().await.text(), "worked for 500 ms");
    assert_eq!(server.mcp.stopped().await, ExitReason::Shutdown);
    assert_eq!(server.mcp.shutdown(Duration::ZERO).await.to_string(), "1 finished, 0 interrupted, 0 killed");
}

/// Nothing runs any more where the server ran: what is left to do is done by whoever asks.
#[test]
fn a_drain_of_a_server_whose_runtime_is_gone_ends() {
    let runtime = || tokio::runtime::Runtime::new().unwrap();
    let gone = runtime();
    let mcp = gone.block_on(async {
        let mcp = McpSupervisor::start(fixture::suite()).await.unwrap();
        mcp.listen("127.0.0.1:0").await.unwrap();
        mcp
    });
    drop(gone);
    let summary = runtime().block_on(mcp.shutdown(Duration::from_secs(1)));
    assert_eq!(summary.to_string(), "0 finished, 0 interrupted, 0 killed");
    assert!(!mcp.pid().is_alive());
}
