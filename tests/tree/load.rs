//! Many connections, many requests, and an end in the middle of them: nothing is lost, and nothing is left.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ractor_mcp::prelude::*;
use serde_json::json;
use tokio::io::AsyncReadExt;
use tokio::sync::{Mutex, watch};

use crate::support::{Client, Server, await_children, call, fixture};

/// Held by a test that opens very many files, and by one that counts them: in one process, tests run side by side.
static FILES: Mutex<()> = Mutex::const_new(());

/// How many connections this process can hold both ends of: 10,000 where the system lets it.
fn most_connections() -> usize {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let files = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    let soft = files.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(1024);
    10_000.min((soft - 200) / 2)
}

#[tokio::test]
async fn ten_thousand_connections_fill_the_cap_and_one_that_leaves_makes_room() {
    let _files = FILES.lock().await;
    let cap = most_connections();
    let patient = Options::new().max_connections(cap).first_byte_time(Duration::from_secs(300));
    let server = Server::start_with(fixture::suite(), patient).await;
    let mut held = Vec::with_capacity(cap);
    for _ in 0..cap {
        held.push(server.client().await);
    }
    let connections = server.await_process("connections").await;
    let count = || connections.children().len();
    await_children(&connections, cap).await;

    let mut late = server.client().await;
    late.write(&call("echo", json!({"text": "late"}))).await;
    // The full server serves those that it has.
    let first = held.first_mut().unwrap();
    assert_eq!(first.send(&call("echo", json!({"text": "held"}))).await.text(), "held");
    assert_eq!(count(), cap);
    drop(held.pop());
    assert_eq!(late.read_response().await.text(), "late");

    drop((held, late));
    await_children(&connections, 0).await;
}

/// What one client does until the server closes: it counts the results it reads.
async fn keep_calling(mut client: Client, results: Arc<AtomicUsize>, host: String) {
    let request = call("count", json!({})).to_bytes(&host);
    loop {
        let mut answer = vec![0; 4096];
        let sent = tokio::io::AsyncWriteExt::write_all(&mut client.socket, &request).await;
        let read = match sent {
            Ok(()) => client.socket.read(&mut answer).await.unwrap_or(0),
            Err(_) => 0,
        };
        let answer = String::from_utf8_lossy(&answer[..read]).into_owned();
        if !answer.starts_with("HTTP/1.1 200") {
            let ended = answer.is_empty() || answer.starts_with("HTTP/1.1 503");
            assert!(ended, "neither a result nor a refusal: {answer}");
            return;
        }
        results.fetch_add(1, Ordering::Relaxed);
    }
}

/// A call that has run has been answered; whatever is refused has not run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_signal_under_load_loses_no_call_that_has_run() {
    let (counted, mut ran) = watch::channel(0_usize);
    let count = move |_: NoArguments| {
        let ran = counted.clone();
        async move {
            tokio::task::yield_now().await;
            ran.send_modify(|ran| *ran += 1);
        }
    };
    let server = Server::start(Suite::new("counting", "1").tool("count", count)).await;
    let (signal, mut signalled) = watch::channel(false);
    let mcp = server.mcp.clone();
    let running = tokio::spawn(async move {
        mcp.run_until(async move {
            let _ = signalled.wait_for(|on| *on).await;
        })
        .await
    });
    let results = Arc::new(AtomicUsize::new(0));
    let mut clients = Vec::new();
    for _ in 0..16 {
        let calling = keep_calling(server.client().await, Arc::clone(&results), server.addr.to_string());
        clients.push(tokio::spawn(calling));
    }
    ran.wait_for(|ran| *ran > 500).await.unwrap();
    signal.send(true).unwrap();
    running.await.unwrap().unwrap();
    for client in clients {
        client.await.unwrap();
    }
    assert_eq!(results.load(Ordering::Relaxed), *ran.borrow());
}

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

#[tokio::test]
async fn connections_that_come_and_go_leave_nothing_behind() {
    let _files = FILES.lock().await;
    let server = Server::start(fixture::suite()).await;
    server.send(call("echo", json!({"text": "warm"}))).await;
    server.await_no_process("connection").await;
    let (idle, files) = (server.tree().to_string(), open_files());
    for round in 0..500 {
        let mut client = server.client().await;
        client.write(&call("slow", json!({"ms": 60_000}))).await;
        match round % 3 {
            // While the call runs; in the middle of a request; after an answer.
            0 => drop(client),
            1 => client.reset(),
            _ => {
                let mut other = server.client().await;
                other.send(&call("echo", json!({"text": "and away"}))).await;
            }
        }
    }
    await_children(&server.await_process("connections").await, 0).await;
    server.await_tree(&idle).await;
    // Other tests of this process open files too; what 500 rounds would leave behind is far more.
    assert!(open_files() < files + 300, "{} files, {files} before", open_files());
}
