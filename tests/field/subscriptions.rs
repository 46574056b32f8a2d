//! What went wrong with subscription streams (A2, A5, C1, C3, I1, I3, O2). Others of the cases are where the rest of their
//! subject is: A4, D1, D5, D6, I5, I10 and O4 in `tree/crowds.rs`, A10, C8, F12 and I9 in `tree/stream_ends.rs`, D3 and I6
//! in `tree/streams.rs`, H8 in `tree/topics.rs`, I2 and I8 in `suite/`.

use std::time::Duration;

use ractor_mcp::prelude::*;
use ractor_mcp::{Options, Topic};
use serde_json::{Value, json};
use tokio::sync::broadcast;

use crate::support::logs::Logs;
use crate::support::streams::{ALL, acknowledged, listen, start};
use crate::support::{Client, Server, call, fixture, shut_down};

fn tools() -> Value {
    json!({"toolsListChanged": true})
}

fn suite() -> Suite {
    Suite::new("s", "1").list_changes().tool("slow", fixture::slow)
}

async fn open(server: &Server) -> Client {
    acknowledged(server.client().await, &listen(tools())).await.0
}

#[tokio::test]
async fn a2_a_stream_without_changes_gets_keep_alives_that_are_no_events() {
    let server = Server::start_with(suite(), Options::new().keep_alive(Duration::from_millis(50))).await;
    let mut client = open(&server).await;
    for _ in 0..3 {
        assert_eq!(client.read_chunk().await.as_deref(), Some(":\n\n"));
    }
    let tree = server.tree().to_string();
    assert!(tree.contains("[tools] 0 waiting, 1 delivered"), "only the acknowledgement counts: {tree}");
}

#[tokio::test]
async fn a5_places_are_given_back_whether_a_client_dies_or_falls_silent() {
    let options = Options::new()
        .max_streams(4, 4)
        .keep_alive(Duration::from_millis(5))
        .write_stall(Duration::from_millis(100));
    let streams = start(options, ALL).await;
    let mut clients = Vec::new();
    for _ in 0..4 {
        clients.push(streams.open(tools()).await.0);
    }
    assert_eq!(streams.server.send(listen(tools())).await.status, 503);
    // The process of the client is killed: the system closes its sockets.
    drop(clients);
    streams.server.await_no_process("request").await;
    // The network is gone: nothing is read, and nothing is closed.
    let mut silent = Vec::new();
    for _ in 0..4 {
        silent.push(streams.open_pipe(tools(), 512).await);
    }
    assert_eq!(streams.server.send(listen(tools())).await.status, 503);
    streams.server.await_no_process("request").await;
    streams.open(tools()).await;
    drop(silent);
}

#[tokio::test]
async fn c1_streams_end_with_their_result_and_the_call_with_its_own() {
    let server = Server::start(suite()).await;
    let mut streams = Vec::new();
    for _ in 0..20 {
        streams.push(open(&server).await);
    }
    let mut calling = server.client().await;
    calling.write(&call("slow", json!({"ms": 300}))).await;
    server.await_process("request tools/call slow").await;
    let stopping = shut_down(&server, Duration::from_secs(10));
    for stream in &mut streams {
        assert_eq!(stream.read_event().await.expect("a cancellation")["method"], "notifications/cancelled");
        let result = stream.read_event().await.expect("a result");
        let stamp = &result["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
        assert_eq!((&result["result"]["resultType"], stamp), (&json!("complete"), &json!(1)));
        assert_eq!(stream.read_event().await, None);
        assert!(stream.read_to_end().await.is_empty(), "the connection is closed");
    }
    assert_eq!(calling.read_response().await.text(), "worked for 300 ms");
    let summary = stopping.await.expect("no panic");
    assert_eq!((summary.interrupted, summary.killed), (0, 0), "{summary}");
}

#[tokio::test]
async fn c3_the_stream_of_a_neighbour_stays_open() {
    let (one, two) = (Server::start(suite()).await, Server::start(suite()).await);
    let (mut first, mut second) = (open(&one).await, open(&two).await);
    assert_eq!(two.mcp.notify_tools_changed(), 1, "topics belong to one server");
    one.mcp.shutdown(Duration::from_secs(1)).await;
    assert_eq!(first.read_event().await.expect("an end")["method"], "notifications/cancelled");
    assert_eq!(second.read_event().await.expect("a change")["method"], "notifications/tools/list_changed");
    assert_eq!(two.mcp.notify_tools_changed(), 1);
    assert_eq!(second.read_event().await.expect("a change")["method"], "notifications/tools/list_changed");
}

/// What is not offered at all is 404; what is offered in part is acknowledged for that part, and stays open.
#[tokio::test]
async fn i1_a_stream_on_which_nothing_could_come_is_not_opened() {
    let silent = Server::start(fixture::suite()).await;
    let refused = silent.send(listen(json!({"promptsListChanged": true}))).await;
    assert_eq!((refused.status, refused.code()), (404, -32601));
    let server = Server::start(suite()).await;
    let (_client, acknowledgement) =
        acknowledged(server.client().await, &listen(json!({"promptsListChanged": true}))).await;
    assert_eq!(acknowledgement["params"]["notifications"], json!({}));
}

/// Each stream has a resource of its own, of which one change is told after the acknowledgement: no other would stand in for it.
#[tokio::test]
async fn i3_a_thousand_streams_while_changes_never_pause() {
    let streams = start(Options::new(), ALL).await;
    let mcp = streams.server.mcp.clone();
    let publishing = mcp.clone();
    let publisher = tokio::spawn(async move {
        loop {
            publishing.notify_tools_changed();
            tokio::task::yield_now().await;
        }
    });
    for stream in 0..1000 {
        let own = format!("x:{stream}");
        let filter = json!({"toolsListChanged": true, "resourceSubscriptions": [own]});
        let mut client = streams.open_pipe(filter, 4096).await;
        assert_eq!(mcp.notify_resource_updated(&own), 1);
        while client.read_event().await.expect("a change")["params"]["uri"] != own.as_str() {}
    }
    publisher.abort();
}

/// A node tells its own streams; a bus between the nodes carries changes to all of them.
#[tokio::test]
async fn o2_a_change_on_one_node_reaches_the_streams_of_all_once() {
    let (bus, _) = broadcast::channel::<()>(16);
    let node = || async {
        let (said, mut heard) = (bus.clone(), bus.subscribe());
        let change = move || {
            let told = said.send(()).is_ok();
            async move { told }
        };
        let server = Server::start(suite().tool("add_tool", change)).await;
        let mcp = server.mcp.clone();
        tokio::spawn(async move {
            while heard.recv().await.is_ok() {
                mcp.notify_tools_changed();
            }
        });
        server
    };
    let (a, b) = (node().await, node().await);
    let (mut on_a, mut on_b) = (open(&a).await, open(&b).await);
    assert_eq!(a.send(call("add_tool", json!({}))).await.text(), "true");
    for client in [&mut on_a, &mut on_b] {
        assert_eq!(
            client.read_event().await.expect("a change")["method"],
            "notifications/tools/list_changed"
        );
    }
    for server in [&a, &b] {
        let tree = server.tree().to_string();
        assert!(tree.contains("[tools] 0 waiting, 2 delivered, 0 coalesced"), "once, and no echo: {tree}");
    }
}

/// M5: hundreds of streams that end in ordinary ways are no news.
#[tokio::test]
async fn m5_ordinary_ends_of_streams_are_neither_warnings_nor_errors() {
    let (logs, _guard) = Logs::record(tracing::Level::WARN);
    let streams = start(Options::new(), ALL).await;
    for round in 0..100 {
        let (client, _) = streams.open(tools()).await;
        if round % 2 == 0 { client.reset() } else { drop(client) }
    }
    streams.server.await_no_process("request").await;
    assert_eq!(streams.server.mcp.subscribers(&Topic::Tools), []);
    let (_client, _) = streams.open(tools()).await;
    streams.server.mcp.shutdown(Duration::from_secs(1)).await;
    assert_eq!(logs.text(), "");
}
