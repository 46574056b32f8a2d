//! What a `tools/call` costs beside bare hyper, in one run: `cargo bench --bench requests`.
//!
//! Each server runs alone on a thread of its own, and its CPU time is read from the system, so that the client does not
//! count. The numbers of one machine say little; the ratios hold.

use std::convert::Infallible;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use ractor_mcp::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;

const REQUESTS: usize = 20_000;
const ANSWER: &str =
    r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"3"}]}}"#;
const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#;

/// Adds two integers.
#[derive(Deserialize, JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

async fn add(Add { a, b }: Add) -> i64 {
    a + b
}

/// The least that any server does: hyper reads, serde_json parses, the answer is fixed.
async fn bare(ready: mpsc::Sender<SocketAddr>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    ready.send(listener.local_addr().unwrap()).unwrap();
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        stream.set_nodelay(true).unwrap();
        let service = service_fn(async |request: hyper::Request<Incoming>| {
            let body = request.into_body().collect().await.unwrap().to_bytes();
            let parsed: serde_json::Value = serde_json::from_slice(&body).unwrap();
            assert!(parsed.get("method").is_some());
            Ok::<_, Infallible>(hyper::Response::new(Full::new(Bytes::from_static(ANSWER.as_bytes()))))
        });
        tokio::spawn(async move {
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .serve_connection(TokioIo::new(stream), service);
            let _ = connection.await;
        });
    }
}

/// This crate, with so many tools more.
async fn ours(ready: mpsc::Sender<SocketAddr>, more: usize) {
    let suite = Suite::new("bench", "1").tool("add", add);
    let suite = (0..more).fold(suite, |suite, n| suite.tool(&format!("add_{n}"), add));
    let mcp = McpSupervisor::start(suite).await.unwrap();
    ready.send(mcp.listen("127.0.0.1:0").await.unwrap().addr()).unwrap();
    std::future::pending::<()>().await;
}

/// Starts a server on a thread of its own; returns where it listens and where its CPU time is read.
fn start<F: Future<Output = ()>>(
    server: impl FnOnce(mpsc::Sender<SocketAddr>) -> F + Send + 'static,
) -> (SocketAddr, String) {
    let (ready, addr) = mpsc::channel();
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        tell.send(std::fs::read_link("/proc/thread-self").unwrap()).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(server(ready));
    });
    let thread = told.recv().unwrap();
    (addr.recv().unwrap(), format!("/proc/{}/schedstat", thread.display()))
}

fn cpu(schedstat: &str) -> Duration {
    let text = std::fs::read_to_string(schedstat).unwrap();
    Duration::from_nanos(text.split(' ').next().and_then(|nanos| nanos.parse().ok()).unwrap())
}

/// Microseconds of the server's CPU for each request, over so many connections in turn.
fn measure(addr: SocketAddr, schedstat: &str, connections: usize) -> f64 {
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: {addr}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
         Mcp-Method: tools/call\r\nMcp-Name: add\r\nContent-Length: {}\r\n\r\n{CALL}",
        CALL.len()
    );
    let mut sockets: Vec<TcpStream> = (0..connections)
        .map(|_| {
            let socket = TcpStream::connect(addr).unwrap();
            socket.set_nodelay(true).unwrap();
            socket
        })
        .collect();
    let mut buffer = [0; 4096];
    let mut round = |sockets: &mut [TcpStream]| {
        for socket in sockets.iter_mut() {
            socket.write_all(request.as_bytes()).unwrap();
        }
        for socket in sockets {
            let read = socket.read(&mut buffer).unwrap();
            assert!(
                buffer[..read].starts_with(b"HTTP/1.1 200"),
                "{}",
                String::from_utf8_lossy(&buffer[..read])
            );
        }
    };
    for _ in 0..20 {
        round(&mut sockets);
    }
    let (rounds, before) = (REQUESTS / connections, cpu(schedstat));
    for _ in 0..rounds {
        round(&mut sockets);
    }
    (cpu(schedstat) - before).as_secs_f64() * 1e6 / (rounds * connections) as f64
}

fn main() {
    let bare = start(bare);
    let one = start(|ready| ours(ready, 0));
    let hundred = start(|ready| ours(ready, 100));
    println!("server CPU per tools/call, {REQUESTS} requests\n");
    println!("| connections | bare hyper us | one tool us | x bare | 100 more tools, x one |");
    println!("|---|---|---|---|---|");
    for connections in [1, 32, 256] {
        let best = |(addr, cpu): &(SocketAddr, String)| {
            (0..3).map(|_| measure(*addr, cpu, connections)).fold(f64::INFINITY, f64::min)
        };
        let (bare, one, hundred) = (best(&bare), best(&one), best(&hundred));
        println!("| {connections} | {bare:.1} | {one:.1} | {:.2} | {:.2} |", one / bare, hundred / one);
    }
}
