//! The signals that ask a process to end.
#![cfg(unix)]

use std::process::{Command, id};
use std::time::Duration;

use ractor_mcp::prelude::*;
use tokio::time::timeout;

/// A signal that comes before the future is polled would end the process, were it not waited for since the call.
async fn is_heard(name: &str) {
    let asked = shutdown_signal();
    let sent = Command::new("kill").args([&format!("-{name}"), &id().to_string()]).status();
    assert!(sent.expect("a command `kill`").success());
    timeout(Duration::from_secs(10), asked).await.expect("the signal is heard");
}

#[tokio::test]
async fn both_signals_are_heard_from_the_call_on() {
    is_heard("INT").await;
    is_heard("TERM").await;
}
