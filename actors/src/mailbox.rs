//! The bounded mailbox of a leaf. User messages wait for room; down signals, task results and timers do not.
//!
//! It is a queue under a mutex rather than a channel: it costs nothing until the first message arrives, and anybody
//! can read its length.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

use serde::Serialize;
use tokio::sync::Semaphore;

use crate::block::lock;
use crate::contain::contain;

/// How full a mailbox is, in messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Queue {
    /// Messages that wait, those exempt from the bound included.
    pub len: usize,
    /// User messages that fit.
    pub capacity: usize,
}

/// The message could not be delivered because the process has ended or is ending. It comes back.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the process has ended: its mailbox takes no more messages")]
pub struct SendError<M>(pub M);

/// Why a message could not be delivered at once. It comes back.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TrySendError<M> {
    /// The mailbox is full: wait with `send`, or drop the message.
    #[error("the mailbox is full: wait with `send`, or drop the message")]
    Full(M),
    /// The process has ended or is ending.
    #[error("the process has ended: its mailbox takes no more messages")]
    Closed(M),
}

impl<M> std::fmt::Debug for SendError<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SendError(..)")
    }
}

impl<M> std::fmt::Debug for TrySendError<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Full(_) => "Full(..)",
            Self::Closed(_) => "Closed(..)",
        })
    }
}

/// What waits in a mailbox.
pub(crate) enum Letter<M> {
    /// A message of the user's; it holds one place.
    Message(M),
    /// A message that is made when it is received, so that the user's closure runs, and panics, in the receiver.
    Exempt(Box<dyn FnOnce() -> M + Send>),
}

impl<M> Letter<M> {
    pub(crate) fn open(self) -> M {
        match self {
            Self::Message(message) => message,
            Self::Exempt(make) => make(),
        }
    }
}

/// What a process block knows of its mailbox.
pub(crate) trait Inbox: Send + Sync {
    fn gauge(&self) -> Option<Queue>;
    fn close(&self);
}

pub(crate) struct Mailbox<M> {
    capacity: usize,
    room: Semaphore,
    state: Mutex<State<M>>,
}

struct State<M> {
    letters: VecDeque<Letter<M>>,
    receiver: Option<Waker>,
    closed: bool,
}

impl<M> Mailbox<M> {
    pub(crate) fn new(capacity: usize) -> Self {
        let capacity = capacity.clamp(1, Semaphore::MAX_PERMITS);
        let state = State { letters: VecDeque::new(), receiver: None, closed: false };
        Self { capacity, room: Semaphore::new(capacity), state: Mutex::new(state) }
    }

    pub(crate) async fn send(&self, message: M) -> Result<(), SendError<M>> {
        match self.room.acquire().await {
            Ok(permit) => permit.forget(),
            Err(_) => return Err(SendError(message)),
        }
        self.push(Letter::Message(message)).map_err(|letter| SendError(letter.open()))
    }

    pub(crate) fn try_send(&self, message: M) -> Result<(), TrySendError<M>> {
        match self.room.try_acquire() {
            Ok(permit) => permit.forget(),
            Err(tokio::sync::TryAcquireError::NoPermits) => return Err(TrySendError::Full(message)),
            Err(tokio::sync::TryAcquireError::Closed) => return Err(TrySendError::Closed(message)),
        }
        self.push(Letter::Message(message)).map_err(|letter| TrySendError::Closed(letter.open()))
    }

    /// Delivers a message that takes no room. It is lost if the process has ended.
    pub(crate) fn send_exempt(&self, make: impl FnOnce() -> M + Send + 'static) {
        let refused = self.push(Letter::Exempt(Box::new(make)));
        let _ = contain(|| drop(refused));
    }

    fn push(&self, letter: Letter<M>) -> Result<(), Letter<M>> {
        let mut state = lock(&self.state);
        if state.closed {
            return Err(letter);
        }
        state.letters.push_back(letter);
        let receiver = state.receiver.take();
        drop(state);
        if let Some(receiver) = receiver {
            receiver.wake();
        }
        Ok(())
    }

    /// The next message, for the one process that owns the mailbox.
    pub(crate) fn poll_receive(&self, cx: &mut Context<'_>) -> Poll<Letter<M>> {
        let mut state = lock(&self.state);
        let Some(letter) = state.letters.pop_front() else {
            state.receiver = Some(cx.waker().clone());
            return Poll::Pending;
        };
        drop(state);
        if matches!(letter, Letter::Message(_)) {
            self.room.add_permits(1);
        }
        Poll::Ready(letter)
    }

    pub(crate) fn queue(&self) -> Queue {
        Queue { len: lock(&self.state).letters.len(), capacity: self.capacity }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.room.is_closed()
    }
}

impl<M: Send> Inbox for Mailbox<M> {
    fn gauge(&self) -> Option<Queue> {
        Some(self.queue())
    }

    fn close(&self) {
        self.room.close();
        let mut state = lock(&self.state);
        state.closed = true;
        let letters = std::mem::take(&mut state.letters);
        let receiver = state.receiver.take();
        drop(state);
        drop(receiver);
        for letter in letters {
            let _ = contain(|| drop(letter));
        }
    }
}
