//! What a callback of a handler returns.

use ractor_otp::ExitReason;

use crate::wire::{InputRequiredResult, ResultBody};

use super::Grant;

/// The outcome of [`handle_request`](super::Handler::handle_request) or
/// [`handle_message`](super::Handler::handle_message).
///
/// Every result type of [`wire`](crate::wire) turns into a reply with `.into()`. A reply that does not fit the
/// method is a bug of the handler: the client gets `-32603`, the trace says what was wrong.
#[derive(Debug)]
#[non_exhaustive]
pub enum Reply {
    /// Answers the request; its actor ends with `shutdown: reply`.
    Result(Box<ResultBody>),
    /// Answers the request; its actor ends with this reason instead. The client sees no difference.
    ResultThen(Box<ResultBody>, ExitReason),
    /// Keeps the response open and waits for messages.
    Stream,
    /// Accepts a `subscriptions/listen` request with what is granted, at most what was asked for: the stream is
    /// acknowledged, and then waits for messages and for what the registry tells it.
    Subscribe(Grant),
    /// Ends a stream without a result, from [`handle_message`](super::Handler::handle_message) only. A listen stream
    /// ends with the graceful result; any other request is answered `-32603`, since each has exactly one response.
    Stop(ExitReason),
}

impl Reply {
    /// Asks the client for input (`resultType: "input_required"`): for `tools/call`, `prompts/get` and
    /// `resources/read` only (MRTR-02, MRTR-03). If the client did not declare that it can answer, it gets `-32021`
    /// instead (MRTR-07).
    pub fn input_required(result: InputRequiredResult) -> Self {
        result.into()
    }

    /// Accepts a `subscriptions/listen` request; see [`Reply::Subscribe`].
    pub fn subscribe(grant: impl Into<Grant>) -> Self {
        Self::Subscribe(grant.into())
    }

    /// Sets the reason that the request's actor ends with after a result. Other replies stay as they are.
    #[must_use]
    pub fn then_exit(self, reason: ExitReason) -> Self {
        match self {
            Self::Result(body) | Self::ResultThen(body, _) => Self::ResultThen(body, reason),
            other => other,
        }
    }
}

impl<R: Into<ResultBody>> From<R> for Reply {
    fn from(result: R) -> Self {
        Self::Result(Box::new(result.into()))
    }
}
