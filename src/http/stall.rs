//! A client that stops reading: a write that makes no progress for the stall time fails, whatever carries it.
//!
//! On TCP the system gives up on a client that acknowledges nothing (`TCP_USER_TIMEOUT`): its error means the same.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::rt::{Read, ReadBufCursor, Write};
use tokio::time::{Sleep, sleep};

/// Whether the client of a connection has stopped reading; told to the requests that end because of it.
#[derive(Clone, Default)]
pub(crate) struct Stalled(Arc<Flags>);

#[derive(Default)]
struct Flags {
    stalled: AtomicBool,
    writes_wait: AtomicBool,
}

impl Stalled {
    pub(crate) fn is_set(&self) -> bool {
        self.0.stalled.load(Ordering::Acquire)
    }

    pub(crate) fn set(&self) {
        self.0.stalled.store(true, Ordering::Release);
    }

    /// Whether a write waits for the client, which has until the stall time.
    #[cfg(feature = "http2")]
    pub(super) fn writes_wait(&self) -> bool {
        self.0.writes_wait.load(Ordering::Acquire)
    }
}

/// A connection whose writes have a time limit.
pub(crate) struct Stalling<IO> {
    io: IO,
    limit: Duration,
    waiting: Option<Pin<Box<Sleep>>>,
    stalled: Stalled,
}

impl<IO> Stalling<IO> {
    pub(crate) fn new(io: IO, limit: Duration, stalled: Stalled) -> Self {
        Self { io, limit, waiting: None, stalled }
    }

    fn limited<T>(&mut self, cx: &mut Context<'_>, progress: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if progress.is_ready() {
            if self.waiting.take().is_some() {
                self.stalled.0.writes_wait.store(false, Ordering::Release);
            }
            return self.noticed(progress);
        }
        let Self { waiting, stalled, limit, .. } = self;
        let waiting = waiting.get_or_insert_with(|| {
            stalled.0.writes_wait.store(true, Ordering::Release);
            Box::pin(sleep(*limit))
        });
        if waiting.as_mut().poll(cx).is_pending() {
            return Poll::Pending;
        }
        self.noticed(Poll::Ready(Err(io::Error::new(
            io::ErrorKind::TimedOut,
            "the client has stopped reading",
        ))))
    }

    /// Whichever call meets the error first is the only one that sees which it was.
    fn noticed<T>(&self, progress: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if matches!(&progress, Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::TimedOut) {
            self.stalled.set();
        }
        progress
    }
}

impl<IO: Read + Unpin> Read for Stalling<IO> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.io).poll_read(cx, buf);
        self.noticed(read)
    }
}

impl<IO: Write + Unpin> Write for Stalling<IO> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let progress = Pin::new(&mut self.io).poll_write(cx, bytes);
        self.limited(cx, progress)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let progress = Pin::new(&mut self.io).poll_write_vectored(cx, slices);
        self.limited(cx, progress)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let progress = Pin::new(&mut self.io).poll_flush(cx);
        self.limited(cx, progress)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let progress = Pin::new(&mut self.io).poll_shutdown(cx);
        self.limited(cx, progress)
    }
}
