//! The end of a request's time: its answer first, and then its exit.

use ractor_otp::{ExitReason, Pid, Tag};

use super::Exchange;

/// What becomes of a request whose time is over, and that has its answer already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answered {
    /// It ends too: it has answered early and goes on working.
    EndsToo,
    /// It is left alone: nothing answers it early, so that it has just ended by itself.
    #[cfg(any(test, feature = "suite"))]
    IsLeft,
}

impl Exchange {
    /// Answers a request because its time is over, and then interrupts it; whether it was answered by this. The answer comes
    /// before the exit, since the handler may take its time to end; the mark comes before both, so that what the handler
    /// returns in between is known to come too late.
    pub(crate) fn expire(&self, request: &Pid, answered: Answered, answer: impl FnOnce() -> bool) -> bool {
        self.set_expired(true);
        let given = answer();
        if given || answered == Answered::EndsToo {
            request.exit(ExitReason::ShutdownWith(Tag::EXPIRED));
        } else {
            self.set_expired(false);
        }
        given
    }
}
