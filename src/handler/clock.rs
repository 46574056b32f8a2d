//! What time of day it is: for what ends at a time of day, and not after a duration.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::sync::watch;
use tokio::time::sleep;

/// What time of day it is for a server: when its callers' authorization ([`Principal`](crate::Principal)) and its
/// sealed tokens expire. By default the system's; a [`ManualClock`] makes expiry testable without a wait.
///
/// Whatever lasts for a duration (timeouts, the lifetime of a stream, keep-alives) goes by the clock of tokio, which
/// `tokio::time::pause` stops in tests.
#[derive(Clone, Debug, Default)]
pub struct Clock(Source);

#[derive(Clone, Debug, Default)]
enum Source {
    #[default]
    System,
    Manual(ManualClock),
}

impl Clock {
    /// The clock of the system.
    pub fn system() -> Self {
        Self::default()
    }

    /// The time now.
    pub fn now(&self) -> SystemTime {
        match &self.0 {
            Source::System => SystemTime::now(),
            Source::Manual(clock) => clock.now(),
        }
    }

    /// Resolves when it is this time or later.
    pub(crate) async fn until(&self, time: SystemTime) {
        match &self.0 {
            // A system clock that is set meanwhile is not followed: streams have a longest lifetime, and each
            // request is judged by the clock as it is then.
            Source::System => sleep(time.duration_since(self.now()).unwrap_or_default()).await,
            Source::Manual(clock) => clock.until(time).await,
        }
    }
}

impl From<ManualClock> for Clock {
    fn from(clock: ManualClock) -> Self {
        Self(Source::Manual(clock))
    }
}

/// A clock that stands still until it is moved, for tests. Cheap to clone; all clones are one clock, so that a test
/// moves the clock of a running server.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use ractor_mcp::{ManualClock, Options};
///
/// let clock = ManualClock::new(SystemTime::UNIX_EPOCH);
/// let options = Options::new().clock(clock.clone());
/// clock.advance(Duration::from_secs(20 * 60));
/// ```
#[derive(Clone, Debug)]
pub struct ManualClock(Arc<watch::Sender<SystemTime>>);

impl ManualClock {
    /// A clock that stands at this time.
    pub fn new(time: SystemTime) -> Self {
        Self(Arc::new(watch::Sender::new(time)))
    }

    /// The time at which it stands.
    pub fn now(&self) -> SystemTime {
        *self.0.borrow()
    }

    /// Moves it to a time, which may be an earlier one. Whoever waited for a time that is over then, goes on.
    pub fn set(&self, time: SystemTime) {
        self.0.send_replace(time);
    }

    /// Moves it forward; beyond the last time that the system can tell, it stays where it is.
    pub fn advance(&self, by: Duration) {
        self.0.send_modify(|time| *time = time.checked_add(by).unwrap_or(*time));
    }

    async fn until(&self, time: SystemTime) {
        // The sender is in `self`, so the wait ends by the time alone.
        let _ = self.0.subscribe().wait_for(|now| *now >= time).await;
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    #[tokio::test]
    async fn a_clock_that_is_moved_by_hand_wakes_those_whose_time_has_come() {
        let manual = ManualClock::new(SystemTime::UNIX_EPOCH);
        let clock = Clock::from(manual.clone());
        clock.until(SystemTime::UNIX_EPOCH).await;
        let mut hour = pin!(clock.until(SystemTime::UNIX_EPOCH + HOUR));
        manual.advance(HOUR - Duration::from_nanos(1));
        assert!(without_a_wait(hour.as_mut()).await.is_none());
        manual.advance(Duration::from_nanos(1));
        hour.await;
        manual.set(SystemTime::UNIX_EPOCH);
        assert_eq!(clock.now(), SystemTime::UNIX_EPOCH);
        manual.advance(Duration::MAX);
        assert_eq!(clock.now(), SystemTime::UNIX_EPOCH);
    }

    #[tokio::test(start_paused = true)]
    async fn the_clock_of_the_system_waits_for_what_is_left() {
        let (clock, begun) = (Clock::system(), tokio::time::Instant::now());
        clock.until(SystemTime::now() - HOUR).await;
        assert_eq!(begun.elapsed(), Duration::ZERO);
        clock.until(SystemTime::now() + HOUR).await;
        assert!(begun.elapsed() > HOUR / 2);
    }

    /// What a future gives without a wait.
    async fn without_a_wait<F: Future>(future: F) -> Option<F::Output> {
        tokio::select! {
            biased;
            output = future => Some(output),
            () = std::future::ready(()) => None,
        }
    }
}
