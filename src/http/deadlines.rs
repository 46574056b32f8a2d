//! One timer for the deadlines of a connection, of which nearly none is ever reached.
//!
//! To set a timer of the runtime takes the lock of its wheel and may wake the thread that waits for its events; to take it
//! back costs as much. So a timer that is not needed any more is kept as it is and serves the next deadline behind it: it
//! wakes its task once, too early, and is set anew.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

/// The timer of a connection, while no deadline has it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Deadlines(Arc<Mutex<Option<Timer>>>);

type Timer = Pin<Box<Sleep>>;

impl Deadlines {
    pub(super) fn at(&self, at: Instant) -> Deadline {
        Deadline { at, timer: None, deadlines: self.clone() }
    }

    /// What the future returns, or nothing if the limit is over before.
    pub(super) async fn within<F: Future>(&self, limit: Duration, future: F) -> Option<F::Output> {
        let mut future = pin!(future);
        let mut deadline = self.at(Instant::now() + limit);
        poll_fn(|cx| match future.as_mut().poll(cx) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending => Pin::new(&mut deadline).poll(cx).map(|()| None),
        })
        .await
    }

    /// A timer that wakes no later than that.
    fn take(&self, at: Instant) -> Timer {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut timer) = kept else { return Box::pin(sleep_until(at)) };
        if timer.deadline() > at {
            timer.as_mut().reset(at);
        }
        timer
    }

    fn keep(&self, timer: Timer) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(timer);
    }
}

/// A moment to wait for.
pub(super) struct Deadline {
    at: Instant,
    timer: Option<Timer>,
    deadlines: Deadlines,
}

impl Future for Deadline {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Self { at, timer, deadlines } = &mut *self;
        let timer = timer.get_or_insert_with(|| deadlines.take(*at));
        while timer.as_mut().poll(cx).is_ready() {
            if timer.deadline() >= *at {
                return Poll::Ready(());
            }
            timer.as_mut().reset(*at);
        }
        Poll::Pending
    }
}

impl Drop for Deadline {
    fn drop(&mut self) {
        if let Some(timer) = self.timer.take() {
            self.deadlines.keep(timer);
        }
    }
}

impl hyper::rt::Sleep for Deadline {}

impl hyper::rt::Timer for Deadlines {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn hyper::rt::Sleep>> {
        Box::pin(self.at(Instant::now() + duration))
    }

    fn sleep_until(&self, deadline: std::time::Instant) -> Pin<Box<dyn hyper::rt::Sleep>> {
        Box::pin(self.at(Instant::from_std(deadline)))
    }

    fn now(&self) -> std::time::Instant {
        Instant::now().into_std()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn a_deadline_is_met_whatever_the_timer_was_set_to_before() {
        let deadlines = Deadlines::default();
        for (unmet, met) in [(10, 3), (3, 10), (5, 5)] {
            assert_eq!(deadlines.within(unmet * SECOND, tokio::time::sleep(SECOND)).await, Some(()));
            let began = Instant::now();
            assert_eq!(deadlines.within(met * SECOND, std::future::pending::<()>()).await, None);
            assert_eq!(began.elapsed(), met * SECOND);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn deadlines_at_the_same_time_have_a_timer_each() {
        let deadlines = Deadlines::default();
        let began = Instant::now();
        let (one, two) = (deadlines.at(began + SECOND), deadlines.at(began + 2 * SECOND));
        let later = tokio::spawn(async move {
            two.await;
            Instant::now()
        });
        one.await;
        assert_eq!(began.elapsed(), SECOND);
        assert_eq!(later.await.unwrap() - began, 2 * SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn a_timer_that_was_kept_serves_the_next_deadline_as_it_is() {
        let deadlines = Deadlines::default();
        let began = Instant::now();
        for _ in 0..3 {
            deadlines.within(10 * SECOND, tokio::time::sleep(SECOND)).await.unwrap();
        }
        let kept = deadlines.0.lock().unwrap().as_ref().map(|timer| timer.deadline());
        assert_eq!(kept, Some(began + 10 * SECOND));
    }
}
