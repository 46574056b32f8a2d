//! How long one use of a tool, a resource or a prompt may take.

use std::time::Duration;

use ractor_otp::{ExitReason, Tag};

use crate::handler::{Channel, Closed, RpcError};
use crate::rules::errors::code;

use super::SuiteMessage;

/// What is wrong with a limit.
pub(super) fn fault(limit: Option<Duration>) -> Option<String> {
    limit.filter(Duration::is_zero).map(|_| "its timeout is 0; any longer time would do".to_owned())
}

/// Answers a request when its time is over, and then interrupts it. The answer comes first, since what follows may take its
/// time.
pub(super) fn expire_after(
    limit: Duration,
    channel: &Channel<SuiteMessage>,
    answer: impl FnOnce(&Channel<SuiteMessage>) -> Result<(), Closed> + Send + 'static,
) {
    let expired = channel.clone();
    let timer = async move {
        tokio::time::sleep(limit).await;
        // Closed means that the request has just ended by itself.
        if answer(&expired).is_ok() {
            let pid = expired.pid();
            tracing::warn!(target: "ractor_mcp", request = %pid.label(), ?limit, "the request did not finish in time");
            pid.exit(ExitReason::ShutdownWith(Tag::EXPIRED));
        }
    };
    channel.spawn(timer, |_| SuiteMessage::task_ended());
}

/// The same for what is no tool, whose result has no place for an error: the answer is `-32603`.
pub(super) fn fail_after(limit: Option<Duration>, channel: &Channel<SuiteMessage>, what: &'static str) {
    let Some(limit) = limit else { return };
    expire_after(limit, channel, move |channel| {
        let message = format!("the {what} did not finish within {limit:?} and was interrupted");
        channel.send_error(RpcError::new(code::INTERNAL_ERROR, message))
    });
}
