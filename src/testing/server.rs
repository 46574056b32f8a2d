//! A running server, seen from a test: connections in memory, and waits for what its actors do.

use std::future::Future;
use std::net::SocketAddr;
use std::panic::Location;
use std::sync::Arc;

use ractor_otp::testing::{LIMIT, await_no_process, await_process, await_tree, is_called, within};
use ractor_otp::{ExitEvent, ExitFeed, ExitReason, Pid, Tree};
use tokio::io::DuplexStream;
use tokio::sync::Mutex;

use crate::handler::Handler;
use crate::tree::{McpSupervisor, Options};

use super::TestClient;
use super::line::{self, Line};

/// A server in the test's own process. It has no port unless the test opens one with
/// [`listen`](McpSupervisor::listen); its clients [connect](TestServer::connect) in memory.
///
/// Cheap to clone. It ends with the runtime of the test, or by [`McpSupervisor::shutdown`].
#[derive(Clone, Debug)]
pub struct TestServer(Arc<Server>);

#[derive(Debug)]
struct Server {
    mcp: McpSupervisor,
    ends: Mutex<Ends>,
}

/// The ends since the start that no test has asked about.
#[derive(Debug)]
struct Ends {
    feed: ExitFeed,
    unasked: Vec<ExitEvent>,
}

impl TestServer {
    /// Starts a server with the default options.
    ///
    /// # Panics
    ///
    /// When it does not start: why.
    pub async fn start(handler: impl Handler) -> Self {
        Self::start_with(handler, Options::new()).await
    }

    /// Starts a server with options.
    ///
    /// # Panics
    ///
    /// When it does not start: why.
    pub async fn start_with(handler: impl Handler, options: Options) -> Self {
        match McpSupervisor::start_with(handler, options).await {
            Ok(mcp) => Self::of(mcp),
            Err(error) => panic!("expected a server that starts, found: {error}"),
        }
    }

    /// A server that the application under test has started itself.
    pub fn of(mcp: McpSupervisor) -> Self {
        let ends = Ends { feed: mcp.exits(), unasked: Vec::new() };
        Self(Arc::new(Server { mcp, ends: Mutex::new(ends) }))
    }

    /// The server itself.
    pub fn mcp(&self) -> &McpSupervisor {
        &self.0.mcp
    }

    /// The actor tree as it is now.
    pub fn tree(&self) -> Tree {
        self.0.mcp.tree()
    }

    /// A new client with one connection, which has no peer address.
    ///
    /// # Panics
    ///
    /// When the server takes no connection: why.
    pub async fn connect(&self) -> TestClient {
        self.client(None).await
    }

    /// A new client that comes from this address, as [`Channel::peer`](crate::Channel::peer) tells it.
    ///
    /// # Panics
    ///
    /// When the server takes no connection: why.
    pub async fn connect_from(&self, peer: SocketAddr) -> TestClient {
        self.client(Some(peer)).await
    }

    async fn client(&self, peer: Option<SocketAddr>) -> TestClient {
        match Line::open(self.mcp(), peer).await {
            Ok(line) => TestClient::new(self.clone(), line, peer),
            Err(error) => panic!("expected a connection, found: {error}\n{}", self.tree()),
        }
    }

    /// A connection whose bytes the test writes and reads itself: for what no client would send. Its buffer is small in
    /// both directions, so that a test may stop to read.
    ///
    /// # Panics
    ///
    /// When the server takes no connection: why.
    pub async fn connect_raw(&self) -> DuplexStream {
        match line::pipe(self.mcp(), None).await {
            Ok((_, stream)) => stream,
            Err(error) => panic!("expected a connection, found: {error}\n{}", self.tree()),
        }
    }

    /// Waits until there is an actor of this name, and returns the first one in the order of the tree. A name is a label
    /// such as `request tools/call slow #7`, or its first words: `request tools/call slow`, `request`.
    ///
    /// # Panics
    ///
    /// When there is none after [`LIMIT`]: with the tree.
    #[track_caller]
    pub fn pid_of(&self, name: &str) -> impl Future<Output = Pid> + Send {
        let at = Location::caller();
        async move {
            match await_process(self.mcp().pid(), name).await {
                Ok(pid) => pid,
                Err(error) => panic!("{error}\n  waited for at {at}"),
            }
        }
    }

    /// Whether there is an actor of this name now; see [`pid_of`](TestServer::pid_of).
    pub fn has(&self, name: &str) -> bool {
        ractor_otp::testing::find(self.mcp().pid(), name).is_some()
    }

    /// Waits until there is no actor of this name; see [`pid_of`](TestServer::pid_of).
    ///
    /// # Panics
    ///
    /// When there is one after [`LIMIT`]: with the tree.
    #[track_caller]
    pub fn await_none(&self, name: &str) -> impl Future<Output = ()> + Send {
        let at = Location::caller();
        async move {
            if let Err(error) = await_no_process(self.mcp().pid(), name).await {
                panic!("{error}\n  waited for at {at}");
            }
        }
    }

    /// Waits for the end of an actor of this name, and tells why it ended. Each end since the start of the server is told
    /// once, in the order in which they came; see [`pid_of`](TestServer::pid_of) for names.
    ///
    /// # Panics
    ///
    /// When there is no such end within [`LIMIT`]: with the ends that there were, and the tree.
    pub async fn await_exit(&self, name: &str) -> ExitReason {
        let mut ends = self.0.ends.lock().await;
        match within(LIMIT, ends.next(name)).await {
            Some(Ok(reason)) => reason,
            Some(Err(fault)) => panic!("expected the end of `{name}`, found: {fault}\n{}", self.tree()),
            None => panic!(
                "expected the end of `{name}`, found within {LIMIT:?}: {:?}\n{}",
                ends.unasked.iter().map(|end| format!("{}: {}", end.label, end.reason)).collect::<Vec<_>>(),
                self.tree()
            ),
        }
    }

    /// Waits until the tree under an actor looks like this picture; see [`assert_tree!`](super::assert_tree) for
    /// wildcards. An actor leaves the tree a moment after its client has read the answer.
    ///
    /// # Panics
    ///
    /// When it looks otherwise after [`LIMIT`]: with both.
    pub async fn await_tree(&self, pid: &Pid, picture: &str) {
        if let Err(difference) = await_tree(pid, picture).await {
            panic!("{difference}");
        }
    }
}

impl Ends {
    async fn next(&mut self, name: &str) -> Result<ExitReason, String> {
        let known = self.unasked.iter().position(|end| is_called(&end.label, name));
        if let Some(known) = known {
            return Ok(self.unasked.remove(known).reason);
        }
        loop {
            match self.feed.next().await {
                Some(Ok(end)) if is_called(&end.label, name) => return Ok(end.reason),
                Some(Ok(end)) => self.unasked.push(end),
                Some(Err(lagged)) => return Err(format!("{lagged}; ask more often")),
                None => return Err("nothing is left of the server".to_owned()),
            }
        }
    }
}
