//! The phases of a shutdown. One state serves all listeners of a supervisor; everything that must change its ways
//! watches it.

use std::sync::Arc;

use tokio::sync::watch;

/// How far the shutdown is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// Serving.
    Open,
    /// Running requests finish; new ones are refused with 503.
    Draining,
    /// Connections close as soon as their last response is written.
    Closing,
}

/// The drain state: set by the shutdown, watched by the rest.
#[derive(Clone)]
pub(crate) struct Drain(Arc<watch::Sender<Phase>>);

impl Drain {
    pub(crate) fn new() -> Self {
        Self(Arc::new(watch::Sender::new(Phase::Open)))
    }

    pub(crate) fn phase(&self) -> Phase {
        *self.0.borrow()
    }

    /// Goes forward to a phase; never back.
    pub(crate) fn enter(&self, phase: Phase) {
        self.0.send_if_modified(|current| {
            let forward = phase > *current;
            if forward {
                *current = phase;
            }
            forward
        });
    }

    /// Resolves when the phase is reached.
    pub(crate) async fn reached(&self, phase: Phase) {
        // The sender lives as long as `self`, so the wait cannot fail.
        let _ = self.0.subscribe().wait_for(|current| *current >= phase).await;
    }
}
