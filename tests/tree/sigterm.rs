//! The signal that asks a process to end, while its clients call.
#![cfg(unix)]

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ractor_mcp::otp::testing::{LIMIT, within};
use ractor_mcp::prelude::*;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::alone::{self, Process};
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
    println!("\nserving {}", server.addr);
    let running = server.mcp.run_until(shutdown_signal());
    timeout(Duration::from_secs(60), running).await.expect("the signal comes").expect("an ordered end");
    println!("\nran {} {}", began.load(Ordering::Relaxed), ended.load(Ordering::Relaxed));
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
    alone::run(async {
        let mut server = Process::start(NAME);
        let addr = server.line("serving ").await.parse().expect("an address");
        let (tell, mut results) = watch::channel(0);
        let mut clients = JoinSet::new();
        for client in 0..16 {
            clients.spawn(keeps_calling(addr, client % 2 == 0, tell.clone()));
        }
        let load = async {
            tokio::select! {
                enough = results.wait_for(|results| *results > 500) => drop(enough.expect("the clients call")),
                Some(client) = clients.join_next() => {
                    client.expect("no panic");
                    panic!("a client found no server before there was a signal");
                }
            }
        };
        within(LIMIT, load).await.expect("500 results");
        server.signal("TERM");
        let all = async {
            while let Some(client) = clients.join_next().await {
                client.expect("no panic");
            }
        };
        within(LIMIT, all).await.expect("the server goes");
        let (ran, results) = (server.line("ran ").await, *results.borrow());
        assert_eq!(ran, format!("{results} {results}"), "each call that began has ended and was answered");
        assert!(server.end().await.success());
    });
}
