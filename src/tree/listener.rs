//! A listener: a supervisor, rest_for_one, under `listeners`. Its children are `connections` and the acceptor.
//!
//! The bound socket lives in the [`Port`], which the child specs hold: a restart of the acceptor, or of the whole
//! listener, keeps the port and the backlog.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use ractor_otp::{
    ChildSpec, DynamicOptions, DynamicSupervisor, Pid, StartError, Strategy, Supervisor, SupervisorOptions,
};
use tokio::net::TcpListener;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::http::Endpoint;

use super::acceptor::Acceptor;
use super::connection::LAST_TIME;
use super::listeners::Slot;

/// What the incarnations of one listener share.
pub(super) struct Port {
    pub(super) address: SocketAddr,
    pub(super) endpoint: Arc<Endpoint>,
    socket: Mutex<Option<Arc<TcpListener>>>,
    room: Arc<Semaphore>,
    supervisor: Slot,
    connections: Mutex<Option<DynamicSupervisor>>,
}

impl Port {
    pub(super) fn new(
        socket: TcpListener,
        address: SocketAddr,
        endpoint: Arc<Endpoint>,
        max_connections: usize,
    ) -> Arc<Self> {
        Arc::new(Self {
            address,
            endpoint,
            socket: Mutex::new(Some(Arc::new(socket))),
            room: Arc::new(Semaphore::new(max_connections)),
            supervisor: Slot::default(),
            connections: Mutex::new(None),
        })
    }

    pub(super) async fn room(&self) -> io::Result<OwnedSemaphorePermit> {
        Arc::clone(&self.room).acquire_owned().await.map_err(io::Error::other)
    }

    /// The bound socket; `None` once the port is closed.
    pub(super) fn socket(&self) -> Option<Arc<TcpListener>> {
        self.socket.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Lets go of the socket; false if that was done before. What waits for a client still holds it.
    fn release(&self) -> bool {
        self.socket.lock().unwrap_or_else(PoisonError::into_inner).take().is_some()
    }

    /// Ends the acceptor and lets go of the socket: the port closes, connections stay.
    pub(super) async fn close(&self) {
        self.release();
        if let Some(supervisor) = self.supervisor.get() {
            supervisor.terminate_child("acceptor").await;
        }
    }

    pub(super) fn connections(&self) -> Result<DynamicSupervisor, StartError> {
        let connections = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
        connections.clone().ok_or(StartError::NoProc)
    }

    fn set_connections(&self, connections: DynamicSupervisor) -> Pid {
        let pid = connections.pid().clone();
        *self.connections.lock().unwrap_or_else(PoisonError::into_inner) = Some(connections);
        pid
    }
}

fn label(address: SocketAddr) -> String {
    format!("listener {address}")
}

/// The child spec of a listener.
fn spec(port: Arc<Port>) -> ChildSpec {
    let label = label(port.address);
    ChildSpec::new(label.clone(), move |parent: Pid| {
        let (label, port) = (label.clone(), Arc::clone(&port));
        async move {
            let children = vec![connections(&port), acceptor(&port)];
            let options =
                SupervisorOptions { strategy: Strategy::RestForOne, ..SupervisorOptions::default() };
            Ok(port.supervisor.set(Supervisor::start(parent, label, options, children).await?))
        }
    })
}

fn connections(port: &Arc<Port>) -> ChildSpec {
    let port = Arc::clone(port);
    ChildSpec::new("connections", move |parent: Pid| {
        let port = Arc::clone(&port);
        async move {
            let shutdown = port.endpoint.limits().close_time + LAST_TIME;
            let options = DynamicOptions { shutdown, ..DynamicOptions::default() };
            let connections = DynamicSupervisor::start(parent, "connections", options).await?;
            Ok(port.set_connections(connections))
        }
    })
}

fn acceptor(port: &Arc<Port>) -> ChildSpec {
    let port = Arc::clone(port);
    ChildSpec::process("acceptor", move || Acceptor::new(Arc::clone(&port)))
}

/// A running listener: what [`McpSupervisor::listen`](super::McpSupervisor::listen) returns. Dropping it closes nothing.
///
/// ```
/// use ractor_mcp::prelude::*;
///
/// # async fn run() -> Result<(), ractor_mcp::Error> {
/// let mcp = McpSupervisor::start(Suite::new("moving", "1.0.0")).await?;
/// let before = mcp.listen("127.0.0.1:0").await?;
/// let after = mcp.listen("127.0.0.1:0").await?;
/// before.close().await;
/// println!("no longer listening on {}, but on {}", before.addr(), after.addr());
/// # Ok(())
/// # }
/// # tokio::runtime::Runtime::new().unwrap().block_on(run()).unwrap();
/// ```
#[derive(Clone)]
pub struct Listener {
    address: SocketAddr,
    first: Pid,
    listeners: Supervisor,
    /// Weak: the socket belongs to the tree.
    port: Weak<Port>,
}

impl Listener {
    pub(super) async fn start(listeners: &Supervisor, port: &Arc<Port>) -> Result<Self, StartError> {
        let first = listeners.start_child(spec(Arc::clone(port))).await?;
        let (listeners, weak) = (listeners.clone(), Arc::downgrade(port));
        Ok(Self { address: port.address, first, listeners, port: weak })
    }

    /// The address that it listens on, with the port that the system chose if it was asked to.
    pub fn addr(&self) -> SocketAddr {
        self.address
    }

    /// The listener's supervisor: after a restart the new one, after the end one that has ended.
    pub fn pid(&self) -> Pid {
        let running = self.port.upgrade().and_then(|port| port.supervisor.get());
        running.map_or_else(|| self.first.clone(), |supervisor| supervisor.pid().clone())
    }

    /// Ends the listener, as OTP ends a child: it is not restarted, and the address is free to be listened on again.
    ///
    /// The port closes first. Then its connections end, all at once: their streams are torn down, their running requests are
    /// interrupted with `shutdown` and answer `-32603`, and what does not end within [`Options::close_time`] is killed. Other
    /// listeners go on. There is no deadline for requests to finish, as [`shutdown`](super::McpSupervisor::shutdown) of the whole
    /// server has one; a tool that closes the listener it was called on is interrupted with the others.
    ///
    /// It returns when that is done, and at once if the listener has ended: within the close time and 1.5 s, of which a second is
    /// for what is still to be written. Where a handler blocks its thread that may become the close time and 11 s, as long as the runtime has a
    /// thread left. Several listeners are closed one after the other. A second call waits for the first, and one during a
    /// shutdown, which has closed the port already, for that.
    ///
    /// [`Options::close_time`]: super::Options::close_time
    pub async fn close(&self) {
        let Some(port) = self.port.upgrade() else { return };
        if port.release() {
            self.listeners.terminate_child(label(self.address)).await;
        } else {
            self.pid().join().await;
        }
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Listener({})", self.pid())
    }
}
