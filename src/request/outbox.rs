//! The bounded queue between a request's actor and its response. The actor writes, the transport reads.
//!
//! Events wait for room, so that a client that reads slowly slows its handler down and nobody else. The answer always
//! has room. When the reader is gone everything queued is dropped and nothing more is taken.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use tokio::sync::Notify;
use tokio::sync::futures::Notified;
use tokio::time::Instant;

use crate::handler::{Answer, Change, Event, ListenSink, Noted, Refused, Sink, Told};
use crate::rules::frame;
use crate::wire::RequestId;

use super::Budget;
use super::changes::Changes;

/// How much may wait in one outbox.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutboxLimits {
    pub(crate) messages: usize,
    pub(crate) bytes: usize,
    /// How long a full outbox may stay as it is.
    pub(crate) patience: Duration,
}

/// What the transport takes out.
#[derive(Debug)]
pub(crate) enum Outgoing {
    Event(Event),
    /// Nothing follows.
    Answer(Answer),
}

pub(crate) struct Outbox {
    queue: Mutex<Queue>,
    room: Notify,
    limits: OutboxLimits,
    /// Of what the answer takes until the client has it.
    budget: Budget,
    streams: bool,
    /// The subscription of a listen stream, stamped on what it is told.
    subscription: Option<RequestId>,
}

#[derive(Default)]
struct Queue {
    events: VecDeque<Event>,
    bytes: usize,
    answer: Option<Answer>,
    answered: bool,
    abandoned: bool,
    reader: Option<Waker>,
    listening: Option<Box<Listening>>,
}

/// What only a listen stream has.
struct Listening {
    /// Nothing but the answer goes out before the acknowledgement.
    acknowledged: bool,
    changes: Changes,
    /// How many resources and tasks may wait: those granted by name, and as many of their parts as a queue holds.
    most: usize,
    delivered: u64,
    coalesced: u64,
    dropped: u64,
    last_told: Instant,
}

impl Listening {
    fn new() -> Self {
        Self {
            acknowledged: false,
            changes: Changes::default(),
            most: 0,
            delivered: 0,
            coalesced: 0,
            dropped: 0,
            last_told: Instant::now(),
        }
    }
}

impl Queue {
    /// The next thing to write before the answer.
    fn next(&mut self) -> Option<Next> {
        if self.listening.as_ref().is_some_and(|listening| !listening.acknowledged) {
            return None;
        }
        let next = match self.events.pop_front() {
            Some(event) => {
                self.bytes -= size(&event);
                Next::Event(event)
            }
            None => Next::Change(self.listening.as_mut()?.changes.next()?),
        };
        if let Some(listening) = &mut self.listening {
            listening.delivered += 1;
            listening.last_told = Instant::now();
        }
        Some(next)
    }

    fn is_closed(&self) -> bool {
        self.answered || self.abandoned
    }

    fn is_open_stream(&self) -> bool {
        self.listening.as_ref().is_some_and(|listening| listening.acknowledged)
    }
}

enum Next {
    Event(Event),
    Change(Change),
}

impl Outbox {
    /// The outbox of a listen stream.
    pub(crate) fn listening(limits: OutboxLimits, budget: Budget, subscription: RequestId) -> Self {
        let queue = Queue { listening: Some(Box::new(Listening::new())), ..Queue::default() };
        let (queue, subscription) = (Mutex::new(queue), Some(subscription));
        Self { queue, room: Notify::new(), limits, budget, streams: true, subscription }
    }

    /// `streams` says whether the transport can carry events; without it only the answer passes.
    pub(crate) fn new(limits: OutboxLimits, budget: Budget, streams: bool) -> Self {
        Self { queue: Mutex::default(), room: Notify::new(), limits, budget, streams, subscription: None }
    }

    pub(crate) fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Takes the next thing to write, in the order in which it was sent.
    pub(crate) fn poll_next(&self, cx: &mut Context<'_>) -> Poll<Outgoing> {
        let mut queue = self.lock();
        while let Some(next) = queue.next() {
            drop(queue);
            let event = match next {
                Next::Event(event) => {
                    self.room.notify_waiters();
                    Some(event)
                }
                Next::Change(change) => self.tell(&change),
            };
            if let Some(event) = event {
                return Poll::Ready(Outgoing::Event(event));
            }
            queue = self.lock();
        }
        if let Some(answer) = queue.answer.take() {
            return Poll::Ready(Outgoing::Answer(answer));
        }
        if !queue.reader.as_ref().is_some_and(|known| known.will_wake(cx.waker())) {
            queue.reader = Some(cx.waker().clone());
        }
        Poll::Pending
    }

    /// The reader is gone: what waits is dropped, and senders learn that the channel is closed.
    pub(crate) fn abandon(&self) {
        let mut queue = self.lock();
        queue.abandoned = true;
        let waiting = (std::mem::take(&mut queue.events), queue.answer.take(), queue.reader.take());
        queue.bytes = 0;
        if let Some(listening) = &mut queue.listening {
            listening.changes = Changes::default();
        }
        drop(queue);
        drop(waiting);
        self.room.notify_waiters();
    }

    fn tell(&self, change: &Change) -> Option<Event> {
        let mut notification = change.notification();
        if let Some(id) = &self.subscription {
            notification.stamp_subscription(id);
        }
        frame::notification(&notification).map(Event::Message)
    }

    fn give(&self, mut answer: Answer, may: impl FnOnce(&Queue) -> bool) -> bool {
        let mut queue = self.lock();
        if queue.is_closed() || !may(&queue) {
            return false;
        }
        queue.answered = true;
        answer.body = self.budget.hold(answer.body);
        queue.answer = Some(answer);
        Self::wake(queue);
        self.room.notify_waiters();
        true
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(mut queue: MutexGuard<'_, Queue>) {
        let reader = queue.reader.take();
        drop(queue);
        if let Some(reader) = reader {
            reader.wake();
        }
    }
}

impl Sink for Outbox {
    fn offer(&self, event: Event) -> Result<(), Refused> {
        let mut queue = self.lock();
        if queue.is_closed() {
            return Err(Refused::Closed);
        }
        if !self.streams {
            return Ok(());
        }
        let size = size(&event);
        // A message larger than the whole limit still passes alone, or it would wait for ever.
        let fits = queue.events.len() < self.limits.messages
            && (queue.events.is_empty() || queue.bytes + size <= self.limits.bytes);
        if !fits {
            return Err(Refused::Full(event));
        }
        queue.bytes += size;
        queue.events.push_back(event);
        Self::wake(queue);
        Ok(())
    }

    fn room(&self) -> Notified<'_> {
        self.room.notified()
    }

    fn patience(&self) -> Duration {
        self.limits.patience
    }

    fn answer(&self, answer: Answer) -> bool {
        // Judged where nothing can come between: a stream that was acknowledged is torn down, and not answered.
        self.give(answer, |queue| !queue.is_open_stream())
    }

    fn is_closed(&self) -> bool {
        self.lock().is_closed()
    }

    fn is_answered(&self) -> bool {
        self.lock().answered
    }

    fn streams(&self) -> bool {
        self.streams
    }

    fn listening(self: Arc<Self>) -> Option<Arc<dyn ListenSink>> {
        self.subscription.is_some().then_some(self as _)
    }
}

impl ListenSink for Outbox {
    fn expect(&self, named: usize) -> usize {
        let most = self.limits.messages.saturating_add(named);
        if let Some(listening) = &mut self.lock().listening {
            listening.most = most;
        }
        most
    }

    fn acknowledge(&self, acknowledgement: Bytes) -> bool {
        let mut queue = self.lock();
        if queue.answered {
            return false;
        }
        queue.bytes += acknowledgement.len();
        queue.events.push_front(Event::Message(acknowledgement));
        if let Some(listening) = &mut queue.listening {
            listening.acknowledged = true;
        }
        Self::wake(queue);
        true
    }

    fn note(&self, change: Change) -> Noted {
        let mut queue = self.lock();
        if queue.is_closed() {
            return Noted::Closed;
        }
        let Some(listening) = &mut queue.listening else {
            return Noted::Closed;
        };
        let noted = listening.changes.add(change, listening.most);
        match noted {
            Noted::Coalesced => listening.coalesced += 1,
            Noted::Dropped => listening.dropped += 1,
            Noted::Queued | Noted::Closed => Self::wake(queue),
        }
        noted
    }

    fn offer_or_drop(&self, event: Event) -> bool {
        let refused = self.offer(event);
        if let (Err(Refused::Full(_)), Some(listening)) = (&refused, &mut self.lock().listening) {
            listening.dropped += 1;
        }
        refused.is_ok()
    }

    fn count(&self, coalesced: usize, dropped: usize) {
        if let Some(listening) = &mut self.lock().listening {
            listening.coalesced += coalesced as u64;
            listening.dropped += dropped as u64;
        }
    }

    fn told(&self) -> Told {
        let queue = self.lock();
        let Some(listening) = &queue.listening else {
            return Told::default();
        };
        Told {
            waiting: queue.events.len() + listening.changes.len(),
            delivered: listening.delivered,
            coalesced: listening.coalesced,
            dropped: listening.dropped,
        }
    }

    fn last_told(&self) -> Instant {
        self.lock().listening.as_ref().map_or_else(Instant::now, |listening| listening.last_told)
    }

    fn tear_down(&self, farewell: Option<Bytes>, result: Bytes) -> bool {
        self.give(Answer { farewell, ..Answer::new(StatusCode::OK, result) }, |_| true)
    }
}

/// The sink of a notification, which is never answered (BASE-22): everything sent is refused.
pub(crate) struct Nowhere;

static NO_ROOM: Notify = Notify::const_new();

impl Sink for Nowhere {
    fn offer(&self, _: Event) -> Result<(), Refused> {
        Err(Refused::Closed)
    }

    fn room(&self) -> Notified<'_> {
        NO_ROOM.notified()
    }

    fn patience(&self) -> Duration {
        Duration::MAX
    }

    fn answer(&self, _: Answer) -> bool {
        false
    }

    fn is_closed(&self) -> bool {
        true
    }

    fn is_answered(&self) -> bool {
        false
    }

    fn streams(&self) -> bool {
        false
    }

    fn listening(self: Arc<Self>) -> Option<Arc<dyn ListenSink>> {
        None
    }
}

fn size(event: &Event) -> usize {
    match event {
        Event::Open => 0,
        Event::Message(bytes) => bytes.len(),
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use bytes::Bytes;

    use super::*;

    const LIMITS: OutboxLimits = OutboxLimits { messages: 2, bytes: 10, patience: Duration::from_secs(1) };

    fn message(length: usize) -> Event {
        Event::Message(Bytes::from(vec![b'x'; length]))
    }

    fn answer() -> Answer {
        Answer::new(http::StatusCode::OK, Bytes::from_static(b"{}"))
    }

    async fn next(outbox: &Outbox) -> Outgoing {
        poll_fn(|cx| outbox.poll_next(cx)).await
    }

    #[test]
    fn events_are_bounded_by_count_and_by_bytes() {
        let outbox = Outbox::new(LIMITS, Budget::new(1000), true);
        outbox.offer(message(6)).unwrap();
        assert!(matches!(outbox.offer(message(5)), Err(Refused::Full(_))));
        outbox.offer(message(4)).unwrap();
        assert!(matches!(outbox.offer(message(0)), Err(Refused::Full(_))));
    }

    #[tokio::test]
    async fn one_message_above_the_byte_limit_passes_alone() {
        let outbox = Outbox::new(LIMITS, Budget::new(1000), true);
        outbox.offer(message(11)).unwrap();
        assert!(matches!(outbox.offer(message(1)), Err(Refused::Full(_))));
        assert!(matches!(next(&outbox).await, Outgoing::Event(_)));
        outbox.offer(message(1)).unwrap();
    }

    #[tokio::test]
    async fn the_answer_has_room_in_a_full_outbox_and_comes_last() {
        let outbox = Outbox::new(LIMITS, Budget::new(1000), true);
        outbox.offer(message(1)).unwrap();
        outbox.offer(message(1)).unwrap();
        assert!(outbox.answer(answer()));
        assert!(!outbox.answer(answer()), "exactly one answer");
        assert!(matches!(outbox.offer(message(1)), Err(Refused::Closed)));
        assert!(matches!(next(&outbox).await, Outgoing::Event(_)));
        assert!(matches!(next(&outbox).await, Outgoing::Event(_)));
        assert!(matches!(next(&outbox).await, Outgoing::Answer(_)));
    }

    #[tokio::test]
    async fn a_waiting_sender_learns_that_the_reader_is_gone() {
        let outbox = Outbox::new(LIMITS, Budget::new(1000), true);
        let room = outbox.room();
        outbox.abandon();
        room.await;
        assert!(matches!(outbox.offer(message(1)), Err(Refused::Closed)));
        assert!(!outbox.answer(answer()));
    }

    #[test]
    fn a_stream_that_was_answered_is_not_opened_and_one_that_is_open_is_not_answered() {
        let outbox = Outbox::listening(LIMITS, Budget::new(1000), RequestId::from(1));
        assert!(outbox.answer(answer()));
        assert!(!outbox.acknowledge(Bytes::from_static(b"{}")));
        let outbox = Outbox::listening(LIMITS, Budget::new(1000), RequestId::from(1));
        assert!(outbox.acknowledge(Bytes::from_static(b"{}")));
        assert!(!outbox.answer(answer()));
        assert!(outbox.tear_down(Some(Bytes::from_static(b"{}")), Bytes::from_static(b"{}")));
    }

    #[test]
    fn an_outbox_that_cannot_stream_swallows_events_and_keeps_the_answer() {
        let outbox = Outbox::new(LIMITS, Budget::new(1000), false);
        for _ in 0..10 {
            outbox.offer(message(5)).unwrap();
        }
        assert!(outbox.answer(answer()));
    }
}
