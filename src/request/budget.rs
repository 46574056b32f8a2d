//! How many bytes of request bodies the whole server holds. The limits of one body and of running requests bound each by
//! itself; this bounds their product.
//!
//! Bytes are counted as they arrive, not as they are announced, so that a client which only declares a large body takes
//! nothing from others. They are given back when the request has ended: its arguments live as long as it does.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What each body may have without being counted: about what a connection buffers anyway. So small requests go on while
/// large ones are refused.
const FREE: usize = 16 * 1024;

/// The bytes that one server may hold.
#[derive(Clone)]
pub(crate) struct Budget(Arc<Total>);

struct Total {
    taken: AtomicUsize,
    limit: usize,
}

/// What one request holds of the budget. Given back when dropped.
pub(crate) struct Share {
    budget: Budget,
    bytes: usize,
    counted: usize,
}

impl Budget {
    pub(crate) fn new(limit: usize) -> Self {
        Self(Arc::new(Total { taken: AtomicUsize::new(0), limit }))
    }

    /// A share of nothing yet.
    pub(crate) fn share(&self) -> Share {
        Share { budget: self.clone(), bytes: 0, counted: 0 }
    }

    #[cfg(test)]
    fn taken(&self) -> usize {
        self.0.taken.load(Ordering::Acquire)
    }
}

impl Share {
    /// Takes more bytes; `false` if the server holds as many as it may.
    pub(crate) fn grow(&mut self, bytes: usize) -> bool {
        self.bytes += bytes;
        let more = self.bytes.saturating_sub(FREE) - self.counted;
        if more == 0 {
            return true;
        }
        let total = &self.budget.0;
        let within = |taken: usize| taken.checked_add(more).filter(|sum| *sum <= total.limit);
        let taken = total.taken.fetch_update(Ordering::AcqRel, Ordering::Acquire, within).is_ok();
        if taken {
            self.counted += more;
        }
        taken
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        if self.counted > 0 {
            self.budget.0.taken.fetch_sub(self.counted, Ordering::AcqRel);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_is_given_back_and_a_refused_byte_takes_nothing() {
        let budget = Budget::new(1000);
        let (mut one, mut other) = (budget.share(), budget.share());
        assert!(one.grow(FREE + 600));
        assert!(!other.grow(FREE + 600));
        assert_eq!(budget.taken(), 600);
        drop(one);
        assert!(other.grow(0), "what did not fit before is taken now");
        drop(other);
        assert_eq!(budget.taken(), 0);
    }

    #[test]
    fn small_bodies_pass_while_large_ones_hold_everything() {
        let budget = Budget::new(1000);
        let mut large = budget.share();
        assert!(large.grow(FREE) && large.grow(1000) && !large.grow(1));
        assert!(budget.share().grow(FREE));
        assert_eq!(budget.taken(), 1000);
    }
}
