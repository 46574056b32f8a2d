//! Crash and panic isolation (B1, B4, B5, B6, B8, B9).

use std::time::Duration;

use ractor_mcp::otp::testing::{LIMIT, within};
use ractor_mcp::otp::{ExitReason, Pid};
use ractor_mcp::prelude::*;
use serde_json::json;
use tokio::net::TcpStream;
use tokio::sync::mpsc;

use crate::support::logs::Logs;
use crate::support::streams::acknowledged;
use crate::support::{Client, Post, Server, call, fixture, listen_tools};

fn boom() -> Post {
    call("boom", json!({}))
}

#[tokio::test]
async fn b1_a_panic_gets_an_error_and_the_others_finish() {
    let server = Server::start(fixture::suite()).await;
    let (mut slow, mut stream) = (server.client().await, server.client().await);
    slow.write(&call("slow", json!({"ms": 300}))).await;
    stream.write(&call("slow", json!({"ms": 300})).progress(json!(1))).await;
    stream.read_head().await;
    assert_eq!(server.send(boom()).await.code(), -32603);
    assert_eq!(slow.read_response().await.text(), "worked for 300 ms");
    let mut last = None;
    while let Some(event) = stream.read_event().await {
        last = Some(event);
    }
    assert_eq!(last.expect("an answer")["result"]["content"][0]["text"], "worked for 300 ms");
}

#[tokio::test]
async fn b4_a_failure_of_a_handler_is_no_5xx() {
    let server = Server::start(fixture::suite()).await;
    let panicked = server.send(boom().json_only().id("\"b4\"")).await;
    assert_eq!((panicked.status, panicked.code()), (200, -32603));
    assert_eq!(panicked.answer()["id"], "b4");
    let failed = server.send(call("echo", json!({})).json_only()).await;
    assert_eq!((failed.status, &failed.result()["isError"]), (200, &json!(true)));
}

#[tokio::test]
async fn b5_crash_handling_does_not_loop_whatever_the_payload() {
    let server = Server::start(fixture::suite()).await;
    let idle = server.tree().to_string();
    let addr = server.addr;
    let clients: Vec<_> = (0..10)
        .map(|_| {
            tokio::spawn(async move {
                let mut client = Client::connect(addr).await;
                for _ in 0..50 {
                    assert_eq!(client.send(&call("boom_oddly", json!({}))).await.code(), -32603);
                }
            })
        })
        .collect();
    for client in clients {
        client.await.expect("all are answered");
    }
    server.await_tree(&idle).await;
    assert_eq!(server.send(call("echo", json!({"text": "fine"}))).await.text(), "fine");
    let summary = server.mcp.shutdown(Duration::from_secs(5)).await;
    assert_eq!((summary.running, summary.killed), (0, 0), "{summary}");
}

/// The listen streams are read only after the crashes: each has to be there, and to be told of a change that came later.
#[tokio::test]
async fn b6_crashes_of_short_lived_children_trip_no_restart_limit() {
    let server = Server::start(fixture::suite().list_changes()).await;
    let mut streams = Vec::new();
    for _ in 0..50 {
        streams.push(acknowledged(server.client().await, &listen_tools()).await.0);
    }
    let above = supervisors(&server).await;
    let mut client = server.client().await;
    for _ in 0..500 {
        assert_eq!(client.send(&boom()).await.code(), -32603);
    }
    assert_eq!(server.mcp.notify_tools_changed(), 50, "all streams live");
    for stream in &mut streams {
        let event = stream.read_event().await.expect("the stream lives");
        assert_eq!(event["method"], "notifications/tools/list_changed");
    }
    assert_eq!(supervisors(&server).await, above);
    for label in ["listener", "connections"] {
        assert_eq!(server.await_process(label).await.restarts(), 0, "{label}");
    }
}

/// The supervisors from the root down to one connection, each with its id.
async fn supervisors(server: &Server) -> Vec<(String, u64)> {
    let mut found = Vec::new();
    for label in ["mcp", "listeners", "listener", "connections", "connection", "embedded"] {
        let pid = server.await_process(label).await;
        found.push((label.to_owned(), pid.id()));
    }
    found
}

async fn running(server: &Server, client: &mut Client) -> Pid {
    client.write(&call("slow", json!({"ms": 60_000}))).await;
    server.await_process("request tools/call slow").await
}

#[tokio::test]
async fn b8_the_end_of_a_request_leaves_every_supervisor_in_place() {
    let server = Server::start(fixture::suite()).await;
    let mut client = server.client().await;
    assert_eq!(client.send(&call("echo", json!({"text": "x"}))).await.text(), "x");
    let before = supervisors(&server).await;

    let stopped = running(&server, &mut client).await;
    stopped.exit(ExitReason::Shutdown);
    assert_eq!(client.read_response().await.code(), -32603);
    assert_eq!(supervisors(&server).await, before, "stopped");

    let killed = running(&server, &mut client).await;
    killed.kill();
    assert_eq!(client.read_response().await.code(), -32603);
    assert_eq!(supervisors(&server).await, before, "killed");

    assert_eq!(client.send(&boom()).await.code(), -32603);
    assert_eq!(supervisors(&server).await, before, "panicked");
}

#[tokio::test]
async fn b8_the_end_of_any_other_child_leaves_its_parent_in_place() {
    let server = Server::start(fixture::suite()).await;
    let mut client = server.client().await;
    assert_eq!(client.send(&call("echo", json!({"text": "x"}))).await.text(), "x");
    for label in ["connection", "acceptor", "shard 0", "connections", "listener"] {
        let child = server.await_process(label).await;
        let parent = child.parent().expect("a parent");
        child.kill();
        assert_eq!(child.join().await, ExitReason::Killed, "{label}");
        // A connection is temporary: it does not come back by itself.
        if label != "connection" {
            server.await_process(label).await;
        }
        assert!(parent.is_alive(), "the parent of {label}");
    }
    // The acceptor is on its way up.
    let reached = async { while TcpStream::connect(server.addr).await.is_err() {} };
    within(LIMIT, reached).await.expect("the port is open again");
    assert_eq!(server.send(call("echo", json!({"text": "fine"}))).await.text(), "fine");
}

/// A tool whose task panics while it works, and that answers afterwards.
#[tokio::test]
async fn b9_a_task_that_panics_is_told_with_its_tool_and_fails_nothing_else() {
    let (logs, _guard) = Logs::record(tracing::Level::ERROR);
    async fn late_boom(_: NoArguments, call: Call) -> &'static str {
        let (running, mut ended) = mpsc::channel::<()>(1);
        call.spawn(async move {
            let _running = running;
            panic!("late with secret-marker");
        });
        assert_eq!(ended.recv().await, None, "the task unwinds");
        "answered"
    }
    let suite = Suite::new("late", "1").tool("late_boom", late_boom).tool("echo", fixture::echo);
    let server = Server::start(suite).await;
    let mut client = server.client().await;
    let answered = client.send(&call("late_boom", json!({})).id("77")).await;
    assert_eq!(answered.text(), "answered");
    assert_eq!(client.send(&call("echo", json!({"text": "fine"}))).await.text(), "fine");
    let told = logs.await_line("ERROR").await;
    assert!(told.contains("late_boom") && told.contains("#77"), "{told}");
    server.await_no_process("request").await;
    assert_eq!(logs.lines("ERROR").len(), 1, "counted once: {}", logs.text());
}

/// A task whose end is a message for its call, which answers and never reads it.
#[tokio::test]
async fn b9_a_task_that_panics_is_told_if_its_call_does_not_read_of_it() {
    struct Unread;
    impl Tool for Unread {
        type Args = NoArguments;
        type Output = &'static str;
        type State = ();
        type Message = ();

        async fn call(
            &self,
            _: NoArguments,
            call: &Call<()>,
            (): &mut (),
        ) -> Result<ToolReply<&'static str>, ToolError> {
            let (running, mut ended) = mpsc::channel::<()>(1);
            call.spawn_to(
                async move {
                    let _running = running;
                    panic!("late with secret-marker");
                },
                |_: Result<(), _>| (),
            );
            assert_eq!(ended.recv().await, None, "the task unwinds");
            Ok(ToolReply::Answer("answered"))
        }
    }
    let (logs, _guard) = Logs::record(tracing::Level::ERROR);
    let server = Server::start(Suite::new("unread", "1").tool("unread", Unread)).await;
    assert_eq!(server.send(call("unread", json!({})).id("77")).await.text(), "answered");
    server.await_no_process("request").await;
    let told = logs.await_line("ERROR").await;
    assert!(told.contains("request tools/call unread #77") && told.contains("secret-marker"), "{told}");
    assert_eq!(logs.lines("ERROR").len(), 1, "counted once: {}", logs.text());
}

#[tokio::test]
async fn what_a_task_of_a_call_traces_has_the_id_of_the_request() {
    let (logs, _guard) = Logs::record(tracing::Level::INFO);
    async fn speaks(_: NoArguments, call: Call) -> &'static str {
        let (spoken, heard) = tokio::sync::oneshot::channel();
        call.spawn(async move {
            tracing::error!("a word of the task");
            spoken.send(()).expect("the tool waits");
        });
        heard.await.expect("the task speaks");
        "heard"
    }
    let server = Server::start(Suite::new("speaks", "1").tool("speaks", speaks)).await;
    assert_eq!(server.send(call("speaks", json!({})).id("77")).await.text(), "heard");
    let told = logs.lines("ERROR");
    assert!(told[0].contains("a word of the task") && told[0].contains("id=77"), "{told:?}");
}

/// With the call, and not with what outlives it: its connection goes on, and so does the server.
#[tokio::test]
async fn b9_a_task_of_a_call_ends_with_it() {
    struct Ends(mpsc::UnboundedSender<()>);
    impl Drop for Ends {
        fn drop(&mut self) {
            let _ = self.0.send(());
        }
    }
    let (end, mut ended) = mpsc::unbounded_channel();
    let leaves = move |_: NoArguments, call: Call| {
        let held = Ends(end.clone());
        async move {
            call.spawn(async move {
                let _held = held;
                std::future::pending::<()>().await;
            });
            "answered"
        }
    };
    let server = Server::start(Suite::new("leaves", "1").tool("leaves", leaves)).await;
    let mut client = server.client().await;
    for _ in 0..2 {
        assert_eq!(client.send(&call("leaves", json!({}))).await.text(), "answered");
        within(LIMIT, ended.recv()).await.expect("the task ends").expect("the tool keeps a sender");
    }
    assert_eq!(ended.try_recv().ok(), None, "one task a call");
}
