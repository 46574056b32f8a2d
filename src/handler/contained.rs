//! Code of the application that runs outside of the callbacks of an actor: a panic in it must cost nothing else.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

use ractor_otp::Crash;

/// Runs a future of the application; a panic is the error.
pub(crate) async fn contained<F: Future>(future: F) -> Result<F::Output, Crash> {
    let mut future = pin!(future);
    poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
        Ok(polled) => polled.map(Ok),
        Err(payload) => Poll::Ready(Err(Crash::from_panic(payload))),
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
