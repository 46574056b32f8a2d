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

use ractor_mcp::otp::{ExitEvent, ExitFeed, Pid, Tree, testing};
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

    /// The first process of this name: its label, or the first words of it.
    pub fn find(&self, name: &str) -> Option<Pid> {
        testing::find(self.mcp.pid(), name)
    }

    /// Waits until there is a process of this name.
    pub async fn await_process(&self, name: &str) -> Pid {
        testing::await_process(self.mcp.pid(), name).await.unwrap_or_else(|late| panic!("{late}"))
    }

    /// Waits until there is no process of this name.
    pub async fn await_no_process(&self, name: &str) {
        testing::await_no_process(self.mcp.pid(), name).await.unwrap_or_else(|late| panic!("{late}"));
    }

    /// Waits until the tree is as it was, or looks like a picture.
    pub async fn await_tree(&self, picture: &str) {
        testing::await_tree(self.mcp.pid(), picture)
            .await
            .unwrap_or_else(|difference| panic!("{difference}"));
    }

    pub fn tree(&self) -> Tree {
        self.mcp.tree()
    }
}

/// Waits until a process has exactly so many children.
pub async fn await_children(pid: &Pid, count: usize) {
    testing::await_children(pid, count).await.unwrap_or_else(|late| panic!("{late}"));
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
