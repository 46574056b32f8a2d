//! Ports: when one opens, and when it does not.

use std::net::SocketAddr;
use std::time::Duration;

use hyper_util::rt::TokioIo;
use ractor_mcp::Error;
use ractor_mcp::otp::ExitReason;
use serde_json::json;
use tokio::net::TcpStream;

use crate::support::{Client, Server, call, fixture, shut_down};

const LONG: Duration = Duration::from_secs(20);

/// A server with a call that keeps a drain waiting.
async fn busy() -> (Server, Client) {
    let server = Server::start(fixture::suite()).await;
    let mut client = server.client().await;
    client.write(&call("slow", json!({"ms": 500}))).await;
    server.await_process("request tools/call slow").await;
    (server, client)
}

fn stopped<T>(opened: Result<T, Error>) -> bool {
    matches!(opened, Err(Error::Stopped(ExitReason::Shutdown)))
}

async fn refused(addr: SocketAddr) -> bool {
    TcpStream::connect(addr).await.is_err()
}

#[tokio::test]
async fn no_port_opens_and_no_connection_is_taken_during_a_drain() {
    let (server, mut client) = busy().await;
    let stopping = shut_down(&server, LONG);
    server.await_no_process("acceptor").await;

    assert!(stopped(server.mcp.listen("127.0.0.1:0").await));
    let socket = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let addr = socket.local_addr().expect("an address");
    assert!(stopped(server.mcp.listen_on(socket).await));
    assert!(refused(addr).await, "the given socket is closed");
    let (_ours, theirs) = tokio::io::duplex(64);
    assert!(stopped(server.mcp.serve(TokioIo::new(theirs), None).await));

    assert!(server.find("acceptor").is_none());
    assert_eq!(client.read_response().await.text(), "worked for 500 ms", "the drain goes on");
    assert_eq!(stopping.await.expect("no panic").interrupted, 0);
}

#[tokio::test]
async fn a_port_that_opens_while_the_drain_begins_closes_again() {
    let (server, mut client) = busy().await;
    let socket = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let addr = socket.local_addr().expect("an address");
    let mcp = server.mcp.clone();
    // The test has the only thread: the listener is about to start when the drain closes the ports that there are.
    let listening = tokio::spawn(async move { mcp.listen_on(socket).await });
    let stopping = shut_down(&server, LONG);
    assert!(stopped(listening.await.expect("no panic")));
    server.await_no_process("acceptor").await;
    assert!(refused(addr).await, "the port is closed");
    assert_eq!(client.read_response().await.text(), "worked for 500 ms", "the drain goes on");
    stopping.await.expect("no panic");
}
