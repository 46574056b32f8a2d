//! The signal that asks a process to end, while its clients call.
#![cfg(unix)]

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ractor_mcp::prelude::*;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::alone;
use crate::support::{Server, call};

/// The process that gets the signal: it tells its address, and at its end how many calls began and how many came to their end.
async fn serve() {
    let (began, ended) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let counters = (Arc::clone(&began), Arc::clone(&ended));
    let count = move |_: NoArguments| {
        let (began, ended) = counters.clone();
        async move {
            began.fetch_add(1, Ordering::Relaxed);
            // Long enough that some run whenever the signal comes.
            sleep(Duration::from_millis(5)).await;
            ended.fetch_add(1, Ordering::Relaxed);
        }
    };
    let server = Server::start(Suite::new("counting", "1").tool("count", count)).await;
    println!("\nserves {}", server.addr);
    let running = server.mcp.run_until(shutdown_signal());
    timeout(Duration::from_secs(60), running).await.expect("the signal comes").expect("an ordered end");
    println!("\nran {} {}", began.load(Ordering::Relaxed), ended.load(Ordering::Relaxed));
}

/// The process, which does not outlive a test that fails.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
    }
}

/// What the server sends for one request: an answer, as long as its head says, or what came until the connection was closed.
async fn answer(socket: &mut TcpStream) -> String {
    let mut read = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&read).into_owned();
        let length = text.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
        let body = text.split_once("\r\n\r\n").map(|(_, body)| body.len());
        if body.is_some() && body >= length {
            return text;
        }
        if !socket.read_buf(&mut read).await.is_ok_and(|read| read > 0) {
            return text;
        }
    }
}

/// Calls until the server is gone, on one connection or on many, and counts the results. Whatever else comes is a refusal, or
/// an end before anything was answered.
async fn keeps_calling(addr: SocketAddr, keeps: bool, results: watch::Sender<usize>) {
    let request = call("count", json!({})).to_bytes(&addr.to_string());
    while let Ok(mut socket) = TcpStream::connect(addr).await {
        loop {
            if socket.write_all(&request).await.is_err() {
                break;
            }
            let answer = answer(&mut socket).await;
            if answer.is_empty() || answer.starts_with("HTTP/1.1 503 ") {
                break;
            }
            let is_whole = answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("}}}}");
            assert!(is_whole, "neither a whole result nor a refusal: {answer:?}");
            results.send_modify(|results| *results += 1);
            if !keeps {
                break;
            }
        }
    }
}

#[test]
fn sigterm_under_load_loses_no_call_that_was_accepted() {
    const NAME: &str = "sigterm::sigterm_under_load_loses_no_call_that_was_accepted";
    if alone::is_alone() {
        return alone::run(serve());
    }
    let started = alone::again(NAME).stdout(Stdio::piped()).spawn();
    let mut process = Process(started.expect("this binary runs"));
    let mut told = BufReader::new(process.0.stdout.take().expect("its output")).lines();
    let mut after = |word: &str| loop {
        let line = told.next().unwrap_or_else(|| panic!("no line `{word}`")).expect("text");
        if let Some(rest) = line.strip_prefix(word) {
            break rest.to_owned();
        }
    };
    let addr = after("serves ").parse().expect("an address");
    let (results, mut read) = watch::channel(0);
    alone::run(async {
        let mut clients = JoinSet::new();
        for client in 0..16 {
            clients.spawn(keeps_calling(addr, client % 2 == 0, results.clone()));
        }
        read.wait_for(|results| *results > 500).await.expect("the clients call");
        let sent = Command::new("kill").args(["-TERM", &process.0.id().to_string()]).status();
        assert!(sent.expect("a command `kill`").success());
        while let Some(client) = clients.join_next().await {
            client.expect("no panic");
        }
    });
    let results = *results.borrow();
    assert_eq!(
        after("ran "),
        format!("{results} {results}"),
        "each call that began has ended and was answered"
    );
    assert!(process.0.wait().expect("an end").success());
}
