//! One connection in memory: the server on one end of a pipe, hyper's client on the other, and a gate before its reads.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http_body_util::Full;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use ractor_otp::Pid;
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf, duplex};
use tokio::task::AbortHandle;

use crate::tree::{Error, McpSupervisor};

/// What the pipe holds in each direction: little, so that a client that does not read is noticed soon.
const PIPE: usize = 1024;

/// An HTTP/1.1 connection; dropped, it is gone at once, as by a client that crashed.
pub(super) struct Line {
    pub(super) sender: SendRequest<Full<Bytes>>,
    pub(super) gate: Gate,
    pub(super) connection: Pid,
    driver: AbortHandle,
}

impl Line {
    pub(super) async fn open(mcp: &McpSupervisor, peer: Option<SocketAddr>) -> Result<Self, Error> {
        let (connection, stream) = pipe(mcp, peer).await?;
        let gate = Gate::default();
        let io = TokioIo::new(Gated { stream, gate: gate.clone() });
        // A handshake of HTTP/1.1 exchanges nothing.
        let (sender, driver) = handshake(io).await.map_err(|error| Error::Listen {
            address: "a pipe in memory".to_owned(),
            source: io::Error::other(error),
        })?;
        let driver = tokio::spawn(driver).abort_handle();
        Ok(Self { sender, gate, connection, driver })
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Line({})", self.connection)
    }
}

/// A connection of the server, and the other end of its pipe.
pub(super) async fn pipe(
    mcp: &McpSupervisor,
    peer: Option<SocketAddr>,
) -> Result<(Pid, DuplexStream), Error> {
    let (ours, theirs) = duplex(PIPE);
    let connection = mcp.serve(TokioIo::new(theirs), peer).await?;
    Ok((connection, ours))
}

/// Holds back reading while it is shut.
#[derive(Clone, Default)]
pub(super) struct Gate(Arc<Mutex<Shut>>);

#[derive(Default)]
struct Shut {
    shut: bool,
    reader: Option<Waker>,
}

impl Gate {
    pub(super) fn shut(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).shut = true;
    }

    pub(super) fn open(&self) {
        let mut gate = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        gate.shut = false;
        if let Some(reader) = gate.reader.take() {
            reader.wake();
        }
    }

    fn poll(&self, cx: &Context<'_>) -> Poll<()> {
        let mut gate = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !gate.shut {
            return Poll::Ready(());
        }
        gate.reader = Some(cx.waker().clone());
        Poll::Pending
    }
}

struct Gated {
    stream: DuplexStream,
    gate: Gate,
}

impl AsyncRead for Gated {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.gate.poll(cx).is_pending() {
            return Poll::Pending;
        }
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Gated {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
