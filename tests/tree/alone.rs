//! Tests that have a process to themselves, where what the system counts of a process, or does to it, concerns them alone.

use std::process::Command;

/// Set in the processes that are started here.
const ALONE: &str = "RACTOR_MCP_TEST_ALONE";

/// Whether this process was started by [`again`].
pub(crate) fn is_alone() -> bool {
    std::env::var_os(ALONE).is_some()
}

/// The command that runs one test of this binary, by the name that it has in the list of tests.
pub(crate) fn again(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this binary"));
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]).env(ALONE, "1");
    command
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
    let ended = again(test).output().expect("this binary runs");
    let told = [ended.stdout, ended.stderr].concat();
    let told = String::from_utf8_lossy(&told);
    // A name that is not in the list would run nothing, and nothing fails.
    assert!(ended.status.success() && told.contains("1 passed"), "{}: {told}", ended.status);
    print!("{told}");
}
