//! Mutated input at a live server: never a panic, never a hang, always an HTTP answer or a close.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use ractor_mcp::Options;
use ractor_mcp::otp::ExitReason;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use crate::mutation::mutated;
use crate::support::{Client, Post, Server, call, fixture};

/// A server with short limits, and every crash in it.
struct Target {
    runtime: Runtime,
    server: Server,
    crashes: Arc<Mutex<Vec<String>>>,
}

impl Target {
    fn start() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let short = Duration::from_millis(100);
        let options = Options::new()
            .first_byte_time(short)
            .head_time(short)
            .body_time(short)
            // What ends an HTTP/2 client that does not answer the goodbye.
            .keep_alive(short)
            .write_stall(5 * short);
        let server = runtime.block_on(Server::start_with(fixture::suite(), options));
        let crashes = Arc::<Mutex<Vec<String>>>::default();
        let (found, mut exits) = (Arc::clone(&crashes), server.mcp.exits());
        runtime.spawn(async move {
            while let Some(exit) = exits.next().await {
                match exit {
                    Ok(exit) if matches!(exit.reason, ExitReason::Crash(_)) => {
                        found.lock().expect("no panic").push(format!("{}: {}", exit.label, exit.reason));
                    }
                    Ok(_) => {}
                    Err(lagged) => found.lock().expect("no panic").push(lagged.to_string()),
                }
            }
        });
        Self { runtime, server, crashes }
    }

    /// After whatever it was sent, it serves as before and nothing in it has crashed.
    fn assert_well(&self) {
        let echo = self.server.send(call("echo", json!({"text": "well"})));
        assert_eq!(self.runtime.block_on(echo).text(), "well");
        let crashes = self.crashes.lock().expect("no panic");
        assert!(crashes.is_empty(), "{crashes:?}");
    }

    fn check<S: Strategy>(&self, cases: u32, inputs: S, test: impl Fn(&Self, S::Value)) {
        let config = Config { cases, max_shrink_iters: 50, failure_persistence: None, ..Config::default() };
        let checked = TestRunner::new(config).run(&inputs, |input| {
            test(self, input);
            self.assert_well();
            Ok(())
        });
        if let Err(fault) = checked {
            panic!("{fault}");
        }
    }
}

/// Everything that comes back until the server closes; a server that hangs fails the test.
async fn exchange(addr: std::net::SocketAddr, bytes: Vec<u8>) -> Vec<u8> {
    let mut socket = TcpStream::connect(addr).await.expect("the server accepts");
    // The server may close before it has read everything.
    let _ = socket.write_all(&bytes).await;
    let mut answer = Vec::new();
    let reading = socket.read_to_end(&mut answer);
    let _ = tokio::time::timeout(Duration::from_secs(20), reading)
        .await
        .unwrap_or_else(|_| panic!("the server hangs on {:?}", String::from_utf8_lossy(&bytes)));
    answer
}

#[test]
fn mutated_requests_are_answered_or_closed() {
    let inputs = proptest::collection::vec(mutated("http_intake"), 16);
    Target::start().check(25, inputs, |target, batch| {
        let addr = target.server.addr;
        target.runtime.block_on(async {
            let mut exchanges = JoinSet::new();
            for bytes in batch {
                exchanges.spawn(async move { (bytes.clone(), exchange(addr, bytes).await) });
            }
            while let Some(done) = exchanges.join_next().await {
                let (sent, answer) = done.expect("no hang");
                let is_http_2 = sent.starts_with(b"PRI * HTTP/2.0");
                let is_answer = answer.starts_with(b"HTTP/1.1 ") || answer.starts_with(b"HTTP/1.0 ");
                let (sent, shown) = (String::from_utf8_lossy(&sent), String::from_utf8_lossy(&answer));
                assert!(answer.is_empty() || is_answer || is_http_2, "{sent:?} -> {shown:?}");
                assert!(!shown.starts_with("HTTP/1.1 500"), "{sent:?} -> {shown:?}");
            }
        });
    });
}

#[test]
fn mutated_messages_are_always_answered() {
    let inputs = proptest::collection::vec(mutated("json_rpc_intake"), 16);
    Target::start().check(40, inputs, |target, batch| {
        target.runtime.block_on(async {
            let mut client: Client = target.server.client().await;
            for body in batch {
                let shown = String::from_utf8_lossy(&body).into_owned();
                let post: Post = call("echo", json!({})).body(body);
                let response = client.send(&post).await;
                assert!([200, 202, 400, 404].contains(&response.status), "{} for {shown:?}", response.status);
                let answers = response.messages();
                assert_eq!(answers.len(), usize::from(response.status != 202), "{shown:?}");
                for answer in answers {
                    assert_ne!(answer["error"]["code"], -32603, "{shown:?}");
                }
            }
        });
    });
}

#[test]
fn header_values_of_any_kind_are_answered() {
    let text = "(=\\?base64\\?)?[ -~\t]{0,40}(\\?=)?";
    let value = prop_oneof![text, "[ -~é❄\t]{0,30}".prop_map(String::from)];
    let names = proptest::sample::select(vec![
        "Mcp-Name",
        "Mcp-Method",
        "MCP-Protocol-Version",
        "Mcp-Param-X",
        "Accept",
        "Content-Type",
        "Origin",
    ]);
    let inputs = proptest::collection::vec((names, value), 16);
    Target::start().check(40, inputs, |target, batch| {
        target.runtime.block_on(async {
            let mut client = target.server.client().await;
            for (name, value) in batch {
                let post = call("echo", json!({"text": "x"})).header(name, &value);
                let status = client.send(&post).await.status;
                assert!([200, 400, 403, 404, 406, 415].contains(&status), "{status} for {name}: {value:?}");
            }
        });
    });
}
