//! Restart intensity: how often is too often.

use std::collections::VecDeque;
use std::fmt::{self, Display};
use std::time::Duration;

use tokio::time::Instant;

/// How many restarts a supervisor bears within a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Intensity {
    /// This many restarts are borne; the next one within the period is too many.
    pub restarts: usize,
    /// The period, which ends at the restart that is looked at.
    pub period: Duration,
}

impl Default for Intensity {
    fn default() -> Self {
        Self { restarts: 3, period: Duration::from_secs(5) }
    }
}

impl Display for Intensity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in {} s", self.restarts, self.period.as_secs_f64())
    }
}

/// The restarts of the recent past.
pub(super) struct Restarts {
    limit: Intensity,
    recent: VecDeque<Instant>,
}

impl Restarts {
    pub(super) fn new(limit: Intensity) -> Self {
        Self { limit, recent: VecDeque::new() }
    }

    pub(super) fn limit(&self) -> Intensity {
        self.limit
    }

    /// Notes a restart at `now`; whether it is still borne.
    pub(super) fn admit(&mut self, now: Instant) -> bool {
        self.recent.retain(|restart| now.duration_since(*restart) <= self.limit.period);
        self.recent.push_back(now);
        self.recent.len() <= self.limit.restarts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_restart_after_the_limit_is_too_many_and_old_ones_are_forgotten() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut restarts = Restarts::new(Intensity::default());
        assert!(restarts.admit(at(0)) && restarts.admit(at(1)) && restarts.admit(at(2)));
        assert!(!restarts.admit(at(5)));
        assert!(!restarts.admit(at(6)));
        assert!(restarts.admit(at(20)));
    }

    #[test]
    fn no_restarts_at_all() {
        let none = Intensity { restarts: 0, period: Duration::from_secs(1) };
        assert!(!Restarts::new(none).admit(Instant::now()));
    }
}
