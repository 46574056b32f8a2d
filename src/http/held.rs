//! Responses over HTTP/2, where a client may keep the window of one stream shut while its other streams go on.
//!
//! hyper asks a body for more only while the window is open, and what it took stays with it until the client takes it. So
//! bodies are handed over in pieces, and one that was asked nothing for too long is dropped: what it held is free, its request
//! ends as `stalled`, and its stream is reset if the window opens after all. The other streams notice nothing.

use std::convert::Infallible;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use tokio::time::{Instant, sleep};

use super::body::Kind;

/// What hyper is given of a body at once.
const PIECE: usize = 16 * 1024;

/// The bodies of one connection.
#[derive(Default)]
pub(super) struct Bodies(Mutex<Vec<Weak<Mutex<Held>>>>);

/// A body, until its client has been unwilling for too long.
pub(super) struct Held {
    body: Option<Kind>,
    /// What is left of the frame that the body gave last.
    frame: Bytes,
    asked: Instant,
}

impl Bodies {
    /// Keeps an eye on a body.
    pub(super) fn hold(&self, body: Kind) -> Arc<Mutex<Held>> {
        let held = Held { body: Some(body), frame: Bytes::new(), asked: Instant::now() };
        let held = Arc::new(Mutex::new(held));
        let mut bodies = lock(&self.0);
        // There are as many as the connection has streams, so this is short.
        bodies.retain(|body| body.strong_count() > 0);
        bodies.push(Arc::downgrade(&held));
        held
    }

    /// Drops bodies that were asked nothing for longer than `limit`, again and again.
    pub(super) async fn expire(&self, limit: Duration) -> Infallible {
        loop {
            sleep(limit).await;
            let bodies: Vec<_> = lock(&self.0).iter().filter_map(Weak::upgrade).collect();
            for held in bodies {
                let stalled = lock(&held).expired(limit);
                // Outside of the lock: what a body held may be anything.
                if let Some(body) = stalled {
                    tracing::debug!(target: "ractor_mcp", "a client takes nothing of a response: it is reset");
                    body.stall();
                }
            }
        }
    }
}

impl Held {
    pub(super) fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        self.asked = Instant::now();
        let Some(body) = &mut self.body else {
            let stalled = io::Error::new(io::ErrorKind::TimedOut, "the client took nothing of the response");
            return Poll::Ready(Some(Err(stalled)));
        };
        if self.frame.is_empty() {
            match body.poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => self.frame = frame,
                other => return other,
            }
        }
        let piece = self.frame.split_to(self.frame.len().min(PIECE));
        Poll::Ready(Some(Ok(piece)))
    }

    pub(super) fn is_end(&self) -> bool {
        self.frame.is_empty() && self.body.as_ref().is_some_and(Kind::is_end)
    }

    /// How many bytes are left, where that is known.
    pub(super) fn length(&self) -> Option<u64> {
        self.body.as_ref().and_then(Kind::length).map(|rest| rest + self.frame.len() as u64)
    }

    fn expired(&mut self, limit: Duration) -> Option<Kind> {
        if self.asked.elapsed() <= limit {
            return None;
        }
        self.frame = Bytes::new();
        self.body.take()
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
