//! Time and number of calls are limited per tool.

use std::sync::Arc;
use std::time::Duration;

use ractor_mcp::otp::{ExitReason, Tag};
use ractor_mcp::prelude::*;
use ractor_mcp::suite::{PromptArguments, TOOL_BUSY};
use ractor_mcp::testing::TestServer;
use ractor_mcp::wire::{Prompt, ResourceTemplate};
use serde_json::json;
use tokio::sync::{Semaphore, mpsc};

use crate::support::logs::Logs;
use crate::support::{Server, call, fixture, next_request, request};

async fn never(_: NoArguments) {
    std::future::pending::<()>().await;
}

#[tokio::test]
async fn a_tool_whose_time_is_over_is_interrupted_and_says_so_to_the_model() {
    let spec = tool(never).timeout(Duration::from_millis(50));
    let server = Server::start(Suite::new("s", "1").tool("never", spec)).await;
    let mut exits = server.mcp.exits();
    let response = server.send(call("never", json!({}))).await;
    assert_eq!(response.result()["isError"], true);
    assert_eq!(response.text(), "the tool `never` did not finish within 50ms and was interrupted");
    let exit = exits.next().await.unwrap().unwrap();
    assert_eq!(exit.reason, ExitReason::ShutdownWith(Tag::EXPIRED));
}

#[tokio::test]
async fn h9_what_must_not_be_cut_is_finished_after_the_time_is_over() {
    let (told, mut tells) = mpsc::unbounded_channel();
    let (go, gone) = tokio::sync::watch::channel(false);
    let write = move |_: NoArguments, call: Call| {
        let (told, mut gone) = (told.clone(), gone.clone());
        async move {
            call.uninterrupted(async {
                gone.wait_for(|gone| *gone).await.unwrap();
                told.send("finished").unwrap();
            })
            .await;
            std::future::pending::<()>().await;
        }
    };
    let spec = tool(write).timeout(Duration::from_millis(50));
    let server = Server::start(Suite::new("s", "1").tool("write", spec)).await;
    assert_eq!(server.send(call("write", json!({}))).await.result()["isError"], true);
    go.send(true).unwrap();
    assert_eq!(tells.recv().await, Some("finished"));
}

#[tokio::test]
async fn h9_a_tool_that_returns_after_its_time_is_no_bug_of_it() {
    let (logs, _guard) = Logs::record(tracing::Level::WARN);
    let go = Arc::new(Semaphore::new(0));
    let gone = Arc::clone(&go);
    let write = move |_: NoArguments, call: Call| {
        let gone = Arc::clone(&gone);
        async move { call.uninterrupted(async { gone.acquire().await.is_ok() }).await }
    };
    let spec = tool(write).description("Writes.").timeout(Duration::from_millis(50));
    let server = Server::start(Suite::new("s", "1").tool("write", spec)).await;
    let mut exits = server.mcp.exits();
    assert_eq!(server.send(call("write", json!({}))).await.result()["isError"], true);
    go.add_permits(1);
    assert_eq!(next_request(&mut exits).await.reason, ExitReason::ShutdownWith(Tag::EXPIRED));
    let warnings = logs.lines("WARN");
    assert!(matches!(&*warnings, [line] if line.contains("did not finish in time")), "{warnings:?}");
}

#[tokio::test(start_paused = true)]
async fn calls_whose_time_is_over_are_told_once_a_second_with_how_many_were_not() {
    let (logs, _guard) = Logs::record(tracing::Level::WARN);
    let limit = Duration::from_millis(50);
    let spec = tool(never).description("Never ends.").timeout(limit);
    let suite = Suite::new("s", "1")
        .tool("never", spec)
        .prompt("never", prompt(std::future::pending::<String>).timeout(limit));
    let server = TestServer::start(suite).await;
    let client = server.connect().await;
    for _ in 0..2 {
        assert!(client.call_tool("never", json!({})).await.is_error());
    }
    client.get_prompt("never", json!({})).await;
    tokio::time::advance(Duration::from_secs(1)).await;
    client.call_tool("never", json!({})).await;
    let told = logs.lines("WARN");
    assert_eq!(told.len(), 2, "{told:#?}");
    assert!(told.iter().all(|line| line.contains("did not finish in time")), "{told:#?}");
    assert!(!told[0].contains("untold") && told[1].contains("untold=2"), "{told:#?}");
}

/// Words of which none is ever found.
struct Lost;

impl ResourceRepo for Lost {
    type Key = String;
    type Cursor = ();
    type Output = String;

    fn template(&self) -> ResourceTemplate {
        ResourceTemplate::new("lost://{word}", "lost")
    }

    async fn read(&self, _: String, _: &Call) -> Result<String, ToolError> {
        std::future::pending().await
    }

    async fn complete(&self, _: Completing, _: &Call) -> Result<Vec<String>, ToolError> {
        std::future::pending().await
    }

    fn timeout(&self) -> Option<Duration> {
        Some(Duration::from_millis(50))
    }
}

impl PromptRepo for Lost {
    type Cursor = ();
    type Output = String;

    fn prefix(&self) -> String {
        "lost_".to_owned()
    }

    async fn list(&self, _: Option<()>, _: &Call) -> Result<Page<Prompt, ()>, ToolError> {
        Ok(Vec::new().into())
    }

    async fn get(&self, _: &str, _: PromptArguments, _: &Call) -> Result<String, ToolError> {
        std::future::pending().await
    }

    fn timeout(&self) -> Option<Duration> {
        Some(Duration::from_millis(50))
    }
}

#[tokio::test]
async fn a_resource_or_a_prompt_whose_time_is_over_is_interrupted_and_answered_with_an_error() {
    let (limit, never) = (Duration::from_millis(50), std::future::pending::<String>);
    let suite = Suite::new("s", "1")
        .resource("never://ends", resource(never).timeout(limit))
        .resource_repo(Lost)
        .prompt("never", prompt(never).timeout(limit))
        .prompt_repo(Lost);
    let server = Server::start(suite).await;
    let mut exits = server.mcp.exits();
    for (method, params, what) in [
        ("resources/read", json!({"uri": "never://ends"}), "resource"),
        ("resources/read", json!({"uri": "lost://word"}), "resource"),
        ("prompts/get", json!({"name": "never"}), "prompt"),
        ("prompts/get", json!({"name": "lost_word"}), "prompt"),
    ] {
        let response = server.send(request(method, params)).await;
        assert_eq!((response.status, response.code()), (200, -32603));
        let message = format!("the {what} did not finish within 50ms and was interrupted");
        assert_eq!(response.answer()["error"]["message"], message);
        assert_eq!(next_request(&mut exits).await.reason, ExitReason::ShutdownWith(Tag::EXPIRED));
    }
}

/// Takes 1 s.
async fn second() -> &'static str {
    tokio::time::sleep(Duration::from_secs(1)).await;
    "done"
}

#[tokio::test(start_paused = true)]
async fn request_time_is_that_of_each_use_without_a_timeout_of_its_own() {
    let (limit, longer) = (Duration::from_millis(50), Duration::from_secs(2));
    let suite = Suite::new("s", "1")
        .tool("never", never)
        .tool("longer", tool(second).timeout(longer))
        .tool("shorter", tool(second).timeout(limit / 2))
        .resource("never://ends", std::future::pending::<String>)
        .resource("second://long", resource(second).timeout(longer))
        .prompt("never", std::future::pending::<String>)
        .prompt("longer", prompt(second).timeout(longer))
        .resource_repo(Lost);
    let server = TestServer::start_with(suite, Options::new().request_time(limit)).await;
    let client = server.connect().await;
    let over = |what: &str| format!("the {what} did not finish within 50ms and was interrupted");

    let answer = client.call_tool("never", json!({})).await;
    assert_eq!((answer.is_error(), answer.text()), (true, &*over("tool `never`")));
    let shorter = client.call_tool("shorter", json!({})).await;
    assert_eq!(shorter.text(), "the tool `shorter` did not finish within 25ms and was interrupted");
    let resource = client.read_resource("never://ends").await;
    assert_eq!((resource.code(), &resource.error()["message"]), (-32603, &json!(over("resource"))));
    let prompt = client.get_prompt("never", json!({})).await;
    assert_eq!((prompt.code(), &prompt.error()["message"]), (-32603, &json!(over("prompt"))));
    let completion = json!({
        "ref": {"type": "ref/resource", "uri": "lost://{word}"},
        "argument": {"name": "word", "value": ""},
    });
    let completion = client.request("completion/complete", completion).await;
    assert_eq!((completion.code(), &completion.error()["message"]), (-32603, &json!(over("request"))));
    for _ in 0..5 {
        assert_eq!(server.await_exit("request").await, ExitReason::ShutdownWith(Tag::EXPIRED));
    }

    assert_eq!(client.call_tool("longer", json!({})).await.text(), "done");
    let read = client.read_resource("second://long").await;
    assert_eq!(read.result()["contents"][0]["text"], "done");
    let filled = client.get_prompt("longer", json!({})).await;
    assert_eq!(filled.result()["messages"][0]["content"]["text"], "done");
}

#[tokio::test]
async fn a_timeout_of_no_time_is_refused_at_the_start() {
    let suite = Suite::new("s", "1")
        .tool("never", tool(never).timeout(Duration::ZERO))
        .resource("never://ends", resource(async || "").timeout(Duration::ZERO))
        .prompt("never", prompt(async || "").timeout(Duration::ZERO));
    let told = McpSupervisor::start(suite).await.unwrap_err().to_string();
    assert_eq!(told.matches("its timeout is 0").count(), 3, "{told}");
}

#[tokio::test]
async fn a_tool_that_is_in_time_answers_and_its_timer_is_gone_with_it() {
    let spec = tool(fixture::echo).timeout(Duration::from_secs(3600));
    let server = Server::start(Suite::new("s", "1").tool("echo", spec)).await;
    let mut exits = server.mcp.exits();
    assert_eq!(server.send(call("echo", json!({"text": "in time"}))).await.text(), "in time");
    let exit = exits.next().await.unwrap().unwrap();
    assert_eq!(exit.reason, ExitReason::ShutdownWith(Tag::REPLY));
}

#[tokio::test]
async fn d7_a_call_beyond_the_limit_of_its_tool_is_refused_at_once_and_may_be_sent_again() {
    let (started, mut starts) = mpsc::unbounded_channel();
    let gate = Arc::new(Semaphore::new(0));
    let waits = {
        let gate = Arc::clone(&gate);
        move |_: NoArguments| {
            let (started, gate) = (started.clone(), Arc::clone(&gate));
            async move {
                started.send(()).unwrap();
                gate.acquire().await.unwrap().forget();
                "done"
            }
        }
    };
    let suite = fixture::suite().tool("wait", tool(waits).max_concurrent(2));
    let server = Server::start(suite).await;
    let (mut one, mut two) = (server.client().await, server.client().await);
    for client in [&mut one, &mut two] {
        client.write(&call("wait", json!({}))).await;
        starts.recv().await.unwrap();
    }
    let refused = server.send(call("wait", json!({}))).await;
    assert_eq!((refused.status, refused.code()), (200, TOOL_BUSY));
    let error = &refused.answer()["error"];
    assert!(error["message"].as_str().unwrap().contains("`wait` runs 2 calls"), "{error}");
    assert_eq!(error["data"]["maxConcurrent"], 2);
    assert_eq!(server.send(call("echo", json!({"text": "others run"}))).await.text(), "others run");

    let request = server.await_process("request tools/call wait").await;
    gate.add_permits(1);
    request.join().await;
    gate.add_permits(2);
    assert_eq!(server.send(call("wait", json!({}))).await.text(), "done");
    assert_eq!(one.read_response().await.text(), "done");
    assert_eq!(two.read_response().await.text(), "done");
}

#[tokio::test]
async fn a_call_that_crashes_or_is_killed_gives_its_place_back() {
    async fn boom(_: NoArguments) -> String {
        panic!("boom")
    }
    let suite = Suite::new("s", "1")
        .tool("boom", tool(boom).max_concurrent(1))
        .tool("never", tool(never).max_concurrent(1));
    let server = Server::start(suite).await;
    for _ in 0..3 {
        assert_eq!(server.send(call("boom", json!({}))).await.code(), -32603);
    }
    for _ in 0..3 {
        let mut client = server.client().await;
        client.write(&call("never", json!({}))).await;
        let request = server.await_process("request tools/call never").await;
        request.kill();
        assert_eq!(client.read_response().await.code(), -32603);
        request.join().await;
    }
}

/// A state that takes its time to be dropped.
#[derive(Default)]
struct Slow;

impl Drop for Slow {
    fn drop(&mut self) {
        std::thread::sleep(Duration::from_millis(2));
    }
}

struct Alone;

impl Tool for Alone {
    type Args = NoArguments;
    type Output = &'static str;
    type State = Slow;
    type Message = ();

    async fn call(
        &self,
        _: NoArguments,
        _: &Call<()>,
        _: &mut Slow,
    ) -> Result<ToolReply<&'static str>, ToolError> {
        Ok(ToolReply::Answer("done"))
    }
}

/// What is dropped after the answer was given holds up nobody who has read it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn max_concurrent_whoever_calls_again_with_the_answer_in_hand_finds_the_place_free() {
    let server = Server::start(Suite::new("s", "1").tool("alone", tool(Alone).max_concurrent(1))).await;
    let mut client = server.client().await;
    for _ in 0..100 {
        assert_eq!(client.send(&call("alone", json!({}))).await.text(), "done");
    }
}
