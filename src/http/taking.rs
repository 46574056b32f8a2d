//! The streams of one HTTP/2 connection, and whether their clients take what is written to them.
//!
//! A client may keep the window of a stream at zero while its socket reads on, so that the write stall of the socket sees
//! nothing. A response goes to h2 in pieces, which see each byte that is sent of them: a stream of which nothing was sent
//! for the stall time, while a piece waits, is reset, alone. What h2 still holds of a response that has ended is at most
//! [`SMALL`] bytes.

use std::convert::Infallible;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, Bytes};
use http_body::{Body, Frame, SizeHint};
use hyper::rt::Executor;
use tokio::time::{Instant, sleep_until};

use super::ResponseBody;

/// The largest piece, in bytes: one frame of HTTP/2 unless the client asks for larger ones.
const PIECE: usize = 16 * 1024;

/// What goes out in one piece, as most answers do, in bytes.
const SMALL: usize = 1024;

tokio::task_local! {
    /// Set in the task of each stream, by which its body finds it.
    static CLIENT: Arc<Client>;
}

/// What the client of a stream does.
#[derive(Default)]
struct Client(Mutex<Taking>);

#[derive(Clone, Copy, Default)]
enum Taking {
    #[default]
    All,
    /// Something waits, of which it has taken nothing since then.
    Nothing(Instant),
    /// For too long.
    Stalled,
}

impl Client {
    fn taking(&self) -> Taking {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A verdict stays, whatever is sent behind it.
    fn note(&self, taking: Taking) {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !matches!(*noted, Taking::Stalled) {
            *noted = taking;
        }
    }

    /// Resolves when it has taken nothing for the limit.
    async fn stalled(&self, limit: Duration) {
        let mut look = Instant::now() + limit;
        loop {
            sleep_until(look).await;
            let now = Instant::now();
            look = match self.taking() {
                Taking::Nothing(since) if since + limit <= now => return self.note(Taking::Stalled),
                Taking::Nothing(since) => since + limit,
                Taking::All | Taking::Stalled => now + limit,
            };
        }
    }
}

/// Runs the streams of one connection, each in a task of its own that ends when its client has stopped reading.
#[derive(Clone)]
pub(super) struct Streams {
    limit: Duration,
    open: Arc<AtomicUsize>,
}

impl Streams {
    pub(super) fn new(limit: Duration) -> Self {
        Self { limit, open: Arc::default() }
    }

    /// How many are at work: from their head on, until all but the last bytes of their response are sent.
    pub(super) fn open(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }
}

impl<F> Executor<F> for Streams
where
    F: Future<Output = ()> + Send + 'static,
{
    fn execute(&self, stream: F) {
        let open = Open::new(Arc::clone(&self.open));
        let limit = self.limit;
        let client = Arc::new(Client::default());
        tokio::spawn(CLIENT.scope(Arc::clone(&client), async move {
            let _open = open;
            // Dropped behind the verdict: an unfinished stream that is dropped is reset.
            let stream = pin!(stream);
            tokio::select! {
                biased;
                () = stream => {}
                () = client.stalled(limit) => {
                    tracing::debug!(target: "ractor_mcp", "the client takes nothing of a stream: reset");
                }
            }
        }));
    }
}

/// One stream that counts as open for as long as this lives.
struct Open(Arc<AtomicUsize>);

impl Open {
    fn new(count: Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A response body that hands itself out in pieces.
pub(super) struct Pieces {
    body: ResponseBody,
    /// Taken out of the body, and not handed out yet.
    rest: Bytes,
    client: Arc<Client>,
}

impl Pieces {
    /// A body of the stream that this task runs.
    pub(super) fn new(body: ResponseBody) -> Self {
        Self { body, rest: Bytes::new(), client: CLIENT.try_with(Arc::clone).unwrap_or_default() }
    }
}

/// What h2 sends in one frame, or in several if the window is small; it tells of each byte.
pub(super) struct Piece {
    bytes: Bytes,
    client: Arc<Client>,
}

impl Buf for Piece {
    fn remaining(&self) -> usize {
        self.bytes.remaining()
    }

    fn chunk(&self) -> &[u8] {
        self.bytes.chunk()
    }

    fn advance(&mut self, sent: usize) {
        self.client.note(Taking::Nothing(Instant::now()));
        self.bytes.advance(sent);
    }
}

/// The next piece. The last byte of what is large goes alone: h2 asks for it only when all before it has room.
fn cut(rest: &mut Bytes) -> Bytes {
    if rest.len() <= SMALL { std::mem::take(rest) } else { rest.split_to(PIECE.min(rest.len() - 1)) }
}

impl Body for Pieces {
    type Data = Piece;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Piece>, Infallible>>> {
        self.client.note(Taking::All);
        if self.rest.is_empty() {
            match ready!(Pin::new(&mut self.body).poll_frame(cx)) {
                Some(Ok(frame)) => self.rest = frame.into_data().unwrap_or_default(),
                Some(Err(never)) => match never {},
                None => return Poll::Ready(None),
            }
        }
        self.client.note(Taking::Nothing(Instant::now()));
        let piece = Piece { bytes: cut(&mut self.rest), client: Arc::clone(&self.client) };
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Pieces {
    fn drop(&mut self) {
        if matches!(self.client.taking(), Taking::Stalled) {
            self.body.stalled();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(size: usize) -> Vec<usize> {
        let mut rest = Bytes::from(vec![b'x'; size]);
        let mut lengths = vec![];
        while !rest.is_empty() {
            lengths.push(cut(&mut rest).len());
        }
        lengths
    }

    #[test]
    fn what_is_small_is_one_piece_and_the_last_byte_of_what_is_large_goes_alone() {
        assert_eq!(lengths(SMALL), [SMALL]);
        assert_eq!(lengths(SMALL + 1), [SMALL, 1]);
        assert_eq!(lengths(PIECE + 1), [PIECE, 1]);
        assert_eq!(lengths(2 * PIECE), [PIECE, PIECE - 1, 1]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_takes_nothing_for_the_limit_has_stalled_and_one_that_takes_a_byte_has_not() {
        let limit = Duration::from_secs(7);
        let client = Arc::new(Client::default());
        let watched = Arc::clone(&client);
        let watching = tokio::spawn(async move { watched.stalled(limit).await });
        let mut piece = Piece { bytes: Bytes::from_static(&[b'x'; 10]), client: Arc::clone(&client) };
        client.note(Taking::Nothing(Instant::now()));
        while piece.has_remaining() {
            tokio::time::sleep(limit * 3 / 4).await;
            piece.advance(1);
        }
        client.note(Taking::All);
        tokio::time::sleep(limit * 5 / 2).await;
        assert!(!watching.is_finished());

        let began = Instant::now();
        client.note(Taking::Nothing(began));
        watching.await.unwrap();
        assert_eq!(began.elapsed(), limit);
        assert!(matches!(client.taking(), Taking::Stalled));
    }
}
