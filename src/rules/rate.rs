//! PROG-08, LOG-07: how often one request may report something; how often the server warns of what happens often.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// A bucket: it holds one second's worth, and fills up again as time goes by.
#[derive(Debug)]
pub(crate) struct Rate {
    per_second: f64,
    left: f64,
    at: Option<Instant>,
}

impl Rate {
    pub(crate) fn new(per_second: u32) -> Self {
        let per_second = f64::from(per_second);
        Self { per_second, left: per_second, at: None }
    }

    /// Takes the right to report once. False if there is none left now.
    pub(crate) fn take(&mut self, now: Instant) -> bool {
        let passed = self.at.replace(now).map_or(Duration::ZERO, |before| now - before);
        self.left = (self.left + passed.as_secs_f64() * self.per_second).min(self.per_second);
        let granted = self.left >= 1.0;
        if granted {
            self.left -= 1.0;
        }
        granted
    }
}

/// Warnings of one kind: one a second is told, with how many were not, over all copies together.
#[derive(Clone, Debug)]
pub(crate) struct Warnings(Arc<Mutex<Told>>);

#[derive(Debug)]
struct Told {
    rate: Rate,
    untold: u64,
}

impl Warnings {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(Told { rate: Rate::new(1), untold: 0 })))
    }

    /// Takes the right to tell one: it comes with the number of those before it that were not told, if there are any.
    /// `None` if this is one of them.
    pub(crate) fn take(&self) -> Option<Option<u64>> {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if told.rate.take(Instant::now()) {
            let untold = std::mem::take(&mut told.untold);
            Some((untold > 0).then_some(untold))
        } else {
            told.untold += 1;
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn granted(rate: &mut Rate, asked: usize, now: Instant) -> usize {
        (0..asked).filter(|_| rate.take(now)).count()
    }

    #[test]
    fn prog_08_a_second_s_worth_at_once_and_then_as_time_goes_by() {
        let (mut rate, start) = (Rate::new(10), Instant::now());
        assert_eq!(granted(&mut rate, 100, start), 10);
        assert_eq!(granted(&mut rate, 100, start + Duration::from_millis(250)), 2);
        assert_eq!(granted(&mut rate, 100, start + Duration::from_millis(300)), 1);
        assert_eq!(granted(&mut rate, 100, start + Duration::from_secs(3600)), 10);
    }

    #[tokio::test(start_paused = true)]
    async fn of_many_warnings_one_a_second_is_told_with_how_many_were_not() {
        let warnings = Warnings::new();
        assert_eq!([(); 3].map(|()| warnings.take()), [Some(None), None, None]);
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!([(); 2].map(|()| warnings.take()), [Some(Some(2)), None]);
        tokio::time::advance(Duration::from_secs(3600)).await;
        assert_eq!([(); 2].map(|()| warnings.take()), [Some(Some(1)), None]);
    }

    #[test]
    fn a_steady_pace_below_the_rate_is_never_cut() {
        let (mut rate, start) = (Rate::new(10), Instant::now());
        let steps = (0..1000).map(|step| start + Duration::from_millis(101) * step);
        assert!(steps.into_iter().all(|now| rate.take(now)));
    }
}
