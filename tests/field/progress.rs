//! Progress, log, cancel (H1, H3, H6, H8).

use std::sync::Arc;

use ractor_mcp::prelude::*;
use ractor_mcp::wire::LogLevel;
use serde_json::json;
use tokio::sync::{Notify, mpsc};

use crate::support::{Post, Server, call, fixture, notification};

#[tokio::test]
async fn h1_progress_has_the_token_that_was_given_or_there_is_none() {
    let server = Server::start(fixture::suite()).await;
    let post = call("slow", json!({"ms": 100}));
    let none = server.send(post.clone()).await;
    assert_eq!(none.messages().len(), 1);
    for token in ["0", "\"\"", "\"7\"", "7", "-0", "9007199254740993"] {
        // As text: `Value` keeps no `-0`.
        let body = post.clone().progress(json!("TOKEN")).body;
        let body = String::from_utf8(body).expect("JSON").replace("\"TOKEN\"", token);
        let response = server.send(post.clone().body(body)).await;
        let echoed = format!("\"progressToken\":{token},");
        assert!(response.body.contains(&echoed), "{echoed} in {}", response.body);
    }
}

/// PROG-07.
#[tokio::test]
async fn h3_a_handle_is_dead_once_the_answer_is_queued() {
    let (told, mut tells) = mpsc::unbounded_channel();
    let answered = Arc::new(Notify::new());
    let gate = Arc::clone(&answered);
    let leaks = move |_: NoArguments, call: Call| {
        let (told, gate) = (told.clone(), Arc::clone(&gate));
        async move {
            call.progress(1, None, None).await?;
            let kept = call.clone();
            // Not a task of the call, which would end with it.
            tokio::spawn(async move {
                gate.notified().await;
                let _ = told.send((kept.progress(2, None, None).await, kept.is_closed()));
            });
            Ok::<_, ToolError>("answered")
        }
    };
    let server = Server::start(Suite::new("leaks", "1").tool("leaks", leaks)).await;
    let mut client = server.client().await;
    let response = client.send(&call("leaks", json!({})).progress(json!(1))).await;
    answered.notify_one();
    let (sent, closed) = tells.recv().await.expect("the task reports");
    assert!(sent.is_err() && closed);
    assert_eq!(response.messages().len(), 2, "one step, one answer: {}", response.body);
    let next = client.send(&call("leaks", json!({}))).await;
    assert_eq!(next.text(), "answered", "the connection carries nothing else");
}

#[tokio::test]
async fn h6_notifications_are_taken_without_the_checks_meant_for_requests() {
    let server = Server::start(fixture::suite()).await;
    let cancelled = || notification("notifications/cancelled", json!({"requestId": 1}));
    for post in [
        cancelled(),
        cancelled()
            .header("Mcp-Method", "notifications/cancelled")
            .header("MCP-Protocol-Version", "2026-07-28"),
        notification("notifications/unheard_of", json!({})),
        Post::raw(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#),
    ] {
        let taken = server.send(post.clone()).await;
        assert_eq!((taken.status, taken.body.as_str()), (202, ""), "{post:?}");
    }
}

#[tokio::test]
async fn h8_logs_go_only_to_requests_that_ask_and_only_from_their_level_on() {
    async fn logs(_: NoArguments, call: Call) -> Result<&'static str, ToolError> {
        for level in [LogLevel::Info, LogLevel::Warning, LogLevel::Error] {
            call.log(level, "something").await?;
        }
        Ok("logged")
    }
    let server = Server::start(Suite::new("logs", "1").tool("logs", logs)).await;
    let level =
        |level: &str| call("logs", json!({})).with_meta("io.modelcontextprotocol/logLevel", json!(level));
    assert_eq!(server.send(call("logs", json!({}))).await.messages().len(), 1);
    assert_eq!(server.send(level("warning")).await.messages().len(), 3);
    assert_eq!(server.send(level("verbose")).await.code(), -32602);
}
