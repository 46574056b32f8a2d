//! The handle on a running server that applications hold: starting, opening, ending. What is behind it is in `server.rs`; what
//! tells streams of changes is in `notify.rs`.

use std::fmt;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use ractor_otp::{ExitFeed, ExitReason, Parent, Pid, Tree};
use tokio::net::{TcpListener, lookup_host};
use tokio::time::sleep;

use crate::handler::Handler;
use crate::request::Phase;

use super::connection;
use super::embedded::{McpService, WellKnown};
use super::server::Server;
use super::{Error, Listener, Options, Status, Summary};

/// A running MCP server: the root of its supervision tree, and the handle on it.
///
/// Handles are cheap to clone; dropping them does not stop the server. Several servers in one process do not meet.
///
/// ```
/// use ractor_mcp::prelude::*;
///
/// # async fn run() -> Result<(), ractor_mcp::Error> {
/// let mcp = McpSupervisor::start(Suite::new("nothing", "1.0.0")).await?;
/// let listener = mcp.listen("127.0.0.1:0").await?;
/// println!("listening on {}\n{}", listener.addr(), mcp.tree());
/// mcp.shutdown(std::time::Duration::from_secs(30)).await;
/// # Ok(())
/// # }
/// # tokio::runtime::Runtime::new().unwrap().block_on(run()).unwrap();
/// ```
#[derive(Clone)]
pub struct McpSupervisor(pub(super) Arc<Server>);

impl McpSupervisor {
    /// Starts a server with the default options, under no parent.
    ///
    /// # Errors
    ///
    /// [`Error::Misconfigured`] names all that is wrong with the handler.
    pub async fn start(handler: impl Handler) -> Result<Self, Error> {
        Self::start_with(handler, Options::new()).await
    }

    /// Starts a server with options, under no parent.
    ///
    /// # Errors
    ///
    /// [`Error::Misconfigured`] names all that is wrong with the handler or the options.
    pub async fn start_with(handler: impl Handler, options: Options) -> Result<Self, Error> {
        Self::start_linked(handler, options, Parent::none()).await
    }

    /// Starts a server under a parent: a supervisor of `ractor_otp`, or any ractor actor by its `ActorCell`.
    ///
    /// A ractor actor that stops **kills** its children: no `handle_close` runs then. To end the server in order, await
    /// [`shutdown`](McpSupervisor::shutdown) in that actor's `post_stop`, where its children are still alive.
    ///
    /// # Errors
    ///
    /// As [`start_with`](McpSupervisor::start_with), and [`Error::Start`] if the parent is stopping.
    pub async fn start_linked(
        handler: impl Handler,
        options: Options,
        parent: impl Into<Parent>,
    ) -> Result<Self, Error> {
        Ok(Self(Server::start(handler, options, parent.into()).await?))
    }

    /// Listens on an address with its port, such as `127.0.0.1:3000`; port 0 lets the system choose, and [`Listener::addr`] tells.
    ///
    /// # Errors
    ///
    /// [`Error::Listen`] if the system refuses the address, [`Error::Misconfigured`] for an address that is not a
    /// loopback one without [`Options::allowed_hosts`] or [`Options::any_host`], [`Error::Stopped`] from the begin of a
    /// shutdown on.
    pub async fn listen(&self, address: impl ToString) -> Result<Listener, Error> {
        self.0.still_open()?;
        let name = address.to_string();
        let failed = |source| Error::listen(&name, source);
        if let Some(fault) = address_fault(&name) {
            return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, fault)));
        }
        let addresses: Vec<SocketAddr> = lookup_host(&name).await.map_err(failed)?.collect();
        let socket = TcpListener::bind(&*addresses).await.map_err(failed)?;
        self.0.serve_port(socket).await
    }

    /// Listens on a socket that is bound already, for example one inherited from the process before.
    ///
    /// # Errors
    ///
    /// As [`listen`](McpSupervisor::listen); the socket is closed then.
    pub async fn listen_on(&self, socket: std::net::TcpListener) -> Result<Listener, Error> {
        let failed = |source| Error::listen("the given socket", source);
        socket.set_nonblocking(true).map_err(failed)?;
        self.0.serve_port(TcpListener::from_std(socket).map_err(failed)?).await
    }

    /// The server as a `tower` service, to mount in hyper, tower or axum: it serves the endpoint at whatever path it is
    /// mounted on, and at all paths below. Requests run under `embedded`. A `SocketAddr` among the request's extensions is the peer.
    ///
    /// Disconnects are noticed as far as the server in front drops the response or its body. `Host` must be a loopback
    /// name unless [`Options::allowed_hosts`] or [`Options::any_host`] says otherwise, since no bound address is known.
    ///
    /// Connections and ports belong to the server in front: it closes them when [`draining`](McpSupervisor::draining) resolves
    /// (axum's `with_graceful_shutdown` takes that). So do limits of connections: those that [`Options`] has of a connection
    /// ([`max_connections`](Options::max_connections), the second of [`max_in_flight`](Options::max_in_flight), the times of
    /// heads and writes) do not hold here. Those of the server, of a principal and of a request do.
    pub fn service(&self) -> McpService {
        McpService::new(Arc::clone(&self.0.embedded), self.0.mounted())
    }

    /// The protected resource metadata document as a `tower` service, to mount at `/.well-known` beside
    /// [`service`](McpSupervisor::service), whether the router takes its part of the path away (as `nest_service` of axum
    /// does) or not; listeners serve it by themselves. Without [`Options::protected_resource`] everything answers 404.
    pub fn well_known(&self) -> WellKnown {
        WellKnown::new(self.0.options.gate.metadata.clone())
    }

    /// Serves one connection over any transport that hyper can read and write: TLS, a Unix socket, a pipe in memory. Its
    /// supervisor runs under `embedded`; `Host` is checked as in [`service`](McpSupervisor::service). It returns when the
    /// connection has begun; all limits of one hold.
    ///
    /// **A client that leaves is noticed at once only if it sent nothing behind its request.** On HTTP/1.1 hyper reads no further
    /// while a request runs and bytes wait that it has not asked for. One stray byte, or a pipelined request, hides that the
    /// client left until a write fails: of the answer, of an event, or of a [keep-alive](Options::keep_alive). The sockets of a
    /// [listener](McpSupervisor::listen) have a watch for that on Linux, which no other transport can have. What must end with its
    /// client has a limit of its own: [`Options::request_time`].
    ///
    /// # Errors
    ///
    /// [`Error::Stopped`] from the begin of a shutdown on, [`Error::TooManyConnections`] beyond
    /// [`Options::max_connections`], [`Error::Start`] if the connection's supervisor does not start. The transport is dropped,
    /// and with it closed.
    pub async fn serve<IO>(&self, io: IO, peer: Option<SocketAddr>) -> Result<Pid, Error>
    where
        IO: hyper::rt::Read + hyper::rt::Write + Unpin + Send + 'static,
    {
        self.0.still_open()?;
        let room = self.0.room()?;
        let started =
            async { connection::serve(&self.0.embedded.shard()?, self.0.served(), io, peer, room).await };
        started.await.map_err(|source| Error::start("a connection", source))
    }

    /// Where the test kit sends its requests.
    #[cfg(feature = "testing")]
    pub(crate) fn endpoint_uri(&self) -> ::http::Uri {
        self.0.options.path.parse().unwrap_or_default()
    }

    /// The process of the root.
    pub fn pid(&self) -> &Pid {
        self.0.root.pid()
    }

    /// The actor tree as it is now: data with `serde`, text with `Display`. Read without messages, so that it works
    /// while actors are stuck.
    pub fn tree(&self) -> Tree {
        self.pid().tree()
    }

    /// How the server does now, for the health route of an application. Read without messages, as the tree is.
    ///
    /// ```
    /// use ractor_mcp::prelude::*;
    ///
    /// /// Status and body of `GET /ready`.
    /// fn ready(mcp: &McpSupervisor) -> (u16, String) {
    ///     let status = mcp.status();
    ///     (if status.is_ready() { 200 } else { 503 }, status.to_string())
    /// }
    ///
    /// # async fn run() -> Result<(), ractor_mcp::Error> {
    /// let mcp = McpSupervisor::start(Suite::new("nothing", "1.0.0")).await?;
    /// assert_eq!(ready(&mcp).0, 200);
    /// mcp.shutdown(std::time::Duration::ZERO).await;
    /// assert_eq!(ready(&mcp).0, 503);
    /// # Ok(())
    /// # }
    /// # tokio::runtime::Runtime::new().unwrap().block_on(run()).unwrap();
    /// ```
    pub fn status(&self) -> Status {
        Status::of(&self.0)
    }

    /// Tells each end of an actor of this server, from now on.
    pub fn exits(&self) -> ExitFeed {
        self.pid().exits()
    }

    /// Ends the server in order: no new connections, then running requests finish within `deadline`, then those left are
    /// interrupted, then killed; see `supervision.md`. A second call waits for the first. Once begun it goes on, even if nobody
    /// waits for it any more: a tool may order it, and a caller may hang up.
    ///
    /// The deadline counts from the call. Whatever handlers do, it returns within the deadline, twice the
    /// [close time](Options::close_time) and 10 s, as long as the runtime has a thread left that no handler blocks.
    pub async fn shutdown(&self, deadline: Duration) -> Summary {
        self.0.drained(deadline).await
    }

    /// Serves until the signal resolves, then for [`Options::drain_delay`], then shuts down with the deadline of
    /// [`Options::drain`].
    ///
    /// A handler that blocks its thread outlives the shutdown, and so does the thread of a `blocking` tool. tokio waits for both
    /// when the runtime is dropped, behind `#[tokio::main]` too, and so for ever if they never return. Where that may happen, do
    /// not drop the runtime, as here, or call `std::process::exit`. A second signal ends the process in any case
    /// ([`shutdown_signal`](super::shutdown_signal)).
    ///
    /// ```no_run
    /// use ractor_mcp::prelude::*;
    ///
    /// fn main() -> Result<(), ractor_mcp::Error> {
    ///     let runtime = tokio::runtime::Runtime::new().expect("threads");
    ///     let served = runtime.block_on(async {
    ///         let mcp = McpSupervisor::start(Suite::new("blocks", "1.0.0")).await?;
    ///         mcp.listen("127.0.0.1:3000").await?;
    ///         mcp.run_until(shutdown_signal()).await
    ///     });
    ///     // Threads that are still blocked end with the process.
    ///     runtime.shutdown_background();
    ///     served
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Stopped`] if the server ended before the signal, with the reason, and not by
    /// [`shutdown`](McpSupervisor::shutdown).
    pub async fn run_until(&self, signal: impl Future<Output = ()>) -> Result<(), Error> {
        let mut leaving = None;
        let announced = async {
            signal.await;
            // Whoever asks for the status is told first, and has its time to send new requests elsewhere.
            leaving = Some(Leaving::announce(&self.0));
            sleep(self.0.options.drain_delay).await;
        };
        tokio::select! {
            reason = self.stopped() => {
                // Whoever ordered a shutdown may learn of the end only after this task.
                if self.0.drain.phase() == Phase::Open {
                    return Err(Error::Stopped(reason));
                }
            }
            () = announced => {}
        }
        self.shutdown(self.0.options.drain).await;
        drop(leaving);
        Ok(())
    }

    /// Resolves when a shutdown begins, after [`Options::drain_delay`], or when the server has ended: when a server in front of
    /// [`service`](McpSupervisor::service) is to close its ports, as listeners of this one do.
    pub fn draining(&self) -> impl Future<Output = ()> + Send + use<> {
        let (drain, pid) = (self.0.drain.clone(), self.pid().clone());
        async move {
            tokio::select! {
                () = drain.reached(Phase::Draining) => {}
                _ = pid.join() => {}
            }
        }
    }

    /// Waits until the server has ended, and tells why.
    pub async fn stopped(&self) -> ExitReason {
        self.pid().join().await
    }
}

impl fmt::Debug for McpSupervisor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "McpSupervisor({})", self.pid())
    }
}

/// The announcement of a shutdown. It holds until the drain has begun, and is taken back if nobody waits for that any more.
struct Leaving<'a>(&'a Server);

impl<'a> Leaving<'a> {
    fn announce(server: &'a Server) -> Self {
        server.leaving.store(true, Ordering::Release);
        Self(server)
    }
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.leaving.store(false, Ordering::Release);
    }
}

/// What keeps a text from being an address with its port, as far as it shows.
fn address_fault(address: &str) -> Option<String> {
    let no_port = |with_port: String| Some(format!("the port is missing; `{with_port}` has one"));
    match address.parse::<IpAddr>() {
        Ok(IpAddr::V6(ip)) => no_port(format!("[{ip}]:8080")),
        _ if address.is_empty() => no_port("127.0.0.1:8080".to_owned()),
        _ if address.bytes().all(|byte| byte.is_ascii_digit()) => {
            Some(format!("the host is missing; `127.0.0.1:{address}` has one"))
        }
        _ if has_port_beyond(address) => Some("a port is a number up to 65535".to_owned()),
        _ if address.contains("://") => {
            Some("it is a URL; an address is a host and a port, such as `127.0.0.1:8080`".to_owned())
        }
        _ if address.starts_with(':') => Some(format!("the host is missing; `127.0.0.1{address}` has one")),
        _ if address.contains(':') && !address.ends_with(']') => None,
        _ => no_port(format!("{address}:8080")),
    }
}

/// Whether what stands behind the last colon is a number, and no port.
fn has_port_beyond(address: &str) -> bool {
    let port = address.rsplit_once(':').map(|(_, port)| port).unwrap_or_default();
    !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_err()
}
