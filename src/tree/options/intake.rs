//! What a client may send before its request runs: where, how much, how fast.

use std::time::Duration;

use http::uri::PathAndQuery;
use tokio::sync::Semaphore;

use crate::request::Budget;

use super::{Options, within_reach};

/// The largest number of bytes that HTTP/2 has a setting for.
const LARGEST_HEAD: usize = u32::MAX as usize;

impl Options {
    /// The path of the endpoint, `/mcp` by default. It is served with and without a trailing slash.
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        let path = path.into();
        let is_path = path.starts_with('/') && !path.contains(['?', '#']);
        // What no request line carries would never be asked for, and clients resolve dots before they ask.
        let is_carried = path.is_ascii() && path.parse::<PathAndQuery>().is_ok();
        let has_dots = path.split('/').any(|segment| matches!(segment, "." | ".."));
        path.trim_end_matches('/').clone_into(&mut self.path);
        let fault = (!is_path || !is_carried || has_dots).then(|| {
            let path = path.escape_debug();
            format!(
                "path `{path}`: a path starts with `/`, has neither `?` nor `#` nor a segment of dots, and percent-encodes what a \
                 URL cannot hold"
            )
        });
        self.judged("path", fault)
    }

    /// How many connections one listener holds, 10,000 by default. At the limit it accepts no more until one ends: clients wait.
    /// [`serve`](crate::McpSupervisor::serve) holds as many again, and refuses more with
    /// [`Error::TooManyConnections`](crate::Error::TooManyConnections). Those of the server in front of
    /// [`service`](crate::McpSupervisor::service) are its own.
    #[must_use]
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.max_connections = connections.min(Semaphore::MAX_PERMITS);
        self.at_least("max_connections", connections, 1)
    }

    /// How long a connection may send nothing at first, 10 s by default; then it is closed.
    #[must_use]
    pub fn first_byte_time(mut self, time: Duration) -> Self {
        self.limits.first_byte = within_reach(time);
        self.above_zero("first_byte_time", time)
    }

    /// How long a request head may take to arrive, counted from the response before it: so also how long a kept connection
    /// may stay idle. 30 s by default; a slower connection is closed.
    #[must_use]
    pub fn head_time(mut self, time: Duration) -> Self {
        self.limits.head_time = within_reach(time);
        self.above_zero("head_time", time)
    }

    /// The largest request head in bytes, 64 KiB by default and at least 8 KiB; a larger one answers 431.
    #[must_use]
    pub fn max_head(mut self, bytes: usize) -> Self {
        self.limits.head = bytes.min(LARGEST_HEAD);
        self.at_least("max_head", bytes, 8 * 1024)
    }

    /// How long a request body may take to arrive, 30 s by default; a slower one answers 408.
    #[must_use]
    pub fn body_time(mut self, time: Duration) -> Self {
        self.limits.body_time = within_reach(time);
        self.above_zero("body_time", time)
    }

    /// The largest request body in bytes, 4 MiB by default; a larger one answers 413.
    #[must_use]
    pub fn max_body(mut self, bytes: usize) -> Self {
        self.limits.body = bytes;
        self.at_least("max_body", bytes, 1)
    }

    /// How many bytes of requests, heads and bodies, the whole server holds at once, those of running requests and open
    /// streams included: 256 MiB by default. Beyond, a request answers 503 with `Retry-After`. Each JSON value in a body counts as
    /// 256 bytes more, since that is about what it takes once it is read; the first 16 KiB of each request are not counted,
    /// so that small requests go on. A request that would not fit alone answers 413.
    ///
    /// Answers count too, beyond their first 16 KiB, until their clients have taken them. They are not refused: what they take
    /// beyond the limit keeps large requests out for as long.
    #[must_use]
    pub fn body_budget(mut self, bytes: usize) -> Self {
        self.body_budget = bytes;
        self.at_least("body_budget", bytes, 1)
    }

    /// The nesting depth of JSON in a request, 64 by default and 126 at most; deeper JSON answers 400.
    #[must_use]
    pub fn max_depth(mut self, depth: usize) -> Self {
        self.limits.message.depth = depth;
        self.at_least("max_depth", depth, 8)
    }

    /// The longest id of a request, as it is written in JSON: 256 bytes by default and at least 64. A longer one answers
    /// 400, since each answer repeats it.
    #[must_use]
    pub fn max_id(mut self, bytes: usize) -> Self {
        self.limits.message.id = bytes;
        self.at_least("max_id", bytes, 64)
    }

    /// The longest progress token or cursor of a client, 8 KiB by default and at least, since the cursors of a
    /// [`Suite`](crate::Suite) may take as much; a longer one answers `-32602`.
    #[must_use]
    pub fn max_token(mut self, bytes: usize) -> Self {
        self.limits.message.token = bytes;
        self.at_least("max_token", bytes, 8 * 1024)
    }

    /// A body that is larger than all of them together may be would be told to come again later, for ever.
    pub(super) fn budget_fault(&self) -> Option<String> {
        let (largest, budget) = (self.limits.body, self.body_budget);
        (budget.saturating_add(Budget::FREE) < largest).then(|| {
            format!(
                "body_budget: {budget} bytes for all requests are less than the {largest} of one body (max_body); at least as many \
                 would do"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_no_client_asks_for_is_a_fault() {
        for path in ["/a\n", "/a\0", "/é", "/a/../mcp", "/./mcp", "/a/..", "/a b", "mcp", "/mcp?", "/mcp#"] {
            let faults = Options::new().path(path).check(&[]).unwrap_err();
            assert!(faults.to_string().contains("percent-encodes"), "{faults}");
        }
        for path in ["/", "/mcp", "/a/b/", "/%C3%A9", "/...", "/a.b"] {
            assert!(Options::new().path(path).check(&[]).is_ok(), "{path}");
        }
    }

    #[test]
    fn a_budget_that_no_largest_body_fits_would_refuse_it_for_ever() {
        let small = Options::new().body_budget(1024 * 1024);
        let fault = small.check(&[]).unwrap_err().to_string();
        assert!(fault.contains("max_body"), "{fault}");
        assert!(small.max_body(1024 * 1024).check(&[]).is_ok());
        assert!(Options::new().max_body(usize::MAX).body_budget(usize::MAX).check(&[]).is_ok());
    }
}
