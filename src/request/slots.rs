//! How many requests run at once. A slot is taken before the actor is spawned and belongs to its state.
//!
//! Calls and everything else are counted apart: a server full of calls still tells what it offers, and a storm of lists
//! holds up no call.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

/// Which count a request falls under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    /// What runs a tool, a prompt, a resource, or a method of the handler's own.
    Calls,
    /// What tells about the server: discovery, lists, completion, notifications.
    Lists,
}

/// The bounded counts of requests that run on the server.
#[derive(Clone)]
pub(crate) struct Slots {
    calls: Count,
    lists: Count,
}

/// A bounded count of running requests.
#[derive(Clone)]
pub(crate) struct Count(Arc<Counted>);

struct Counted {
    taken: AtomicUsize,
    limit: usize,
    all_free: Notify,
}

/// One running request, on the server and on its connection. Free again when dropped.
pub(crate) struct Slot {
    _server: Taken,
    _connection: Taken,
}

struct Taken(Arc<Counted>);

impl Slots {
    /// So many of each lane.
    pub(crate) fn new(limit: usize) -> Self {
        Self { calls: Count::new(limit), lists: Count::new(limit) }
    }

    /// Takes a slot of the server and of the connection, or of neither.
    pub(crate) fn take(&self, lane: Lane, connection: &Count) -> Option<Slot> {
        let connection = connection.taken()?;
        let server = match lane {
            Lane::Calls => &self.calls,
            Lane::Lists => &self.lists,
        };
        Some(Slot { _server: server.taken()?, _connection: connection })
    }

    #[cfg(test)]
    pub(crate) fn in_use(&self) -> usize {
        self.calls.in_use() + self.lists.in_use()
    }

    /// Resolves when no request runs, if none is admitted meanwhile.
    pub(crate) async fn all_free(&self) {
        self.calls.all_free().await;
        self.lists.all_free().await;
    }
}

impl Count {
    pub(crate) fn new(limit: usize) -> Self {
        Self(Arc::new(Counted { taken: AtomicUsize::new(0), limit, all_free: Notify::new() }))
    }

    fn taken(&self) -> Option<Taken> {
        let below = |taken: usize| (taken < self.0.limit).then_some(taken + 1);
        self.0.taken.fetch_update(Ordering::AcqRel, Ordering::Acquire, below).ok()?;
        Some(Taken(Arc::clone(&self.0)))
    }

    fn in_use(&self) -> usize {
        self.0.taken.load(Ordering::Acquire)
    }

    async fn all_free(&self) {
        loop {
            let free = self.0.all_free.notified();
            if self.in_use() == 0 {
                return;
            }
            free.await;
        }
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        if self.0.taken.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.all_free.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;

    use super::*;

    #[test]
    fn a_refused_slot_holds_nothing() {
        let (server, connection) = (Slots::new(1), Count::new(5));
        let slot = server.take(Lane::Calls, &connection).unwrap();
        assert!(server.take(Lane::Calls, &connection).is_none());
        assert_eq!((server.in_use(), connection.in_use()), (1, 1));
        drop(slot);
        assert_eq!((server.in_use(), connection.in_use()), (0, 0));
    }

    #[test]
    fn d7_a_server_full_of_calls_has_slots_for_lists_and_the_other_way_round() {
        let (server, connection) = (Slots::new(1), Count::new(5));
        let _call = server.take(Lane::Calls, &connection).unwrap();
        let _list = server.take(Lane::Lists, &connection).unwrap();
        assert!(server.take(Lane::Lists, &connection).is_none());
    }

    #[tokio::test]
    async fn all_free_resolves_when_the_last_slot_of_both_lanes_is_dropped() {
        let (server, connection) = (Slots::new(2), Count::new(2));
        let call = server.take(Lane::Calls, &connection).unwrap();
        let list = server.take(Lane::Lists, &connection).unwrap();
        let waiting = server.all_free();
        tokio::pin!(waiting);
        assert!(futures_poll(waiting.as_mut()).await.is_none());
        drop(call);
        assert!(futures_poll(waiting.as_mut()).await.is_none());
        drop(list);
        waiting.await;
    }

    /// Polls once.
    async fn futures_poll<F: Future + Unpin>(mut future: F) -> Option<F::Output> {
        std::future::poll_fn(|cx| {
            std::task::Poll::Ready(match std::pin::Pin::new(&mut future).poll(cx) {
                std::task::Poll::Ready(output) => Some(output),
                std::task::Poll::Pending => None,
            })
        })
        .await
    }
}
