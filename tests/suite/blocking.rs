//! Tools on threads of their own (C7, D9): they hold up nobody, and what cannot be interrupted is known.

use std::sync::Mutex;
use std::sync::mpsc as wait;
use std::time::Duration;

use ractor_mcp::otp::testing::{LIMIT, within};
use ractor_mcp::otp::{ExitReason, Tag};
use ractor_mcp::prelude::*;
use ractor_mcp::suite::TOOL_BUSY;
use serde_json::json;
use tokio::sync::mpsc;

use crate::support::logs::Logs;
use crate::support::{Server, call, fixture};

/// A function that blocks its thread until it is told to go on, and then tells whether its call was closed.
struct Gate {
    started: mpsc::UnboundedReceiver<()>,
    go: wait::Sender<()>,
    seen: mpsc::UnboundedReceiver<bool>,
}

fn gated() -> (Gate, impl Fn(NoArguments, Call) -> &'static str + Send + Sync + 'static) {
    let (start, started) = mpsc::unbounded_channel();
    let (go, wait) = wait::channel();
    let (see, seen) = mpsc::unbounded_channel();
    let wait = Mutex::new(wait);
    let tool = move |_: NoArguments, call: Call| {
        start.send(()).unwrap();
        wait.lock().unwrap().recv_timeout(LIMIT).unwrap();
        see.send(call.is_closed()).unwrap();
        "done"
    };
    (Gate { started, go, seen }, tool)
}

#[tokio::test]
async fn d9_a_blocking_function_holds_up_nobody() {
    let (mut gate, block) = gated();
    let server = Server::start(fixture::suite().tool("block", blocking(block))).await;
    let mut client = server.client().await;
    client.write(&call("block", json!({}))).await;
    gate.started.recv().await.unwrap();
    // This test has one thread: the answer proves that the function is on another.
    assert_eq!(server.send(call("echo", json!({"text": "here"}))).await.text(), "here");
    gate.go.send(()).unwrap();
    assert_eq!(client.read_response().await.text(), "done");
    assert_eq!(gate.seen.recv().await, Some(false));
}

#[tokio::test]
async fn c7_a_blocking_function_whose_client_left_sees_it_and_keeps_its_place_until_it_returns() {
    let (mut gate, block) = gated();
    let spec = tool(blocking(block)).max_concurrent(1);
    let server = Server::start(Suite::new("block", "1").tool("block", spec)).await;
    let mut client = server.client().await;
    client.write(&call("block", json!({}))).await;
    gate.started.recv().await.unwrap();
    let request = server.await_process("request tools/call block").await;
    drop(client);
    assert_eq!(request.join().await, ExitReason::ShutdownWith(Tag::CLIENT_DISCONNECTED));
    let refused = server.send(call("block", json!({}))).await;
    assert_eq!(refused.code(), TOOL_BUSY);
    assert!(refused.body.contains("`block` runs 1 call, as many as it may"), "{}", refused.body);
    gate.go.send(()).unwrap();
    assert_eq!(gate.seen.recv().await, Some(true));
    gate.go.send(()).unwrap();
    let mut client = server.client().await;
    // The thread has told, and is about to return.
    let taken = async {
        loop {
            let response = client.send(&call("block", json!({}))).await;
            if response.code() != TOOL_BUSY {
                break response.text();
            }
        }
    };
    assert_eq!(within(LIMIT, taken).await.as_deref(), Some("done"));
}

#[tokio::test]
async fn an_async_tool_on_a_thread_is_dropped_at_its_next_await() {
    struct Dropped(mpsc::UnboundedSender<std::thread::ThreadId>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            let _ = self.0.send(std::thread::current().id());
        }
    }
    let (started, mut starts) = mpsc::unbounded_channel();
    let (dropped, mut drops) = mpsc::unbounded_channel();
    let waits = move |_: NoArguments| {
        let (started, dropped) = (started.clone(), Dropped(dropped.clone()));
        async move {
            let _dropped = dropped;
            started.send(std::thread::current().id()).unwrap();
            std::future::pending::<()>().await;
        }
    };
    let server = Server::start(Suite::new("waits", "1").tool("wait", tool(waits).blocking())).await;
    let mut client = server.client().await;
    client.write(&call("wait", json!({}))).await;
    let thread = starts.recv().await.unwrap();
    assert_ne!(thread, std::thread::current().id());
    drop(client);
    assert_eq!(drops.recv().await, Some(thread));
}

#[tokio::test]
async fn a_panic_on_a_thread_costs_one_answer() {
    fn boom(_: NoArguments) -> String {
        panic!("boom with secret-marker")
    }
    let server = Server::start(fixture::suite().tool("crash", blocking(boom))).await;
    let response = server.send(call("crash", json!({}))).await;
    assert_eq!(response.code(), -32603);
    assert!(!response.body.contains("secret-marker"), "{}", response.body);
    assert_eq!(server.send(call("echo", json!({"text": "on"}))).await.text(), "on");
}

#[tokio::test]
async fn a_blocking_struct_keeps_its_state_between_call_and_messages() {
    struct Counts(mpsc::UnboundedSender<ractor_mcp::suite::ToolAddress<u32>>);
    impl Tool for Counts {
        type Args = NoArguments;
        type Output = String;
        type State = u32;
        type Message = u32;

        async fn call(
            &self,
            _: NoArguments,
            call: &Call<u32>,
            state: &mut u32,
        ) -> Result<ToolReply<String>, ToolError> {
            *state = 40;
            self.0.send(call.address()).unwrap();
            Ok(ToolReply::Stream)
        }

        async fn handle_message(
            &self,
            more: u32,
            _: &Call<u32>,
            state: &mut u32,
        ) -> Result<ToolReply<String>, ToolError> {
            Ok(ToolReply::Answer((*state + more).to_string()))
        }
    }
    let (told, mut addresses) = mpsc::unbounded_channel();
    let server = Server::start(Suite::new("s", "1").tool("count", tool(Counts(told)).blocking())).await;
    let mut client = server.client().await;
    client.write(&call("count", json!({}))).await;
    let address = addresses.recv().await.unwrap();
    address.send(2).await.unwrap();
    let mut last = None;
    client.read_head().await;
    while let Some(event) = client.read_event().await {
        last = Some(event);
    }
    assert_eq!(last.unwrap()["result"]["content"][0]["text"], "42");
}

#[tokio::test]
async fn a_thread_that_works_when_the_drain_is_over_is_named() {
    let (mut gate, block) = gated();
    let server = Server::start(Suite::new("block", "1").tool("block", blocking(block))).await;
    let mut client = server.client().await;
    client.write(&call("block", json!({}))).await;
    gate.started.recv().await.unwrap();
    let request = server.await_process("request tools/call block").await;
    drop(client);
    request.join().await;
    let summary = server.mcp.shutdown(std::time::Duration::ZERO).await;
    assert_eq!(summary.stuck, [format!("the thread of {}", request.label())]);
    assert_eq!(summary.running, 0, "its call has ended");
    gate.go.send(()).unwrap();
    assert_eq!(gate.seen.recv().await, Some(true));
}

/// Records on the thread that runs this too, until the thread ends.
fn record_here(trace: &tracing::Dispatch) {
    std::mem::forget(tracing::dispatcher::set_default(trace));
}

#[tokio::test]
async fn b9_and_c7_a_blocking_tool_that_panics_after_its_time_is_told_with_its_request() {
    let (logs, _guard) = Logs::record(tracing::Level::ERROR);
    let trace = tracing::dispatcher::get_default(Clone::clone);
    let (go, wait) = wait::channel();
    let wait = Mutex::new(wait);
    let late_boom = move |_: NoArguments| -> &'static str {
        record_here(&trace);
        wait.lock().unwrap().recv_timeout(LIMIT).unwrap();
        panic!("late")
    };
    let spec = tool(blocking(late_boom)).timeout(Duration::from_millis(20));
    let server = Server::start(Suite::new("late", "1").tool("late_boom", spec)).await;
    let answer = server.send(call("late_boom", json!({})).id("77")).await;
    assert_eq!(answer.result()["isError"], true, "its time is over");
    server.await_no_process("request").await;
    assert_eq!(logs.lines("ERROR"), [""; 0]);
    go.send(()).unwrap();
    let told = logs.await_line("ERROR").await;
    for part in ["late_boom", "#77", "late"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert_eq!(logs.lines("ERROR").len(), 1, "{}", logs.text());
}
