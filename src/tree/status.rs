//! How a server does, as the health route of an application tells it.

use std::fmt;
use std::sync::atomic::Ordering;

use crate::request::{Lane, Phase as Drained};

use super::server::Server;

/// How far the life of a server is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Phase {
    /// It serves.
    Serving,
    /// It still serves, and is about to shut down: see [`Options::drain_delay`](super::Options::drain_delay).
    Leaving,
    /// Its ports are closed, and what runs has its time to end.
    Draining,
    /// It has ended.
    Stopped,
}

/// How much of a limit is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// How many there are now.
    pub used: usize,
    /// How many there may be.
    pub limit: usize,
}

impl Usage {
    /// Whether the next one is refused.
    pub fn is_full(&self) -> bool {
        self.used >= self.limit
    }
}

/// How a server does at one moment: what [`McpSupervisor::status`](super::McpSupervisor::status) returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Status {
    /// How far its life is.
    pub phase: Phase,
    /// Calls and reads that run, of [`Options::max_in_flight`](super::Options::max_in_flight).
    pub calls: Usage,
    /// Discovery, lists, completions and notifications that run, of the same limit, which counts them apart.
    pub lists: Usage,
    /// Streams that are open, of [`Options::max_streams`](super::Options::max_streams).
    pub streams: Usage,
    /// Connections of listeners and of `serve()`. Beyond [`Options::max_connections`](super::Options::max_connections) those of
    /// listeners wait, so that a full listener is not told apart from a busy one.
    pub connections: usize,
}

impl Status {
    /// Whether new requests are welcome: it serves, no shutdown is near, and no limit of the whole server is reached. What a
    /// readiness probe asks for; whether the process is alive at all is another question.
    pub fn is_ready(&self) -> bool {
        let is_full = [self.calls, self.lists, self.streams].iter().any(Usage::is_full);
        self.phase == Phase::Serving && !is_full
    }

    pub(super) fn of(server: &Server) -> Self {
        let limit = server.options.max_in_flight;
        let running = |lane| Usage { used: server.slots.running(lane), limit };
        Self {
            phase: phase(server),
            calls: running(Lane::Calls),
            lists: running(Lane::Lists),
            streams: Usage {
                used: server.streams.admission.in_use(),
                limit: server.options.stream_caps.server,
            },
            connections: connections(server),
        }
    }
}

fn phase(server: &Server) -> Phase {
    match server.drain.phase() {
        _ if !server.root.pid().is_alive() => Phase::Stopped,
        Drained::Open if server.leaving.load(Ordering::Acquire) => Phase::Leaving,
        Drained::Open => Phase::Serving,
        Drained::Draining | Drained::Closing => Phase::Draining,
    }
}

fn connections(server: &Server) -> usize {
    let accepted = server.ports().into_iter().filter_map(|port| port.connections().ok());
    accepted.map(|connections| connections.count()).sum::<usize>() + server.served_connections()
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Serving => "serving",
            Self::Leaving => "leaving",
            Self::Draining => "draining",
            Self::Stopped => "stopped",
        })
    }
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.used, self.limit)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { phase, calls, lists, streams, connections } = self;
        write!(f, "{phase}: calls {calls}, lists {lists}, streams {streams}, connections {connections}")
    }
}
