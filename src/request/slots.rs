//! How many requests run at once. A slot is taken before the actor is spawned and belongs to its state.
//!
//! Calls and everything else are counted apart: a server full of calls still tells what it offers, and a storm of lists
//! holds up no call.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

use crate::handler::Principal;
use crate::rules::errors::Refusal;

use super::principals::{Principals, Running};

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
    calls: Counts,
    lists: Counts,
}

/// Those of one lane.
#[derive(Clone)]
struct Counts {
    server: Count,
    principals: Principals,
}

/// A bounded count of running requests.
#[derive(Clone)]
pub(crate) struct Count(Arc<Counted>);

struct Counted {
    taken: AtomicUsize,
    limit: usize,
    all_free: Notify,
}

/// One running request, on the server, on its connection and of its principal. Free again when dropped.
pub(crate) struct Slot {
    _server: Taken,
    _connection: Taken,
    _principal: Option<Running>,
}

struct Taken(Arc<Counted>);

impl Slots {
    /// So many of each lane, and so many of one principal.
    pub(crate) fn new(server: usize, principal: usize) -> Self {
        let counts = || Counts { server: Count::new(server), principals: Principals::new(principal) };
        Self { calls: counts(), lists: counts() }
    }

    /// Takes a slot of all three, or of none. Who is at a limit of its own is told that one, however full the server is.
    ///
    /// # Errors
    ///
    /// 503 with which of them has none left.
    pub(crate) fn take(
        &self,
        lane: Lane,
        connection: &Count,
        principal: &Principal,
    ) -> Result<Slot, Refusal> {
        let counts = self.lane(lane);
        Ok(Slot {
            _connection: connection.taken().ok_or_else(Refusal::connection_full)?,
            _principal: counts.principals.take(principal)?,
            _server: counts.server.taken().ok_or_else(Refusal::overloaded)?,
        })
    }

    fn lane(&self, lane: Lane) -> &Counts {
        match lane {
            Lane::Calls => &self.calls,
            Lane::Lists => &self.lists,
        }
    }

    /// How many requests of a lane run.
    pub(crate) fn running(&self, lane: Lane) -> usize {
        self.lane(lane).server.in_use()
    }

    #[cfg(test)]
    pub(crate) fn in_use(&self) -> usize {
        self.running(Lane::Calls) + self.running(Lane::Lists)
    }

    /// Resolves when no request runs, if none is admitted meanwhile.
    pub(crate) async fn all_free(&self) {
        self.calls.server.all_free().await;
        self.lists.server.all_free().await;
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

    /// Resolves when none runs, if none is admitted meanwhile.
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
    use std::future::Future;

    use super::*;

    fn nobody() -> Principal {
        Principal::anonymous()
    }

    #[test]
    fn a_refused_slot_holds_nothing() {
        let (server, connection) = (Slots::new(1, 5), Count::new(5));
        let slot = server.take(Lane::Calls, &connection, &nobody()).unwrap();
        assert!(server.take(Lane::Calls, &connection, &nobody()).is_err());
        assert_eq!((server.in_use(), connection.in_use()), (1, 1));
        drop(slot);
        assert_eq!((server.in_use(), connection.in_use()), (0, 0));
    }

    #[test]
    fn d7_a_server_full_of_calls_has_slots_for_lists_and_the_other_way_round() {
        let (server, connection) = (Slots::new(1, 5), Count::new(5));
        let _call = server.take(Lane::Calls, &connection, &nobody()).unwrap();
        let _list = server.take(Lane::Lists, &connection, &nobody()).unwrap();
        assert!(server.take(Lane::Lists, &connection, &nobody()).is_err());
    }

    /// Why there is no slot, without one that is held meanwhile.
    fn refused(server: &Slots, connection: &Count, principal: &Principal) -> String {
        let Err(refusal) = server.take(Lane::Calls, connection, principal) else { panic!("there is one") };
        refusal.error.message.to_string()
    }

    #[test]
    fn d7_which_limit_was_reached_is_told_and_the_caller_s_own_come_first() {
        let (server, connection, alice) = (Slots::new(3, 2), Count::new(1), Principal::new("alice"));
        let wide = Count::new(9);
        let one = server.take(Lane::Calls, &connection, &alice).unwrap();
        assert!(refused(&server, &connection, &alice).contains("connection"));
        let _two = server.take(Lane::Calls, &wide, &alice).unwrap();
        assert!(refused(&server, &wide, &alice).contains("caller"));
        let _three = server.take(Lane::Calls, &wide, &nobody()).unwrap();
        assert!(refused(&server, &wide, &alice).contains("caller"));
        assert!(refused(&server, &wide, &nobody()).contains("server"));
        drop(one);
        assert!(server.take(Lane::Calls, &wide, &alice).is_ok(), "what was refused has taken nothing");
        assert!(server.take(Lane::Lists, &wide, &alice).is_ok());
    }

    #[tokio::test]
    async fn all_free_resolves_when_the_last_slot_of_both_lanes_is_dropped() {
        let (server, connection) = (Slots::new(2, 5), Count::new(2));
        let call = server.take(Lane::Calls, &connection, &nobody()).unwrap();
        let list = server.take(Lane::Lists, &connection, &nobody()).unwrap();
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
