//! The response's hold on its actor. Dropping it before the answer went out is how a client cancels (SSE-07, CANC-03):
//! hyper drops the service future or the body when the connection ends, in JSON mode too.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use ractor_otp::{ExitReason, Pid, Tag};

use crate::request::{Outbox, Outgoing};

use super::Stalled;

pub(crate) struct Delivery {
    outbox: Arc<Outbox>,
    pid: Pid,
    /// Of the whole connection.
    stalled: Stalled,
    /// Of this response alone.
    untaken: bool,
    answered: bool,
}

impl Delivery {
    pub(crate) fn new(outbox: Arc<Outbox>, pid: Pid, stalled: Stalled) -> Self {
        Self { outbox, pid, stalled, untaken: false, answered: false }
    }

    pub(crate) async fn next(&mut self) -> Outgoing {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    pub(crate) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Outgoing> {
        let outgoing = self.outbox.poll_next(cx);
        if let Poll::Ready(Outgoing::Answer(_)) = outgoing {
            self.answered = true;
        }
        outgoing
    }

    /// Whether the answer was taken: nothing follows.
    pub(crate) fn is_answered(&self) -> bool {
        self.answered
    }

    /// Counts what is written of the answer for as long as the client has not taken it.
    pub(super) fn hold(&self, frame: Bytes) -> Bytes {
        self.outbox.budget().hold(frame)
    }

    /// Told before it is dropped, if that is because the client took nothing of its stream.
    #[cfg(feature = "http2")]
    pub(super) fn stalled(&mut self) {
        self.untaken = true;
    }
}

impl Drop for Delivery {
    fn drop(&mut self) {
        if !self.answered {
            self.outbox.abandon();
            let stalled = self.stalled.is_set() || self.untaken;
            let why = if stalled { Tag::STALLED } else { Tag::CLIENT_DISCONNECTED };
            self.pid.exit(ExitReason::ShutdownWith(why));
        }
    }
}
