//! The test kit, on itself: what its documentation promises, under a paused clock.

use std::time::Duration;

use ractor_mcp::Grant;
use ractor_mcp::otp::{ExitReason, Tag};
use ractor_mcp::prelude::*;
use ractor_mcp::testing::{TestChannel, TestServer, assert_tree};
use ractor_mcp::wire::{LogLevel, Request, ServerCapabilities};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::Instant;

use crate::support::fixture;

/// Sends more than any buffer holds, then answers.
async fn flood(_: NoArguments, call: Call) -> Result<String, ToolError> {
    for step in 0..1000 {
        call.progress(step, 1000, Some(&*"x".repeat(1000))).await?;
    }
    Ok("read".to_owned())
}

async fn logs(_: NoArguments, call: Call) -> Result<String, ToolError> {
    call.log(LogLevel::Debug, "small").await?;
    call.log(LogLevel::Error, "great").await?;
    Ok(format!("{:?}", call.meta().client_capabilities.elicitation_form()))
}

#[tokio::test(start_paused = true)]
async fn progress_comes_in_order_and_before_the_answer() {
    let client = TestServer::start(fixture::suite()).await.connect().await;
    let answer = client.call_tool("slow", json!({"ms": 300})).progress_token("p").await;
    assert!(answer.is_stream());
    let steps: Vec<_> = answer.progress().map(|step| step["progress"].clone()).collect();
    assert_eq!(steps, [0.0, 100.0, 200.0]);
    assert!(answer.progress().all(|step| step["progressToken"] == "p"));
    assert_eq!((answer.messages().len(), answer.text()), (4, "worked for 300 ms"));
}

#[tokio::test(start_paused = true)]
async fn ten_minutes_of_work_take_no_time_and_keep_alives_are_not_events() {
    let (client, began) = (TestServer::start(fixture::suite()).await.connect().await, Instant::now());
    let mut call = client.call_tool("slow", json!({"ms": 600_000})).start().await;
    assert_eq!(call.next_raw_event().await.as_deref(), Some(":"));
    let answer = call.next_event().await.expect("an answer");
    assert_eq!(answer["id"], 1);
    assert_eq!(call.next_event().await, None);
    assert_eq!(began.elapsed().as_secs(), 600);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_hangs_up_cancels_and_the_client_goes_on() {
    let server = TestServer::start(fixture::suite()).await;
    let client = server.connect().await;
    let call = client.call_tool("slow", json!({"ms": 60_000})).start().await;
    server.pid_of("request tools/call slow").await;
    assert_tree!(call.connection(), "connection\n└─ request tools/call slow #1");
    let connection = call.connection().clone();
    call.hang_up();
    assert_eq!(
        server.await_exit("request tools/call slow").await,
        ExitReason::ShutdownWith(Tag::CLIENT_DISCONNECTED)
    );
    server.await_none("connection").await;
    assert!(!connection.is_alive());
    assert_eq!(client.call_tool("echo", json!({"text": "here"})).await.text(), "here");
}

/// Accepts every subscription.
struct Listening;

impl Handler for Listening {
    type State = ();
    type Message = ();

    async fn init(&self, _: &Channel<()>) -> Result<(), RpcError> {
        Ok(())
    }

    async fn handle_request(
        &self,
        request: Request,
        _: &Channel<()>,
        (): &mut (),
    ) -> Result<Reply, RpcError> {
        match request {
            Request::Listen(listen) => Ok(Reply::subscribe(Grant::new(listen.notifications))),
            other => Err(RpcError::method_not_found(other.method())),
        }
    }

    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::new().tools(true)
    }
}

#[tokio::test(start_paused = true)]
async fn n3_a_stream_is_acknowledged_told_and_torn_down_by_a_shutdown() {
    let server = TestServer::start(Listening).await;
    let client = server.connect().await;
    let filter = json!({"notifications": {"toolsListChanged": true}});
    let mut stream = client.request("subscriptions/listen", filter).start().await;
    let mut methods = Vec::new();
    for _ in 0..2 {
        let event = stream.next_event().await.expect("an event");
        methods.push(event["method"].clone());
        server.mcp().notify_tools_changed();
    }
    assert_eq!(methods, ["notifications/subscriptions/acknowledged", "notifications/tools/list_changed"]);
    server.mcp().shutdown(Duration::from_secs(10)).await;
    let end = stream.answer().await;
    let last = end.notifications().last().expect("a farewell");
    assert_eq!(last["method"], "notifications/cancelled");
    assert_eq!(end.result()["resultType"], "complete");
}

#[tokio::test(start_paused = true)]
async fn requests_at_the_same_time_have_a_connection_each_which_is_kept() {
    let server = TestServer::start(fixture::suite()).await;
    let client = server.connect().await;
    let [first] = &client.idle_connections()[..] else { panic!("one connection: {client:?}") };
    let slow = client.call_tool("slow", json!({"ms": 100})).start().await;
    assert_eq!(slow.connection(), first);
    assert_eq!(client.call_tool("echo", json!({"text": "meanwhile"})).await.text(), "meanwhile");
    assert_eq!(slow.answer().await.text(), "worked for 100 ms");
    assert_eq!(client.idle_connections().len(), 2);
    server.await_tree(first, "connection").await;
}

#[tokio::test(start_paused = true)]
async fn a_client_that_stops_reading_holds_its_handler_and_no_other() {
    let suite = fixture::suite().tool("flood", flood);
    let server = TestServer::start(suite).await;
    let client = server.connect().await;
    let mut call = client.call_tool("flood", json!({})).progress_token(1).start().await;
    call.next_event().await.expect("a first event");
    call.stall();
    tokio::time::sleep(Duration::from_secs(20)).await;
    assert!(server.has("request tools/call flood"));
    assert_eq!(client.call_tool("echo", json!({"text": "free"})).await.text(), "free");
    call.resume();
    let answer = call.answer().await;
    assert_eq!((answer.progress().count(), answer.text()), (1000, "read"));
}

#[tokio::test(start_paused = true)]
async fn a_client_that_reads_nothing_for_the_stall_time_is_given_up() {
    let server = TestServer::start(fixture::suite().tool("flood", flood)).await;
    let client = server.connect().await;
    let mut call = client.call_tool("flood", json!({})).progress_token(1).start().await;
    assert_eq!(call.status().await, 200);
    call.stall();
    let reason = server.await_exit("request tools/call flood").await;
    assert_eq!(reason.to_string(), "shutdown: stalled");
    call.resume();
    call.try_answer().await.expect_err("the connection is gone");
}

#[tokio::test(start_paused = true)]
async fn a_request_says_what_its_builder_was_told() {
    let client = TestServer::start(fixture::suite().tool("logs", logs)).await.connect().await;
    let silent = client.call_tool("logs", json!({})).await;
    assert_eq!((silent.logs().count(), silent.text()), (0, "false"));
    let call = client.call_tool("logs", json!({})).log_level(LogLevel::Error).id("seven");
    let loud = call.client_capabilities(json!({"elicitation": {}})).await;
    assert_eq!(loud.logs().map(|log| log["data"].clone()).collect::<Vec<_>>(), ["great"]);
    assert_eq!((loud.response()["id"].as_str(), loud.text()), (Some("seven"), "true"));
    let whole = client.call_tool("logs", json!({})).log_level(LogLevel::Debug);
    assert!(!whole.accept("application/json").await.is_stream());
}

#[tokio::test(start_paused = true)]
async fn what_the_checks_refuse_is_refused() {
    let client = TestServer::start(fixture::suite()).await.connect().await;
    let list = || client.request("tools/list", json!({}));
    assert_eq!(list().without_header("mcp-method").await.status(), 400);
    assert_eq!(list().header("host", "example.com").await.status(), 403);
    assert_eq!(list().accept("text/html").await.status(), 406);
    assert_eq!(client.post("{").await.code(), -32700);
    assert_eq!(client.request("no/such", json!({})).await.code(), -32601);
    let unnamed = client.call_tool("grüße", json!({})).await;
    assert_ne!(unnamed.code(), -32020, "the name was encoded: {unnamed}");
    assert_eq!(client.notify("notifications/progress", json!({})).await.status(), 202);
}

#[tokio::test(start_paused = true)]
async fn raw_bytes_go_out_and_come_in_as_they_are() {
    let server = TestServer::start(fixture::suite()).await;
    let mut raw = server.connect_raw().await;
    raw.write_all(b"GET /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    raw.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 405 Method Not Allowed\r\n"), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn a_failure_tells_what_was_expected_what_was_found_where_and_the_tree() {
    let server = TestServer::start(fixture::suite()).await;
    let boom = server.connect().await.call_tool("boom", json!({})).await;
    let failed = tokio::spawn(async move { boom.text().to_owned() }).await;
    let message = failed.unwrap_err().into_panic();
    let message = message.downcast_ref::<String>().expect("a text");
    for part in [
        "request tools/call boom, made at tests/tree/kit.rs:",
        "expected: a result",
        "-32603",
        "├─ listeners",
    ] {
        assert!(message.contains(part), "`{part}` is not in {message}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_channel_without_a_server_records_what_is_sent_and_hands_on_what_comes() {
    let mut test = TestChannel::<u32>::start("tools/call").await;
    let channel = test.channel().clone();
    channel.send_progress(0.5, 1.0, "half").await.unwrap();
    channel.send_log(LogLevel::Info, "hello", None).await.unwrap();
    assert!(test.is_stream());
    let methods: Vec<_> = test.sent().iter().map(|sent| sent["method"].clone()).collect();
    assert_eq!(methods, ["notifications/progress", "notifications/message"]);

    channel.send_after(Duration::from_secs(3600), 7);
    assert_eq!(test.next_message().await, 7);
    channel.send_error(RpcError::method_not_found("tools/call")).unwrap();
    assert_eq!(test.answer().expect("an answer")["error"]["code"], -32601);
    assert!(channel.is_closed());

    let test = TestChannel::<()>::start("tools/call").await;
    test.hang_up();
    assert!(test.channel().send_progress(1.0, None, None).await.is_err());
    assert_eq!(test.channel().pid().join().await, ExitReason::ShutdownWith(Tag::CLIENT_DISCONNECTED));
}

#[tokio::test(start_paused = true)]
async fn resources_are_read_and_prompts_filled_in_as_tools_are_called() {
    let suite = Suite::new("s", "1")
        .resource("doc://a", || async { "read me" })
        .prompt("ask", || async { "ask them" });
    let client = TestServer::start(suite).await.connect().await;
    let read = client.read_resource("doc://a").await;
    assert_eq!((read.text(), &read.result()["contents"][0]["uri"]), ("read me", &json!("doc://a")));
    assert_eq!(client.get_prompt("ask", json!({})).await.text(), "ask them");
    assert_eq!(client.read_resource("doc://b").await.code(), -32602);
    assert_eq!(client.get_prompt("none", json!({})).await.code(), -32602);
}
