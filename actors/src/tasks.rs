//! What belongs to a process and ends with it: tasks, timers and the monitors it holds.

use std::collections::BTreeMap;
use std::future::Future;
use std::time::Duration;

use tokio::task::AbortHandle;
use tracing::Instrument;

use crate::address::Address;
use crate::block::{lock, next_id};
use crate::contain::contained;
use crate::exit::Crash;
use crate::pid::Pid;

/// What an owned task came to: its output, or the panic that ended it.
pub type TaskResult<T> = Result<T, Crash>;

/// A task that ends with its process. Dropping the handle changes nothing.
#[derive(Clone, Debug)]
pub struct TaskHandle(Held);

/// A timer that ends with its process. Dropping the handle changes nothing.
#[derive(Clone, Debug)]
pub struct TimerHandle(Held);

#[derive(Clone, Debug)]
struct Held {
    owner: Pid,
    key: u64,
}

impl TaskHandle {
    /// Ends the task at its next await. No message comes of it, unless its output is already in the mailbox.
    pub fn abort(&self) {
        self.0.end();
    }
}

impl TimerHandle {
    /// Stops the timer. Its message does not come, unless it is already in the mailbox.
    pub fn cancel(&self) {
        self.0.end();
    }
}

impl Held {
    fn end(&self) {
        let belonging = lock(&self.owner.block().owned).remove(self.key);
        if let Some(belonging) = belonging {
            belonging.end();
        }
    }
}

/// Runs a future for a process and delivers what it came to. The future runs in the span of whoever spawns it, so that what it
/// traces has the context of what it works for.
pub(crate) fn spawn<M, T, F>(
    owner: &Address<M>,
    future: F,
    map: impl FnOnce(TaskResult<T>) -> M + Send + 'static,
) -> TaskHandle
where
    M: Send + 'static,
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let address = owner.clone();
    let future = future.instrument(tracing::Span::current());
    TaskHandle(hold(owner.pid(), async move {
        let result = contained(future).await;
        let crash = result.as_ref().err().cloned();
        let unread = crash.map(|crash| Unread { owner: address.pid(), crash: Some(crash) });
        // The mailbox makes the message when it is received; if it is not, it drops this.
        address.mailbox().send_exempt(move || {
            if let Some(unread) = unread {
                unread.read();
            }
            map(result)
        });
    }))
}

/// The panic of a task until its process reads of it. If that never happens, the trace has it.
struct Unread {
    owner: Pid,
    crash: Option<Crash>,
}

impl Unread {
    fn read(mut self) {
        self.crash = None;
    }
}

impl Drop for Unread {
    fn drop(&mut self) {
        if let Some(crash) = &self.crash {
            let (id, label) = (self.owner.id(), self.owner.label());
            tracing::error!(target: "ractor_otp", id, %label, %crash, "a task panicked, and its process ended without reading of it");
        }
    }
}

/// Delivers a message after some time.
pub(crate) fn send_after<M: Send + 'static>(owner: &Address<M>, delay: Duration, message: M) -> TimerHandle {
    let address = owner.clone();
    let sleep = tokio::time::sleep(delay);
    TimerHandle(hold(owner.pid(), async move {
        sleep.await;
        address.mailbox().send_exempt(move || message);
    }))
}

/// Spawns a task that belongs to a process.
fn hold(owner: Pid, work: impl Future<Output = ()> + Send + 'static) -> Held {
    let key = next_id();
    // The place is taken before the task runs: the task gives it back, and may do so at once.
    if !lock(&owner.block().owned).insert(key, Belonging::Starting) {
        return Held { owner, key };
    }
    let leave = owner.clone();
    let task = tokio::spawn(async move {
        work.await;
        let _ = lock(&leave.block().owned).remove(key);
    });
    let ended_meanwhile = !lock(&owner.block().owned).started(key, task.abort_handle());
    if ended_meanwhile {
        task.abort();
    }
    Held { owner, key }
}

/// Everything that belongs to a process.
#[derive(Default)]
pub(crate) struct Owned {
    list: BTreeMap<u64, Belonging>,
    closed: bool,
}

pub(crate) enum Belonging {
    /// A task about to run.
    Starting,
    Task(AbortHandle),
    /// A monitor on another process, by its key there.
    Monitor(Pid, u64),
}

impl Belonging {
    pub(crate) fn end(self) {
        match self {
            Self::Starting => {}
            Self::Task(task) => task.abort(),
            Self::Monitor(target, key) => drop(lock(&target.block().watchers).remove(key)),
        }
    }
}

impl Owned {
    /// Whether there was still an owner to take it.
    pub(crate) fn insert(&mut self, key: u64, belonging: Belonging) -> bool {
        if !self.closed {
            self.list.insert(key, belonging);
        }
        !self.closed
    }

    pub(crate) fn remove(&mut self, key: u64) -> Option<Belonging> {
        self.list.remove(&key)
    }

    /// Whether the task that was about to run is still wanted, or not yet done.
    fn started(&mut self, key: u64, task: AbortHandle) -> bool {
        match self.list.get_mut(&key) {
            Some(place) => {
                *place = Belonging::Task(task);
                true
            }
            None => false,
        }
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Takes everything out and takes nothing more in.
    pub(crate) fn close(&mut self) -> Vec<Belonging> {
        self.closed = true;
        std::mem::take(&mut self.list).into_values().collect()
    }
}
