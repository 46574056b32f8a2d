//! A reference to a process: cheap to clone, valid for ever, small once the process is dead.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use ractor::ActorCell;

use crate::block::{Block, Kind, Mark, lock};
use crate::contain::contain;
use crate::exit::{Crash, CrashKind, ExitReason};
use crate::feed::{ExitFeed, Feed};
use crate::label::Label;
use crate::mailbox::{Inbox, Queue};
use crate::tasks::Belonging;
use crate::tree::Tree;

/// A reference to a process, alive or dead. Two pids are equal when they name the same process.
#[derive(Clone)]
pub struct Pid(Arc<Block<dyn Inbox>>);

impl Pid {
    pub(crate) fn new(block: Arc<Block<dyn Inbox>>) -> Self {
        Self(block)
    }

    pub(crate) fn block(&self) -> &Block<dyn Inbox> {
        &self.0
    }

    /// Unique in this operating system process; grows in the order of creation. Not ractor's actor id.
    pub fn id(&self) -> u64 {
        self.0.id
    }

    /// What it is called.
    pub fn label(&self) -> &Label {
        &self.0.label
    }

    /// Its supervisor, if that is a process of this crate.
    pub fn parent(&self) -> Option<Pid> {
        self.0.parent.clone()
    }

    /// The top of its tree: itself, if it has no parent of this crate.
    pub fn root(&self) -> Pid {
        let mut root = self;
        while let Some(parent) = &root.0.parent {
            root = parent;
        }
        root.clone()
    }

    /// Whether it has not ended yet.
    pub fn is_alive(&self) -> bool {
        self.0.exit.get().is_none()
    }

    /// Why it ended; `None` while it is alive.
    pub fn exit_reason(&self) -> Option<ExitReason> {
        self.0.exit.get().cloned()
    }

    /// The exit request it got, whether or not it has followed it yet.
    pub fn exit_requested(&self) -> Option<ExitReason> {
        self.0.request.get().cloned()
    }

    /// Asks it to end. A leaf is interrupted at its next await and terminates; a supervisor shuts down in order.
    ///
    /// The request goes past the mailbox, never blocks, and the first one wins.
    pub fn exit(&self, reason: ExitReason) {
        if self.0.request(reason) && self.0.kind == Kind::Supervisor {
            self.stop_actor();
        }
    }

    /// Ends the ractor loop of a supervisor, whose `post_stop` does the rest.
    pub(crate) fn stop_actor(&self) {
        let text = self.0.request.get().and_then(ExitReason::to_ractor);
        if let Some(cell) = &*lock(&self.0.cell) {
            cell.stop(text);
        }
    }

    /// Ends it, and everything under it, at the next await: no `terminate` runs, destructors do.
    pub fn kill(&self) {
        // The request reaches a process that has no ractor cell yet.
        self.0.request(ExitReason::Killed);
        if let Some(cell) = &*lock(&self.0.cell) {
            cell.kill();
        }
    }

    /// Waits for its end: its state is dropped then, and it is out of its parent's list.
    pub async fn join(&self) -> ExitReason {
        let block = &self.0;
        block.news.until(|| block.exit.get().filter(|_| block.is(Mark::Ended)).cloned()).await
    }

    /// Waits until its init is done.
    ///
    /// # Errors
    ///
    /// Why it ended, if it did so before.
    pub async fn started(&self) -> Result<(), ExitReason> {
        let block = &self.0;
        let outcome = || {
            if block.is(Mark::Started) { Some(Ok(())) } else { block.exit.get().cloned().map(Err) }
        };
        block.news.until(outcome).await
    }

    /// Waits until it is asked to exit, or has ended.
    pub async fn exiting(&self) -> ExitReason {
        let block = &self.0;
        block.news.until(|| block.request.get().or(block.exit.get()).cloned()).await
    }

    /// Its ractor cell, for raw ractor tools; `None` before its start and after its end. Holding one keeps about 5 KB.
    pub fn cell(&self) -> Option<ActorCell> {
        lock(&self.0.cell).clone()
    }

    /// How full its mailbox is; `None` for a supervisor.
    pub fn queue(&self) -> Option<Queue> {
        self.0.inbox.gauge()
    }

    /// Its children in the order of their start.
    pub fn children(&self) -> Vec<Pid> {
        self.0.children()
    }

    /// A snapshot of it and everything under it. No message is sent: it works while processes are stuck.
    pub fn tree(&self) -> Tree {
        Tree::read(self)
    }

    /// The ends to come of this process and of everything under it, whether or not by their own will. Those of the whole tree
    /// are told by `root().exits()`.
    pub fn exits(&self) -> ExitFeed {
        self.root().0.feed.get_or_init(Feed::new).subscribe(self)
    }

    /// Whether the process of this id is itself, or above it.
    pub(crate) fn is_under(&self, id: u64) -> bool {
        let mut at = Some(self);
        while let Some(pid) = at {
            if pid.id() == id {
                return true;
            }
            at = pid.0.parent.as_ref();
        }
        false
    }

    /// How often its supervisor has restarted it.
    pub fn restarts(&self) -> u32 {
        self.0.restarts.load(Ordering::Relaxed)
    }

    /// Completes the block at the end of the process. The first reason counts; later calls do nothing.
    pub(crate) fn finish(&self, reason: ExitReason) {
        if self.0.exit.set(reason.clone()).is_err() {
            return;
        }
        self.log(&reason);
        self.0.inbox.close();
        let owned = lock(&self.0.owned).close();
        owned.into_iter().for_each(Belonging::end);
        self.leave_parent();
        let watchers = lock(&self.0.watchers).close();
        for watcher in watchers {
            let _ = contain(|| watcher(self, &reason));
        }
        if let Some(feed) = self.root().0.feed.get() {
            feed.publish(self, &reason);
        }
        let cell = lock(&self.0.cell).take();
        drop(cell);
        self.0.signal.clear();
        self.0.mark(Mark::Ended);
    }

    /// Leaves the list of the parent, and hands children that cannot be killed up, so that the tree still shows them.
    fn leave_parent(&self) {
        self.0.close_to_children();
        let Some(parent) = &self.0.parent else { return };
        let zombies = self.children().into_iter().filter(|child| child.0.is(Mark::Zombie));
        for zombie in zombies {
            lock(&parent.0.children).list.insert(zombie.id(), zombie.clone());
            lock(&self.0.children).list.remove(&zombie.id());
            // It may have ended between the two.
            if !zombie.is_alive() {
                zombie.leave_ancestors();
            }
        }
        self.leave_ancestors();
    }

    /// A zombie that ends after all stands in the list of whichever ancestor took it; others stand in their parent's.
    fn leave_ancestors(&self) {
        let mut holder = self.0.parent.as_ref();
        while let Some(ancestor) = holder {
            let left = lock(&ancestor.0.children).list.remove(&self.0.id);
            if left.is_some() {
                ancestor.0.child_news.tell();
                return;
            }
            holder = ancestor.0.parent.as_ref();
        }
    }

    /// Clean ends are for debugging; what broke is told once. Nor is a kill that nobody asked for by this pid told: such a
    /// process died with its parent, or with its runtime. Of one that did not follow an exit request in time, who gave up
    /// waiting has said so.
    fn log(&self, reason: &ExitReason) {
        // In full: where a request came from, too.
        let (id, label) = (self.0.id, format_args!("{:#}", self.0.label));
        let quiet = match reason {
            ExitReason::Crash(crash) => self.reports_to_starter(crash),
            ExitReason::Killed => self.0.request.get() != Some(&ExitReason::Killed),
            _ => true,
        };
        if quiet {
            tracing::debug!(target: "ractor_otp", id, %label, %reason, "process ended");
        } else {
            tracing::error!(target: "ractor_otp", id, %label, %reason, "process ended");
        }
    }

    /// The failed start of a supervisor is the error that its starter gets.
    fn reports_to_starter(&self, crash: &Crash) -> bool {
        self.0.kind == Kind::Supervisor && crash.kind() == CrashKind::Init
    }
}

/// Completes the block of a process that ends without saying why: killed, or never run.
pub(crate) struct Finish(pub(crate) Pid);

impl Drop for Finish {
    fn drop(&mut self) {
        self.0.finish(ExitReason::Killed);
    }
}

impl PartialEq for Pid {
    fn eq(&self, other: &Self) -> bool {
        self.0.id == other.0.id
    }
}

impl Eq for Pid {}

impl std::hash::Hash for Pid {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.id.hash(state);
    }
}

impl fmt::Display for Pid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} #{}", self.0.label, self.0.id)
    }
}

impl fmt::Debug for Pid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pid({self})")
    }
}
