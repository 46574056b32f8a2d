//! The limits of the HTTP transport, with the defaults that a server has when it sets none.

use std::time::Duration;

use crate::request::OutboxLimits;
use crate::rules::order;

#[derive(Clone, Debug)]
pub(crate) struct Limits {
    /// Bytes of one request body; beyond: 413.
    pub(crate) body: usize,
    /// How long one request body may take to arrive; beyond: 408.
    pub(crate) body_time: Duration,
    /// How long a request head may take, and how long a kept connection may idle; beyond: close.
    pub(crate) head_time: Duration,
    /// How long a connection may send nothing at first; beyond: close.
    pub(crate) first_byte: Duration,
    /// How long a write may make no progress; beyond: close, `stalled`.
    pub(crate) write_stall: Duration,
    /// Bytes of one request head; beyond: 431.
    pub(crate) head: usize,
    /// Depth of JSON and length of what clients name; beyond: 400 or `-32602`.
    pub(crate) message: order::Limits,
    /// Silence on an open stream before a keep-alive comment, and before a JSON response becomes a stream.
    pub(crate) keep_alive: Duration,
    /// What may wait for a slow client.
    pub(crate) outbox: OutboxLimits,
    /// What may wait on a listen stream beside its changes.
    pub(crate) stream_outbox: OutboxLimits,
    /// URIs and task ids in one filter; beyond: `-32602`.
    pub(crate) filter: usize,
    /// Requests of one connection at once; beyond: 503.
    pub(crate) in_flight_per_connection: usize,
    /// How long `handle_close` may take.
    pub(crate) close_time: Duration,
    /// How long a callback may hold its thread between two awaits; beyond: a warning.
    pub(crate) long_schedule: Duration,
    /// Messages that wait for one request.
    pub(crate) mailbox: usize,
}

impl Limits {
    /// How long a client may acknowledge nothing of what is on its way to it; beyond, the system closes, `stalled`. It is more
    /// than the write stall: that clock also runs while a client with small buffers takes little at a time.
    pub(crate) fn vanished(&self) -> Duration {
        self.write_stall.saturating_mul(4)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 4 * 1024 * 1024,
            body_time: Duration::from_secs(30),
            head_time: Duration::from_secs(30),
            first_byte: Duration::from_secs(10),
            write_stall: Duration::from_secs(30),
            head: 64 * 1024,
            message: order::Limits::default(),
            keep_alive: Duration::from_secs(15),
            outbox: OutboxLimits { messages: 64, bytes: 1024 * 1024, patience: Duration::from_secs(30) },
            stream_outbox: OutboxLimits {
                messages: 1000,
                bytes: 1024 * 1024,
                patience: Duration::from_secs(30),
            },
            filter: 1000,
            in_flight_per_connection: 100,
            close_time: Duration::from_secs(5),
            long_schedule: Duration::from_millis(500),
            mailbox: 1000,
        }
    }
}
