//! Streaming, SSE, disconnects: clients that leave (A1, A6, D11, H4, H9).

use std::sync::Arc;
use std::time::Duration;

use ractor_mcp::otp::testing::{LIMIT, within};
use ractor_mcp::otp::{ExitReason, Tag};
use ractor_mcp::prelude::*;
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::runtime::Handle;
use tokio::sync::{Notify, Semaphore, mpsc};

use crate::support::{Client, Post, Server, await_children, call, fixture};

fn long() -> Post {
    call("slow", json!({"ms": 60_000}))
}

fn gone() -> ExitReason {
    ExitReason::ShutdownWith(Tag::CLIENT_DISCONNECTED)
}

/// The tree is as it was, within the second that the cases give.
async fn shrinks_to(server: &Server, idle: &str) {
    tokio::time::timeout(Duration::from_secs(1), server.await_tree(idle))
        .await
        .unwrap_or_else(|_| panic!("not within a second:\n{}", server.tree()));
}

#[tokio::test]
async fn a1_client_leaves_after_the_head() {
    // The stream opens by silence, so that no event has been sent when the client has read the head.
    let options = Options::new().keep_alive(Duration::from_millis(50));
    let wait = |_: NoArguments| std::future::pending::<()>();
    let server = Server::start_with(Suite::new("waits", "1").tool("wait", wait), options).await;
    let idle = server.tree().to_string();
    let mut client = server.client().await;
    client.write(&call("wait", json!({}))).await;
    assert!(client.read_head().await.is_stream());
    let running = server.await_process("request tools/call wait").await;
    client.reset();
    assert_eq!(running.join().await, gone());
    shrinks_to(&server, &idle).await;
}

#[tokio::test]
async fn a6_closed_while_the_handler_is_pending_and_no_body_was_sent() {
    let server = Server::start(fixture::suite()).await;
    let mut client = server.client().await;
    client.write(&long().json_only()).await;
    let running = server.await_process("request").await;
    drop(client);
    assert_eq!(running.join().await, gone());
}

#[tokio::test]
async fn a6_closed_while_a_tool_reports_without_pause() {
    let chatter = |_: NoArguments, call: Call| async move {
        for step in 0_u64.. {
            call.progress(step, None, None).await?;
        }
        Ok::<_, ToolError>("never")
    };
    let server = Server::start(Suite::new("chatty", "1").tool("chatter", chatter)).await;
    let mut client = server.client().await;
    client.write(&call("chatter", json!({})).progress(json!(1))).await;
    client.read_head().await;
    client.read_event().await.expect("progress");
    let running = server.await_process("request").await;
    client.reset();
    assert_eq!(running.join().await, gone());
    server.await_no_process("connection").await;
}

#[tokio::test]
async fn a6_a_client_that_shuts_down_only_its_write_side_is_gone() {
    let server = Server::start(fixture::suite()).await;
    let mut client = server.client().await;
    client.write(&long()).await;
    let running = server.await_process("request").await;
    client.socket.shutdown().await.expect("the write side closes");
    assert_eq!(running.join().await, gone());
}

/// What stands in the read buffer must not hide that the client has left.
#[tokio::test]
async fn a6_bytes_after_the_request_do_not_hide_that_the_client_left() {
    let server = Server::start(fixture::suite()).await;
    let pipelined = long().to_bytes("127.0.0.1");
    for stray in [&b"\r\n"[..], b"x", &pipelined] {
        for reset in [false, true] {
            let mut client = server.client().await;
            client.write(&long()).await;
            let running = server.await_process("request").await;
            client.write_bytes(stray).await;
            if reset {
                client.reset();
            } else {
                drop(client);
            }
            assert_eq!(running.join().await, gone(), "{stray:?}, reset: {reset}");
            server.await_no_process("connection").await;
        }
    }
}

/// Four in five over connections in memory, since each of the others takes two files. What spins is a task.
#[tokio::test]
async fn d11_a_mass_of_clients_that_leave_at_once_leaves_nothing_behind() {
    const OVER_TCP: usize = 200;
    const IN_MEMORY: usize = 800;
    let server = Server::start(fixture::suite()).await;
    let tasks = || Handle::current().metrics().num_alive_tasks();
    let (idle, idle_tasks) = (server.tree().to_string(), tasks());
    let (mut clients, mut piped) = (Vec::new(), Vec::new());
    for _ in 0..OVER_TCP {
        let mut client = server.client().await;
        client.write(&long().progress(json!(1))).await;
        clients.push(client);
    }
    for _ in 0..IN_MEMORY {
        let mut client = Client::pipe(&server, 4096).await;
        client.write(&long().progress(json!(1))).await;
        piped.push(client);
    }
    let connections = server.await_process("connections").await;
    await_children(&connections, OVER_TCP).await;
    for connection in connections.children() {
        await_children(&connection, 1).await;
    }
    for client in &mut piped {
        client.read_head().await;
        client.read_event().await.expect("progress");
    }
    assert_eq!(server.send(call("echo", json!({"text": "full"}))).await.status, 503, "a thousand run");
    clients.into_iter().for_each(Client::reset);
    drop(piped);
    let ended = async {
        while tasks() > idle_tasks {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    within(LIMIT, ended).await.unwrap_or_else(|| panic!("{} tasks, {idle_tasks} before", tasks()));
    server.await_tree(&idle).await;
    assert_eq!(server.send(call("echo", json!({"text": "here"}))).await.text(), "here");
}

/// A tool that says that it runs, waits to be let go on, and then has an effect.
fn effects() -> (Suite, mpsc::UnboundedReceiver<()>, Arc<Notify>, Arc<Semaphore>) {
    let (started, starts) = mpsc::unbounded_channel();
    let (go, done) = (Arc::new(Notify::new()), Arc::new(Semaphore::new(0)));
    let tool = {
        let (go, done) = (Arc::clone(&go), Arc::clone(&done));
        move |_: NoArguments, call: Call| {
            let (started, go, done) = (started.clone(), Arc::clone(&go), Arc::clone(&done));
            async move {
                call.progress(1, None, None).await?;
                started.send(()).expect("the test listens");
                go.notified().await;
                done.add_permits(1);
                Ok::<_, ToolError>("done")
            }
        }
    };
    (Suite::new("effects", "1").tool("effect", tool), starts, go, done)
}

async fn h4_leaves(post: Post, read: impl AsyncFnOnce(&mut Client)) {
    let (suite, mut starts, go, done) = effects();
    let server = Server::start(suite).await;
    let mut client = server.client().await;
    client.write(&post).await;
    starts.recv().await.expect("the tool runs");
    read(&mut client).await;
    let running = server.await_process("request").await;
    drop(client);
    assert_eq!(running.join().await, gone());
    go.notify_waiters();
    server.await_no_process("connection").await;
    assert_eq!(done.available_permits(), 0, "the side effect must not happen");
}

#[tokio::test]
async fn h4_leaving_cancels_in_json_mode() {
    h4_leaves(call("effect", json!({})).json_only(), async |_| ()).await;
}

#[tokio::test]
async fn h4_leaving_cancels_a_stream_before_its_first_event_is_read() {
    h4_leaves(call("effect", json!({})).progress(json!(1)), async |_| ()).await;
}

#[tokio::test]
async fn h4_leaving_cancels_a_stream_after_its_first_event() {
    let read = async |client: &mut Client| {
        client.read_head().await;
        client.read_event().await.expect("progress");
    };
    h4_leaves(call("effect", json!({})).progress(json!(1)), read).await;
}

#[tokio::test]
async fn h9_a_shielded_write_is_finished_and_answers_nobody() {
    let (started, mut starts) = mpsc::unbounded_channel();
    let (go, written) = (Arc::new(Notify::new()), Arc::new(Semaphore::new(0)));
    let tool = {
        let (go, written) = (Arc::clone(&go), Arc::clone(&written));
        move |_: NoArguments, call: Call| {
            let (started, go, written) = (started.clone(), Arc::clone(&go), Arc::clone(&written));
            async move {
                call.uninterrupted(async {
                    started.send(()).expect("the test listens");
                    go.notified().await;
                    written.add_permits(1);
                })
                .await;
                "written"
            }
        }
    };
    let server = Server::start(Suite::new("shield", "1").tool("write", tool)).await;
    let mut client = server.client().await;
    client.write(&call("write", json!({}))).await;
    starts.recv().await.expect("the tool runs");
    let running = server.await_process("request").await;
    client.socket.shutdown().await.expect("the client leaves");
    running.exiting().await;
    go.notify_one();
    let ended = running.join().await;
    assert_eq!(written.available_permits(), 1);
    assert_eq!(ended, ExitReason::ShutdownWith(Tag::CLIENT_DISCONNECTED), "not a reply: nobody took it");
    assert!(client.read_to_end().await.is_empty(), "no response is sent");
}
