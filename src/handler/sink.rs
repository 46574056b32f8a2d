//! Where a channel's output goes. The HTTP response is one sink; what outlives a connection has another.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use tokio::sync::futures::Notified;
use tokio::time::Instant;

use super::{Change, Noted};

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
    /// Written as an event of its own before the answer: the `notifications/cancelled` of a stream that ends.
    pub(crate) farewell: Option<Bytes>,
    pub(crate) body: Bytes,
    /// The scopes that the caller lacks, for the challenge of a 401 or a 403.
    pub(crate) lacks: Vec<String>,
}

impl Answer {
    pub(crate) fn new(status: StatusCode, body: Bytes) -> Self {
        Self { status, farewell: None, body, lacks: Vec::new() }
    }
}

/// What a stream was told so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) waiting: usize,
    pub(crate) delivered: u64,
    pub(crate) coalesced: u64,
    pub(crate) dropped: u64,
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

    /// How long to wait for room before the client counts as stalled.
    fn patience(&self) -> Duration;

    /// Takes the answer, for which there is always room. False if there was one already or nobody reads, and for a listen
    /// stream that is open: that is [torn down](ListenSink::tear_down).
    fn answer(&self, answer: Answer) -> bool;

    /// Whether the reader is gone or the answer was given.
    fn is_closed(&self) -> bool;

    /// Whether the answer was given, whoever reads it.
    fn is_answered(&self) -> bool;

    /// Whether the transport can carry anything before the answer.
    fn streams(&self) -> bool;

    /// The same sink as that of a listen stream, if it carries one.
    fn listening(self: Arc<Self>) -> Option<Arc<dyn ListenSink>>;
}

/// The sink of a listen stream.
pub(crate) trait ListenSink: Sink {
    /// Makes room for the changes of so many resources and tasks, those granted by name, before anybody may note one. Returns
    /// how many may wait in all, with the parts of those.
    fn expect(&self, named: usize) -> usize;

    /// Opens the stream with its acknowledgement: until then nothing else goes out (SUB-03, SUB-04). False if the answer was
    /// given.
    fn acknowledge(&self, acknowledgement: Bytes) -> bool;

    /// Notes a change to tell. Never waits.
    fn note(&self, change: Change) -> Noted;

    /// Takes an event if there is room, and counts it as dropped otherwise. Never waits.
    fn offer_or_drop(&self, event: Event) -> bool;

    /// Counts changes that did not come here: that others absorbed before, or that found no room.
    fn count(&self, coalesced: usize, dropped: usize);

    /// What the stream was told so far.
    fn told(&self) -> Told;

    /// When the stream was last told anything.
    fn last_told(&self) -> Instant;

    /// Ends the stream, whether it was acknowledged or not: the farewell as an event of its own, then the result. False if it
    /// was answered before or nobody reads.
    fn tear_down(&self, farewell: Option<Bytes>, result: Bytes) -> bool;
}
