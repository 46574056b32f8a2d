//! What a server traces, for the tests that judge it.

use std::io;
use std::sync::{Arc, LazyLock, Mutex};

use ractor_mcp::otp::testing::{LIMIT, within};
use tokio::sync::Notify;
use tracing::Dispatch;
use tracing::subscriber::{DefaultGuard, NoSubscriber};
use tracing_subscriber::fmt::MakeWriter;

/// With one subscriber in the process, `tracing` asks whichever thread meets an event first whether anybody listens, and
/// keeps the answer for all threads. With two it asks the subscribers.
static SECOND: LazyLock<Dispatch> = LazyLock::new(|| Dispatch::new(NoSubscriber::new()));

/// The trace of everything on this thread, from its creation on: of a whole test, if its runtime has one thread.
#[derive(Clone, Default)]
pub struct Logs {
    text: Arc<Mutex<Vec<u8>>>,
    written: Arc<Notify>,
}

impl Logs {
    /// Records until the guard is dropped. `level` is the least severe that is recorded.
    pub fn record(level: tracing::Level) -> (Self, DefaultGuard) {
        LazyLock::force(&SECOND);
        let logs = Self::default();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(level)
            .with_ansi(false)
            .with_writer(logs.clone())
            .finish();
        (logs, tracing::subscriber::set_default(subscriber))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.text.lock().expect("no panic while writing")).into_owned()
    }

    /// The lines of this level, such as `ERROR`.
    pub fn lines(&self, level: &str) -> Vec<String> {
        let text = self.text();
        let lines = text.lines().filter(|line| line.split_whitespace().any(|word| word == level));
        lines.map(str::to_owned).collect()
    }

    /// Waits for a line of this level; the last one.
    pub async fn await_line(&self, level: &str) -> String {
        let line = async {
            loop {
                let written = self.written.notified();
                if let Some(line) = self.lines(level).pop() {
                    return line;
                }
                written.await;
            }
        };
        within(LIMIT, line).await.unwrap_or_else(|| panic!("no line of level {level} in {:?}", self.text()))
    }
}

impl io::Write for Logs {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.text.lock().expect("no panic while writing").extend_from_slice(bytes);
        self.written.notify_waiters();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Logs {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}
