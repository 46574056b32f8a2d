//! Why a supervisor or a listener did not start, or ended.

use std::fmt;
use std::io;
use std::net::SocketAddr;

use ractor_otp::{ExitReason, StartError};

use crate::handler::Misconfigured;

/// What can go wrong with a server as a whole.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The handler or the options are not in order; the message names every fault.
    #[error(transparent)]
    Misconfigured(#[from] Misconfigured),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}{}", if source.kind() == io::ErrorKind::AddrInUse { "; another port would do, or 0 for any that is free" } else { "" })]
    Listen {
        /// The address as it was given.
        address: String,
        /// What the system said.
        source: io::Error,
    },
    /// A supervisor of the tree did not start.
    #[error("cannot start {what}: {source}")]
    Start {
        /// The part of the tree.
        what: String,
        /// Why.
        source: StartError,
    },
    /// [`serve`](super::McpSupervisor::serve) holds as many connections as it may.
    #[error(
        "serve: {limit} connections are open, as many as may be; offer this one later, or set `Options::max_connections`"
    )]
    TooManyConnections {
        /// How many there may be.
        limit: usize,
    },
    /// The server has stopped, or is about to.
    #[error("the server has stopped: {0}")]
    Stopped(ExitReason),
}

/// The same as `Display`: a `main` that returns it prints what can be read.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error {
    pub(super) fn listen(address: impl ToString, source: io::Error) -> Self {
        Self::Listen { address: address.to_string(), source }
    }

    pub(super) fn start(what: impl Into<String>, source: StartError) -> Self {
        Self::Start { what: what.into(), source }
    }

    pub(super) fn unprotected(address: SocketAddr) -> Self {
        Misconfigured::new(format!(
            "listener {address}: it is reachable under names that are not known, so that any web page may reach it \
             through DNS rebinding; name the hosts with `Options::allowed_hosts`, or give up the check with \
             `Options::any_host`"
        ))
        .into()
    }
}
