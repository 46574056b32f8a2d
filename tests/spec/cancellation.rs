//! Patterns: cancellation (CANC), and what it means for a response stream (SSE-07 to SSE-09).

use ractor_mcp::otp::{ExitReason, Tag};
use serde_json::json;

use super::server;
use crate::support::{call, notification};

#[tokio::test]
async fn canc_02_a_call_ends_without_a_cancelled_notification_whatever_ends_it() {
    let server = server::start().await;
    for tool in ["nothing", "fails", "boom", "fails_late"] {
        let response = server.send(call(tool, json!({})).progress(json!(1))).await;
        for message in response.messages() {
            assert_ne!(message["method"], "notifications/cancelled", "{tool}");
        }
    }
}

#[tokio::test]
async fn canc_03_sse_07_sse_08_a_client_that_leaves_cancels_its_request() {
    let server = server::start().await;
    for post in [
        call("slow", json!({"ms": 60_000})).json_only(),
        call("slow", json!({"ms": 60_000})).progress(json!(1)),
    ] {
        let mut client = server.client().await;
        client.write(&post).await;
        let running = server.await_process("request tools/call slow").await;
        drop(client);
        assert_eq!(running.join().await, ExitReason::ShutdownWith(Tag::CLIENT_DISCONNECTED));
    }
}

#[tokio::test]
async fn canc_05_sse_09_a_cancelled_request_is_sent_nothing_more() {
    use tokio::io::AsyncWriteExt;
    let server = server::start().await;
    let mut client = server.client().await;
    client.write(&call("slow", json!({"ms": 60_000})).progress(json!(1))).await;
    client.read_head().await;
    client.read_event().await.expect("progress");
    client.socket.shutdown().await.expect("the write side closes");
    server.await_no_process("request").await;
    let rest = String::from_utf8(client.read_to_end().await).expect("text");
    assert!(!rest.contains("\"result\"") && !rest.contains("\"error\""), "{rest}");
}

#[tokio::test]
async fn canc_07_canc_08_canc_13_a_38_a_posted_cancellation_is_taken_and_cancels_nothing() {
    let server = server::start().await;
    let mut client = server.client().await;
    client.write(&call("slow", json!({"ms": 200}))).await;
    server.await_process("request tools/call slow #1").await;
    for params in [json!({"requestId": 1}), json!({"requestId": 99}), json!({}), json!({"requestId": {}})] {
        let taken = server.send(notification("notifications/cancelled", params.clone())).await;
        assert_eq!((taken.status, taken.body.as_str()), (202, ""), "{params}");
    }
    assert_eq!(client.read_response().await.text(), "worked for 200 ms");
}

#[tokio::test]
async fn canc_09_a_client_that_leaves_as_its_answer_comes_harms_nobody() {
    let server = server::start().await;
    for _ in 0..50 {
        let mut client = server.client().await;
        client.write(&call("echo", json!({"text": "x"}))).await;
        client.reset();
    }
    server.await_no_process("connection").await;
    assert_eq!(server.send(call("echo", json!({"text": "fine"}))).await.text(), "fine");
}
