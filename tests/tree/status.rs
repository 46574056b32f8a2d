//! What a health route can tell of a server: whether it is ready, and what of its limits is used (A5, C2).

use std::time::Duration;

use ractor_mcp::prelude::*;
use ractor_mcp::testing::TestServer;
use ractor_mcp::{Error, ServerPhase};
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::refusals::held;
use crate::support::{Server, call, fixture, listen_tools};

const DELAY: Duration = Duration::from_secs(7);

#[tokio::test]
async fn a_server_that_was_started_is_ready_and_counts_its_connections() {
    let options = Options::new().max_in_flight(20, 10).max_streams(30, 4);
    let server = Server::start_with(fixture::suite(), options).await;
    let status = server.mcp.status();
    assert!(status.is_ready());
    let shown = "serving: calls 0 of 20, lists 0 of 20, streams 0 of 30, connections 0, bytes 0 of 268435456";
    assert_eq!(status.to_string(), shown);
    let written = serde_json::to_value(status).unwrap();
    assert_eq!((&written["phase"], &written["calls"]["limit"]), (&json!("serving"), &json!(20)));

    let mut client = server.client().await;
    assert_eq!(client.send(&call("echo", json!({"text": "x"}))).await.status, 200);
    let mut piped = crate::support::Client::pipe(&server, 1024).await;
    assert_eq!(piped.send(&call("echo", json!({"text": "x"}))).await.status, 200);
    assert_eq!(server.mcp.status().connections, 2);
    drop((client, piped));
    server.await_no_process("connection").await;
    assert_eq!(server.mcp.status().connections, 0);
}

#[tokio::test(start_paused = true)]
async fn a5_a_server_that_is_full_of_calls_is_not_ready_until_one_ends() {
    let (suite, gate) = held();
    let server = TestServer::start_with(suite, Options::new().max_in_flight(2, 100)).await;
    let client = server.connect().await;
    let one = client.call_tool("wait", json!({})).id(1).start().await;
    server.pid_of("request tools/call wait #1").await;
    assert!(server.mcp().status().is_ready());
    let two = client.call_tool("wait", json!({})).id(2).start().await;
    server.pid_of("request tools/call wait #2").await;
    let status = server.mcp().status();
    assert_eq!((status.is_ready(), status.calls.to_string().as_str()), (false, "2 of 2"));
    one.hang_up();
    server.await_none("request tools/call wait #1").await;
    assert!(server.mcp().status().is_ready());
    gate.add_permits(1);
    two.answer().await;
}

#[tokio::test]
async fn a5_a_server_that_is_full_of_streams_is_not_ready_until_one_ends() {
    let options = Options::new().max_streams(1, 1);
    let server = Server::start_with(fixture::suite().list_changes(), options).await;
    let mut listening = server.client().await;
    listening.write(&listen_tools()).await;
    listening.read_head().await;
    listening.read_event().await.expect("the acknowledgement");
    let status = server.mcp.status();
    assert_eq!((status.is_ready(), status.streams.used), (false, 1));
    drop(listening);
    server.await_no_process("request").await;
    assert!(server.mcp.status().is_ready());
}

/// Whoever gives up to wait before the drain begins goes on serving.
#[tokio::test(start_paused = true)]
async fn a_shutdown_that_is_given_up_before_it_begins_was_none() {
    let server = TestServer::start_with(fixture::suite(), Options::new().drain_delay(DELAY)).await;
    let running = server.mcp().run_until(std::future::ready(()));
    tokio::time::timeout(DELAY / 2, running).await.unwrap_err();
    assert!(server.mcp().status().is_ready());
}

#[tokio::test(start_paused = true)]
async fn c2_readiness_ends_a_while_before_the_drain_begins() {
    let (suite, gate) = held();
    let options = Options::new().drain_delay(DELAY);
    let server = TestServer::of(McpSupervisor::start_with(suite, options).await.expect("a server"));
    let client = server.connect().await;
    let mcp = server.mcp().clone();
    let (began, phase) = (Instant::now(), || server.mcp().status().phase);
    let running = tokio::spawn(async move { mcp.run_until(std::future::ready(())).await });
    sleep(Duration::from_millis(10)).await;
    assert_eq!((phase(), server.mcp().status().is_ready()), (ServerPhase::Leaving, false));
    let held = client.call_tool("wait", json!({})).start().await;
    server.pid_of("request tools/call wait").await;
    server.mcp().listen("127.0.0.1:0").await.expect("it still serves");

    sleep(DELAY - Duration::from_millis(20)).await;
    assert_eq!(phase(), ServerPhase::Leaving, "{:?}", began.elapsed());
    sleep(Duration::from_millis(20)).await;
    assert_eq!((phase(), server.mcp().status().is_ready()), (ServerPhase::Draining, false));
    gate.add_permits(1);
    assert_eq!(held.answer().await.text(), "finished");
    running.await.expect("no panic").expect("an end in order");
    assert_eq!(phase(), ServerPhase::Stopped);
}

#[tokio::test(start_paused = true)]
async fn what_serve_takes_has_the_limit_of_a_listener() {
    let server = TestServer::start_with(fixture::suite(), Options::new().max_connections(1)).await;
    let first = server.connect_raw().await;
    let (ours, theirs) = tokio::io::duplex(64);
    let refused = server.mcp().serve(hyper_util::rt::TokioIo::new(theirs), None).await;
    let Err(Error::TooManyConnections { limit: 1 }) = refused else { panic!("{refused:?}") };
    assert!(refused.unwrap_err().to_string().contains("Options::max_connections"));
    drop((first, ours));
    server.await_none("connection").await;
    assert_eq!(server.connect().await.call_tool("echo", json!({"text": "x"})).await.text(), "x");
}
