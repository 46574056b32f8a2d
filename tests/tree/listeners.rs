//! Ports: when one opens, when it does not, and how it is closed while the server goes on.

use std::future::pending;
use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hyper_util::rt::TokioIo;
use ractor_mcp::Error;
use ractor_mcp::otp::ExitReason;
use ractor_mcp::otp::testing::{LIMIT, within};
use ractor_mcp::prelude::*;
use ractor_mcp::testing::TestServer;
use ractor_mcp::wire::{Request, ServerCapabilities};
use serde_json::json;
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::support::streams::{ALL, acknowledged, expect_teardown, listen, start};
use crate::support::{Client, Server, await_children, call, fixture, shut_down};

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

#[tokio::test]
async fn a_closed_listener_ends_with_its_connections_and_the_others_go_on() {
    let server = Server::start(fixture::suite()).await;
    let listener = server.mcp.listen("127.0.0.1:0").await.expect("a second port");
    let mut kept = server.client().await;
    assert_eq!(kept.send(&call("echo", json!({"text": "before"}))).await.text(), "before");
    let mut client = Client::connect(listener.addr()).await;
    client.write(&call("slow", json!({"ms": 60_000}))).await;
    let request = server.await_process("request tools/call slow").await;

    listener.close().await;
    assert!(refused(listener.addr()).await, "the port is closed");
    assert_eq!(request.join().await, ExitReason::Shutdown);
    assert_eq!(client.read_response().await.code(), -32603);
    assert!(client.read_to_end().await.is_empty(), "the connection is closed");
    assert_eq!(listener.pid().join().await, ExitReason::Shutdown);
    assert!(server.find(&format!("listener {}", listener.addr())).is_none(), "{}", server.tree());

    assert_eq!(kept.send(&call("echo", json!({"text": "kept"}))).await.text(), "kept");
    assert_eq!(server.send(call("echo", json!({"text": "new"}))).await.text(), "new");
    let summary = server.mcp.shutdown(LONG).await;
    assert_eq!((summary.running, summary.killed), (0, 0), "{summary}");
}

#[tokio::test]
async fn the_streams_of_a_closed_listener_are_torn_down() {
    let mut fixture = start(Options::new(), ALL).await;
    let listener = fixture.server.mcp.listen("127.0.0.1:0").await.expect("a second port");
    let filter = listen(json!({"toolsListChanged": true}));
    let (mut client, _) = acknowledged(Client::connect(listener.addr()).await, &filter).await;
    listener.close().await;
    expect_teardown(&mut client).await;
    assert_eq!(fixture.closes.try_recv().ok(), Some(ExitReason::Shutdown));
    assert!(fixture.server.mcp.pid().is_alive());
}

/// Does not end when it is told to: a call of `shielded` is in the middle of something, one of `blocked` holds its thread until
/// the test lets it go, any other cleans up for ever.
struct Stubborn {
    blocks: Arc<Notify>,
    release: Mutex<Receiver<()>>,
}

/// With what lets `blocked` go when it is dropped.
fn stubborn() -> (Stubborn, Sender<()>) {
    let (release, held) = channel();
    (Stubborn { blocks: Arc::default(), release: Mutex::new(held) }, release)
}

impl Handler for Stubborn {
    type State = ();
    type Message = ();

    async fn init(&self, _: &Channel<()>) -> Result<(), RpcError> {
        Ok(())
    }

    async fn handle_request(
        &self,
        request: Request,
        channel: &Channel<()>,
        (): &mut (),
    ) -> Result<Reply, RpcError> {
        match request {
            Request::CallTool(call) if call.name == "shielded" => channel.uninterrupted(pending()).await,
            Request::CallTool(call) if call.name == "blocked" => {
                self.blocks.notify_one();
                let _ = self.release.lock().expect("no panic").recv();
                Err(RpcError::internal("let go"))
            }
            _ => pending().await,
        }
    }

    async fn handle_close(&self, _: &Channel<()>, (): &mut ()) {
        pending().await
    }

    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::new().tools(true)
    }
}

/// The clock stands still but for the wait of the closing itself.
#[tokio::test]
async fn a_listener_is_closed_within_the_close_time_whatever_its_requests_do() {
    let limit = Duration::from_secs(7);
    let (handler, _release) = stubborn();
    let server = Server::start_with(handler, Options::new().close_time(limit)).await;
    let listener = server.mcp.listen("127.0.0.1:0").await.expect("a second port");
    let mut clients = Vec::new();
    for name in ["shielded", "closing"] {
        let mut client = Client::connect(listener.addr()).await;
        client.write(&call(name, json!({}))).await;
        server.await_process(&format!("request tools/call {name}")).await;
        clients.push(client);
    }
    tokio::time::pause();
    let began = Instant::now();
    listener.close().await;
    assert_eq!(began.elapsed().as_secs(), limit.as_secs(), "not for ever");
    tokio::time::resume();
    for mut client in clients {
        assert_eq!(client.read_response().await.code(), -32603);
        assert!(client.read_to_end().await.is_empty(), "the connection is closed");
    }
    server.await_no_process("request").await;
}

/// The same for a connection without a listener, when the tree ends and no drain came before.
#[tokio::test(start_paused = true)]
async fn the_answer_of_a_request_that_is_killed_with_its_connection_goes_out() {
    let (handler, _release) = stubborn();
    let server = TestServer::start(handler).await;
    let call = server.connect().await.call_tool("shielded", json!({})).start().await;
    server.pid_of("request tools/call shielded").await;
    server.mcp().pid().exit(ExitReason::Shutdown);
    assert_eq!(call.answer().await.code(), -32603);
    assert_eq!(server.await_exit("request").await, ExitReason::Killed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_listener_is_closed_though_a_handler_blocks_its_thread() {
    let (handler, release) = stubborn();
    let blocks = Arc::clone(&handler.blocks);
    let server = Server::start_with(handler, Options::new().close_time(Duration::from_millis(50))).await;
    let listener = server.mcp.listen("127.0.0.1:0").await.expect("a second port");
    let mut client = Client::connect(listener.addr()).await;
    client.write(&call("blocked", json!({}))).await;
    let request = server.await_process("request tools/call blocked").await;
    blocks.notified().await;
    within(LONG, listener.close()).await.expect("not for ever");
    assert!(request.is_alive(), "nothing ends a thread");
    assert!(!listener.pid().is_alive());
    assert!(refused(listener.addr()).await, "the port is closed");
    drop(release);
    request.join().await;
}

#[tokio::test]
async fn an_address_can_be_listened_on_again_and_the_old_handle_does_not_end_the_new_listener() {
    let server = Server::start(fixture::suite()).await;
    let old = server.mcp.listen("127.0.0.1:0").await.expect("a second port");
    let same = old.clone();
    tokio::join!(old.close(), same.close());
    let new = server.mcp.listen(old.addr()).await.expect("the same port");
    old.close().await;
    let mut client = Client::connect(new.addr()).await;
    assert_eq!(client.send(&call("echo", json!({"text": "again"}))).await.text(), "again");
    assert!(new.pid().is_alive());
    assert!(!old.pid().is_alive());
}

#[tokio::test]
async fn a_listener_that_was_restarted_is_named_and_closed_by_its_handle() {
    let server = Server::start(fixture::suite()).await;
    let listener = server.mcp.listen("127.0.0.1:0").await.expect("a second port");
    let first = listener.pid();
    first.kill();
    first.join().await;
    await_children(&first.parent().expect("`listeners`"), 2).await;
    // It is a child a moment before its handle knows it.
    let known = async {
        while listener.pid() == first {
            tokio::task::yield_now().await;
        }
    };
    within(LIMIT, known).await.expect("the handle knows it");
    let again = listener.pid();
    assert!(again.is_alive());
    listener.close().await;
    assert!(!again.is_alive());
    assert!(refused(listener.addr()).await, "the port is closed");
}

#[tokio::test]
async fn a_listener_of_a_server_that_has_stopped_is_closed_already() {
    let server = Server::start(fixture::suite()).await;
    let listener = server.mcp.listen("127.0.0.1:0").await.expect("a second port");
    server.mcp.shutdown(LONG).await;
    listener.close().await;
    assert!(!listener.pid().is_alive());
}

#[tokio::test]
async fn a_listener_that_nobody_waits_for_any_more_does_not_stay() {
    let server = Server::start(fixture::suite()).await;
    let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    tokio::select! {
        biased;
        _ = server.mcp.listen_on(socket) => unreachable!("its task has not run yet"),
        () = std::future::ready(()) => {}
    }
    let listeners = || server.mcp.tree().to_string().matches("listener ").count();
    let gone = async {
        while !refused(address).await || listeners() > 1 {
            tokio::task::yield_now().await;
        }
    };
    within(LIMIT, gone).await.unwrap_or_else(|| panic!("it stays:\n{}", server.tree()));
}
