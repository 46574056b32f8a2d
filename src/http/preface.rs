//! HTTP/1.1 or HTTP/2, told by the first bytes (RFC 9113, 3.3: prior knowledge). The bytes are handed on unread.
//!
//! hyper-util's own way to tell them apart waits for ever for a client that sends nothing, and costs each connection
//! the memory of both protocols.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::rt::{Read, ReadBuf, ReadBufCursor, Write};

const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    Http1,
    Http2,
}

/// Reads until the version is certain: for HTTP/1.1 that is the first byte, or the second.
pub(crate) async fn read<IO: Read + Unpin>(mut io: IO) -> io::Result<(Version, Rewind<IO>)> {
    let mut bytes = [0; PREFACE.len()];
    let mut buf = ReadBuf::new(&mut bytes);
    let version = loop {
        let before = buf.filled().len();
        poll_fn(|cx| Pin::new(&mut io).poll_read(cx, buf.unfilled())).await?;
        let filled = buf.filled();
        if !PREFACE.starts_with(filled) || filled.len() == before {
            break Version::Http1;
        }
        if filled.len() == PREFACE.len() {
            break Version::Http2;
        }
    };
    let first = buf.filled().to_vec();
    Ok((version, Rewind { io, first, taken: 0 }))
}

/// A connection whose first bytes were read, and are read again.
pub(crate) struct Rewind<IO> {
    io: IO,
    first: Vec<u8>,
    taken: usize,
}

impl<IO: Read + Unpin> Read for Rewind<IO> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut buf: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let again = self.first.get(self.taken..).unwrap_or_default();
        if again.is_empty() {
            return Pin::new(&mut self.io).poll_read(cx, buf);
        }
        let now = again.get(..again.len().min(buf.remaining())).unwrap_or_default();
        buf.put_slice(now);
        self.taken += now.len();
        if self.taken == self.first.len() {
            (self.first, self.taken) = (Vec::new(), 0);
            // With what came behind them in the same read: hyper doubles its buffer for a head that comes in two. An error
            // comes again.
            if buf.remaining() > 0 {
                let _ = Pin::new(&mut self.io).poll_read(cx, buf);
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl<IO: Write + Unpin> Write for Rewind<IO> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use hyper_util::rt::TokioIo;
    use tokio::io::AsyncWriteExt;

    use super::*;

    async fn sniffed(pieces: &[&[u8]]) -> (Version, Vec<u8>) {
        let (mut client, server) = tokio::io::duplex(64);
        let sent: Vec<Vec<u8>> = pieces.iter().map(|piece| piece.to_vec()).collect();
        // The client closes after its last piece, as one that was cut off does.
        tokio::spawn(async move {
            for piece in sent {
                client.write_all(&piece).await.unwrap();
                tokio::task::yield_now().await;
            }
        });
        let (version, mut rewind) = read(TokioIo::new(server)).await.unwrap();
        let mut all = Vec::new();
        loop {
            let mut bytes = [0; 7];
            let mut buf = ReadBuf::new(&mut bytes);
            poll_fn(|cx| Pin::new(&mut rewind).poll_read(cx, buf.unfilled())).await.unwrap();
            if buf.filled().is_empty() {
                return (version, all);
            }
            all.extend_from_slice(buf.filled());
        }
    }

    #[tokio::test]
    async fn a_post_is_http_1_and_nothing_of_it_is_lost() {
        let post = b"POST /mcp HTTP/1.1\r\n\r\n";
        assert_eq!(sniffed(&[post]).await, (Version::Http1, post.to_vec()));
        assert_eq!(sniffed(&[b"P", &post[1..]]).await, (Version::Http1, post.to_vec()));
    }

    #[tokio::test]
    async fn what_came_with_the_first_bytes_is_read_with_them() {
        let (mut client, server) = tokio::io::duplex(64);
        let post = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n";
        client.write_all(post).await.unwrap();
        let (_, mut rewind) = read(TokioIo::new(server)).await.unwrap();
        let mut bytes = [0; 64];
        let mut buf = ReadBuf::new(&mut bytes);
        poll_fn(|cx| Pin::new(&mut rewind).poll_read(cx, buf.unfilled())).await.unwrap();
        assert_eq!(buf.filled(), post);
    }

    #[tokio::test]
    async fn the_preface_is_http_2_also_in_pieces() {
        assert_eq!(sniffed(&[PREFACE]).await, (Version::Http2, PREFACE.to_vec()));
        assert_eq!(sniffed(&[&PREFACE[..3], &PREFACE[3..20], &PREFACE[20..]]).await.0, Version::Http2);
    }

    #[tokio::test]
    async fn a_preface_cut_short_is_no_http_2() {
        assert_eq!(sniffed(&[&PREFACE[..10]]).await, (Version::Http1, PREFACE[..10].to_vec()));
        assert_eq!(sniffed(&[]).await, (Version::Http1, Vec::new()));
    }
}
