//! Code of the application that runs outside of a request's actor: a panic in it must cost nothing else.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

/// Runs a future of the application; `None` if it panics.
pub(crate) async fn contained<F: Future>(future: AssertUnwindSafe<F>) -> Option<F::Output> {
    let mut future = pin!(future.0);
    poll_fn(
        |cx| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
            Ok(polled) => polled.map(Some),
            Err(_) => Poll::Ready(None),
        },
    )
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_is_told_and_goes_no_further() {
        assert_eq!(contained(AssertUnwindSafe(async { 1 })).await, Some(1));
        let panics = async {
            tokio::task::yield_now().await;
            panic!("in a hook")
        };
        assert_eq!(contained::<_>(AssertUnwindSafe(panics)).await, None::<()>);
    }
}
