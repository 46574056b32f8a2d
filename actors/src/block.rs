//! The process block: what is known about one process, alive or dead, readable without asking it.
//!
//! A block lives as long as somebody holds a pid. At the end of the process everything heavy in it is let go: the
//! ractor cell, the queued messages, the watchers, the owned tasks.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::Waker;

use ractor::{ActorCell, ActorId};
use tokio::time::Instant;

use crate::exit::ExitReason;
use crate::feed::Feed;
use crate::label::Label;
use crate::mailbox::Inbox;
use crate::monitor::Watchers;
use crate::news::News;
use crate::parent::StartError;
use crate::pid::Pid;
use crate::tasks::Owned;

/// Locks a mutex of ours. Nothing of the user's runs under our locks, so a poisoned one is still consistent.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keys and process ids: unique in this operating system process, in the order of creation.
pub(crate) fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Which of the two kinds of process a block belongs to: they take an exit request differently.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Leaf,
    Supervisor,
}

/// Facts about a process that only ever become true.
#[derive(Clone, Copy)]
#[repr(u8)]
pub(crate) enum Mark {
    /// Its init is done.
    Started = 1,
    /// It ends: it was asked to, or it decided to.
    Ending = 2,
    /// Its state is gone and its parent has forgotten it.
    Ended = 4,
    /// It was killed and did not end: it blocks its thread.
    Zombie = 8,
}

pub(crate) struct Block<Q: ?Sized> {
    pub(crate) id: u64,
    pub(crate) kind: Kind,
    pub(crate) label: Label,
    pub(crate) detail: Mutex<Option<Label>>,
    pub(crate) parent: Option<Pid>,
    pub(crate) born: Instant,
    pub(crate) restarts: AtomicU32,
    marks: AtomicU8,
    actor: OnceLock<ActorId>,
    pub(crate) cell: Mutex<Option<ActorCell>>,
    pub(crate) request: OnceLock<ExitReason>,
    pub(crate) exit: OnceLock<ExitReason>,
    /// Wakes the process itself.
    pub(crate) signal: Signal,
    /// How many `uninterrupted` futures are under way.
    pub(crate) shields: AtomicUsize,
    /// Wakes everybody who waits for something about the process itself.
    pub(crate) news: News,
    /// Wakes everybody who waits for something about its children. Apart from the above: a busy supervisor would wake those who
    /// wait for its own end with every child.
    pub(crate) child_news: News,
    pub(crate) children: Mutex<Children>,
    pub(crate) watchers: Mutex<Watchers>,
    pub(crate) owned: Mutex<Owned>,
    pub(crate) feed: OnceLock<Feed>,
    pub(crate) inbox: Q,
}

impl<Q> Block<Q> {
    pub(crate) fn new(kind: Kind, label: Label, parent: Option<Pid>, inbox: Q) -> Arc<Self> {
        Arc::new(Self {
            id: next_id(),
            kind,
            label,
            detail: Mutex::new(None),
            parent,
            born: Instant::now(),
            restarts: AtomicU32::new(0),
            marks: AtomicU8::new(0),
            actor: OnceLock::new(),
            cell: Mutex::new(None),
            request: OnceLock::new(),
            exit: OnceLock::new(),
            signal: Signal::default(),
            shields: AtomicUsize::new(0),
            news: News::default(),
            child_news: News::default(),
            children: Mutex::new(Children::default()),
            watchers: Mutex::new(Watchers::default()),
            owned: Mutex::new(Owned::default()),
            feed: OnceLock::new(),
            inbox,
        })
    }
}

impl<Q: ?Sized> Block<Q> {
    pub(crate) fn mark(&self, mark: Mark) {
        self.marks.fetch_or(mark as u8, Ordering::AcqRel);
        self.news.tell();
    }

    pub(crate) fn is(&self, mark: Mark) -> bool {
        self.marks.load(Ordering::Acquire) & mark as u8 != 0
    }

    /// Stores the ractor cell once the actor exists.
    pub(crate) fn attach(&self, cell: ActorCell) {
        let _ = self.actor.set(cell.get_id());
        *lock(&self.cell) = Some(cell);
    }

    pub(crate) fn actor(&self) -> Option<ActorId> {
        self.actor.get().copied()
    }

    /// Records an exit request; the first one wins. Returns whether this was it.
    pub(crate) fn request(&self, reason: ExitReason) -> bool {
        let first = self.request.set(reason).is_ok();
        if first {
            self.mark(Mark::Ending);
            self.signal.wake();
        }
        first
    }

    /// The exit request that the process has to follow now, if any.
    pub(crate) fn must_exit(&self) -> Option<&ExitReason> {
        self.request.get().filter(|_| self.shields.load(Ordering::Acquire) == 0)
    }

    /// All that there is to listen to.
    pub(crate) fn everything(&self) -> [&News; 2] {
        [&self.news, &self.child_news]
    }

    /// Takes a child into the list, unless the supervisor is full, draining or ending.
    pub(crate) fn adopt(&self, child: Pid) -> Result<(), StartError> {
        let mut children = lock(&self.children);
        if children.closed {
            return Err(StartError::Draining);
        }
        if let Some(max) = children.max.filter(|max| children.list.len() >= *max) {
            return Err(StartError::Full { max });
        }
        children.list.insert(child.id(), child);
        drop(children);
        self.child_news.tell();
        Ok(())
    }

    /// The children in the order of their start.
    pub(crate) fn children(&self) -> Vec<Pid> {
        lock(&self.children).list.values().cloned().collect()
    }

    /// Refuses new children from now on.
    pub(crate) fn close_to_children(&self) {
        lock(&self.children).closed = true;
    }
}

/// The children of a process, by id: ids grow, so this is the order of their start.
#[derive(Default)]
pub(crate) struct Children {
    pub(crate) list: BTreeMap<u64, Pid>,
    pub(crate) max: Option<usize>,
    pub(crate) closed: bool,
}

/// Wakes one task, the process itself, whatever it waits for.
#[derive(Default)]
pub(crate) struct Signal(Mutex<Option<Waker>>);

impl Signal {
    pub(crate) fn register(&self, waker: &Waker) {
        let mut slot = lock(&self.0);
        if !slot.as_ref().is_some_and(|known| known.will_wake(waker)) {
            *slot = Some(waker.clone());
        }
    }

    pub(crate) fn wake(&self) {
        let waker = lock(&self.0).take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Forgets the waker, which may keep a task's memory.
    pub(crate) fn clear(&self) {
        let waker = lock(&self.0).take();
        drop(waker);
    }
}

/// What a process without a mailbox of ours has in its place.
pub(crate) struct NoInbox;

impl Inbox for NoInbox {
    fn gauge(&self) -> Option<crate::mailbox::Queue> {
        None
    }

    fn close(&self) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mailbox::Mailbox;

    #[test]
    fn a_block_which_is_all_that_is_left_of_a_dead_process_is_small() {
        let size = size_of::<Block<Mailbox<u64>>>();
        assert!(size <= 640, "{size} bytes");
    }
}
