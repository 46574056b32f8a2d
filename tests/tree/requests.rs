//! A request is an actor under its connection.

use ractor_mcp::otp::{ExitReason, Tag};
use serde_json::json;

use crate::support::{Server, call, fixture, notification};

#[tokio::test]
async fn an_answered_request_stops_with_shutdown_reply_under_its_connection() {
    let server = Server::start(fixture::suite()).await;
    let mut exits = server.mcp.exits();
    let mut client = server.client().await;
    client.write(&call("slow", json!({"ms": 100}))).await;

    let request = server.await_process("request tools/call slow #1").await;
    let connection = request.parent().expect("a parent");
    let local = client.socket.local_addr().unwrap();
    assert_eq!(connection.label().to_string(), format!("connection {local}"));
    assert_eq!(connection.parent().expect("a parent").label().to_string(), "connections");

    assert_eq!(client.read_response().await.text(), "worked for 100 ms");
    assert_eq!(request.join().await, ExitReason::ShutdownWith(Tag::REPLY));
    let exit = exits.next().await.expect("an exit").expect("none was missed");
    assert_eq!(exit.reason.to_string(), "shutdown: reply");
    assert!(connection.is_alive());
}

#[tokio::test]
async fn the_tree_is_what_the_documents_draw() {
    let server = Server::start(fixture::suite()).await;
    let mut client = server.client().await;
    client.write(&call("slow", json!({"ms": 60_000})).id("7")).await;
    let request = server.await_process("request tools/call slow #7").await;
    let names = |pid: &ractor_mcp::otp::Pid| -> Vec<String> {
        pid.children().iter().map(|child| child.label().to_string()).collect()
    };
    let root = server.mcp.pid();
    assert_eq!(names(root), ["listeners", "embedded"]);
    let listener = server.await_process("listener").await;
    assert_eq!(listener.label().to_string(), format!("listener {}", server.addr));
    assert_eq!(names(&listener), ["connections", "acceptor"]);
    let text = server.tree().to_string();
    assert!(text.contains("└─ request tools/call slow #7"), "{text}");
    request.kill();
}

#[tokio::test]
async fn a_notification_has_an_actor_of_its_own_and_is_answered_202_whatever_it_does() {
    let server = Server::start(fixture::suite()).await;
    let mut exits = server.mcp.exits();
    let response = server.send(notification("notifications/progress", json!({}))).await;
    assert_eq!((response.status, response.body.as_str()), (202, ""));
    let exit = exits.next().await.expect("an exit").expect("none was missed");
    assert_eq!(exit.reason, ExitReason::Normal);
    assert!(exit.label.starts_with("notification notifications/progress"), "{}", exit.label);
}

#[tokio::test]
async fn two_supervisors_in_one_process_do_not_meet() {
    let (one, two) = (Server::start(fixture::suite()).await, Server::start(fixture::suite()).await);
    let mut client = one.client().await;
    client.write(&call("slow", json!({"ms": 60_000}))).await;
    let request = one.await_process("request").await;
    assert!(two.find("request").is_none());
    two.mcp.shutdown(std::time::Duration::ZERO).await;
    assert_eq!(one.send(call("echo", json!({"text": "here"}))).await.text(), "here");
    request.kill();
}
