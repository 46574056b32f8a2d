//! How long one use of a tool, a resource or a prompt may take.

use std::sync::Arc;
use std::time::Duration;

use crate::handler::{Channel, Closed, Late, RpcError};
use crate::rules::errors::code;

use super::SuiteMessage;

/// What is wrong with a limit.
pub(super) fn fault(limit: Option<Duration>) -> Option<String> {
    limit.filter(Duration::is_zero).map(|_| "its timeout is 0; any longer time would do".to_owned())
}

/// How long one use may take.
#[derive(Clone, Copy)]
pub(super) struct Limit {
    /// As it was set, to be told.
    pub(super) set: Duration,
    /// What is left of it.
    left: Duration,
}

/// How long one use may take: as long as it says itself, from now on, or else as long as any request, which has begun before.
/// The suite ends it either way, since it knows what is not done.
pub(super) fn of(own: Option<Duration>, channel: &Channel<SuiteMessage>) -> Option<Limit> {
    let of_any = channel.take_request_time();
    let own = own.map(|own| Limit { set: own, left: own });
    own.or_else(|| Some(Limit { set: channel.request_time()?, left: of_any? }))
}

/// Answers a request when its time is over, and then interrupts it.
pub(super) fn expire_after(
    limit: Limit,
    channel: &Channel<SuiteMessage>,
    late: &Arc<Late>,
    answer: impl FnOnce(&Channel<SuiteMessage>) -> Result<(), Closed> + Send + 'static,
) {
    let (expired, late) = (channel.clone(), Arc::clone(late));
    let timer = async move {
        tokio::time::sleep(limit.left).await;
        // If not, the request has just ended by itself.
        if expired.expire(answer) {
            late.tell(&expired.pid(), limit.set);
        }
    };
    channel.spawn(timer, |_| SuiteMessage::task_ended());
}

/// The same for what is no tool, whose result has no place for an error: the answer is `-32603`.
pub(super) fn fail_after(
    limit: Option<Limit>,
    channel: &Channel<SuiteMessage>,
    late: &Arc<Late>,
    what: &'static str,
) {
    let Some(limit) = limit else { return };
    expire_after(limit, channel, late, move |channel| {
        let message = format!("the {what} did not finish within {:?} and was interrupted", limit.set);
        channel.send_error(RpcError::new(code::INTERNAL_ERROR, message))
    });
}
