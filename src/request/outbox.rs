//! The bounded queue between a request's actor and its response. The actor writes, the transport reads.
//!
//! Events wait for room, so that a client that reads slowly slows its handler down and nobody else. The answer always
//! has room. When the reader is gone everything queued is dropped and nothing more is taken.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use crate::handler::{Answer, Event, Refused, Sink};

/// How much may wait in one outbox.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutboxLimits {
    pub(crate) messages: usize,
    pub(crate) bytes: usize,
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
    streams: bool,
}

#[derive(Default)]
struct Queue {
    events: VecDeque<Event>,
    bytes: usize,
    answer: Option<Answer>,
    answered: bool,
    abandoned: bool,
    reader: Option<Waker>,
}

impl Queue {
    fn is_closed(&self) -> bool {
        self.answered || self.abandoned
    }
}

impl Outbox {
    /// `streams` says whether the transport can carry events; without it only the answer passes.
    pub(crate) fn new(limits: OutboxLimits, streams: bool) -> Self {
        Self {
            queue: Mutex::default(),
            room: Notify::new(),
            limits,
            streams,
        }
    }

    /// Takes the next thing to write, in the order in which it was sent.
    pub(crate) fn poll_next(&self, cx: &mut Context<'_>) -> Poll<Outgoing> {
        let mut queue = self.lock();
        if let Some(event) = queue.events.pop_front() {
            queue.bytes -= size(&event);
            drop(queue);
            self.room.notify_waiters();
            return Poll::Ready(Outgoing::Event(event));
        }
        if let Some(answer) = queue.answer.take() {
            return Poll::Ready(Outgoing::Answer(answer));
        }
        if !queue
            .reader
            .as_ref()
            .is_some_and(|known| known.will_wake(cx.waker()))
        {
            queue.reader = Some(cx.waker().clone());
        }
        Poll::Pending
    }

    /// The reader is gone: what waits is dropped, and senders learn that the channel is closed.
    pub(crate) fn abandon(&self) {
        let mut queue = self.lock();
        queue.abandoned = true;
        let waiting = (
            std::mem::take(&mut queue.events),
            queue.answer.take(),
            queue.reader.take(),
        );
        queue.bytes = 0;
        drop(queue);
        drop(waiting);
        self.room.notify_waiters();
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

    fn answer(&self, answer: Answer) -> bool {
        let mut queue = self.lock();
        if queue.is_closed() {
            return false;
        }
        queue.answered = true;
        queue.answer = Some(answer);
        Self::wake(queue);
        self.room.notify_waiters();
        true
    }

    fn is_closed(&self) -> bool {
        self.lock().is_closed()
    }

    fn streams(&self) -> bool {
        self.streams
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

    fn answer(&self, _: Answer) -> bool {
        false
    }

    fn is_closed(&self) -> bool {
        true
    }

    fn streams(&self) -> bool {
        false
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

    const LIMITS: OutboxLimits = OutboxLimits {
        messages: 2,
        bytes: 10,
    };

    fn message(length: usize) -> Event {
        Event::Message(Bytes::from(vec![b'x'; length]))
    }

    fn answer() -> Answer {
        Answer {
            status: http::StatusCode::OK,
            body: Bytes::from_static(b"{}"),
        }
    }

    async fn next(outbox: &Outbox) -> Outgoing {
        poll_fn(|cx| outbox.poll_next(cx)).await
    }

    #[test]
    fn events_are_bounded_by_count_and_by_bytes() {
        let outbox = Outbox::new(LIMITS, true);
        outbox.offer(message(6)).unwrap();
        assert!(matches!(outbox.offer(message(5)), Err(Refused::Full(_))));
        outbox.offer(message(4)).unwrap();
        assert!(matches!(outbox.offer(message(0)), Err(Refused::Full(_))));
    }

    #[tokio::test]
    async fn one_message_above_the_byte_limit_passes_alone() {
        let outbox = Outbox::new(LIMITS, true);
        outbox.offer(message(11)).unwrap();
        assert!(matches!(outbox.offer(message(1)), Err(Refused::Full(_))));
        assert!(matches!(next(&outbox).await, Outgoing::Event(_)));
        outbox.offer(message(1)).unwrap();
    }

    #[tokio::test]
    async fn the_answer_has_room_in_a_full_outbox_and_comes_last() {
        let outbox = Outbox::new(LIMITS, true);
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
        let outbox = Outbox::new(LIMITS, true);
        let room = outbox.room();
        outbox.abandon();
        room.await;
        assert!(matches!(outbox.offer(message(1)), Err(Refused::Closed)));
        assert!(!outbox.answer(answer()));
    }

    #[test]
    fn an_outbox_that_cannot_stream_swallows_events_and_keeps_the_answer() {
        let outbox = Outbox::new(LIMITS, false);
        for _ in 0..10 {
            outbox.offer(message(5)).unwrap();
        }
        assert!(outbox.answer(answer()));
    }
}
