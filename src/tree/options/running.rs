//! What requests may take while they run: places, time, and what waits for a client that reads slowly.

use std::time::Duration;

use super::{Options, within_reach};

impl Options {
    /// How many requests run at once on the whole server, 1,000 by default, and on one connection, 100 by default.
    /// Beyond, a request answers 503 with `Retry-After`. On the server, discovery, lists, completion and notifications are counted
    /// apart from calls and reads, each up to the limit: a server full of calls still says what it offers.
    ///
    /// On HTTP/2 a connection has no more streams than that at once, counted from the head on. Requests of
    /// [`service`](crate::McpSupervisor::service) come over no connection of this server: there the first limit holds alone, and
    /// [`max_in_flight_per_principal`](Options::max_in_flight_per_principal).
    #[must_use]
    pub fn max_in_flight(mut self, server: usize, connection: usize) -> Self {
        self.max_in_flight = server;
        self.limits.in_flight_per_connection = connection;
        self.at_least("max_in_flight of the server", server, 1).at_least(
            "max_in_flight of a connection",
            connection,
            1,
        )
    }

    /// How many requests of one principal run at once, over all its connections: by default half of those that the server
    /// runs ([`max_in_flight`](Options::max_in_flight)), which is 500. Beyond, a request of it answers 503 with `Retry-After`.
    /// Discovery, lists, completion and notifications are counted apart, as on the server, and open streams by
    /// [`max_streams`](Options::max_streams). A principal is who has its [id](crate::Principal::id). Anonymous callers have no such
    /// limit, since any of them could otherwise refuse all others.
    #[must_use]
    pub fn max_in_flight_per_principal(mut self, requests: usize) -> Self {
        self.max_in_flight_per_principal = Some(requests);
        self.at_least("max_in_flight_per_principal", requests, 1)
    }

    pub(in crate::tree) fn per_principal(&self) -> usize {
        self.max_in_flight_per_principal.unwrap_or_else(|| (self.max_in_flight / 2).max(1))
    }

    /// How long a request or a notification may take from its first callback on; none by default. Then the client reads
    /// `-32603`, or of a tool of a [`Suite`](crate::Suite) a result with `isError`; the handler is interrupted at its next `.await`,
    /// [`handle_close`](crate::Handler::handle_close) runs, and the request ends with `shutdown: expired`. An answer that
    /// streams counts as one request. A `subscriptions/listen` has it until it is
    /// accepted, and then its [lifetime](Options::stream_lifetime); a tool, resource or prompt with a
    /// [timeout](crate::suite::ToolSpec::timeout) of its own, shorter or longer, has that instead. A handler does the same with
    /// [`Channel::take_request_time`](crate::Channel::take_request_time).
    #[must_use]
    pub fn request_time(mut self, time: Duration) -> Self {
        self.terms.request_time = Some(within_reach(time));
        self.above_zero("request_time", time)
    }

    /// How long a handler's `handle_close` may take, 5 s by default; then the request is killed.
    #[must_use]
    pub fn close_time(mut self, time: Duration) -> Self {
        self.limits.close_time = within_reach(time);
        self.above_zero("close_time", time)
    }

    /// How long [`run_until`](crate::McpSupervisor::run_until) lets running requests finish, 30 s by default.
    #[must_use]
    pub fn drain(mut self, time: Duration) -> Self {
        self.drain = within_reach(time);
        self
    }

    /// How long [`run_until`](crate::McpSupervisor::run_until) goes on serving after its signal, not at all by default. From the
    /// signal on [`Status::is_ready`](crate::Status::is_ready) is false, so that a load balancer that asks for it has this
    /// time to send new requests elsewhere before the ports close. A few periods of its probe will do.
    #[must_use]
    pub fn drain_delay(mut self, time: Duration) -> Self {
        self.drain_delay = within_reach(time);
        self
    }

    /// How long a handler may hold its thread from one `.await` to the next, 500 ms by default; if it was longer, a warning
    /// names the request when it gives the thread back. What computes for long or blocks is a [`blocking`](crate::suite::ToolSpec::blocking) tool.
    #[must_use]
    pub fn long_schedule(mut self, time: Duration) -> Self {
        self.limits.long_schedule = within_reach(time);
        self.above_zero("long_schedule", time)
    }

    /// How many messages may wait for one request, 1,000 by default; then their senders wait.
    #[must_use]
    pub fn mailbox(mut self, messages: usize) -> Self {
        self.limits.mailbox = messages;
        self.at_least("mailbox", messages, 1)
    }

    /// How many progress notifications one request may send in a second, 1,000 by default; what comes sooner is dropped,
    /// except the one that reaches the total. A second's worth may come at once.
    #[must_use]
    pub fn progress_rate(mut self, per_second: u32) -> Self {
        self.terms.pace.progress = per_second;
        self.at_least("progress_rate", per_second as usize, 1)
    }

    /// How many log records one request may send in a second, 1,000 by default; what comes sooner is dropped. A second's
    /// worth may come at once.
    #[must_use]
    pub fn log_rate(mut self, per_second: u32) -> Self {
        self.terms.pace.logs = per_second;
        self.at_least("log_rate", per_second as usize, 1)
    }

    /// What may wait for a slow client on one response, 64 messages and 1 MiB by default; then its handler waits. A
    /// `subscriptions/listen` stream has its [queue](Options::stream_queue) instead.
    #[must_use]
    pub fn outbox(mut self, messages: usize, bytes: usize) -> Self {
        self.limits.outbox.messages = messages;
        self.limits.outbox.bytes = bytes;
        self.at_least("outbox messages", messages, 1).at_least("outbox bytes", bytes, 1)
    }

    /// The silence after which an open stream gets a keep-alive comment, and after which a JSON response becomes a
    /// stream if the client's `Accept` allows: 15 s by default.
    #[must_use]
    pub fn keep_alive(mut self, time: Duration) -> Self {
        self.limits.keep_alive = within_reach(time);
        self.above_zero("keep_alive", time)
    }

    /// How long a client may read nothing that is written to it, 30 s by default; then its connection is closed and its
    /// requests end with `shutdown: stalled`. On HTTP/2 a stream of which its client takes nothing in that time is reset alone.
    /// Over TCP less than about 100 KiB in that time may look like nothing: the system tells of no smaller steps. A client that
    /// vanished without a word, while little is written to it, is noticed after four times as long.
    #[must_use]
    pub fn write_stall(mut self, time: Duration) -> Self {
        self.limits.write_stall = within_reach(time);
        self.limits.outbox.patience = within_reach(time);
        self.limits.stream_outbox.patience = within_reach(time);
        self.above_zero("write_stall", time)
    }
}
