//! PROG-04, PROG-08, A-25: progress increases with each notification, strictly, and is reported at a bounded rate.

use tokio::time::Instant;

use super::rate::Rate;

/// The progress that one request has reported.
#[derive(Debug)]
pub(crate) struct Progress {
    last: Option<f64>,
    rate: Rate,
}

impl Progress {
    pub(crate) fn new(per_second: u32) -> Self {
        let rate = Rate::new(per_second);
        Self { last: None, rate }
    }

    /// Takes the next value. False if it is not to be sent: if it is not above the last one that was, or no finite
    /// number, which JSON cannot carry, or if it comes too soon. What reaches the total is never too soon.
    pub(crate) fn advance(&mut self, progress: f64, total: Option<f64>, now: Instant) -> bool {
        let grows = progress.is_finite() && self.last.is_none_or(|last| progress > last);
        let is_sent = grows && (total == Some(progress) || self.rate.take(now));
        if is_sent {
            self.last = Some(progress);
        }
        is_sent
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn taken(values: &[f64]) -> Vec<bool> {
        let (mut progress, now) = (Progress::new(1000), Instant::now());
        let taken = values.iter().map(|value| progress.advance(*value, None, now));
        taken.collect()
    }

    #[test]
    fn prog_04_each_value_is_above_the_last() {
        assert_eq!(taken(&[0.0, 0.0, 0.5, 0.4, 0.5, 1.0]), [true, false, true, false, false, true]);
    }

    #[test]
    fn prog_05_any_finite_number_may_be_the_first() {
        assert_eq!(taken(&[-3.5]), [true]);
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(taken(&[value]), [false]);
        }
    }

    #[test]
    fn a_value_that_was_refused_changes_nothing() {
        assert_eq!(taken(&[1.0, f64::NAN, 2.0]), [true, false, true]);
    }

    #[test]
    fn prog_08_too_much_is_dropped_and_what_reaches_the_total_is_not() {
        let (mut progress, start) = (Progress::new(2), Instant::now());
        let mut step =
            |value, seconds| progress.advance(value, Some(100.0), start + Duration::from_secs(seconds));
        assert_eq!([step(1.0, 0), step(2.0, 0), step(3.0, 0), step(4.0, 0)], [true, true, false, false]);
        // What was dropped was never said, so the next value may be any above the last one that was.
        assert!(step(2.5, 1));
        assert!(!step(2.5, 2));
        assert_eq!([step(5.0, 2), step(6.0, 2), step(7.0, 2)], [true, true, false]);
        assert!(step(100.0, 2));
    }
}
