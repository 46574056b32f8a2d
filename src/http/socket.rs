//! The TCP socket of a connection, shared by hyper and by the watch that sees the client leave.
//!
//! hyper notices a FIN or RST only while its read buffer is empty: one stray byte behind a request, or a pipelined
//! request, and a client that leaves goes unnoticed until its handler is done. The watch asks the system instead: on Linux
//! it sees both, elsewhere a RST only.

use std::io;
use std::net::Shutdown;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

/// How much may wait in the system for what the client has room for, in bytes.
#[cfg(any(target_os = "linux", target_os = "android"))]
const UNSENT: u32 = 128 * 1024;

/// The socket for hyper.
pub(crate) struct Socket {
    read: OwnedReadHalf,
    write: Arc<OwnedWriteHalf>,
}

/// The socket for the watch. It shares the half that is written to: reading needs the other half for itself.
pub(crate) struct Watch(Arc<OwnedWriteHalf>);

impl Socket {
    /// Sets what every connection needs, and splits off the watch.
    pub(crate) fn new(stream: TcpStream, vanished: Duration) -> (Self, Watch) {
        // A response is written in one piece or event by event; waiting for more to send only delays it.
        let _ = stream.set_nodelay(true);
        #[cfg(any(target_os = "linux", target_os = "android"))]
        {
            // A client that vanished without a word acknowledges nothing: the system gives up on it after this time.
            let _ = SockRef::from(&stream).set_tcp_user_timeout(Some(vanished));
            // By itself the system tells of room in a full send buffer when a third of it is free. That may be megabytes,
            // and whoever takes them slowly would look as if it took nothing.
            let _ = SockRef::from(&stream).set_tcp_notsent_lowat(UNSENT);
        }
        let _ = vanished;
        let (read, write) = stream.into_split();
        let write = Arc::new(write);
        (Self { read, write: Arc::clone(&write) }, Watch(write))
    }

    fn stream(&self) -> &TcpStream {
        (*self.write).as_ref()
    }
}

impl Watch {
    /// Resolves when the client has closed its side, however: by FIN, by RST, or by vanishing.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub(crate) async fn closed(self) {
        loop {
            match self.0.ready(Interest::PRIORITY).await {
                Ok(ready) if ready.is_read_closed() => return,
                // Urgent data: not for us. Forget that it is there, or the next wait ends at once.
                Ok(_) => {
                    let stream: &TcpStream = (*self.0).as_ref();
                    let _ = stream.try_io(Interest::PRIORITY, || -> io::Result<()> {
                        Err(io::ErrorKind::WouldBlock.into())
                    });
                }
                Err(_) => return,
            }
        }
    }

    /// Resolves when the connection is broken. Other systems tell of a FIN only together with what there is to read, which
    /// is hyper's to ask for.
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    pub(crate) async fn closed(self) {
        let _ = self.0.ready(Interest::ERROR).await;
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.read).poll_read(cx, buf)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.stream().poll_write_ready(cx))?;
            match self.stream().try_write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                written => return Poll::Ready(written),
            }
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.stream().poll_write_ready(cx))?;
            match self.stream().try_write_vectored(slices) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                written => return Poll::Ready(written),
            }
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(SockRef::from(self.stream()).shutdown(Shutdown::Write))
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn every_connection_writes_at_once_and_gives_up_on_a_client_that_vanished() {
        const VANISHED: Duration = Duration::from_secs(7);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let _client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (socket, _watch) = Socket::new(listener.accept().await.unwrap().0, VANISHED);
        let options = SockRef::from(socket.stream());
        assert!(options.tcp_nodelay().unwrap());
        #[cfg(any(target_os = "linux", target_os = "android"))]
        {
            assert_eq!(options.tcp_user_timeout().unwrap(), Some(VANISHED));
            assert_eq!(options.tcp_notsent_lowat().unwrap(), UNSENT);
        }
    }
}
