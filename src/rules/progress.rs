//! PROG-04, A-25: progress increases with each notification, strictly.

/// The progress that one request has reported.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    last: Option<f64>,
}

impl Progress {
    /// Takes the next value. False if it is not above the last one, or no finite number, which JSON cannot carry: then
    /// it is not to be sent.
    pub(crate) fn advance(&mut self, progress: f64) -> bool {
        let grows = progress.is_finite() && self.last.is_none_or(|last| progress > last);
        if grows {
            self.last = Some(progress);
        }
        grows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prog_04_each_value_is_above_the_last() {
        let mut progress = Progress::default();
        let taken = [0.0, 0.0, 0.5, 0.4, 0.5, 1.0].map(|value| progress.advance(value));
        assert_eq!(taken, [true, false, true, false, false, true]);
    }

    #[test]
    fn prog_05_any_finite_number_may_be_the_first() {
        assert!(Progress::default().advance(-3.5));
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(!Progress::default().advance(value));
        }
    }

    #[test]
    fn a_value_that_was_refused_changes_nothing() {
        let mut progress = Progress::default();
        assert!(progress.advance(1.0));
        assert!(!progress.advance(f64::NAN));
        assert!(progress.advance(2.0));
    }
}
