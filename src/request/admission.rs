//! Admission of streams: so many on the server, so many of one principal.
//!
//! A stream beyond the principal's cap is admitted, and the principal's oldest is superseded, in one step: at no time has
//! a principal more than its cap. A superseded stream leaves the count at once and keeps its place on the server until
//! it has ended.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ractor_otp::{ExitReason, Pid, Tag};
use tokio::sync::Notify;

use crate::handler::Principal;

/// How many streams there may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StreamCaps {
    pub(crate) server: usize,
    pub(crate) principal: usize,
    /// Whether all anonymous callers together count as one principal. They share nothing otherwise.
    pub(crate) anonymous: bool,
}

/// The streams of one server.
#[derive(Clone)]
pub(crate) struct Admission(Arc<Streams>);

struct Streams {
    caps: StreamCaps,
    state: Mutex<State>,
    all_ended: Notify,
}

#[derive(Default)]
struct State {
    /// Places taken on the server.
    places: usize,
    /// The open streams, by process id.
    open: HashMap<u64, Pid>,
    /// The open streams of each principal that has a cap, the oldest first.
    by_principal: HashMap<Arc<str>, VecDeque<u64>>,
    /// A stream that opens from now on, its handler having taken its time, is told to end at once.
    closed: bool,
}

/// A place on the server. Free again when dropped.
pub(crate) struct Place(Admission);

/// An open stream in the books of its principal. Dropping it takes it out.
pub(crate) struct Admitted {
    admission: Admission,
    pid: u64,
    principal: Option<Arc<str>>,
}

impl Admission {
    pub(crate) fn new(caps: StreamCaps) -> Self {
        Self(Arc::new(Streams { caps, state: Mutex::default(), all_ended: Notify::new() }))
    }

    /// Takes a place on the server, before anything is spawned.
    pub(crate) fn take(&self) -> Option<Place> {
        let mut state = self.lock();
        if state.places >= self.0.caps.server {
            return None;
        }
        state.places += 1;
        Some(Place(self.clone()))
    }

    /// Opens a stream of a principal, and supersedes the principal's oldest if it has too many then.
    pub(crate) fn open(&self, pid: &Pid, principal: &Principal) -> Admitted {
        let principal = match principal.id() {
            Some(id) => Some(Arc::from(id)),
            None => self.0.caps.anonymous.then(|| Arc::from("")),
        };
        let mut state = self.lock();
        state.open.insert(pid.id(), pid.clone());
        let mut superseded = None;
        if let Some(principal) = &principal {
            let streams = state.by_principal.entry(Arc::clone(principal)).or_default();
            streams.push_back(pid.id());
            if streams.len() > self.0.caps.principal {
                let oldest = streams.pop_front();
                superseded = oldest.and_then(|oldest| state.open.get(&oldest).cloned());
            }
        }
        let closed = state.closed;
        drop(state);
        if let Some(oldest) = superseded {
            oldest.exit(ExitReason::ShutdownWith(Tag::SUPERSEDED));
        }
        if closed {
            pid.exit(ExitReason::Shutdown);
        }
        Admitted { admission: self.clone(), pid: pid.id(), principal }
    }

    /// Tells every stream to end: those that are open, which it returns, and any that opens later.
    pub(crate) fn close(&self) -> Vec<Pid> {
        let mut state = self.lock();
        state.closed = true;
        let open: Vec<Pid> = state.open.values().cloned().collect();
        drop(state);
        for stream in &open {
            stream.exit(ExitReason::Shutdown);
        }
        open
    }

    /// How many places are taken.
    pub(crate) fn in_use(&self) -> usize {
        self.lock().places
    }

    /// Resolves when no place is taken.
    pub(crate) async fn all_ended(&self) {
        loop {
            let ended = self.0.all_ended.notified();
            if self.in_use() == 0 {
                return;
            }
            ended.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.places -= 1;
        if state.places == 0 {
            drop(state);
            self.0.0.all_ended.notify_waiters();
        }
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        let mut state = self.admission.lock();
        state.open.remove(&self.pid);
        let Some(principal) = &self.principal else { return };
        if let Some(streams) = state.by_principal.get_mut(principal) {
            streams.retain(|pid| *pid != self.pid);
            if streams.is_empty() {
                state.by_principal.remove(principal);
            }
        }
    }
}
