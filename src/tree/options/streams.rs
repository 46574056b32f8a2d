//! What `subscriptions/listen` streams may take: how many, for how long, and what waits on one.

use std::time::Duration;

use super::{Options, within_reach};

impl Options {
    /// How many streams are open on the whole server, 10,000 by default, and how many of one principal, 4 by default.
    /// Beyond the first a `subscriptions/listen` request answers 503; beyond the second the principal's oldest stream
    /// ends with `shutdown: superseded`.
    #[must_use]
    pub fn max_streams(mut self, server: usize, principal: usize) -> Self {
        self.stream_caps.server = server;
        self.stream_caps.principal = principal;
        self.at_least("max_streams of the server", server, 1).at_least(
            "max_streams of a principal",
            principal,
            1,
        )
    }

    /// Counts all anonymous callers as one principal for [`max_streams`](Options::max_streams). By default they have no
    /// cap but the server's, since any of them could otherwise end the streams of all others.
    #[must_use]
    pub fn cap_anonymous_streams(mut self, capped: bool) -> Self {
        self.stream_caps.anonymous = capped;
        self
    }

    /// How long a stream may live, 1 hour by default; then it ends with `shutdown: expired`, and its client listens again.
    #[must_use]
    pub fn stream_lifetime(mut self, time: Duration) -> Self {
        self.stream_limits.lifetime = within_reach(time);
        self.above_zero("stream_lifetime", time)
    }

    /// How long a stream may be told nothing before it ends with `shutdown: idle`. By default there is no such limit.
    #[must_use]
    pub fn stream_idle(mut self, time: Duration) -> Self {
        self.stream_limits.idle = Some(within_reach(time));
        self.above_zero("stream_idle", time)
    }

    /// How many notifications that do not coalesce may wait on one stream, 1,000 by default and within
    /// [`stream_queue_bytes`](Options::stream_queue_bytes); then it misses those that are published, and its handler waits with its
    /// own. As many changes of parts of the resources that it named may wait beside them, and all changes that it named itself.
    #[must_use]
    pub fn stream_queue(mut self, messages: usize) -> Self {
        self.limits.stream_outbox.messages = messages;
        self.at_least("stream_queue", messages, 1)
    }

    /// How many bytes the notifications that do not coalesce may take that wait on one stream, 1 MiB by default; beyond, it is as
    /// with too [many](Options::stream_queue). One that is larger waits alone. Changes are kept as what changed, and count only
    /// there.
    #[must_use]
    pub fn stream_queue_bytes(mut self, bytes: usize) -> Self {
        self.limits.stream_outbox.bytes = bytes;
        self.at_least("stream_queue_bytes", bytes, 1)
    }

    /// How many resources and tasks one filter may name, 1,000 by default; more answer `-32602`.
    #[must_use]
    pub fn max_filter(mut self, named: usize) -> Self {
        self.limits.filter = named;
        self.at_least("max_filter", named, 1)
    }

    /// How long the application may take to say of which resources or tasks a stream may be told, when it is opened and
    /// again before each batch of notifications: 5 s by default; then of none.
    #[must_use]
    pub fn authorize_time(mut self, time: Duration) -> Self {
        self.terms.authorize_time = within_reach(time);
        self.above_zero("authorize_time", time)
    }
}
