//! The signals by which an operating system asks a process to end.

use std::future::Future;

/// Resolves when the process is asked to end: SIGTERM or SIGINT on Unix, Ctrl-C elsewhere; at once if it was asked before.
///
/// **A second signal ends the process at once**, whatever runs: on Unix with status 128 and the signal's number, as a shell
/// tells it (143 of SIGTERM, 130 of SIGINT), elsewhere as the system does it by itself. Whoever asks twice wants no drain, and
/// a process that waits for a thread which a handler blocks has no other way out. Nothing else of the process has a say then:
/// `std::process::exit` runs no destructors.
///
/// Unix signals are heard from the call on, by a thread of their own, so that it needs no worker of the runtime.
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
    use std::sync::OnceLock;

    use tokio::sync::watch;

    /// One for the process, as its signals are.
    static ASKED: OnceLock<watch::Receiver<bool>> = OnceLock::new();

    let mut asked = ASKED.get_or_init(unix::listen).clone();
    async move {
        if asked.wait_for(|asked| *asked).await.is_err() {
            std::future::pending().await
        }
    }
}

#[cfg(unix)]
mod unix {
    use std::io;
    use std::process::exit;
    use std::sync::mpsc::{Sender, channel};
    use std::thread;

    use tokio::runtime::Builder;
    use tokio::signal::unix::{Signal, SignalKind, signal};
    use tokio::sync::watch;

    /// What a shell adds to the number of the signal that ended a process.
    const SIGNALLED: i32 = 128;

    /// Becomes true with the first signal. What tokio has begun to hear never goes back to the system's default: so the second
    /// one is heard too, and whoever listens is there before.
    pub(super) fn listen() -> watch::Receiver<bool> {
        let (tell, told) = watch::channel(false);
        let listening = start(tell).and_then(|listener| {
            let signals = Signals::register()?;
            listener.send(signals).map_err(io::Error::other)
        });
        if let Err(error) = listening {
            tracing::error!(target: "ractor_mcp", %error, "signals that ask the process to end are not heard");
        }
        told
    }

    /// In a thread with a runtime of its own: those of the application may all be blocked, or be waited for by one that ends.
    fn start(tell: watch::Sender<bool>) -> io::Result<Sender<Signals>> {
        let runtime = Builder::new_current_thread().enable_io().build()?;
        let (listener, registered) = channel();
        let listen = move || {
            if let Ok(signals) = registered.recv() {
                runtime.block_on(hear(signals, tell));
            }
        };
        thread::Builder::new().name("signals".to_owned()).spawn(listen)?;
        Ok(listener)
    }

    async fn hear(mut signals: Signals, tell: watch::Sender<bool>) {
        signals.next().await;
        tell.send_replace(true);
        exit(SIGNALLED + signals.next().await.as_raw_value())
    }

    struct Signals {
        terminate: Signal,
        interrupt: Signal,
    }

    impl Signals {
        fn register() -> io::Result<Self> {
            let terminate = signal(SignalKind::terminate())?;
            Ok(Self { terminate, interrupt: signal(SignalKind::interrupt())? })
        }

        async fn next(&mut self) -> SignalKind {
            tokio::select! {
                _ = self.terminate.recv() => SignalKind::terminate(),
                _ = self.interrupt.recv() => SignalKind::interrupt(),
            }
        }
    }
}

// A listener that is gone leaves the next Ctrl-C to the system.
#[cfg(not(unix))]
fn asked_to_end() -> impl Future<Output = ()> + Send {
    let registered = tokio::signal::windows::ctrl_c();
    async move {
        match registered {
            Ok(mut pressed) => pressed.recv().await,
            Err(_) => std::future::pending().await,
        };
    }
}
