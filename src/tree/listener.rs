//! A listener: a supervisor, rest_for_one, under `listeners`. Its children are `connections` and the acceptor.
//!
//! The bound socket lives in the [`Port`], which the child specs hold: a restart of the acceptor, or of the whole
//! listener, keeps the port and the backlog.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use ractor_otp::{
    ChildSpec, DynamicOptions, DynamicSupervisor, Pid, StartError, Strategy, Supervisor, SupervisorOptions,
};
use tokio::net::TcpListener;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::http::Endpoint;

use super::acceptor::Acceptor;
use super::supervisor::Slot;

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

    /// Ends the acceptor and lets go of the socket: the port closes, connections stay.
    pub(super) async fn close(&self) {
        self.socket.lock().unwrap_or_else(PoisonError::into_inner).take();
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

/// The child spec of a listener.
pub(super) fn spec(port: Arc<Port>) -> ChildSpec {
    let label = format!("listener {}", port.address);
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
            let options =
                DynamicOptions { shutdown: port.endpoint.limits().close_time, ..DynamicOptions::default() };
            let connections = DynamicSupervisor::start(parent, "connections", options).await?;
            Ok(port.set_connections(connections))
        }
    })
}

fn acceptor(port: &Arc<Port>) -> ChildSpec {
    let port = Arc::clone(port);
    ChildSpec::process("acceptor", move || Acceptor::new(Arc::clone(&port)))
}

/// A running listener: what [`McpSupervisor::listen`](super::McpSupervisor::listen) returns.
#[derive(Clone, Debug)]
pub struct Listener {
    pub(super) address: SocketAddr,
    pub(super) pid: Pid,
}

impl Listener {
    /// The address that it listens on, with the port that the system chose if it was asked to.
    pub fn addr(&self) -> SocketAddr {
        self.address
    }

    /// The listener's supervisor as it was started; a restart gives it a new one.
    pub fn pid(&self) -> &Pid {
        &self.pid
    }
}
