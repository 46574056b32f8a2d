//! The drain of an HTTP/2 connection: its client is told at once to send what is new elsewhere, and what runs finishes (C2).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ractor_mcp::otp::testing::{LIMIT, within};
use ractor_mcp::prelude::*;
use serde_json::json;
use tokio::net::TcpStream;

use crate::http2::Http2;
use crate::refusals::{Observer, held};
use crate::support::{Server, call, notification, shut_down};

const DEADLINE: Duration = Duration::from_secs(60);

/// Asks for room for one more stream until there is none any more.
async fn farewell(client: &Http2) -> h2::Error {
    let told = async {
        loop {
            match client.requests.clone().ready().await {
                Ok(_) => tokio::task::yield_now().await,
                Err(error) => return error,
            }
        }
    };
    within(LIMIT, told).await.expect("a GOAWAY while the call runs")
}

#[tokio::test]
async fn c2_the_client_reads_goaway_as_soon_as_the_drain_begins_and_its_running_call_finishes() {
    let (suite, gate) = held();
    let server = Server::start(suite).await;
    let mut client = Http2::connect(&server).await;
    let running = client.start(&call("wait", json!({}))).await;
    server.await_process("request tools/call wait").await;
    let stopping = shut_down(&server, DEADLINE);

    let told = farewell(&client).await;
    assert!(told.is_go_away() && told.is_remote(), "{told}");
    assert_eq!(told.reason(), Some(h2::Reason::NO_ERROR));
    assert!(server.find("request tools/call wait").is_some(), "it runs on");

    gate.add_permits(1);
    let response = running.await.expect("an answer");
    assert_eq!(response.status(), 200);
    let mut body = response.into_body();
    let text = body.data().await.expect("a body").expect("whole");
    assert!(String::from_utf8_lossy(&text).contains("finished"), "{text:?}");
    let summary = stopping.await.expect("no panic");
    assert_eq!((summary.running, summary.interrupted), (1, 0), "{summary}");
}

#[tokio::test]
async fn c2_an_idle_http_2_connection_closes_while_a_call_on_another_runs() {
    let (suite, gate) = held();
    let server = Server::start(suite).await;
    let mut busy = server.client().await;
    busy.write(&call("wait", json!({}))).await;
    server.await_process("request tools/call wait").await;
    let socket = TcpStream::connect(server.addr).await.unwrap();
    let (mut requests, connection) = h2::client::handshake(socket).await.unwrap();
    let connection = tokio::spawn(connection);
    // Answered, whatever it says: the server knows the version.
    let (response, _) = requests.send_request(http::Request::new(()), true).unwrap();
    response.await.unwrap();

    let stopping = shut_down(&server, DEADLINE);
    within(LIMIT, connection).await.expect("closed").expect("no panic").expect("in order");
    assert!(server.find("request tools/call wait").is_some());
    gate.add_permits(1);
    assert_eq!(busy.read_response().await.text(), "finished");
    stopping.await.expect("no panic");
}

/// Between the begin of the drain and the moment at which the client knows of it.
#[tokio::test]
async fn c2_an_http_2_request_that_crosses_the_farewell_is_refused_and_runs_nothing() {
    let (suite, gate) = held();
    let ran = Arc::<AtomicUsize>::default();
    let counter = Arc::clone(&ran);
    let count = move |_: NoArguments| {
        counter.fetch_add(1, Ordering::SeqCst);
        async { "counted" }
    };
    let server = Server::start(suite.tool("count", count)).await;
    let mut client = Http2::connect(&server).await;
    assert_eq!(client.send(&call("count", json!({}))).await.0, 200);
    assert_eq!(ran.swap(0, Ordering::SeqCst), 1, "before the drain it runs");
    let running = client.start(&call("wait", json!({}))).await;
    server.await_process("request tools/call wait").await;
    let stopping = shut_down(&server, DEADLINE);
    let late = client.start(&call("count", json!({}))).await.await;
    match late {
        Ok(response) => assert_eq!(response.status(), 503),
        Err(refused) => assert!(refused.is_go_away() || refused.is_reset(), "{refused}"),
    }
    gate.add_permits(1);
    assert_eq!(running.await.expect("an answer").status(), 200);
    let summary = stopping.await.expect("no panic");
    assert_eq!((ran.load(Ordering::SeqCst), summary.running), (0, 1), "{summary}");
}

/// It has its answer, 202, so that no stream of its connection is left.
#[tokio::test]
async fn a_notification_of_an_http_2_connection_finishes_within_the_drain() {
    let observer = Observer::default();
    let (gate, done) = (observer.gate(), observer.done());
    let server = Server::start(observer).await;
    let mut client = Http2::connect(&server).await;
    assert_eq!(client.send(&notification("notifications/progress", json!({}))).await.0, 202);
    server.await_process("notification").await;
    let stopping = shut_down(&server, DEADLINE);
    let _ = farewell(&client).await;
    drop(client);
    gate.notify_one();
    let summary = stopping.await.expect("no panic");
    assert!(done.load(Ordering::Acquire), "cut: {summary}");
    assert_eq!(summary.interrupted, 0, "{summary}");
}
