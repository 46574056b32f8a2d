//! What is known of a request before user code runs. Immutable, shared by its actor, its channel and the tree.

use std::fmt;
use std::net::SocketAddr;
use std::time::Instant;

use crate::wire::{MirroredParams, RequestId, RequestMeta};

use super::{Clock, Principal};

/// The facts of one request or notification.
pub(crate) struct RequestContext {
    /// `None` for a notification.
    pub(crate) id: Option<RequestId>,
    pub(crate) method: Box<str>,
    /// The tool, prompt or resource that the request names.
    pub(crate) name: Option<Box<str>>,
    pub(crate) meta: RequestMeta,
    pub(crate) mirrored_params: MirroredParams,
    pub(crate) peer: Option<SocketAddr>,
    pub(crate) principal: Principal,
    pub(crate) extensions: http::Extensions,
    pub(crate) received: Instant,
    pub(crate) clock: Clock,
}

impl RequestContext {
    pub(crate) fn is_listen(&self) -> bool {
        &*self.method == "subscriptions/listen"
    }
}

/// How the tree names the request's actor: `request tools/call slow #7`. The alternate form (`{:#}`) is for warnings, which have
/// no more of a request than its actor's label: it says where the request came from, too.
impl fmt::Display for RequestContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.id.is_some() { "request" } else { "notification" };
        write!(f, "{kind} {}", self.method)?;
        if let Some(name) = &self.name {
            write!(f, " {name}")?;
        }
        if let Some(id) = &self.id {
            write!(f, " #{id}")?;
        }
        match self.peer {
            Some(peer) if f.alternate() => write!(f, " from {peer}"),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
impl RequestContext {
    /// A request with the id 1 of an anonymous caller, for tests.
    pub(crate) fn of(method: &str) -> Self {
        Self {
            id: Some(RequestId::from(1)),
            method: method.into(),
            name: None,
            meta: RequestMeta::default(),
            mirrored_params: MirroredParams::default(),
            peer: None,
            principal: Principal::anonymous(),
            extensions: http::Extensions::new(),
            received: Instant::now(),
            clock: Clock::system(),
        }
    }
}
