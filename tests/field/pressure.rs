//! Back-pressure, slow clients, load (D2, D5, D7, D8, D9, D10).

use std::sync::Arc;
use std::time::Duration;

use ractor_mcp::otp::{ExitReason, Tag};
use ractor_mcp::prelude::*;
use ractor_mcp::testing::TestServer;
use serde_json::json;
use tokio::sync::Semaphore;

use crate::support::logs::Logs;
use crate::support::{
    Client, Post, Server, await_children, call, fixture, listen_tools, next_request, request,
};

/// Sends 50 steps, as fast as it can.
async fn burst(_: NoArguments, call: Call) -> Result<&'static str, ToolError> {
    for step in 1..=50 {
        call.progress(step, 50, None).await?;
    }
    Ok("sent")
}

#[tokio::test]
async fn d2_a_burst_before_anyone_reads_does_not_deadlock() {
    let options = Options::new().outbox(1, 1);
    let server = Server::start_with(Suite::new("burst", "1").tool("burst", burst), options).await;
    let post = call("burst", json!({})).progress(json!(1));
    let stream = server.send(post.clone()).await;
    assert_eq!((stream.messages().len(), stream.text()), (51, "sent".to_owned()));
    let json = server.send(post.json_only()).await;
    assert_eq!((json.messages().len(), json.text()), (1, "sent".to_owned()));
}

/// A reader that stops holds its own handler, then loses its connection.
#[tokio::test]
async fn d2_a_client_that_stops_reading_is_ended_as_stalled() {
    let flood = |_: NoArguments, call: Call| async move {
        let text = "x".repeat(64 * 1024);
        for step in 0_u64.. {
            call.progress(step, None, &*text).await?;
        }
        Ok::<_, ToolError>("never")
    };
    let options = Options::new().write_stall(Duration::from_millis(200));
    let server = Server::start_with(Suite::new("flood", "1").tool("flood", flood), options).await;
    let mut exits = server.mcp.exits();
    let mut client = server.client().await;
    client.write(&call("flood", json!({})).progress(json!(1))).await;
    let exit = next_request(&mut exits).await;
    assert_eq!(exit.reason, ExitReason::ShutdownWith(Tag::STALLED));
    server.await_no_process("connection").await;
}

/// A reader that is slow is not one that has stopped. The system tells of room in its send buffer only when a third of that is
/// free, and lets it grow to megabytes.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn d2_a_client_that_reads_slowly_and_steadily_gets_its_whole_answer() {
    use bytes::BufMut;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    const SIZE: usize = 20_000_000;
    let large = |_: NoArguments| async { "x".repeat(SIZE) };
    let stall = Duration::from_millis(400);
    let options = Options::new().write_stall(stall);
    let server = Server::start_with(Suite::new("large", "1").tool("large", large), options).await;
    let mut client = tokio::net::TcpStream::connect(server.addr).await.unwrap();
    let post = call("large", json!({})).header("Connection", "close");
    client.write_all(&post.to_bytes("localhost")).await.unwrap();
    let mut answer = Vec::with_capacity(SIZE + 1000);
    while answer.len() < SIZE / 4 {
        client.read_buf(&mut answer).await.unwrap();
    }
    // By the wall clock: what the system buffers, and when it tells of room, knows no other.
    let (began, fast) = (std::time::Instant::now(), answer.len());
    while began.elapsed() < 4 * stall {
        // 2 MB a second.
        while answer.len() - fast < 2_000 * began.elapsed().as_millis() as usize {
            client.read_buf(&mut (&mut answer).limit(32 * 1024)).await.unwrap();
        }
        tokio::time::sleep(stall / 20).await;
    }
    assert!(answer.len() < SIZE / 2, "read {} too fast to show anything", answer.len());
    client.read_to_end(&mut answer).await.unwrap();
    assert!(answer.len() > SIZE, "{} bytes came", answer.len());
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Text {
    text: String,
}

/// A tool that waits for a permit: as many calls run as the test lets go on.
fn waiting() -> (Suite, Arc<Semaphore>) {
    let gate = Arc::new(Semaphore::new(0));
    let go = Arc::clone(&gate);
    let wait = move |_: NoArguments| {
        let go = Arc::clone(&go);
        async move {
            go.acquire().await.expect("the gate stays").forget();
            "went on"
        }
    };
    (Suite::new("waiting", "1").tool("wait", wait).tool("echo", fixture::echo), gate)
}

#[tokio::test]
async fn d7_beyond_the_limit_calls_are_refused_at_once_and_may_come_again() {
    let (suite, gate) = waiting();
    let server = Server::start_with(suite, Options::new().max_in_flight(32, 100)).await;
    let mut running = Vec::new();
    for _ in 0..32 {
        let mut client = server.client().await;
        client.write(&call("wait", json!({}))).await;
        running.push(client);
    }
    let connections = server.await_process("connections").await;
    await_children(&connections, 32).await;
    for connection in connections.children() {
        await_children(&connection, 1).await;
    }
    let count = || server.tree().to_string().matches("request tools/call wait").count();
    assert_eq!(count(), 32);
    for _ in 0..100 {
        let refused = server.send(call("wait", json!({})).id("\"late\"")).await;
        // A code outside the reserved ranges: nothing is wrong with the call.
        assert_eq!((refused.status, refused.code()), (503, 503));
        assert_eq!(refused.answer()["id"], "late");
        assert!(refused.header("retry-after").is_some());
    }
    assert_eq!(count(), 32, "no actor for a refused call");
    gate.add_permits(32);
    for mut client in running {
        assert_eq!(client.read_response().await.text(), "went on");
    }
    server.await_no_process("request").await;
    assert_eq!(server.send(call("echo", json!({"text": "again"}))).await.text(), "again");
}

#[tokio::test]
async fn d7_a_refused_call_leaves_the_connection_usable() {
    let (suite, gate) = waiting();
    let server = Server::start_with(suite, Options::new().max_in_flight(1, 100)).await;
    let mut busy = server.client().await;
    busy.write(&call("wait", json!({}))).await;
    server.await_process("request").await;
    let mut client = server.client().await;
    let echo = call("echo", json!({"text": "again"}));
    assert_eq!(client.send(&echo).await.status, 503);
    gate.add_permits(1);
    busy.read_response().await;
    server.await_no_process("request").await;
    assert_eq!(client.send(&echo).await.text(), "again");
}

/// The case says 50 ms; by a paused clock it is no time at all, unless a list waits for a call.
#[tokio::test(start_paused = true)]
async fn d7_a_server_full_of_calls_refuses_more_and_says_what_it_offers_at_once() {
    let (suite, gate) = waiting();
    let server = TestServer::start_with(suite, Options::new().max_in_flight(32, 100)).await;
    let client = server.connect().await;
    let began = tokio::time::Instant::now();
    let mut running = Vec::new();
    for id in 1..=32 {
        running.push(client.call_tool("wait", json!({})).id(id).start().await);
        server.pid_of(&format!("request tools/call wait #{id}")).await;
    }
    for _ in 0..100 {
        assert_eq!(client.call_tool("wait", json!({})).await.status(), 503);
        assert_eq!(client.request("tools/list", json!({})).await.status(), 200);
        assert_eq!(client.request("server/discover", json!({})).await.status(), 200);
    }
    assert_eq!(began.elapsed(), Duration::ZERO);
    gate.add_permits(32);
    for call in running {
        assert_eq!(call.answer().await.text(), "went on");
    }
}

/// Bodies are held as long as their requests run: many large ones are refused, and small ones go on.
#[tokio::test]
async fn the_bodies_of_all_requests_together_have_a_limit() {
    let gate = Arc::new(Semaphore::new(0));
    let go = Arc::clone(&gate);
    let hold = move |Text { text }: Text| {
        let go = Arc::clone(&go);
        async move {
            go.acquire().await.expect("the gate stays").forget();
            text.len() as u64
        }
    };
    let suite = Suite::new("holding", "1").tool("hold", hold).tool("echo", fixture::echo);
    let server = Server::start_with(suite, Options::new().body_budget(64 * 1024).max_body(80 * 1024)).await;
    let holding = |kilobytes: usize| call("hold", json!({"text": "x".repeat(kilobytes * 1024)}));
    let mut first = server.client().await;
    first.write(&holding(70)).await;
    server.await_process("request tools/call hold").await;

    let refused = server.send(holding(40)).await;
    assert_eq!((refused.status, refused.code()), (503, 503));
    assert!(refused.header("retry-after").is_some());
    // So is one whose head is large: it waits as long as its body does.
    let pad = "x".repeat(30 * 1024);
    let refused = server.send(call("echo", json!({"text": "small"})).header("X-Pad", &pad)).await;
    assert_eq!((refused.status, refused.code()), (503, 503));
    assert_eq!(server.send(call("echo", json!({"text": "small"}))).await.text(), "small");

    gate.add_permits(2);
    assert_eq!(first.read_response().await.text(), (70 * 1024).to_string());
    server.await_no_process("request").await;
    assert_eq!(server.send(holding(70)).await.text(), (70 * 1024).to_string());
}

/// An answer is held until its client has read it: a thousand clients that do not would hold a thousand.
#[tokio::test]
async fn answers_that_are_not_read_yet_keep_large_requests_out_and_small_ones_go_on() {
    let large = |_: NoArguments| async { "x".repeat(1024 * 1024) };
    let suite = Suite::new("large", "1").tool("large", large).tool("echo", fixture::echo);
    let server = Server::start_with(suite, Options::new().body_budget(64 * 1024).max_body(80 * 1024)).await;
    let body = call("echo", json!({"text": "x".repeat(40 * 1024)}));
    for accept in ["application/json", "text/event-stream"] {
        let mut slow = Client::pipe(&server, 1024).await;
        slow.write(&call("large", json!({})).header("Accept", accept)).await;
        let head = slow.read_head().await;
        server.await_no_process("request").await;
        assert_eq!(server.send(body.clone()).await.code(), 503, "{accept}");
        assert_eq!(server.send(call("echo", json!({"text": "small"}))).await.text(), "small");

        assert!(slow.read_body(&head).await.len() > 1024 * 1024);
        assert_eq!(server.send(body.clone()).await.status, 200, "{accept}");
    }
    // A client that leaves gives back what it left.
    let mut leaving = Client::pipe(&server, 1024).await;
    leaving.write(&call("large", json!({}))).await;
    leaving.read_head().await;
    assert_eq!(server.send(body.clone()).await.code(), 503);
    drop(leaving);
    server.await_no_process("connection").await;
    assert_eq!(server.send(body).await.status, 200);
}

#[tokio::test]
async fn connections_beyond_the_cap_wait_and_are_served_when_one_ends() {
    let server = Server::start_with(fixture::suite(), Options::new().max_connections(1)).await;
    let mut first = server.client().await;
    assert_eq!(first.send(&call("echo", json!({"text": "1"}))).await.text(), "1");
    let mut second = server.client().await;
    second.write(&call("echo", json!({"text": "2"}))).await;
    assert_eq!(first.send(&call("echo", json!({"text": "3"}))).await.text(), "3");
    let connections = server.await_process("connections").await;
    assert_eq!(connections.children().len(), 1);
    drop(first);
    assert_eq!(second.read_response().await.text(), "2");
}

#[tokio::test]
async fn d8_a_slow_call_holds_up_no_other() {
    let (suite, gate) = waiting();
    let server = Server::start(suite).await;
    let mut slow = server.client().await;
    slow.write(&call("wait", json!({}))).await;
    let running = server.await_process("request tools/call wait").await;
    for _ in 0..20 {
        assert_eq!(server.send(call("echo", json!({"text": "now"}))).await.text(), "now");
    }
    assert!(running.is_alive());
    gate.add_permits(1);
    assert_eq!(slow.read_response().await.text(), "went on");
}

/// Work that blocks threads belongs on threads of its own; then as many of it as there are workers starve nobody.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d9_blocking_work_on_its_own_threads_starves_neither_calls_nor_keep_alives() {
    let (release, held) = std::sync::mpsc::channel::<()>();
    let held = Arc::new(std::sync::Mutex::new(held));
    let block = move |_: NoArguments| {
        let held = Arc::clone(&held);
        async move {
            let blocking = tokio::task::spawn_blocking(move || held.lock().expect("no panic").recv().is_ok());
            blocking.await.is_ok_and(|released| released)
        }
    };
    let suite = Suite::new("blocking", "1").tool("block", block).tool("echo", fixture::echo);
    let options = Options::new().keep_alive(Duration::from_millis(50));
    let server = Server::start_with(suite, options).await;
    let mut blocked: Vec<Client> = Vec::new();
    for _ in 0..2 {
        let mut client = server.client().await;
        client.write(&call("block", json!({}))).await;
        blocked.push(client);
    }
    for client in &mut blocked {
        assert!(client.read_head().await.is_stream());
        assert_eq!(client.read_chunk().await.as_deref(), Some(":\n\n"));
    }
    assert_eq!(server.send(call("echo", json!({"text": "here"}))).await.text(), "here");
    for _ in &blocked {
        release.send(()).expect("the tool waits");
    }
    for client in &mut blocked {
        let answer = client.read_event().await.expect("an answer");
        assert_eq!(answer["result"]["content"][0]["text"], "true");
    }
}

/// A stream keeps what its request said, so that many of them with much to say would be much.
#[tokio::test]
async fn what_open_streams_keep_counts_too_and_by_what_it_takes_in_memory() {
    let options = Options::new().body_budget(1024 * 1024).max_body(1024 * 1024);
    let server = Server::start_with(fixture::suite().list_changes(), options).await;
    // Of few bytes and many values.
    let much = listen_tools().with_meta("com.example/much", json!(vec![json!({}); 3000]));
    let mut first = server.client().await;
    first.write(&much).await;
    assert_eq!(first.read_head().await.status, 200);
    let refused = server.send(much.clone()).await;
    assert_eq!((refused.status, refused.code()), (503, 503));
    assert_eq!(refused.answer()["id"], 1);
    drop(first);
    server.await_no_process("request").await;
    let mut again = server.client().await;
    again.write(&much).await;
    assert_eq!(again.read_head().await.status, 200);
}

/// What nobody keeps is counted while it is read, and not for the hour that a stream may stay.
#[tokio::test]
async fn what_is_dropped_while_it_is_read_counts_no_longer() {
    let options = Options::new().body_budget(1024 * 1024).max_body(1024 * 1024);
    let server = Server::start_with(fixture::suite().list_changes(), options).await;
    let ignored = json!({"notifications": {"toolsListChanged": true}, "pad": vec![json!({}); 3000]});
    let mut streams = Vec::new();
    for _ in 0..3 {
        let mut client = server.client().await;
        client.write(&request("subscriptions/listen", ignored.clone())).await;
        assert_eq!(client.read_head().await.status, 200);
        streams.push(client);
    }
    // Who the client is, is kept.
    let client = json!({"name": "c", "version": "1", "description": "x".repeat(600 * 1024)});
    let described = listen_tools().with_meta("io.modelcontextprotocol/clientInfo", client);
    let mut kept = server.client().await;
    kept.write(&described).await;
    assert_eq!(kept.read_head().await.status, 200);
    assert_eq!(server.send(described).await.code(), 503);
    drop(kept);
    // While it is read it counts as everything does.
    let more = json!({"notifications": {}, "pad": vec![json!({}); 5000]});
    let refused = server.send(request("subscriptions/listen", more)).await;
    // It would not fit if it came alone, either.
    assert_eq!((refused.status, refused.code()), (413, -32600));
}

/// A handler that blocks its thread is named, so that its author learns of `blocking`.
#[tokio::test]
async fn d9_a_handler_that_holds_its_thread_is_named_in_a_warning() {
    const LONG: Duration = Duration::from_millis(100);
    let (logs, _recording) = Logs::record(tracing::Level::WARN);
    let spin = |_: NoArguments| async {
        std::thread::sleep(LONG);
        "spun"
    };
    let suite = Suite::new("spinning", "1").trace_warnings(false).tool("spin", spin);
    let server = Server::start_with(suite, Options::new().long_schedule(LONG)).await;
    assert_eq!(server.send(call("spin", json!({}))).await.text(), "spun");
    let warnings = logs.lines("WARN");
    // What a busy machine holds up is told too.
    let of_the_tool = warnings.iter().filter(|told| told.contains("request tools/call spin"));
    assert!(of_the_tool.count() >= 1, "{warnings:?}");
}

#[tokio::test]
async fn d10_a_request_that_is_refused_by_its_head_starts_nothing() {
    let server = Server::start(fixture::suite()).await;
    let mut exits = server.mcp.exits();
    let mut client = server.client().await;
    let evil: Post = call("echo", json!({"text": "x"})).header("Host", "evil.example");
    for _ in 0..1000 {
        assert_eq!(client.send(&evil).await.status, 403);
    }
    client.send(&call("echo", json!({"text": "x"})).id("3")).await;
    assert_eq!(
        next_request(&mut exits).await.label,
        "request tools/call echo #3",
        "the first actor that ended"
    );
}

/// What ends a call does not stand in the line of what the call sends, nor of what it is told.
#[tokio::test(start_paused = true)]
async fn d5_a_call_whose_queues_are_full_ends_at_once_when_its_client_leaves_or_the_server_does() {
    let flood = |_: NoArguments, call: Call| async move {
        for step in 0_u64.. {
            call.progress(step, None, &*"x".repeat(10_000)).await?;
        }
        Ok::<_, ToolError>("never")
    };
    let options = Options::new().outbox(2, 1).mailbox(1);
    let server = TestServer::start_with(Suite::new("flood", "1").tool("flood", flood), options).await;
    let client = server.connect().await;
    let stalled = async || {
        let mut call = client.call_tool("flood", json!({})).progress_token(1).start().await;
        call.next_event().await.expect("a first event");
        call.stall();
        tokio::time::sleep(Duration::from_millis(100)).await;
        call
    };
    let call = stalled().await;
    let began = tokio::time::Instant::now();
    call.hang_up();
    let reason = server.await_exit("request tools/call flood").await;
    assert_eq!(reason, ExitReason::ShutdownWith(Tag::CLIENT_DISCONNECTED));

    let _call = stalled().await;
    let mcp = server.mcp().clone();
    let stopping = tokio::spawn(async move { mcp.shutdown(Duration::from_millis(500)).await });
    assert_eq!(server.await_exit("request tools/call flood").await, ExitReason::Shutdown);
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    let summary = stopping.await.expect("a summary");
    assert_eq!((summary.running, summary.interrupted, summary.killed), (1, 1, 0), "{summary}");
}
