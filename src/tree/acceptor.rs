//! The acceptor: a leaf under its listener, permanent. It accepts connections and starts their supervisors.
//!
//! An accept error never ends it: most are the client's, the others (no descriptors left) pass. Its death spares the
//! connections, and the socket, which belongs to the listener, outlives it.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use ractor_otp::{ExitReason, Me, Next, Process};
use tokio::net::TcpStream;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, sleep};

use super::connection;
use super::listener::Port;

const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
const LOG_EVERY: Duration = Duration::from_secs(5);

pub(super) struct Acceptor {
    port: Arc<Port>,
    pause: Duration,
    logged: Option<Instant>,
}

impl Acceptor {
    pub(super) fn new(port: Arc<Port>) -> Self {
        Self { port, pause: FIRST_PAUSE, logged: None }
    }

    /// Waits for room below the connection limit, then for a client: beyond the limit clients wait in the backlog.
    /// `None` if the port is closed.
    async fn accept(&self) -> io::Result<Option<(TcpStream, OwnedSemaphorePermit)>> {
        let permit = self.port.room().await?;
        let Some(socket) = self.port.socket() else { return Ok(None) };
        let (stream, _) = socket.accept().await?;
        Ok(Some((stream, permit)))
    }

    async fn back_off(&mut self, error: &io::Error) {
        if matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset) {
            return;
        }
        if self.logged.is_none_or(|last| last.elapsed() >= LOG_EVERY) {
            self.logged = Some(Instant::now());
            tracing::error!(target: "ractor_mcp", %error, address = %self.port.address, "cannot accept connections");
        }
        sleep(self.pause).await;
        self.pause = LONGEST_PAUSE.min(self.pause * 2);
    }
}

impl Process for Acceptor {
    type Message = ();

    async fn handle_continue(&mut self, _: &Me<()>) -> Next {
        loop {
            match self.accept().await {
                Ok(Some((stream, permit))) => {
                    self.pause = FIRST_PAUSE;
                    connection::start(&self.port, stream, permit).await;
                }
                // Nothing is left to do but to wait for the exit request.
                Ok(None) => return Next::Receive,
                Err(error) => self.back_off(&error).await,
            }
        }
    }

    async fn handle(&mut self, (): (), _: &Me<()>) -> Next {
        Next::Stop(ExitReason::Normal)
    }
}
