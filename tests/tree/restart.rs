//! What is restarted, and what is when restarts do not help.

use ractor_mcp::otp::{ExitReason, Pid};
use serde_json::json;

use crate::support::{Server, call, fixture};

#[tokio::test]
async fn a_killed_acceptor_comes_back_and_the_port_and_the_open_connections_stay() {
    let server = Server::start(fixture::suite()).await;
    let mut kept = server.client().await;
    assert_eq!(kept.send(&call("echo", json!({"text": "before"}))).await.text(), "before");
    let connection = server.await_process("connection").await;
    let acceptor = server.await_process("acceptor").await;
    acceptor.kill();
    acceptor.join().await;
    assert_eq!(server.send(call("echo", json!({"text": "new"}))).await.text(), "new");
    assert_eq!(kept.send(&call("echo", json!({"text": "kept"}))).await.text(), "kept");
    assert!(connection.is_alive());
    assert_ne!(server.await_process("acceptor").await.id(), acceptor.id());
}

#[tokio::test]
async fn killed_connections_come_back_with_the_acceptor_after_them() {
    let server = Server::start(fixture::suite()).await;
    let connections = server.await_process("connections").await;
    let acceptor = server.await_process("acceptor").await;
    connections.kill();
    connections.join().await;
    acceptor.join().await;
    server.await_process("acceptor").await;
    assert_eq!(server.send(call("echo", json!({"text": "new"}))).await.text(), "new");
}

#[tokio::test]
async fn a_listener_that_gives_up_is_restarted_on_its_port() {
    let server = Server::start(fixture::suite()).await;
    let listener = server.await_process("listener").await;
    kill_until_gone(&server, "acceptor", &listener).await;
    let again = server.await_process("listener").await;
    assert_eq!(again.label().to_string(), format!("listener {}", server.addr));
    server.await_process("acceptor").await;
    assert_eq!(server.send(call("echo", json!({"text": "same port"}))).await.text(), "same port");
}

#[tokio::test]
async fn restart_intensity_exceeded_ends_everything_in_order_and_stopped_says_why() {
    let server = Server::start(fixture::suite()).await;
    let mut client = server.client().await;
    client.write(&call("slow", json!({"ms": 60_000}))).await;
    let request = server.await_process("request").await;
    let root = server.mcp.pid().clone();
    kill_until_gone(&server, "listener", &root).await;
    let reason = server.mcp.stopped().await;
    assert!(matches!(reason, ExitReason::Crash(_)), "{reason}");
    assert!(reason.to_string().contains("listener"), "the reason names who was to blame: {reason}");
    assert!(!request.is_alive());
    assert!(tokio::net::TcpStream::connect(server.addr).await.is_err(), "the port is closed");
}

/// Kills a child each time it appears, until its supervisor has given up.
async fn kill_until_gone(server: &Server, child: &str, supervisor: &Pid) {
    loop {
        let child = tokio::select! {
            biased;
            _ = supervisor.join() => return,
            child = server.await_process(child) => child,
        };
        child.kill();
        child.join().await;
    }
}
