//! Tests that have a process to themselves, where what the system counts of a process, or does to it, concerns them alone: this
//! test binary once more, as the test that starts it.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use ractor_mcp::otp::testing::{LIMIT, within};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// Set in the processes that are started here.
const ALONE: &str = "RACTOR_MCP_TEST_ALONE";
/// How long a whole test may take: a crowd takes its time.
const WHOLE_TEST: Duration = Duration::from_secs(180);

/// Whether this process is one that was started here.
pub(crate) fn is_alone() -> bool {
    std::env::var_os(ALONE).is_some()
}

/// A test in another process, which does not outlive the one that started it, should that fail. Its errors go where ours go.
pub(crate) struct Process {
    child: Child,
    lines: UnboundedReceiver<String>,
}

impl Process {
    /// Runs one test of this binary, by the name that it has in the list of tests.
    pub(crate) fn start(test: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().expect("this binary"))
            .args(["--exact", test, "--nocapture", "--test-threads=1"])
            .env(ALONE, "1")
            .stdout(Stdio::piped())
            .spawn()
            .expect("a process");
        let out = BufReader::new(child.stdout.take().expect("a pipe"));
        let (tell, lines) = unbounded_channel();
        thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| tell.send(line)));
        Self { child, lines }
    }

    /// Waits for a line that begins so, and returns what is behind that.
    #[cfg(unix)]
    pub(crate) async fn line(&mut self, begin: &str) -> String {
        let found = async {
            loop {
                let line =
                    self.lines.recv().await.unwrap_or_else(|| panic!("ended without a line `{begin}`"));
                if let Some(rest) = line.strip_prefix(begin) {
                    return rest.to_owned();
                }
            }
        };
        within(LIMIT, found).await.unwrap_or_else(|| panic!("no line `{begin}`"))
    }

    /// All further lines: its output ends when it does.
    pub(crate) async fn rest(&mut self) -> String {
        let mut rest = String::new();
        while let Some(line) = self.lines.recv().await {
            rest.extend([&line, "\n"]);
        }
        rest
    }

    /// Waits until it has ended.
    pub(crate) async fn end(&mut self) -> ExitStatus {
        within(LIMIT, self.rest()).await.expect("the process ends");
        self.child.wait().expect("its status")
    }

    #[cfg(unix)]
    pub(crate) fn signal(&self, name: &str) {
        let process = self.child.id().to_string();
        let sent = Command::new("kill").args([&format!("-{name}"), &process]).status();
        assert!(sent.expect("a command `kill`").success());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn run<T>(body: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(body)
}

/// Runs this test, so named, in a process of its own.
pub(crate) fn alone(test: &str, body: impl Future<Output = ()>) {
    if is_alone() {
        return run(body);
    }
    run(async {
        let mut process = Process::start(test);
        let told = within(WHOLE_TEST, process.rest()).await.expect("the test ends");
        let status = process.end().await;
        // A name that is not in the list would run nothing, and nothing fails.
        assert!(status.success() && told.contains("1 passed"), "{status}: {told}");
        print!("{told}");
    });
}
