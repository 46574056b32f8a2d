//! The signals by which an operating system asks a process to end.

use std::future::{Future, pending};

/// Resolves when the process is asked to end: SIGTERM or SIGINT on Unix, Ctrl-C elsewhere. From the call on, and until the
/// process ends, these signals do nothing else: a second one does not cut the drain short, which has its own limits.
///
/// # Panics
///
/// Outside of a tokio runtime.
pub fn shutdown_signal() -> impl Future<Output = ()> + Send {
    asked_to_end()
}

// Registered at the call, not when the future is first polled: a signal in between must not be lost. What the system does not
// let us hear never comes.

#[cfg(unix)]
fn asked_to_end() -> impl Future<Output = ()> + Send {
    use tokio::signal::unix::{SignalKind, signal};

    let asked = |kind| {
        let registered = signal(kind);
        async move {
            match registered {
                Ok(mut signal) => signal.recv().await,
                Err(_) => pending().await,
            }
        }
    };
    let (terminate, interrupt) = (asked(SignalKind::terminate()), asked(SignalKind::interrupt()));
    async move {
        tokio::select! {
            _ = terminate => {}
            _ = interrupt => {}
        }
    }
}

#[cfg(not(unix))]
fn asked_to_end() -> impl Future<Output = ()> + Send {
    let registered = tokio::signal::windows::ctrl_c();
    async move {
        match registered {
            Ok(mut pressed) => pressed.recv().await,
            Err(_) => pending().await,
        };
    }
}
