//! What the test binaries share: a server on a port of its own, and a client that writes exactly the bytes it is told.
#![allow(dead_code, missing_docs, unreachable_pub, unused_imports)]

pub mod client;
pub mod fixture;
pub mod mirror;
pub mod request;
pub mod rounds;

use std::net::SocketAddr;
use std::time::Duration;

use ractor_mcp::otp::{Pid, Tree};
use ractor_mcp::{Handler, McpSupervisor, Options};

pub use client::{Client, Response};
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
        let mcp = McpSupervisor::start_with(handler, options)
            .await
            .expect("the server starts");
        let addr = mcp.listen("127.0.0.1:0").await.expect("the port opens").addr();
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
        eventually(&format!("a process `{label}` in\n{}", self.mcp.tree()), || {
            self.find(label)
        })
        .await
    }

    /// Waits until there is no process whose label starts with this.
    pub async fn await_no_process(&self, label: &str) {
        eventually(&format!("no process `{label}`"), || {
            self.find(label).is_none().then_some(())
        })
        .await;
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
