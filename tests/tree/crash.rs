//! A panic costs one answer.

use ractor_mcp::otp::{CrashKind, ExitReason};
use serde_json::json;

use crate::support::{Post, Server, call, fixture};

#[tokio::test]
async fn a_panicking_tool_answers_32603_and_leaves_its_siblings_and_its_connection_running() {
    let server = Server::start(fixture::suite()).await;
    let mut client = server.client().await;
    let mut neighbour = server.client().await;
    neighbour.write(&call("slow", json!({"ms": 200}))).await;
    let sibling = server.await_process("request tools/call slow").await;

    let mut exits = server.mcp.exits();
    let boom = call("boom", json!({})).id("\"boom-1\"").json_only();
    let response = client.send(&boom).await;
    assert_eq!((response.status, response.code()), (200, -32603));
    assert_eq!(response.answer()["id"], "boom-1");
    assert!(
        !response.body.contains("secret-marker"),
        "nothing internal reaches a client: {}",
        response.body
    );

    let exit = exits.next().await.expect("an exit").expect("none was missed");
    let ExitReason::Crash(crash) = exit.reason else {
        panic!("{:?}", exit.reason)
    };
    assert_eq!(crash.kind(), CrashKind::Panic);
    assert!(sibling.is_alive());
    assert_eq!(
        client
            .send(&call("echo", json!({"text": "same connection"})))
            .await
            .text(),
        "same connection"
    );
    assert_eq!(neighbour.read_response().await.text(), "worked for 200 ms");
}

#[tokio::test]
async fn a_panic_with_a_payload_that_is_no_text_is_answered_too() {
    let server = Server::start(fixture::suite()).await;
    assert_eq!(server.send(call("boom_oddly", json!({}))).await.code(), -32603);
}

#[tokio::test]
async fn a_killed_request_still_answers_once() {
    let server = Server::start(fixture::suite()).await;
    let mut client = server.client().await;
    client.write(&call("slow", json!({"ms": 60_000}))).await;
    let request = server.await_process("request tools/call slow").await;
    request.kill();
    assert_eq!(client.read_response().await.code(), -32603);
    assert_eq!(request.join().await, ExitReason::Killed);
}

#[tokio::test]
async fn a_killed_connection_takes_its_requests_along_and_nobody_else() {
    let server = Server::start(fixture::suite()).await;
    let (mut one, mut two) = (server.client().await, server.client().await);
    one.write(&call("slow", json!({"ms": 60_000})).id("1")).await;
    let first = server.await_process("request tools/call slow #1").await;
    two.write(&call("slow", json!({"ms": 60_000})).id("2")).await;
    let second = server.await_process("request tools/call slow #2").await;
    first.parent().expect("a connection").kill();
    assert_eq!(first.join().await, ExitReason::Killed);
    one.read_to_end().await;
    assert!(second.is_alive());
    second.kill();
}

#[tokio::test]
async fn b6_crashes_never_count_towards_a_restart_limit() {
    let server = Server::start(fixture::suite()).await;
    let listener = server.await_process("listener ").await;
    let mut client = server.client().await;
    let boom: Post = call("boom", json!({}));
    for _ in 0..100 {
        assert_eq!(client.send(&boom).await.code(), -32603);
    }
    assert!(listener.is_alive());
    assert_eq!(listener.restarts(), 0);
}
