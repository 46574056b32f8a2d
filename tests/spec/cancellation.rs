//! Patterns: cancellation (CANC), and what it means for a response stream (SSE-07 to SSE-09).

use std::sync::Arc;
use std::time::Duration;

use ractor_mcp::otp::{ExitReason, Tag};
use ractor_mcp::prelude::*;
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::sync::{Notify, mpsc};

use super::server;
use crate::support::{Response, Server, call, fixture, notification, shut_down};

/// By a result, an error, a panic, its time, a kill or a drain, and each on a stream, which could carry one.
#[tokio::test]
async fn canc_02_a_call_ends_without_a_cancelled_notification_whatever_ends_it() {
    let suite = server::suite().tool("expires", tool(fixture::slow).timeout(Duration::from_millis(20)));
    let server = Server::start(suite).await;
    let never_cancelled = |response: Response, tool: &str| {
        assert!(response.is_stream(), "{tool}: {}", response.body);
        assert!(!response.body.contains("notifications/cancelled"), "{tool}: {}", response.body);
    };
    let ends = |tool: &str| call(tool, json!({})).progress(json!(1));
    let slow = |tool: &str| call(tool, json!({"ms": 60_000})).progress(json!(1));
    for tool in ["streams", "fails_late", "fails_streaming", "boom_streaming"] {
        never_cancelled(server.send(ends(tool)).await, tool);
    }
    let expired = server.send(slow("expires")).await;
    assert_eq!(expired.result()["isError"], true, "its time is over");
    never_cancelled(expired, "expires");

    let mut client = server.client().await;
    client.write(&slow("slow")).await;
    server.await_process("request tools/call slow").await.kill();
    never_cancelled(client.read_response().await, "killed");

    client.write(&slow("slow").id("2")).await;
    server.await_process("request tools/call slow #2").await;
    shut_down(&server, Duration::ZERO);
    never_cancelled(client.read_response().await, "a drain");
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

/// What the client is sent after it has left would be there to be read: it has closed only its own side. The tool finishes all the
/// same and tries.
#[tokio::test]
async fn canc_05_sse_09_a_cancelled_request_is_sent_nothing_more() {
    let (told, mut tells) = mpsc::unbounded_channel();
    let go = Arc::new(Notify::new());
    let left = Arc::clone(&go);
    let tries = move |_: NoArguments, call: Call| {
        let (told, left) = (told.clone(), Arc::clone(&left));
        async move {
            call.progress(1, None, None).await?;
            let late = call.clone();
            call.uninterrupted(async move {
                left.notified().await;
                let _ = told.send(late.progress(2, None, None).await.is_err());
            })
            .await;
            Ok::<_, ToolError>("answered")
        }
    };
    let server = Server::start(Suite::new("tries", "1").tool("try", tries)).await;
    let mut client = server.client().await;
    client.write(&call("try", json!({})).progress(json!(1))).await;
    client.read_head().await;
    client.read_event().await.expect("progress");
    let running = server.await_process("request tools/call try").await;
    client.socket.shutdown().await.expect("the write side closes");
    running.exiting().await;
    go.notify_one();
    assert_eq!(tells.recv().await, Some(true), "late progress is refused");
    running.join().await;
    let rest = String::from_utf8(client.read_to_end().await).expect("text");
    assert!(!rest.contains("jsonrpc"), "{rest}");
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
