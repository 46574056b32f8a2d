//! A panic costs one answer.

use ractor_mcp::otp::{CrashKind, ExitReason};
use ractor_mcp::testing::TestServer;
use serde_json::json;

use crate::support::fixture;

#[tokio::test(start_paused = true)]
async fn a_panicking_tool_answers_32603_and_leaves_its_siblings_and_its_connection_running() {
    let server = TestServer::start(fixture::suite()).await;
    let (client, neighbour) = (server.connect().await, server.connect().await);
    let sibling = neighbour.call_tool("slow", json!({"ms": 200})).start().await;
    server.pid_of("request tools/call slow").await;

    let connections = client.idle_connections();
    let boom = client.call_tool("boom", json!({})).id("boom-1");
    let answer = boom.accept("application/json").await;
    assert_eq!((answer.status(), answer.code()), (200, -32603));
    assert_eq!(answer.response()["id"], "boom-1");
    assert!(!answer.to_string().contains("secret-marker"), "nothing internal reaches a client: {answer}");

    let reason = server.await_exit("request tools/call boom").await;
    let ExitReason::Crash(crash) = reason else { panic!("{reason:?}") };
    assert_eq!(crash.kind(), CrashKind::Panic);
    assert_eq!(client.call_tool("echo", json!({"text": "still here"})).await.text(), "still here");
    assert_eq!(client.idle_connections(), connections, "the same connection");
    assert_eq!(sibling.answer().await.text(), "worked for 200 ms");
}

#[tokio::test(start_paused = true)]
async fn a_panic_with_a_payload_that_is_no_text_is_answered_too() {
    let client = TestServer::start(fixture::suite()).await.connect().await;
    assert_eq!(client.call_tool("boom_oddly", json!({})).await.code(), -32603);
}

#[tokio::test(start_paused = true)]
async fn a_killed_request_still_answers_once() {
    let server = TestServer::start(fixture::suite()).await;
    let call = server.connect().await.call_tool("slow", json!({"ms": 60_000})).start().await;
    let request = server.pid_of("request tools/call slow").await;
    request.kill();
    assert_eq!(call.answer().await.code(), -32603);
    assert_eq!(request.join().await, ExitReason::Killed);
}

#[tokio::test(start_paused = true)]
async fn a_killed_connection_takes_its_requests_along_and_nobody_else() {
    let server = TestServer::start(fixture::suite()).await;
    let client = server.connect().await;
    let one = client.call_tool("slow", json!({"ms": 60_000})).start().await;
    let two = client.call_tool("slow", json!({"ms": 60_000})).start().await;
    server.pid_of("request tools/call slow #2").await;
    let first = server.pid_of("request tools/call slow #1").await;
    one.connection().kill();
    assert_eq!(first.join().await, ExitReason::Killed);
    one.try_answer().await.expect_err("the connection is gone");
    assert_eq!(two.answer().await.text(), "worked for 60000 ms");
}
