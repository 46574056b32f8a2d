//! What the test binaries share: a server on a port of its own, and a client that writes exactly the bytes it is told.
#![allow(dead_code, missing_docs, unreachable_pub, unused_imports)]
#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

pub mod client;
pub mod fixture;
pub mod logs;
pub mod mirror;
pub mod request;
pub mod rounds;
pub mod streams;

use std::net::SocketAddr;
use std::time::Duration;

use ractor_mcp::otp::{ExitEvent, ExitFeed, Pid, Tree};
use ractor_mcp::{Handler, McpSupervisor, Options};
use tokio::task::JoinHandle;

pub use client::{Client, Response};
pub use ractor_mcp::Summary;
pub use request::{Post, call, listen_tools, meta, notification, request};

/// A server on a port that the system chose.
pub struct Server {
    pub mcp: McpSupervisor,
    pub addr: SocketAddr,
}

impl Server {
    pub async fn start(handler: impl Handler) -> Self {
        Self::start_with(handler, Options::new()).await
    }

    pub async fn start_with(handler: impl Handler, options: Options) -> Self {
        Self::start_on("127.0.0.1:0", handler, options).await
    }

    pub async fn start_on(address: &str, handler: impl Handler, options: Options) -> Self {
        let mcp = McpSupervisor::start_with(handler, options).await.expect("the server starts");
        let addr = mcp.listen(address).await.expect("the port opens").addr();
        Self { mcp, addr }
    }

    pub async fn client(&self) -> Client {
        Client::connect(self.addr).await
    }

    /// One request on a connection of its own.
    pub async fn send(&self, post: Post) -> Response {
        self.client().await.send(&post).await
    }

    /// The one process whose label starts with this.
    pub fn find(&self, label: &str) -> Option<Pid> {
        find(self.mcp.pid(), label)
    }

    /// Waits until there is a process whose label starts with this.
    pub async fn await_process(&self, label: &str) -> Pid {
        eventually(&format!("a process `{label}` in\n{}", self.mcp.tree()), || self.find(label)).await
    }

    /// Waits until there is no process whose label starts with this.
    pub async fn await_no_process(&self, label: &str) {
        eventually(&format!("no process `{label}`"), || self.find(label).is_none().then_some(())).await;
    }

    pub fn tree(&self) -> Tree {
        self.mcp.tree()
    }
}

fn find(pid: &Pid, label: &str) -> Option<Pid> {
    if pid.label().to_string().starts_with(label) {
        return Some(pid.clone());
    }
    pid.children().iter().find_map(|child| find(child, label))
}

/// The next end of a request; other actors do not count.
pub async fn next_request(exits: &mut ExitFeed) -> ExitEvent {
    loop {
        let exit = exits.next().await.expect("an exit").expect("none was missed");
        if exit.label.starts_with("request ") {
            return exit;
        }
    }
}

/// Shuts a server down while the test goes on.
pub fn shut_down(server: &Server, deadline: Duration) -> JoinHandle<Summary> {
    let mcp = server.mcp.clone();
    tokio::spawn(async move { mcp.shutdown(deadline).await })
}

/// Waits for something that happens in other tasks; fails after ten seconds.
pub async fn eventually<T>(what: &str, mut check: impl FnMut() -> Option<T>) -> T {
    let waiting = async {
        loop {
            if let Some(found) = check() {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    match tokio::time::timeout(Duration::from_secs(10), waiting).await {
        Ok(found) => found,
        Err(_) => panic!("did not happen: {what}"),
    }
}
