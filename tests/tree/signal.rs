//! The signals that ask a process to end, sent to a server in a process of its own.
#![cfg(unix)]

use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use ractor_mcp::otp::testing::{LIMIT, within};
use ractor_mcp::prelude::*;
use serde_json::json;
use tokio::net::TcpStream;
use tokio::runtime::Runtime;

use super::alone::{self, Process};
use crate::support::{Client, call, fixture};

const BLOCKS: &str = "a thread blocks";

/// A client whose call has come to block a thread of this server.
async fn block(server: &mut Process) -> (SocketAddr, Client) {
    let address = server.line("serving ").await.parse().expect("an address");
    let mut client = Client::connect(address).await;
    client.write(&call("block", json!({}))).await;
    server.line(BLOCKS).await;
    (address, client)
}

fn block_for_ever() {
    println!("\n{BLOCKS}");
    loop {
        thread::park();
    }
}

/// Serves until a signal, as a `main` does.
async fn serve(suite: Suite, drain: Duration) {
    let signal = shutdown_signal();
    let options = Options::new().drain(drain).close_time(Duration::from_millis(100));
    let mcp = McpSupervisor::start_with(suite, options).await.expect("a server");
    println!("\nserving {}", mcp.listen("127.0.0.1:0").await.expect("a port").addr());
    mcp.run_until(signal).await.expect("an end in order");
    println!("\ndrained: {}", mcp.shutdown(Duration::ZERO).await);
}

/// A suite whose tool blocks the thread that it runs on.
fn blocking_its_worker() -> Suite {
    fixture::suite().tool("block", |_: NoArguments| async { block_for_ever() })
}

#[test]
fn one_signal_of_either_kind_is_a_drain() {
    let runtime = Runtime::new().expect("a runtime");
    if alone::is_alone() {
        return runtime.block_on(serve(fixture::suite(), Duration::ZERO));
    }
    runtime.block_on(async {
        for name in ["INT", "TERM"] {
            let mut server = Process::start("signal::one_signal_of_either_kind_is_a_drain");
            server.line("serving ").await;
            server.signal(name);
            assert_eq!(server.line("drained: ").await, "0 finished, 0 interrupted, 0 killed");
            assert!(server.end().await.success(), "{name}");
        }
    });
}

/// As `#[tokio::main]` does, the server waits for all threads of its runtime, and so for ever.
#[test]
fn c7_a_second_signal_ends_a_process_whose_handler_blocks_its_thread_at_once() {
    let runtime = Runtime::new().expect("a runtime");
    if alone::is_alone() {
        return runtime.block_on(serve(blocking_its_worker(), Duration::from_secs(600)));
    }
    runtime.block_on(async {
        let mut server = Process::start(
            "signal::c7_a_second_signal_ends_a_process_whose_handler_blocks_its_thread_at_once",
        );
        let (address, _client) = block(&mut server).await;
        server.signal("TERM");
        // The first has been heard: the port closes.
        let closed = async { while TcpStream::connect(address).await.is_ok() {} };
        within(LIMIT, closed).await.expect("a drain");
        server.signal("TERM");
        assert_eq!(server.end().await.code(), Some(143));
    });
}

/// Nothing polls the future then.
#[test]
fn c7_signals_end_a_process_whose_only_thread_is_blocked() {
    if alone::is_alone() {
        return alone::run(serve(blocking_its_worker(), Duration::ZERO));
    }
    alone::run(async {
        let mut server = Process::start("signal::c7_signals_end_a_process_whose_only_thread_is_blocked");
        let (_, _client) = block(&mut server).await;
        let signals = async {
            server.signal("INT");
            // Two that come together may count as one.
            while within(Duration::from_millis(100), server.rest()).await.is_none() {
                server.signal("INT");
            }
        };
        within(LIMIT, signals).await.expect("the process ends");
        assert_eq!(server.end().await.code(), Some(130));
    });
}

/// The documented way: the process ends with its drain, and leaves the thread behind.
#[test]
fn c7_one_signal_ends_a_process_that_does_not_wait_for_the_thread_of_a_blocking_tool() {
    let runtime = Runtime::new().expect("a runtime");
    if alone::is_alone() {
        let suite = fixture::suite().tool("block", blocking(|_: NoArguments| block_for_ever()));
        runtime.block_on(serve(suite, Duration::from_millis(200)));
        return runtime.shutdown_background();
    }
    runtime.block_on(async {
        let mut server = Process::start(
            "signal::c7_one_signal_ends_a_process_that_does_not_wait_for_the_thread_of_a_blocking_tool",
        );
        let (_, _client) = block(&mut server).await;
        server.signal("TERM");
        let summary = server.line("drained: ").await;
        assert!(summary.contains("stuck: the thread of request tools/call block"), "{summary}");
        assert!(server.end().await.success());
    });
}
