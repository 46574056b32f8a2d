//! The end of a request's time. It is the server's ([`Options::request_time`](crate::Options::request_time)), unless the
//! handler has taken it over to keep a time of its own.

use std::sync::Arc;

use ractor_otp::Pid;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::handler::{Answered, Exchange, Late, RpcError};
use crate::rules::errors::code;

/// Ends a request when its time is over. Dropped with the request's callbacks: their clean-up has a time of its own.
pub(super) struct Deadline(JoinHandle<()>);

impl Deadline {
    /// `None` without a limit. A stream gives it up when it opens: it has a lifetime instead.
    pub(super) fn of(exchange: &Arc<Exchange>, pid: &Pid, late: &Arc<Late>) -> Option<Self> {
        let limit = exchange.begin_time()?;
        let (exchange, pid, late) = (Arc::clone(exchange), pid.clone(), Arc::clone(late));
        Some(Self(tokio::spawn(async move {
            sleep(limit).await;
            if !exchange.time_is_taken() && pid.exit_requested().is_none() {
                let message = format!("the request did not finish within {limit:?} and was interrupted");
                let error = RpcError::new(code::INTERNAL_ERROR, message);
                exchange.expire(&pid, Answered::EndsToo, || exchange.answer_error(&error));
                late.tell(&pid, limit);
            }
        })))
    }
}

impl Drop for Deadline {
    fn drop(&mut self) {
        self.0.abort();
    }
}
