//! What a leaf process can do about itself: the handle that its callbacks get.

use std::fmt;
use std::future::Future;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::address::Address;
use crate::block::{Block, lock};
use crate::exit::ExitReason;
use crate::label::Label;
use crate::mailbox::Mailbox;
use crate::monitor::{self, Down, MonitorRef};
use crate::pid::Pid;
use crate::tasks::{self, TaskHandle, TaskResult, TimerHandle};

/// The handle of a leaf process on itself. It may be cloned and moved into tasks; after the end of the process its
/// methods do nothing.
pub struct Me<M>(Address<M>);

impl<M: Send + 'static> Me<M> {
    pub(crate) fn new(address: Address<M>) -> Self {
        Self(address)
    }

    pub(crate) fn block(&self) -> &Block<Mailbox<M>> {
        self.0.block()
    }

    /// This process.
    pub fn pid(&self) -> Pid {
        self.0.pid()
    }

    /// Where others send messages to this process.
    pub fn address(&self) -> Address<M> {
        self.0.clone()
    }

    /// Runs a future in a task of its own, which is aborted when this process ends.
    ///
    /// Its output, or its panic, arrives as a message behind those sent before. The message is exempt from the bound of
    /// the mailbox; `map` runs when it is received. A panic of which this process reads no more is traced. The task runs in the
    /// `tracing` span in which it is spawned.
    pub fn spawn<T, F>(&self, future: F, map: impl FnOnce(TaskResult<T>) -> M + Send + 'static) -> TaskHandle
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        tasks::spawn(&self.0, future, map)
    }

    /// Sends this process a message after `delay`, unless it has ended or the timer is cancelled. The message is exempt
    /// from the bound of the mailbox.
    pub fn send_after(&self, delay: Duration, message: M) -> TimerHandle {
        tasks::send_after(&self.0, delay, message)
    }

    /// Watches another process: its end arrives as a message, behind everything that it sent before. For a dead process
    /// it arrives at once. The monitor is down when the reference is dropped.
    pub fn monitor(&self, target: &Pid, map: impl FnOnce(Down) -> M + Send + 'static) -> MonitorRef {
        monitor::monitor(&self.0, target, map)
    }

    /// Runs a future to its end even if an exit is requested meanwhile; the exit follows after it. A kill does not wait.
    pub async fn uninterrupted<F: Future>(&self, future: F) -> F::Output {
        let _shield = Shield::raise(self);
        future.await
    }

    /// The exit request this process got, if any.
    pub fn exit_requested(&self) -> Option<ExitReason> {
        self.block().request.get().cloned()
    }

    /// Waits for an exit request. Of use in owned tasks and inside `uninterrupted`.
    pub async fn exiting(&self) -> ExitReason {
        self.pid().exiting().await
    }

    /// Sets what trees show behind the label.
    pub fn describe(&self, detail: impl Into<Label>) {
        *lock(&self.block().detail) = Some(detail.into());
    }
}

impl<M> Clone for Me<M> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<M> fmt::Debug for Me<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Me({:?})", self.0)
    }
}

/// Holds the exit off while it is there.
struct Shield<'a, M: Send + 'static>(&'a Me<M>);

impl<'a, M: Send + 'static> Shield<'a, M> {
    fn raise(me: &'a Me<M>) -> Self {
        me.block().shields.fetch_add(1, Ordering::AcqRel);
        Self(me)
    }
}

impl<M: Send + 'static> Drop for Shield<'_, M> {
    fn drop(&mut self) {
        self.0.block().shields.fetch_sub(1, Ordering::AcqRel);
        // The shielded future may run in another task than the process.
        self.0.block().signal.wake();
    }
}
