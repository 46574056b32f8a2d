//! `listeners`: a supervisor, one_for_one. It has no child until [`McpSupervisor::listen`](super::McpSupervisor::listen) adds one; a
//! listener that gives up is restarted by it.

use std::sync::{Arc, Mutex, PoisonError};

use ractor_otp::{ChildSpec, Pid, Supervisor, SupervisorOptions};

/// Where the start function of a child leaves its handle.
#[derive(Clone, Default)]
pub(super) struct Slot(Arc<Mutex<Option<Supervisor>>>);

impl Slot {
    pub(super) fn set(&self, supervisor: Supervisor) -> Pid {
        let pid = supervisor.pid().clone();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(supervisor);
        pid
    }

    pub(super) fn get(&self) -> Option<Supervisor> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The child spec of `listeners`.
pub(super) fn spec(slot: &Slot) -> ChildSpec {
    let slot = slot.clone();
    ChildSpec::new("listeners", move |parent| {
        let slot = slot.clone();
        async move {
            let started =
                Supervisor::start(parent, "listeners", SupervisorOptions::default(), Vec::new()).await?;
            Ok(slot.set(started))
        }
    })
}
