//! Keeping panics where they happen: a future, a destructor or a closure that panics yields a `Crash`.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;

use crate::exit::Crash;

/// Runs a closure of somebody else's.
pub(crate) fn contain<T>(run: impl FnOnce() -> T) -> Result<T, Crash> {
    catch_unwind(AssertUnwindSafe(run)).map_err(Crash::from_panic)
}

/// Awaits a future of somebody else's. It comes pinned, so that it is not copied into this one.
pub(crate) async fn contained<F: Future + ?Sized>(mut future: Pin<&mut F>) -> Result<F::Output, Crash> {
    poll_fn(|cx| match contain(|| future.as_mut().poll(cx)) {
        Ok(poll) => poll.map(Ok),
        Err(crash) => std::task::Poll::Ready(Err(crash)),
    })
    .await
}

/// Owns a value whose destructor may panic.
pub(crate) struct Contained<T>(Option<T>);

impl<T> Contained<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Some(value))
    }

    pub(crate) fn get_mut(&mut self) -> Option<&mut T> {
        self.0.as_mut()
    }

    /// Drops the value; a panic in its destructor is the error.
    pub(crate) fn discard(&mut self) -> Result<(), Crash> {
        let value = self.0.take();
        contain(|| drop(value))
    }
}

impl<T> Drop for Contained<T> {
    fn drop(&mut self) {
        let value = self.0.take();
        // There is nobody left to tell: the panic hook has already printed it.
        let _ = contain(|| drop(value));
    }
}
