//! Keeping panics where they happen: a future, a destructor or a closure that panics yields a `Crash`.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use crate::exit::Crash;

/// Runs a closure of somebody else's.
pub(crate) fn contain<T>(run: impl FnOnce() -> T) -> Result<T, Crash> {
    catch_unwind(AssertUnwindSafe(run)).map_err(Crash::from_panic)
}

/// Awaits a future of somebody else's: a panic is the error, in its destructor too. If this is dropped first, so is the future,
/// and a panic of that goes no further. A future that its caller keeps comes pinned, and is not copied into this one.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let crash = ractor_otp::contained(async { panic!("in a hook") }).await.map(|(): ()| ()).unwrap_err();
/// assert_eq!(crash.message(), "in a hook");
/// # }
/// ```
pub async fn contained<F: Future>(future: F) -> Result<F::Output, Crash> {
    let place = pin!(Some(future));
    let mut held = Held(place);
    let output = poll_fn(|cx| held.poll(cx)).await?;
    match held.discard() {
        Ok(()) => Ok(output),
        Err(crash) => {
            let _ = contain(|| drop(output));
            Err(crash)
        }
    }
}

/// A future in its place, dropped there.
struct Held<'a, F>(Pin<&'a mut Option<F>>);

impl<F: Future> Held<'_, F> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<F::Output, Crash>> {
        let Some(future) = self.0.as_mut().as_pin_mut() else { return Poll::Pending };
        match contain(|| future.poll(cx)) {
            Ok(poll) => poll.map(Ok),
            Err(crash) => Poll::Ready(Err(crash)),
        }
    }
}

impl<F> Held<'_, F> {
    fn discard(&mut self) -> Result<(), Crash> {
        contain(|| self.0.set(None))
    }
}

impl<F> Drop for Held<'_, F> {
    fn drop(&mut self) {
        // There is nobody left to tell: the panic hook has already printed it.
        let _ = self.discard();
    }
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

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::task::Waker;

    use super::*;

    struct PanicsInDrop;

    impl Drop for PanicsInDrop {
        fn drop(&mut self) {
            panic!("a destructor");
        }
    }

    #[tokio::test]
    async fn a_panic_is_told_and_goes_no_further() {
        assert_eq!(contained(async { 1 }).await, Ok(1));
        let panics = async {
            tokio::task::yield_now().await;
            panic!("in a hook")
        };
        let crash = contained::<_>(panics).await.map(|(): ()| ()).unwrap_err();
        assert_eq!(crash.message(), "in a hook");
    }

    #[tokio::test]
    async fn a_destructor_that_panics_is_told_of_a_future_that_is_done() {
        let kept = PanicsInDrop;
        // Never asked again, it drops what it holds with itself.
        let done = poll_fn(move |_| {
            let _ = &kept;
            Poll::Ready(())
        });
        assert_eq!(contained(done).await.unwrap_err().message(), "a destructor");
    }

    #[test]
    fn a_destructor_that_panics_before_its_future_is_done_goes_no_further() {
        let mut waiting = Box::pin(contained(async {
            let _held = PanicsInDrop;
            pending::<()>().await;
        }));
        assert!(waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        drop(waiting);
    }
}
