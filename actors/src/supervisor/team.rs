//! The children of a static supervisor and what is done about their ends. OTP's `supervisor` decides the same way.

use std::sync::atomic::Ordering;

use ractor::ActorId;
use tokio::time::Instant;

use super::intensity::Restarts;
use super::{Strategy, SupervisorOptions};
use crate::block::{Kind, next_id};
use crate::child_spec::{ChildSpec, LEAF_SHUTDOWN, Restart};
use crate::contain::{contain, contained};
use crate::exit::{Crash, ExitReason};
use crate::label::Label;
use crate::parent::StartError;
use crate::pid::Pid;
use crate::shutdown::{Ended, Shutdown};

/// The children in their order, running or not.
pub(super) struct Team {
    supervisor: Pid,
    strategy: Strategy,
    restarts: Restarts,
    slots: Vec<Slot>,
}

struct Slot {
    key: u64,
    spec: ChildSpec,
    pid: Option<Pid>,
    restarts: u32,
}

/// A restart that did not work and is to be tried again.
pub(super) struct Retry {
    pub(super) key: u64,
    pub(super) reason: ExitReason,
}

impl Team {
    pub(super) fn new(supervisor: Pid, options: SupervisorOptions) -> Self {
        let restarts = Restarts::new(options.intensity);
        Self { supervisor, strategy: options.strategy, restarts, slots: Vec::new() }
    }

    /// Starts a child behind those there are.
    pub(super) async fn add(&mut self, spec: ChildSpec) -> Result<Pid, StartError> {
        if self.slots.iter().any(|slot| slot.spec.id == spec.id) {
            return Err(StartError::AlreadyStarted(spec.id.to_string()));
        }
        let pid = start(&self.supervisor, &spec).await?;
        self.slots.push(Slot { key: next_id(), spec, pid: Some(pid.clone()), restarts: 0 });
        Ok(pid)
    }

    /// Ends a child and forgets it.
    pub(super) async fn terminate(&mut self, id: &Label) -> Option<Ended> {
        let index = self.slots.iter().position(|slot| slot.spec.id == *id)?;
        let slot = self.slots.remove(index);
        Some(slot.pid?.shutdown(slot.spec.shutdown).await)
    }

    /// How a child is to be ended; one that was started past the list is treated as OTP treats its kind.
    pub(super) fn shutdown_of(&self, child: &Pid) -> Shutdown {
        let slot = self.slots.iter().find(|slot| slot.pid.as_ref() == Some(child));
        slot.map_or_else(|| default_shutdown(child), |slot| slot.spec.shutdown)
    }

    /// A ractor actor under the supervisor has ended. The ends of children that were ended on purpose find no slot.
    pub(super) async fn ended(&mut self, actor: ActorId) -> Option<Retry> {
        let is_it = |slot: &Slot| slot.pid.as_ref().and_then(|pid| pid.block().actor()) == Some(actor);
        let index = self.slots.iter().position(is_it)?;
        let slot = self.slots.get_mut(index)?;
        // The process completes its block itself; after a kill that may be a moment after ractor's event.
        let reason = slot.pid.take()?.join().await;
        match slot.spec.restart {
            Restart::Temporary => {
                self.slots.remove(index);
                None
            }
            Restart::Transient if reason.is_clean() => None,
            Restart::Transient | Restart::Permanent => self.restart(index, reason).await,
        }
    }

    /// Tries a failed restart again, if the child is still wanted and still down.
    pub(super) async fn retry(&mut self, retry: Retry) -> Option<Retry> {
        let index = self.slots.iter().position(|slot| slot.key == retry.key && slot.pid.is_none())?;
        self.restart(index, retry.reason).await
    }

    async fn restart(&mut self, index: usize, reason: ExitReason) -> Option<Retry> {
        if self.supervisor.exit_requested().is_some() {
            return None;
        }
        if !self.restarts.admit(Instant::now()) {
            self.give_up(index, &reason);
            return None;
        }
        let key = self.slots.get(index)?.key;
        let first = match self.strategy {
            Strategy::OneForOne => return self.start_again(key).await.err(),
            Strategy::OneForAll => 0,
            Strategy::RestForOne => index,
        };
        for key in self.stop_from(first).await {
            if let Err(retry) = self.start_again(key).await {
                return Some(retry);
            }
        }
        None
    }

    /// Ends the children from `first` on in reverse order and forgets the temporary ones among them; returns those to
    /// start again, in order.
    async fn stop_from(&mut self, first: usize) -> Vec<u64> {
        let mut tail = self.slots.split_off(first);
        for slot in tail.iter_mut().rev() {
            if let Some(pid) = slot.pid.take() {
                pid.shutdown(slot.spec.shutdown).await;
            }
        }
        tail.retain(|slot| slot.spec.restart != Restart::Temporary);
        let again = tail.iter().map(|slot| slot.key).collect();
        self.slots.append(&mut tail);
        again
    }

    async fn start_again(&mut self, key: u64) -> Result<(), Retry> {
        let Some(slot) = self.slots.iter_mut().find(|slot| slot.key == key) else {
            return Ok(());
        };
        slot.restarts += 1;
        match start(&self.supervisor, &slot.spec).await {
            Ok(pid) => {
                pid.block().restarts.store(slot.restarts, Ordering::Relaxed);
                slot.pid = Some(pid);
                Ok(())
            }
            Err(error) => Err(Retry { key, reason: Crash::init(error).into() }),
        }
    }

    fn give_up(&self, index: usize, reason: &ExitReason) {
        let limit = self.restarts.limit();
        let child = self.slots.get(index).map(|slot| slot.spec.id.to_string()).unwrap_or_default();
        let crash = Crash::error(format!("restart intensity {limit} exceeded by {child}: {reason}"));
        self.supervisor.exit(crash.into());
    }
}

/// Ends every child of a supervisor in the reverse order of their start, those past its list too.
pub(super) async fn shut_down(supervisor: &Pid, team: Option<&Team>) {
    supervisor.block().close_to_children();
    for child in supervisor.children().iter().rev() {
        let how = team.map_or_else(|| default_shutdown(child), |team| team.shutdown_of(child));
        child.shutdown(how).await;
    }
}

fn default_shutdown(child: &Pid) -> Shutdown {
    match child.block().kind {
        Kind::Leaf => LEAF_SHUTDOWN,
        Kind::Supervisor => Shutdown::Infinity,
    }
}

/// Runs a start function: it may panic, and an exit request does not wait for it. What it has started by then is in the
/// supervisor's block, and ends with the supervisor.
async fn start(supervisor: &Pid, spec: &ChildSpec) -> Result<Pid, StartError> {
    let broken = |crash: Crash| StartError::failed(&spec.id, crash);
    let mut starting = contain(|| (spec.start)(supervisor.clone())).map_err(broken)?;
    let started = tokio::select! {
        biased;
        _ = supervisor.exiting() => return Err(StartError::Draining),
        started = contained(starting.as_mut()) => started.map_err(broken)??,
    };
    if started.parent().as_ref() == Some(supervisor) {
        return Ok(started);
    }
    Err(StartError::NotAChild(spec.id.to_string()))
}
