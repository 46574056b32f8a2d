//! How a server does, as the health route of an application tells it.

use std::fmt;
use std::sync::atomic::Ordering;

use serde::Serialize;

use crate::request::{Lane, Phase};

use super::server::Server;

/// How far the life of a server is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum ServerPhase {
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LimitUsage {
    /// How many there are now.
    pub used: usize,
    /// How many there may be.
    pub limit: usize,
}

impl LimitUsage {
    /// Whether the next one is refused.
    pub fn is_full(&self) -> bool {
        self.used >= self.limit
    }
}

/// How a server does at one moment: what [`McpSupervisor::status`](super::McpSupervisor::status) returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Status {
    /// How far its life is.
    pub phase: ServerPhase,
    /// Calls and reads that run, of [`Options::max_in_flight`](super::Options::max_in_flight).
    pub calls: LimitUsage,
    /// Discovery, lists, completions and notifications that run, of the same limit, which counts them apart.
    pub lists: LimitUsage,
    /// Streams that are open, of [`Options::max_streams`](super::Options::max_streams).
    pub streams: LimitUsage,
    /// Connections of listeners and of `serve()`. Beyond [`Options::max_connections`](super::Options::max_connections) those of
    /// listeners wait, so that a full listener is not told apart from a busy one.
    pub connections: usize,
    /// Bytes of requests and answers, of [`Options::body_budget`](super::Options::body_budget).
    pub bytes: LimitUsage,
}

impl Status {
    /// Whether new requests are welcome: it serves, no shutdown is near, and neither calls nor lists nor streams are as many as
    /// may be. What a readiness probe asks for; whether the process is alive at all is another question.
    ///
    /// A server that is full of bytes is ready, since small requests go on. Clients who may not be trusted can keep all streams
    /// open: where that must not take the server out of its load balancer, decide by the [phase](Status::phase) and
    /// [`calls`](Status::calls).
    pub fn is_ready(&self) -> bool {
        let is_full = [self.calls, self.lists, self.streams].iter().any(LimitUsage::is_full);
        self.phase == ServerPhase::Serving && !is_full
    }

    pub(super) fn of(server: &Server) -> Self {
        let limit = server.options.max_in_flight;
        let running = |lane| LimitUsage { used: server.slots.running(lane), limit };
        Self {
            phase: phase(server),
            calls: running(Lane::Calls),
            lists: running(Lane::Lists),
            streams: LimitUsage {
                used: server.streams.admission.in_use(),
                limit: server.options.stream_caps.server,
            },
            connections: connections(server),
            bytes: LimitUsage { used: server.budget.taken(), limit: server.options.body_budget },
        }
    }
}

fn phase(server: &Server) -> ServerPhase {
    match server.drain.phase() {
        _ if !server.root.pid().is_alive() => ServerPhase::Stopped,
        Phase::Open if server.leaving.load(Ordering::Acquire) => ServerPhase::Leaving,
        Phase::Open => ServerPhase::Serving,
        Phase::Draining | Phase::Closing => ServerPhase::Draining,
    }
}

fn connections(server: &Server) -> usize {
    let accepted = server.ports().into_iter().filter_map(|port| port.connections().ok());
    accepted.map(|connections| connections.count()).sum::<usize>() + server.served_connections()
}

impl fmt::Display for ServerPhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Serving => "serving",
            Self::Leaving => "leaving",
            Self::Draining => "draining",
            Self::Stopped => "stopped",
        })
    }
}

impl fmt::Display for LimitUsage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.used, self.limit)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { phase, calls, lists, streams, connections, bytes } = self;
        write!(
            f,
            "{phase}: calls {calls}, lists {lists}, streams {streams}, connections {connections}, bytes {bytes}"
        )
    }
}
