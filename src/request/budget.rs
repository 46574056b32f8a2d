//! How many bytes of requests and answers the whole server holds. The limits of one body and of running requests bound each
//! by itself; this bounds their product.
//!
//! Bytes are counted as they arrive, not as they are announced, so that a client which only declares a large body takes
//! nothing from others. They are given back when the request has ended: its arguments live as long as it does.
//!
//! An answer is there when it is counted and is not refused any more. What answers take beyond the limit keeps further
//! requests out, until their clients have read.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;

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
    /// What each body and each answer may have without being counted: about what a connection buffers anyway. So small requests
    /// go on while large ones are refused.
    pub(crate) const FREE: usize = 16 * 1024;

    pub(crate) fn new(limit: usize) -> Self {
        Self(Arc::new(Total { taken: AtomicUsize::new(0), limit }))
    }

    /// A share of nothing yet.
    pub(crate) fn share(&self) -> Share {
        Share { budget: self.clone(), bytes: 0, counted: 0 }
    }

    /// Counts an answer for as long as it is held anywhere, wholly or in part.
    pub(crate) fn hold(&self, answer: Bytes) -> Bytes {
        let counted = answer.len().saturating_sub(Budget::FREE);
        if counted == 0 {
            return answer;
        }
        self.0.taken.fetch_add(counted, Ordering::AcqRel);
        let share = Share { budget: self.clone(), bytes: answer.len(), counted };
        Bytes::from_owner(Held { answer, _share: share })
    }

    /// How many bytes are counted now. Answers may make it more than the limit.
    pub(crate) fn taken(&self) -> usize {
        self.0.taken.load(Ordering::Acquire)
    }
}

impl Share {
    /// Takes more bytes; `false` if the server holds as many as it may.
    pub(crate) fn grow(&mut self, bytes: usize) -> bool {
        self.bytes += bytes;
        let more = self.bytes.saturating_sub(Budget::FREE) - self.counted;
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

    /// Whether it would not fit even if it were alone.
    pub(crate) fn never_fits(&self) -> bool {
        self.bytes.saturating_sub(Budget::FREE) > self.budget.0.limit
    }

    /// Gives back what was needed for reading alone: from here on at most so many bytes are held.
    pub(crate) fn shrink_to(&mut self, bytes: impl FnOnce() -> usize) {
        // Most requests are small and hold nothing that is counted.
        if self.counted == 0 {
            return;
        }
        self.bytes = self.bytes.min(bytes());
        let counted = self.bytes.saturating_sub(Budget::FREE).min(self.counted);
        self.budget.0.taken.fetch_sub(self.counted - counted, Ordering::AcqRel);
        self.counted = counted;
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        if self.counted > 0 {
            self.budget.0.taken.fetch_sub(self.counted, Ordering::AcqRel);
        }
    }
}

/// An answer with what it takes.
struct Held {
    answer: Bytes,
    _share: Share,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FREE: usize = Budget::FREE;

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
    fn what_does_not_fit_alone_never_will() {
        let budget = Budget::new(1000);
        let (mut other, mut share) = (budget.share(), budget.share());
        assert!(other.grow(FREE + 1000));
        assert!(!share.grow(FREE + 1000) && !share.never_fits());
        assert!(!share.grow(1) && share.never_fits());
    }

    #[test]
    fn what_was_needed_for_reading_alone_is_given_back() {
        let budget = Budget::new(1000);
        let mut share = budget.share();
        assert!(share.grow(FREE + 600));
        share.shrink_to(|| FREE + 900);
        assert_eq!(budget.taken(), 600);
        share.shrink_to(|| FREE + 100);
        assert_eq!(budget.taken(), 100);
        share.shrink_to(|| 0);
        assert_eq!(budget.taken(), 0);
        share.shrink_to(|| unreachable!("nothing is counted"));
    }

    #[test]
    fn small_bodies_pass_while_large_ones_hold_everything() {
        let budget = Budget::new(1000);
        let mut large = budget.share();
        assert!(large.grow(FREE) && large.grow(1000) && !large.grow(1));
        assert!(budget.share().grow(FREE));
        assert_eq!(budget.taken(), 1000);
    }

    #[test]
    fn an_answer_is_counted_until_its_last_byte_is_gone_and_keeps_requests_out_meanwhile() {
        let budget = Budget::new(1000);
        let mut answer = budget.hold(vec![b'x'; FREE + 5000].into());
        assert_eq!(budget.taken(), 5000);
        assert!(!budget.share().grow(FREE + 1));
        assert!(budget.share().grow(FREE));
        let first = answer.split_to(10);
        drop(answer);
        assert_eq!(budget.taken(), 5000);
        drop(first);
        assert_eq!(budget.taken(), 0);
        let small = budget.hold(vec![b'x'; FREE].into());
        assert_eq!((small.len(), budget.taken()), (FREE, 0));
    }
}
