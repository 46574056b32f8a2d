//! The exit feed: every end under one process, for tests, logs and metrics. The root of the tree has it, and each reader
//! takes what is of its own process. Without a reader it costs one look at an empty cell for each end.

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use crate::exit::ExitReason;
use crate::pid::Pid;

/// How many events wait for a slow reader before it loses the oldest.
const CAPACITY: usize = 1024;

/// One process ended.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ExitEvent {
    /// Which one. The pid is dead.
    pub pid: Pid,
    /// What it was called, without its detail.
    pub label: String,
    /// Why it ended.
    pub reason: ExitReason,
}

/// A reader was too slow and lost this many events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the reader of the exit feed was too slow: {0} events are lost")]
pub struct Lagged(pub u64);

pub(crate) struct Feed(broadcast::Sender<ExitEvent>);

impl Feed {
    pub(crate) fn new() -> Self {
        Self(broadcast::Sender::new(CAPACITY))
    }

    /// What ends of one process and everything under it.
    pub(crate) fn subscribe(&self, top: &Pid) -> ExitFeed {
        ExitFeed { top: top.id(), events: self.0.subscribe() }
    }

    pub(crate) fn publish(&self, pid: &Pid, reason: &ExitReason) {
        if self.0.receiver_count() > 0 {
            let label = pid.label().to_string();
            let _ = self.0.send(ExitEvent { pid: pid.clone(), label, reason: reason.clone() });
        }
    }
}

/// Reads the ends of a tree from the moment of [`Pid::exits`] on.
#[derive(Debug)]
pub struct ExitFeed {
    /// By its id: a pid would keep the tree's memory, and so this feed, for ever.
    top: u64,
    events: broadcast::Receiver<ExitEvent>,
}

impl ExitFeed {
    /// The next end, or how many were lost before it, those elsewhere in the same tree included; `None` when nothing is left of
    /// the tree, not even a pid.
    pub async fn next(&mut self) -> Option<Result<ExitEvent, Lagged>> {
        loop {
            match self.events.recv().await {
                Ok(event) if event.pid.is_under(self.top) => return Some(Ok(event)),
                Ok(_) => {}
                Err(RecvError::Lagged(lost)) => return Some(Err(Lagged(lost))),
                Err(RecvError::Closed) => return None,
            }
        }
    }
}
