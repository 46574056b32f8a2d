//! The root: a supervisor, one_for_one, with `listeners` and `embedded` under it, and the handle that applications hold.
//!
//! `listeners` has no child until [`McpSupervisor::listen`] adds one; a listener that gives up is restarted by it. When
//! `listeners` itself gives up, the root does not restart it, since a new one would know no listener: the root ends with
//! the reason, which [`McpSupervisor::stopped`] tells.

use std::fmt;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;

use ractor_otp::{
    ChildSpec, ExitFeed, ExitReason, Intensity, Parent, Pid, StartError, Supervisor, SupervisorOptions, Tree,
};
use tokio::net::{TcpListener, lookup_host};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::handler::{Change, Handler, Misconfigured, Terms, Threads};
use crate::http::Endpoint;
use crate::request::{Budget, Drain, Phase, Slots, Spawn, Streams, Topic, erase};
use crate::rules::host::HostPolicy;
use crate::rules::rate::Warnings;
use crate::wire::ServerNotification;

use super::connection;
use super::embedded::{Embedded, McpService, WellKnown};
use super::listener::Port;
use super::shutdown;
use super::{Error, Listener, Options, Summary};

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
pub struct McpSupervisor(Arc<Server>);

pub(super) struct Server {
    /// Where it was started, and its tasks run whoever asks for them.
    pub(super) runtime: Handle,
    /// Those of blocking calls.
    pub(super) threads: Threads,
    pub(super) root: Supervisor,
    pub(super) options: Options,
    pub(super) drain: Drain,
    pub(super) slots: Slots,
    budget: Budget,
    pub(super) streams: Streams,
    shutdown: shutdown::Ordered,
    handler: Arc<dyn Spawn>,
    listeners: Supervisor,
    pub(super) embedded: Arc<Embedded>,
    /// What all connections of `serve()` share, and what all services do.
    served: OnceLock<Arc<Endpoint>>,
    mounted: OnceLock<Arc<Endpoint>>,
    /// Weak: the sockets belong to the tree, and a tree that was killed must not keep its ports.
    ports: Mutex<Vec<Weak<Port>>>,
}

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
        let streams = Streams::new(options.stream_caps, options.stream_limits);
        // The same options may start several servers.
        let terms = Terms { threads: Threads::default(), ..options.terms.clone() };
        let threads = terms.threads.clone();
        let checked = options.check(&handler.scopes());
        let erased = erase(handler, streams.clone(), options.disconnect.clone(), terms);
        let handler = Misconfigured::both(checked, erased)?;
        if cfg!(panic = "abort") {
            tracing::warn!(
                target: "ractor_mcp",
                "built with panic = \"abort\": a panic in any handler ends the process; use panic = \"unwind\""
            );
        }
        let (listeners, embedded) = (Slot::default(), Arc::new(Embedded::default()));
        let last = options.limits.close_time + connection::LAST_TIME;
        let children = vec![listeners_spec(&listeners), Embedded::spec(&embedded, last)];
        // No restart: `listeners` and `embedded` restart their own children, and what they cannot mend, the root cannot.
        let supervision = SupervisorOptions {
            intensity: Intensity { restarts: 0, ..Intensity::default() },
            ..Default::default()
        };
        let root = Supervisor::start(parent, "mcp", supervision, children)
            .await
            .map_err(|source| Error::start("the server", source))?;
        let listeners = listeners.get().ok_or_else(|| Error::start("listeners", StartError::NoProc))?;
        let slots = Slots::new(options.max_in_flight);
        let budget = Budget::new(options.body_budget);
        let server = Server {
            runtime: Handle::current(),
            threads,
            root,
            options,
            drain: Drain::new(),
            slots,
            budget,
            streams,
            shutdown: shutdown::Ordered::default(),
            handler,
            listeners,
            embedded,
            served: OnceLock::new(),
            mounted: OnceLock::new(),
            ports: Mutex::default(),
        };
        server.handler.started();
        Ok(Self(Arc::new(server)))
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
        self.serve_port(socket).await
    }

    /// Listens on a socket that is bound already, for example one inherited from the process before.
    ///
    /// # Errors
    ///
    /// As [`listen`](McpSupervisor::listen); the socket is closed then.
    pub async fn listen_on(&self, socket: std::net::TcpListener) -> Result<Listener, Error> {
        let failed = |source| Error::listen("the given socket", source);
        socket.set_nonblocking(true).map_err(failed)?;
        self.serve_port(TcpListener::from_std(socket).map_err(failed)?).await
    }

    async fn serve_port(&self, socket: TcpListener) -> Result<Listener, Error> {
        let address = socket.local_addr().map_err(|source| Error::listen("the socket", source))?;
        let endpoint = self.0.listening(address)?;
        self.0.still_open()?;
        let port = Port::new(socket, address, endpoint, self.0.options.max_connections);
        let server = Arc::clone(&self.0);
        let (tell, told) = oneshot::channel();
        // In a task of its own: whoever asked may go away meanwhile, and a listener that nobody holds would go on.
        self.0.runtime.spawn(async move {
            let opened = server.open(&port).await;
            if let Err(Ok(listener)) = tell.send(opened) {
                listener.close().await;
            }
        });
        told.await.unwrap_or_else(|_| Err(Error::Stopped(ExitReason::Killed)))
    }

    /// The server as a `tower` service, to mount in hyper, tower or axum: it serves the endpoint at whatever path it is
    /// mounted on. Requests run under `embedded`. A `SocketAddr` among the request's extensions is the peer.
    ///
    /// Disconnects are noticed as far as the server in front drops the response or its body. `Host` must be a loopback
    /// name unless [`Options::allowed_hosts`] or [`Options::any_host`] says otherwise, since no bound address is known.
    pub fn service(&self) -> McpService {
        let endpoint = self.0.mounted.get_or_init(|| self.0.embedding(None));
        McpService::new(Arc::clone(&self.0.embedded), Arc::clone(endpoint))
    }

    /// The protected resource metadata document as a `tower` service, to mount at `/.well-known` beside
    /// [`service`](McpSupervisor::service), whether the router takes its part of the path away (as `nest_service` of axum
    /// does) or not; listeners serve it by themselves. Without [`Options::protected_resource`] everything answers 404.
    pub fn well_known(&self) -> WellKnown {
        WellKnown::new(self.0.options.gate.metadata.clone())
    }

    /// Serves one connection over any transport that hyper can read and write: TLS, a Unix socket, a pipe in memory. Its
    /// supervisor runs under `embedded`; `Host` is checked as in [`service`](McpSupervisor::service).
    ///
    /// # Errors
    ///
    /// [`Error::Stopped`] from the begin of a shutdown on, [`Error::Start`] if the connection's supervisor does not start.
    pub async fn serve<IO>(&self, io: IO, peer: Option<SocketAddr>) -> Result<Pid, Error>
    where
        IO: hyper::rt::Read + hyper::rt::Write + Unpin + Send + 'static,
    {
        self.0.still_open()?;
        let endpoint = self.0.served.get_or_init(|| self.0.embedding(Some(self.0.options.path.clone())));
        let started =
            async { connection::serve(&self.0.embedded.shard()?, Arc::clone(endpoint), io, peer).await };
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

    /// Tells each end of an actor of this server, from now on.
    pub fn exits(&self) -> ExitFeed {
        self.pid().exits()
    }

    /// Tells every stream that asked for it that the list of tools changed. Returns how many streams took it. Like all
    /// publishing it writes into the streams' queues and never waits for a client; on several nodes, call it on each.
    ///
    /// A stream is granted only what the capabilities promise: it reaches nobody, and returns 0, unless the suite has tools
    /// (or [promises](crate::Suite::promises) them) and says [`list_changes`](crate::Suite::list_changes) or has a
    /// [handle](crate::Suite::handle). Neither are there streams to reach under a
    /// [`SubscriptionHandler`](crate::suite::SubscriptionHandler), which replaces the registry.
    ///
    /// ```
    /// use ractor_mcp::prelude::*;
    ///
    /// async fn ping() -> &'static str { "pong" }
    ///
    /// # async fn run() -> Result<(), ractor_mcp::Error> {
    /// let suite = Suite::new("changing", "1.0.0").list_changes().tool("ping", ping);
    /// let mcp = McpSupervisor::start(suite).await?;
    /// assert_eq!(mcp.notify_tools_changed(), 0, "no client listens yet");
    /// # Ok(())
    /// # }
    /// # tokio::runtime::Runtime::new().unwrap().block_on(run()).unwrap();
    /// ```
    pub fn notify_tools_changed(&self) -> usize {
        self.0.streams.registry.notify(&Topic::Tools, &Change::Tools)
    }

    /// Tells every stream that asked for it that the list of prompts changed. Returns how many streams took it: none
    /// without the promise that [`notify_tools_changed`](McpSupervisor::notify_tools_changed) names.
    pub fn notify_prompts_changed(&self) -> usize {
        self.0.streams.registry.notify(&Topic::Prompts, &Change::Prompts)
    }

    /// Tells every stream that asked for it that the list of resources changed. Returns how many streams took it: none
    /// without the promise that [`notify_tools_changed`](McpSupervisor::notify_tools_changed) names.
    pub fn notify_resources_changed(&self) -> usize {
        self.0.streams.registry.notify(&Topic::Resources, &Change::Resources)
    }

    /// Tells every stream that named this URI exactly that the resource changed. Returns how many streams took it.
    ///
    /// It reaches nobody, and returns 0, unless the suite has resources and says
    /// [`resource_updates`](crate::Suite::resource_updates), and under a
    /// [`SubscriptionHandler`](crate::suite::SubscriptionHandler), which replaces the registry.
    pub fn notify_resource_updated(&self, uri: impl AsRef<str>) -> usize {
        self.notify_resources_updated([uri])
    }

    /// Tells changes of several resources at once, with one authorization for each stream. Returns how many streams took
    /// any of them.
    pub fn notify_resources_updated<U: AsRef<str>>(&self, uris: impl IntoIterator<Item = U>) -> usize {
        self.0.streams.registry.notify_resources(uris.into_iter().map(|uri| Arc::from(uri.as_ref())))
    }

    /// Sends any notification to the streams of a topic, within what each was granted. Returns how many streams took it.
    ///
    /// One that tells a change of a resource or the state of a task is authorized first where the application
    /// [asks for that](crate::Grant::authorized_by), and the newest of those that wait is told. What is no change does not
    /// coalesce: a stream whose queue is full misses it.
    ///
    /// ```
    /// # use ractor_mcp::{McpSupervisor, Principal, Topic, wire::ServerNotification};
    /// fn tell(mcp: &McpSupervisor, owner: &Principal, id: &str) -> usize {
    ///     let task = serde_json::json!({"status": "working"}).as_object().cloned().unwrap_or_default();
    ///     mcp.publish(&Topic::task(owner, id), &ServerNotification::task_status(id, task))
    /// }
    /// ```
    pub fn publish(&self, topic: &Topic, notification: &ServerNotification) -> usize {
        self.0.streams.registry.publish(topic, notification)
    }

    /// The streams of a topic, in no order.
    pub fn subscribers(&self, topic: &Topic) -> Vec<Pid> {
        self.0.streams.registry.subscribers(topic)
    }

    /// Ends the server in order: no new connections, then running requests finish within `deadline`, then those left are
    /// interrupted, then killed; see `supervision.md`. A second call waits for the first. Once begun it goes on, even if nobody
    /// waits for it any more: a tool may order it, and a caller may hang up.
    ///
    /// The deadline counts from the call. Whatever handlers do, it returns within the deadline, twice the
    /// [close time](Options::close_time) and 10 s, as long as the runtime has a thread left that no handler blocks.
    pub async fn shutdown(&self, deadline: Duration) -> Summary {
        self.0.shutdown.drained(&self.0, deadline).await
    }

    /// Serves until the signal resolves, then shuts down with the deadline of [`Options::drain`].
    ///
    /// A handler that blocks its thread outlives the shutdown, and tokio waits for its thread when the runtime is dropped,
    /// behind `#[tokio::main]` too. Where handlers may block for ever, call `std::process::exit` after this returns.
    ///
    /// # Errors
    ///
    /// [`Error::Stopped`] if the server ended before the signal, with the reason, and not by
    /// [`shutdown`](McpSupervisor::shutdown).
    pub async fn run_until(&self, signal: impl Future<Output = ()>) -> Result<(), Error> {
        tokio::select! {
            reason = self.stopped() => {
                // Whoever ordered a shutdown may learn of the end only after this task.
                if self.0.drain.phase() == Phase::Open {
                    return Err(Error::Stopped(reason));
                }
            }
            () = signal => {}
        }
        self.shutdown(self.0.options.drain).await;
        Ok(())
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

impl Server {
    /// What the connections of one listener share.
    fn listening(&self, address: SocketAddr) -> Result<Arc<Endpoint>, Error> {
        let loopback = address.ip().is_loopback();
        let hosts = match &self.options.hosts {
            Some(hosts) => hosts.clone(),
            None if loopback => HostPolicy::Loopback,
            None => return Err(Error::unprotected(address)),
        };
        Ok(self.endpoint(hosts, loopback, Some(self.options.path.clone())))
    }

    /// What embedded requests share; no address is known, so that only a list or loopback names are safe.
    fn embedding(&self, path: Option<String>) -> Arc<Endpoint> {
        let hosts = self.options.hosts.clone().unwrap_or(HostPolicy::Loopback);
        let loopback = hosts == HostPolicy::Loopback;
        self.endpoint(hosts, loopback, path)
    }

    fn endpoint(&self, hosts: HostPolicy, loopback: bool, path: Option<String>) -> Arc<Endpoint> {
        Arc::new(Endpoint {
            handler: Arc::clone(&self.handler),
            path,
            hosts,
            origins: self.options.origins.clone().with_loopback(loopback),
            gate: self.options.gate.clone(),
            limits: self.options.limits.clone(),
            slots: self.slots.clone(),
            budget: self.budget.clone(),
            streams: self.streams.clone(),
            drain: self.drain.clone(),
            strangers: Warnings::new(),
            limits_reached: Warnings::new(),
        })
    }

    /// Starts the listener of a port.
    async fn open(&self, port: &Arc<Port>) -> Result<Listener, Error> {
        let started = Listener::start(&self.listeners, port).await;
        let listener = started.map_err(|source| {
            self.still_open()
                .err()
                .unwrap_or_else(|| Error::start(format!("listener {}", port.address), source))
        })?;
        self.add_port(port);
        // Asked again: a shutdown that began meanwhile has closed the ports that it knew.
        if let Err(stopped) = self.still_open() {
            port.close().await;
            return Err(stopped);
        }
        Ok(listener)
    }

    /// What is to open a port or take a connection is refused once a shutdown has begun.
    fn still_open(&self) -> Result<(), Error> {
        match self.root.pid().exit_reason() {
            Some(reason) => Err(Error::Stopped(reason)),
            None if self.drain.phase() > Phase::Open => Err(Error::Stopped(ExitReason::Shutdown)),
            None => Ok(()),
        }
    }

    fn add_port(&self, port: &Arc<Port>) {
        let mut ports = self.ports.lock().unwrap_or_else(PoisonError::into_inner);
        ports.retain(|port| port.strong_count() > 0);
        ports.push(Arc::downgrade(port));
    }

    pub(super) fn ports(&self) -> Vec<Arc<Port>> {
        let ports = self.ports.lock().unwrap_or_else(PoisonError::into_inner);
        ports.iter().filter_map(Weak::upgrade).collect()
    }
}

/// What keeps a text from being an address with its port, as far as it shows.
fn address_fault(address: &str) -> Option<String> {
    let no_port = |with_port: String| Some(format!("the port is missing; `{with_port}` has one"));
    match address.parse::<IpAddr>() {
        Ok(IpAddr::V6(ip)) => no_port(format!("[{ip}]:8080")),
        _ if address.is_empty() => no_port("127.0.0.1:8080".to_owned()),
        _ if address.contains("://") => {
            Some("it is a URL; an address is a host and a port, such as `127.0.0.1:8080`".to_owned())
        }
        _ if address.starts_with(':') => Some(format!("the host is missing; `127.0.0.1{address}` has one")),
        _ if address.contains(':') && !address.ends_with(']') => None,
        _ => no_port(format!("{address}:8080")),
    }
}

/// Where the start function of a child leaves its handle.
#[derive(Clone, Default)]
pub(super) struct Slot(Arc<Mutex<Option<Supervisor>>>);

impl Slot {
    pub(super) fn set(&self, supervisor: Supervisor) -> Pid {
        let pid = supervisor.pid().clone();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(supervisor);
        pid
    }

    pub(super) fn get(&self) -> Option<Supervisor> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn listeners_spec(slot: &Slot) -> ChildSpec {
    let slot = slot.clone();
    ChildSpec::new("listeners", move |parent| {
        let slot = slot.clone();
        async move {
            let started =
                Supervisor::start(parent, "listeners", SupervisorOptions::default(), Vec::new()).await?;
            Ok(slot.set(started))
        }
    })
}
