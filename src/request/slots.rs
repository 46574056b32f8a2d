//! How many requests run at once. A slot is taken before the actor is spawned and belongs to its state.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

/// A bounded count of running requests: one for the server, one for each connection.
#[derive(Clone)]
pub(crate) struct Slots(Arc<Count>);

struct Count {
    taken: AtomicUsize,
    limit: usize,
    all_free: Notify,
}

/// One running request, on the server and on its connection. Free again when dropped.
pub(crate) struct Slot {
    _server: Taken,
    _connection: Taken,
}

struct Taken(Arc<Count>);

impl Slots {
    pub(crate) fn new(limit: usize) -> Self {
        Self(Arc::new(Count { taken: AtomicUsize::new(0), limit, all_free: Notify::new() }))
    }

    /// Takes a slot of the server and of the connection, or of neither.
    pub(crate) fn take(server: &Self, connection: &Self) -> Option<Slot> {
        let connection = connection.taken()?;
        let server = server.taken()?;
        Some(Slot { _server: server, _connection: connection })
    }

    fn taken(&self) -> Option<Taken> {
        let below = |taken: usize| (taken < self.0.limit).then_some(taken + 1);
        self.0.taken.fetch_update(Ordering::AcqRel, Ordering::Acquire, below).ok()?;
        Some(Taken(Arc::clone(&self.0)))
    }

    pub(crate) fn in_use(&self) -> usize {
        self.0.taken.load(Ordering::Acquire)
    }

    /// Resolves when no request runs.
    pub(crate) async fn all_free(&self) {
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
    use super::*;

    #[test]
    fn a_refused_slot_holds_nothing() {
        let (server, connection) = (Slots::new(1), Slots::new(5));
        let slot = Slots::take(&server, &connection).unwrap();
        assert!(Slots::take(&server, &connection).is_none());
        assert_eq!((server.in_use(), connection.in_use()), (1, 1));
        drop(slot);
        assert_eq!((server.in_use(), connection.in_use()), (0, 0));
    }

    #[tokio::test]
    async fn all_free_resolves_when_the_last_slot_is_dropped() {
        let (server, connection) = (Slots::new(2), Slots::new(2));
        let slot = Slots::take(&server, &connection).unwrap();
        let waiting = server.all_free();
        tokio::pin!(waiting);
        assert!(futures_poll(waiting.as_mut()).await.is_none());
        drop(slot);
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
