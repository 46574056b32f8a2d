//! The signals that ask a process to end, sent to a server in a process of its own: this test binary once more, as the test that
//! starts it.
#![cfg(unix)]

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use ractor_mcp::otp::testing::{LIMIT, within};
use ractor_mcp::prelude::*;
use serde_json::json;
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::support::{Client, call, fixture};

/// Set where the binary is the server.
const SERVES: &str = "RACTOR_MCP_TEST_SERVES";
const BLOCKS: &str = "a thread blocks";

/// A server in another process.
struct Process {
    child: Child,
    lines: UnboundedReceiver<String>,
}

impl Process {
    /// Runs this test again, there.
    fn start(test: &str) -> Self {
        let binary = std::env::current_exe().expect("this binary");
        let mut child = Command::new(binary)
            .args([&format!("signal::{test}"), "--exact", "--nocapture", "--test-threads=1"])
            .env(SERVES, "1")
            .stdout(Stdio::piped())
            .spawn()
            .expect("a process");
        let out = BufReader::new(child.stdout.take().expect("a pipe"));
        let (tell, lines) = unbounded_channel();
        thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| tell.send(line)));
        Self { child, lines }
    }

    /// Waits for a line with this text, and returns what is behind it.
    async fn line(&mut self, text: &str) -> String {
        let found = async {
            loop {
                let line = self.lines.recv().await.unwrap_or_else(|| panic!("ended without: {text}"));
                if let Some((_, rest)) = line.split_once(text) {
                    return rest.to_owned();
                }
            }
        };
        within(LIMIT, found).await.unwrap_or_else(|| panic!("no line with: {text}"))
    }

    /// Waits until it has ended: its output has an end then.
    async fn end(&mut self) -> ExitStatus {
        let ended = async { while self.lines.recv().await.is_some() {} };
        within(LIMIT, ended).await.expect("the process ends");
        self.child.wait().expect("its status")
    }

    fn signal(&self, name: &str) {
        let process = self.child.id().to_string();
        let sent = Command::new("kill").args([&format!("-{name}"), &process]).status();
        assert!(sent.expect("a command `kill`").success());
    }

    /// A client whose call has come to block a thread.
    async fn block(&mut self) -> (SocketAddr, Client) {
        let address = self.line("serving ").await.parse().expect("an address");
        let mut client = Client::connect(address).await;
        client.write(&call("block", json!({}))).await;
        self.line(BLOCKS).await;
        (address, client)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
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

fn serves() -> bool {
    std::env::var_os(SERVES).is_some()
}

/// A suite whose tool blocks the thread that it runs on.
fn blocking_its_worker() -> Suite {
    fixture::suite().tool("block", |_: NoArguments| async { block_for_ever() })
}

#[test]
fn one_signal_of_either_kind_is_a_drain() {
    let runtime = Runtime::new().expect("a runtime");
    if serves() {
        return runtime.block_on(serve(fixture::suite(), Duration::ZERO));
    }
    runtime.block_on(async {
        for name in ["INT", "TERM"] {
            let mut server = Process::start("one_signal_of_either_kind_is_a_drain");
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
    if serves() {
        return runtime.block_on(serve(blocking_its_worker(), Duration::from_secs(600)));
    }
    runtime.block_on(async {
        let mut server =
            Process::start("c7_a_second_signal_ends_a_process_whose_handler_blocks_its_thread_at_once");
        let (address, _client) = server.block().await;
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
    if serves() {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        return runtime.block_on(serve(blocking_its_worker(), Duration::ZERO));
    }
    Runtime::new().expect("a runtime").block_on(async {
        let mut server = Process::start("c7_signals_end_a_process_whose_only_thread_is_blocked");
        let (_, _client) = server.block().await;
        // Two that come together may count as one.
        let status = loop {
            server.signal("INT");
            if let Some(None) = within(Duration::from_millis(100), server.lines.recv()).await {
                break server.child.wait().expect("its status");
            }
        };
        assert_eq!(status.code(), Some(130));
    });
}

/// The documented way: the process ends with its drain, and leaves the thread behind.
#[test]
fn c7_one_signal_ends_a_process_that_does_not_wait_for_the_thread_of_a_blocking_tool() {
    let runtime = Runtime::new().expect("a runtime");
    if serves() {
        let suite = fixture::suite().tool("block", blocking(|_: NoArguments| block_for_ever()));
        runtime.block_on(serve(suite, Duration::from_millis(200)));
        return runtime.shutdown_background();
    }
    runtime.block_on(async {
        let mut server = Process::start(
            "c7_one_signal_ends_a_process_that_does_not_wait_for_the_thread_of_a_blocking_tool",
        );
        let (_, _client) = server.block().await;
        server.signal("TERM");
        let summary = server.line("drained: ").await;
        assert!(summary.contains("stuck: the thread of request tools/call block"), "{summary}");
        assert!(server.end().await.success());
    });
}
