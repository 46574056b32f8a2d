//! What a refusal says, and who is told of it: a limit of the server is its operator's affair, one of a caller is not.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use bytes::Bytes;
use http_body_util::Full;
use ractor_mcp::prelude::*;
use ractor_mcp::testing::{TestClient, TestResponse, TestServer};
use ractor_mcp::wire::{Notification, Request, ServerCapabilities};
use serde_json::json;
use tokio::sync::{Notify, Semaphore};
use tower_service::Service;

use crate::support::logs::Logs;
use crate::support::{Client, Server, call, fixture};

/// Takes as long over a notification as the gate says, and notes that it came to its end.
#[derive(Default)]
pub(crate) struct Observer {
    gate: Arc<Notify>,
    done: Arc<AtomicBool>,
}

impl Observer {
    pub(crate) fn gate(&self) -> Arc<Notify> {
        Arc::clone(&self.gate)
    }

    #[cfg(feature = "http2")]
    pub(crate) fn done(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.done)
    }
}

impl Handler for Observer {
    type State = ();
    type Message = ();

    async fn init(&self, _: &Channel<()>) -> Result<(), RpcError> {
        Ok(())
    }

    async fn handle_request(
        &self,
        request: Request,
        _: &Channel<()>,
        (): &mut (),
    ) -> Result<Reply, RpcError> {
        Err(RpcError::method_not_found(request.method()))
    }

    async fn handle_notification(&self, _: Notification, _: &Channel<()>, (): &mut ()) {
        self.gate.notified().await;
        self.done.store(true, Ordering::Release);
    }

    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::new()
    }
}

/// A tool that takes until it has a permit.
pub(crate) fn held() -> (Suite, Arc<Semaphore>) {
    let gate = Arc::new(Semaphore::new(0));
    let known = Arc::clone(&gate);
    let wait = move |_: NoArguments, _: Call| {
        let gate = Arc::clone(&known);
        async move {
            gate.acquire().await.expect("never closed").forget();
            "finished"
        }
    };
    (fixture::suite().trace_warnings(false).tool("wait", wait), gate)
}

fn message(refused: &TestResponse) -> String {
    refused.response()["error"]["message"].as_str().expect("a message").to_owned()
}

/// On HTTP/1.1 a connection has one request at a time, but a notification is answered before its handler is done.
#[tokio::test(start_paused = true)]
async fn a_connection_at_its_own_limit_is_told_so_and_the_operator_is_not() {
    let (logs, _guard) = Logs::record(tracing::Level::WARN);
    let observer = Observer::default();
    let gate = observer.gate();
    let server = TestServer::start_with(observer, Options::new().max_in_flight(100, 1)).await;
    let client = server.connect().await;
    let notify = || client.notify("notifications/progress", json!({}));
    assert_eq!(notify().await.status(), 202);
    let refused = notify().await;
    assert_eq!((refused.status(), refused.header("retry-after")), (503, Some("1")));
    assert!(message(&refused).starts_with("this connection has"), "{refused}");
    assert!(logs.lines("WARN").is_empty(), "{}", logs.text());
    gate.notify_one();
    server.await_none("notification").await;
}

#[tokio::test(start_paused = true)]
async fn a_server_at_its_limit_is_told_so_and_its_operator_too() {
    let (logs, _guard) = Logs::record(tracing::Level::WARN);
    let (suite, gate) = held();
    let server = TestServer::start_with(suite, Options::new().max_in_flight(1, 100)).await;
    let client = server.connect().await;
    let running = client.call_tool("wait", json!({})).start().await;
    server.pid_of("request tools/call wait").await;
    let refused = client.call_tool("wait", json!({})).await;
    assert_eq!((refused.status(), refused.header("retry-after")), (503, Some("1")));
    assert!(message(&refused).starts_with("the server runs"), "{refused}");
    assert_eq!(logs.lines("WARN").len(), 1, "{}", logs.text());
    gate.add_permits(1);
    running.answer().await;
}

/// One client that is not let in must not take the word from the server's own limits.
#[tokio::test(start_paused = true)]
async fn a_caller_that_cannot_be_judged_now_is_no_warning_of_a_limit() {
    let (logs, _guard) = Logs::record(tracing::Level::WARN);
    let options = Options::new().max_in_flight(1, 100).max_in_flight_per_principal(2).connect(|request| {
        let known = request.bearer_token().is_some();
        async move {
            if known {
                Ok(Principal::new("alice"))
            } else {
                Err(Denied::Unavailable("the issuer is down".into()))
            }
        }
    });
    let (suite, gate) = held();
    let server = TestServer::start_with(suite, options).await;
    let (stranger, alice) =
        (server.connect().await, server.connect().await.header("authorization", "Bearer alice"));
    let refused = stranger.call_tool("wait", json!({})).await;
    assert_eq!((refused.status(), refused.header("retry-after")), (503, Some("1")));
    assert!(logs.lines("WARN").is_empty(), "{}", logs.text());
    let running = alice.call_tool("wait", json!({})).start().await;
    server.pid_of("request tools/call wait").await;
    assert_eq!(alice.call_tool("wait", json!({})).await.status(), 503);
    assert!(logs.text().contains("the server runs"), "{}", logs.text());
    gate.add_permits(1);
    running.answer().await;
}

#[tokio::test]
async fn limits_of_the_server_are_warned_of_once_a_second_over_all_its_listeners() {
    let (logs, _guard) = Logs::record(tracing::Level::WARN);
    let (suite, gate) = held();
    let server = Server::start_with(suite, Options::new().max_in_flight(1, 100)).await;
    let other = server.mcp.listen("127.0.0.1:0").await.expect("a second port").addr();
    let mut busy = server.client().await;
    busy.write(&call("wait", json!({}))).await;
    server.await_process("request tools/call wait").await;
    let began = Instant::now();
    for address in [server.addr, other, server.addr, other] {
        let mut client = Client::connect(address).await;
        assert_eq!(client.send(&call("wait", json!({}))).await.status, 503);
    }
    let (told, seconds) = (logs.lines("WARN").len() as u64, began.elapsed().as_secs());
    assert!((1..=1 + seconds).contains(&told), "in {seconds} s: {}", logs.text());
    gate.add_permits(1);
    busy.read_response().await;
}

#[tokio::test(start_paused = true)]
async fn d7_a_caller_at_its_own_limit_is_told_so_on_whatever_connection_and_others_go_on() {
    let (logs, _guard) = Logs::record(tracing::Level::WARN);
    let options = Options::new().max_in_flight_per_principal(2).connect(|request| {
        let name = request.bearer_token().map(str::to_owned);
        async move { Ok(name.map_or_else(Principal::anonymous, Principal::new)) }
    });
    let (suite, gate) = held();
    let server = TestServer::start_with(suite, options).await;
    let alice = server.connect().await.header("authorization", "Bearer alice");
    let again = server.connect().await.header("authorization", "Bearer alice");
    let bob = server.connect().await.header("authorization", "Bearer bob");
    let wait = |client: &TestClient, id: u32| client.call_tool("wait", json!({})).id(id).start();
    let mut running = vec![wait(&alice, 1).await, wait(&again, 2).await];
    server.pid_of("request tools/call wait #1").await;
    server.pid_of("request tools/call wait #2").await;
    for client in [&alice, &again] {
        let refused = client.call_tool("wait", json!({})).await;
        assert_eq!((refused.status(), refused.code()), (503, 503));
        assert_eq!(refused.header("retry-after"), Some("1"));
        assert!(message(&refused).starts_with("this caller has"), "{refused}");
        assert_eq!(client.request("tools/list", json!({})).await.status(), 200, "lists are counted apart");
    }
    assert!(logs.lines("WARN").is_empty(), "{}", logs.text());
    let nobody = server.connect().await;
    for id in 3..6 {
        running.push(wait(&nobody, id).await);
        server.pid_of(&format!("request tools/call wait #{id}")).await;
    }
    running.push(wait(&bob, 6).await);
    server.pid_of("request tools/call wait #6").await;
    // However a request ends, its place is free.
    running.remove(0).hang_up();
    server.await_none("request tools/call wait #1").await;
    running.push(wait(&alice, 7).await);
    server.pid_of("request tools/call wait #7").await;
    gate.add_permits(running.len());
    for call in running {
        assert_eq!(call.answer().await.text(), "finished");
    }
}

/// A page that cannot read the answer does not learn what to mend. The server in front takes larger heads than this one: what
/// hyper refuses by itself comes with no header of ours.
#[tokio::test]
async fn f8_a_page_may_read_that_its_head_is_too_large() {
    let origin = "https://app.example.com";
    let options = Options::new().max_head(8 * 1024).allowed_origins([origin]);
    let server = TestServer::start_with(fixture::suite(), options).await;
    for (from, status, allowed) in
        [(Some(origin), 431, Some(origin)), (None, 431, None), (Some("https://elsewhere.example"), 403, None)]
    {
        let mut request = http::Request::post("/mcp").header("host", "localhost");
        request = request.header("x-padding", "x".repeat(8 * 1024));
        if let Some(from) = from {
            request = request.header("origin", from);
        }
        let request = request.body(Full::<Bytes>::default()).expect("a request");
        let refused = server.mcp().service().call(request).await.expect("a service does not fail");
        let readable = refused.headers().get("access-control-allow-origin");
        let readable = readable.map(|origin| origin.to_str().expect("text"));
        assert_eq!((refused.status().as_u16(), readable), (status, allowed), "{from:?}");
    }
}
