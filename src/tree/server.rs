//! What is behind the handle: the root of the tree, a supervisor, one_for_one, with `listeners` and `embedded` under it, and all
//! that the requests of one server share.
//!
//! When `listeners` gives up, the root does not restart it, since a new one would know no listener: the root ends with the
//! reason, which [`McpSupervisor::stopped`](super::McpSupervisor::stopped) tells.

use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;

use ractor_otp::{ExitReason, Intensity, Parent, StartError, Supervisor, SupervisorOptions};
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::handler::{Handler, Terms, Threads};
use crate::http::Endpoint;
use crate::request::{Budget, Drain, Phase, Slots, Spawn, Streams, erase};
use crate::rules::host::HostPolicy;
use crate::rules::rate::Warnings;

use super::connection::LAST_TIME;
use super::embedded::Embedded;
use super::listener::Port;
use super::listeners::{self, Slot};
use super::shutdown::Ordered;
use super::{Error, Listener, Options, Summary};

/// What all handles on one server share.
pub(super) struct Server {
    /// Where it was started, and its tasks run whoever asks for them.
    pub(super) runtime: Handle,
    /// Those of blocking calls.
    pub(super) threads: Threads,
    pub(super) root: Supervisor,
    pub(super) options: Options,
    pub(super) drain: Drain,
    /// Set once a shutdown is announced.
    pub(super) leaving: AtomicBool,
    pub(super) slots: Slots,
    pub(super) budget: Budget,
    pub(super) streams: Streams,
    shutdown: Ordered,
    handler: Arc<dyn Spawn>,
    listeners: Supervisor,
    pub(super) embedded: Arc<Embedded>,
    served: OnceLock<Arc<Endpoint>>,
    mounted: OnceLock<Arc<Endpoint>>,
    /// For connections of `serve()`.
    room: Arc<Semaphore>,
    /// Warnings of names and origins that are missing in a list, and of limits of the server.
    strangers: Warnings,
    limits_reached: Warnings,
    /// Weak: the sockets belong to the tree, and a tree that was killed must not keep its ports.
    ports: Mutex<Vec<Weak<Port>>>,
}

impl Server {
    /// Starts the tree.
    pub(super) async fn start(
        handler: impl Handler,
        options: Options,
        parent: Parent,
    ) -> Result<Arc<Self>, Error> {
        let streams = Streams::new(options.stream_caps, options.stream_limits, options.verification());
        // The same options may start several servers.
        let terms = Terms { threads: Threads::default(), ..options.terms.clone() };
        let threads = terms.threads.clone();
        let checked = options.check(&handler.scopes());
        let handler = erase(handler, checked, streams.clone(), options.disconnect.clone(), terms)?;
        if cfg!(panic = "abort") {
            tracing::warn!(
                target: "ractor_mcp",
                "built with panic = \"abort\": a panic in any handler ends the process; use panic = \"unwind\""
            );
        }
        let (listeners, embedded) = (Slot::default(), Arc::new(Embedded::default()));
        let last = options.limits.close_time + LAST_TIME;
        let children = vec![listeners::spec(&listeners), Embedded::spec(&embedded, last)];
        // No restart: `listeners` and `embedded` restart their own children, and what they cannot mend, the root cannot.
        let supervision = SupervisorOptions {
            intensity: Intensity { restarts: 0, ..Intensity::default() },
            ..Default::default()
        };
        let root = Supervisor::start(parent, "mcp", supervision, children)
            .await
            .map_err(|source| Error::start("the server", source))?;
        let listeners = listeners.get().ok_or_else(|| Error::start("listeners", StartError::NoProc))?;
        let slots = Slots::new(options.max_in_flight, options.per_principal());
        let budget = Budget::new(options.body_budget);
        let room = Arc::new(Semaphore::new(options.max_connections));
        let server = Arc::new(Self {
            runtime: Handle::current(),
            threads,
            root,
            options,
            drain: Drain::new(),
            leaving: AtomicBool::new(false),
            slots,
            budget,
            streams,
            shutdown: Ordered::default(),
            handler,
            listeners,
            embedded,
            served: OnceLock::new(),
            mounted: OnceLock::new(),
            room,
            strangers: Warnings::new(),
            limits_reached: Warnings::new(),
            ports: Mutex::default(),
        });
        Ok(server)
    }

    /// Opens a listener on a socket.
    pub(super) async fn serve_port(self: &Arc<Self>, socket: TcpListener) -> Result<Listener, Error> {
        let address = socket.local_addr().map_err(|source| Error::listen("the socket", source))?;
        let endpoint = self.listening(address)?;
        self.still_open()?;
        let port = Port::new(socket, address, endpoint, self.options.max_connections);
        let server = Arc::clone(self);
        let (tell, told) = oneshot::channel();
        // In a task of its own: whoever asked may go away meanwhile, and a listener that nobody holds would go on.
        self.runtime.spawn(async move {
            let opened = server.open(&port).await;
            if let Err(Ok(listener)) = tell.send(opened) {
                listener.close().await;
            }
        });
        told.await.unwrap_or_else(|_| Err(Error::Stopped(ExitReason::Killed)))
    }

    /// What all connections of `serve()` share.
    pub(super) fn served(&self) -> Arc<Endpoint> {
        Arc::clone(self.served.get_or_init(|| self.embedding(Some(self.options.path.clone()))))
    }

    /// Room for one connection of `serve()`.
    pub(super) fn room(&self) -> Result<OwnedSemaphorePermit, Error> {
        let limit = self.options.max_connections;
        Arc::clone(&self.room).try_acquire_owned().map_err(|_| Error::TooManyConnections { limit })
    }

    /// How many connections of `serve()` there are.
    pub(super) fn served_connections(&self) -> usize {
        self.options.max_connections.saturating_sub(self.room.available_permits())
    }

    /// What all services share.
    pub(super) fn mounted(&self) -> Arc<Endpoint> {
        Arc::clone(self.mounted.get_or_init(|| self.embedding(None)))
    }

    /// Ends the server in order.
    pub(super) async fn drained(self: &Arc<Self>, deadline: Duration) -> Summary {
        self.shutdown.drained(self, deadline).await
    }

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
            strangers: self.strangers.clone(),
            limits_reached: self.limits_reached.clone(),
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
    pub(super) fn still_open(&self) -> Result<(), Error> {
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
