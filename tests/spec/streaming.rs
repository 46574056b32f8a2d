//! Transports: response streams (SSE).

use std::sync::Arc;
use std::time::Duration;

use ractor_mcp::prelude::*;
use serde_json::json;
use tokio::sync::Notify;

use super::server;
use crate::support::{Post, Server, call};

fn stepping() -> Post {
    let steps = json!({"steps": [{"progress": 1, "message": "line\nbreak"}, {"progress": 2}]});
    call("steps", steps).progress(json!("mine"))
}

#[tokio::test]
async fn sse_01_sse_02_notifications_before_the_response_belong_to_the_request() {
    let server = server::start().await;
    let mut messages = server.send(stepping()).await.messages();
    assert!(messages.pop().expect("a response").get("result").is_some());
    assert_eq!(messages.len(), 2);
    for message in messages {
        assert_eq!(message["params"]["progressToken"], "mine");
    }
}

#[tokio::test]
async fn sse_04_the_final_response_ends_the_stream_and_leaves_the_connection() {
    let server = server::start().await;
    let mut client = server.client().await;
    client.write(&stepping()).await;
    client.read_head().await;
    while let Some(event) = client.read_event().await {
        if event.get("id").is_some() {
            assert_eq!(client.read_event().await, None, "nothing follows the response");
            break;
        }
    }
    assert_eq!(client.send(&call("echo", json!({"text": "again"}))).await.text(), "again");
}

#[tokio::test]
async fn sse_05_a_stream_asks_proxies_not_to_hold_it_back() {
    let server = server::start().await;
    let stream = server.send(stepping()).await;
    assert_eq!(stream.header("x-accel-buffering"), Some("no"));
    assert_eq!(stream.header("cache-control"), Some("no-cache, no-transform"));
    assert_eq!(stream.header("content-encoding"), None);
}

#[tokio::test]
async fn sse_06_a_silent_stream_gets_comments() {
    let go = Arc::new(Notify::new());
    let gate = Arc::clone(&go);
    let wait = move |_: NoArguments| {
        let gate = Arc::clone(&gate);
        async move { gate.notified().await }
    };
    let options = Options::new().keep_alive(Duration::from_millis(20));
    let server = Server::start_with(Suite::new("waits", "1").tool("wait", wait), options).await;
    let mut client = server.client().await;
    client.write(&call("wait", json!({}))).await;
    assert!(client.read_head().await.is_stream(), "silence makes it a stream");
    for _ in 0..3 {
        assert_eq!(client.read_chunk().await.as_deref(), Some(":\n\n"));
    }
    go.notify_one();
    let answer = client.read_event().await.expect("a response");
    assert_eq!(answer["result"]["resultType"], "complete");
    assert_eq!(client.read_event().await, None);
}

#[tokio::test]
async fn sse_11_sse_12_an_event_is_one_line_of_compact_json_without_an_id() {
    let server = server::start().await;
    let mut client = server.client().await;
    client.write(&stepping()).await;
    client.read_head().await;
    let mut events = 0;
    while let Some(event) = client.read_chunk().await {
        let json = event.strip_prefix("data: ").and_then(|rest| rest.strip_suffix("\n\n"));
        let json = json.unwrap_or_else(|| panic!("not one event: {event:?}"));
        assert!(!json.contains('\n'), "{json}");
        let parsed: serde_json::Value = serde_json::from_str(json).expect("one message");
        assert_eq!(parsed.to_string(), json, "compact");
        events += 1;
    }
    assert_eq!(events, 3);
}

#[tokio::test]
async fn sse_12_a_json_body_is_one_line_too() {
    let server = server::start().await;
    let body = server.send(call("mirrored", json!({"x": 1, "y": 2}))).await.body;
    assert!(!body.contains('\n'), "{body}");
}

#[tokio::test]
async fn sse_13_a_stream_opens_with_its_first_event_so_that_errors_before_keep_their_status() {
    let server = server::start().await;
    let early = server.send(call("samples", json!({})).progress(json!(1))).await;
    assert_eq!((early.status, early.is_stream(), early.code()), (400, false, -32021));
    let late = server.send(call("fails_late", json!({}))).await;
    assert_eq!((late.status, late.is_stream(), late.code()), (200, true, -32021));
}
