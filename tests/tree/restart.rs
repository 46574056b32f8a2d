//! What is restarted, and what is when restarts do not help.

use ractor_mcp::otp::ExitReason;
use serde_json::json;

use crate::support::{Server, call, eventually, fixture};

#[tokio::test]
async fn a_killed_acceptor_comes_back_and_the_port_and_the_open_connections_stay() {
    let server = Server::start(fixture::suite()).await;
    let mut kept = server.client().await;
    assert_eq!(kept.send(&call("echo", json!({"text": "before"}))).await.text(), "before");
    let connection = server.await_process("connection 1").await;
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
    eventually("a new acceptor", || server.find("acceptor").filter(|new| new.id() != acceptor.id())).await;
    assert_eq!(server.send(call("echo", json!({"text": "new"}))).await.text(), "new");
}

#[tokio::test]
async fn a_listener_that_gives_up_is_restarted_on_its_port() {
    let server = Server::start(fixture::suite()).await;
    let listener = server.await_process("listener ").await;
    kill_until_gone(&server, "acceptor", &listener).await;
    let again =
        eventually("a new listener", || server.find("listener ").filter(|new| new.id() != listener.id()));
    let again = again.await;
    assert_eq!(again.label().to_string(), format!("listener {}", server.addr));
    server.await_process("acceptor").await;
    assert_eq!(server.send(call("echo", json!({"text": "same port"}))).await.text(), "same port");
}

#[tokio::test]
async fn restart_intensity_exceeded_ends_everything_in_order_and_stopped_says_why() {
    let server = Server::start(fixture::suite()).await;
    let mut client = server.client().await;
    client.write(&call("slow", json!({"ms": 60_000}))).await;
    let request = server.await_process("request ").await;
    let root = server.mcp.pid().clone();
    kill_until_gone(&server, "listener ", &root).await;
    let reason = server.mcp.stopped().await;
    assert!(matches!(reason, ExitReason::Crash(_)), "{reason}");
    assert!(reason.to_string().contains("listener"), "the reason names who was to blame: {reason}");
    assert!(!request.is_alive());
    assert!(tokio::net::TcpStream::connect(server.addr).await.is_err(), "the port is closed");
}

/// Kills a child each time it appears, until its supervisor has given up.
async fn kill_until_gone(server: &Server, child: &str, supervisor: &ractor_mcp::otp::Pid) {
    eventually("the supervisor gives up", || {
        if let Some(child) = server.find(child) {
            child.kill();
        }
        (!supervisor.is_alive()).then_some(())
    })
    .await;
}
