//! Where a channel's output goes. The HTTP response is one sink; what outlives a connection has another.

use bytes::Bytes;
use http::StatusCode;
use tokio::sync::futures::Notified;

/// One thing to write before the answer.
#[derive(Debug)]
pub(crate) enum Event {
    /// Open the stream, write nothing.
    Open,
    /// A notification as compact JSON.
    Message(Bytes),
}

/// The one response to a request as compact JSON, with the status it has if nothing was streamed before.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) body: Bytes,
}

/// Why a sink did not take an event.
#[derive(Debug)]
pub(crate) enum Refused {
    /// No room now; [`Sink::room`] tells when it is worth another try.
    Full(Event),
    /// Nobody reads any more, or the answer was given.
    Closed,
}

/// The bounded queue between a request's actor and its transport.
pub(crate) trait Sink: Send + Sync {
    /// Takes an event if there is room. Never waits.
    fn offer(&self, event: Event) -> Result<(), Refused>;

    /// Resolves when room was made or the sink closed. Created before the `offer` that it follows, so that no wake is
    /// lost.
    fn room(&self) -> Notified<'_>;

    /// Takes the answer, for which there is always room. False if there was one already or nobody reads.
    fn answer(&self, answer: Answer) -> bool;

    /// Whether the reader is gone or the answer was given.
    fn is_closed(&self) -> bool;

    /// Whether the transport can carry anything before the answer.
    fn streams(&self) -> bool;
}
