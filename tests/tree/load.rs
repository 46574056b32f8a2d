//! Many connections, and many that come and go: the server holds them, and nothing is left of them.

use std::time::Duration;

use ractor_mcp::Options;
use serde_json::json;

use super::alone::alone;
#[cfg(target_os = "linux")]
use super::crowds::{eventually, sockets_of};
use crate::support::{Server, await_children, call, fixture};

/// How many connections this process can hold both ends of: 10,000 where the system lets it.
fn most_connections() -> usize {
    const WANTED: usize = 10_000;
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let files = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    let soft = match files.and_then(|line| line.split_whitespace().next()) {
        Some("unlimited") => usize::MAX,
        Some(soft) => soft.parse().expect("a number of files"),
        None => 1024,
    };
    let most = WANTED.min(soft.saturating_sub(200) / 2);
    if most < WANTED {
        println!("only {most} connections, since this process may have {soft} open files (`ulimit -n`)");
    }
    let is_gate = cfg!(target_os = "linux") && std::env::var_os("CI").is_some();
    assert!(!is_gate || most >= 1000, "{most} connections are no crowd: raise `ulimit -n` above 2,200");
    most
}

#[test]
fn ten_thousand_connections_fill_the_cap_and_one_that_leaves_makes_room() {
    let name = "load::ten_thousand_connections_fill_the_cap_and_one_that_leaves_makes_room";
    alone(name, async {
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
    });
}

/// So many connections, of which each has its way to leave.
async fn come_and_go(server: &Server, connections: usize) {
    for round in 0..connections {
        let mut client = server.client().await;
        match round % 4 {
            // When all is answered; while a call runs or begins; while its answer streams.
            0 => {
                for _ in 0..2 {
                    assert_eq!(client.send(&call("echo", json!({"text": "x"}))).await.text(), "x");
                }
            }
            1 => {
                client.write(&call("slow", json!({"ms": 60_000}))).await;
                client.reset();
            }
            2 => {
                client.write(&call("slow", json!({"ms": 60_000})).progress(json!(1))).await;
                client.read_head().await;
                client.reset();
            }
            _ => {
                let bytes = call("echo", json!({"text": "x"})).to_bytes("localhost");
                client.write_bytes(&bytes[..bytes.len() / 2]).await;
                client.reset();
            }
        }
    }
}

/// Open files of this process, and tasks of tokio, which is where timers live too.
#[cfg(target_os = "linux")]
fn files_and_tasks() -> (usize, usize) {
    let files = std::fs::read_dir("/proc/self/fd").expect("a folder").count();
    (files, tokio::runtime::Handle::current().metrics().num_alive_tasks())
}

/// The resident memory of this process, in KiB.
#[cfg(target_os = "linux")]
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("a status");
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("its memory");
    resident.trim().trim_end_matches(" kB").parse().expect("a number")
}

/// All is as it was before the first connection, but for memory: there the second half of the connections may add what the
/// allocator and the kernel move by themselves. That is less than a leak of 1 KiB for each would be.
#[cfg(target_os = "linux")]
#[test]
fn connections_that_come_and_go_leave_no_socket_task_actor_or_memory() {
    const CONNECTIONS: usize = 1500;
    const KIB: usize = 2048;
    let name = "load::connections_that_come_and_go_leave_no_socket_task_actor_or_memory";
    alone(name, async {
        let server = Server::start(fixture::suite()).await;
        let (idle, before) = (server.tree().to_string(), files_and_tasks());
        let mut memory = Vec::new();
        for _ in 0..4 {
            come_and_go(&server, CONNECTIONS).await;
            server.await_tree(&idle).await;
            eventually("no socket is left", || sockets_of(server.addr.port()) == 1).await;
            // The watch over a connection ends a moment after it.
            eventually("no file and no task is left", || files_and_tasks() == before).await;
            memory.push(resident());
        }
        assert!(memory[3] < memory[1] + KIB, "KiB after each round: {memory:?}");
    });
}
