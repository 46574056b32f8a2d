//! What a server's options grant to each of its requests.

use std::time::Duration;

use super::threads::Threads;

/// What holds for all requests of one server.
#[derive(Clone, Debug)]
pub(crate) struct Terms {
    pub(crate) pace: Pace,
    /// How long the application may take to authorize what a stream is told; then nothing is allowed.
    pub(crate) authorize_time: Duration,
    /// How long a request may take that is no stream.
    pub(crate) request_time: Option<Duration>,
    /// Where the threads of blocking calls are counted.
    pub(crate) threads: Threads,
}

/// How much one request may report in a second (PROG-08, LOG-07).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    pub(crate) progress: u32,
    pub(crate) logs: u32,
}

impl Default for Terms {
    fn default() -> Self {
        let pace = Pace { progress: 1000, logs: 1000 };
        Self { pace, authorize_time: Duration::from_secs(5), request_time: None, threads: Threads::default() }
    }
}
