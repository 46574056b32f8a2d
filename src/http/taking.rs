//! Whether the client of one HTTP/2 stream takes what is written to it.
//!
//! A client may keep the window of a stream at zero while its socket reads on, so that the write stall of the socket sees
//! nothing. A response goes to h2 in pieces: h2 asks for the next one when the client has made room, and a stream that is
//! not asked again for the stall time is reset, alone. What h2 still holds of a response that has ended is at most
//! [`SMALL`] bytes.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::rt::Executor;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use super::ResponseBody;

/// The largest piece, in bytes: one frame of HTTP/2 unless the client asks for larger ones.
const PIECE: usize = 16 * 1024;

/// What goes out in one piece, as most answers do, in bytes.
const SMALL: usize = 1024;

tokio::task_local! {
    /// Set in the task of each stream, by which its body finds its watch.
    static TAKING: Arc<watch::Sender<Client>>;
}

/// What the client of a stream does.
#[derive(Clone, Copy)]
enum Client {
    Reads,
    /// A piece waits for room since then.
    Lingers(Instant),
    Stalled,
}

/// Runs the streams of one connection, each in a task of its own that ends when its client has stopped reading.
#[derive(Clone)]
pub(super) struct Streams {
    pub(super) limit: Duration,
}

impl<F> Executor<F> for Streams
where
    F: Future<Output = ()> + Send + 'static,
{
    fn execute(&self, stream: F) {
        let (client, watched) = watch::channel(Client::Reads);
        let client = Arc::new(client);
        let limit = self.limit;
        tokio::spawn(TAKING.scope(Arc::clone(&client), async move {
            // Dropped behind the verdict: an unfinished stream that is dropped is reset.
            let stream = std::pin::pin!(stream);
            tokio::select! {
                biased;
                () = stream => {}
                () = stalled(watched, limit) => {
                    tracing::debug!(target: "ractor_mcp", "the client takes nothing of a stream: reset");
                    client.send_replace(Client::Stalled);
                }
            }
        }));
    }
}

/// Resolves when a piece has waited for the limit.
async fn stalled(mut client: watch::Receiver<Client>, limit: Duration) {
    loop {
        let now = *client.borrow_and_update();
        let changed = match now {
            Client::Lingers(since) => timeout_at(since + limit, client.changed()).await,
            Client::Reads | Client::Stalled => Ok(client.changed().await),
        };
        match changed {
            Ok(Ok(())) => {}
            Ok(Err(_)) => std::future::pending().await,
            Err(_) => return,
        }
    }
}

/// A response body that hands itself out in pieces.
pub(super) struct Pieces {
    body: ResponseBody,
    /// Taken out of the body, and not handed out yet.
    rest: Bytes,
    client: Option<Arc<watch::Sender<Client>>>,
}

impl Pieces {
    /// A body of the stream that this task runs.
    pub(super) fn new(body: ResponseBody) -> Self {
        Self { body, rest: Bytes::new(), client: TAKING.try_with(Arc::clone).ok() }
    }

    fn note(&self, what: Client) {
        if let Some(client) = &self.client {
            client.send_replace(what);
        }
    }
}

/// The next piece. The last byte of what is large goes alone: h2 asks for it only when all before it has room.
fn cut(rest: &mut Bytes) -> Bytes {
    if rest.len() <= SMALL { std::mem::take(rest) } else { rest.split_to(PIECE.min(rest.len() - 1)) }
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.note(Client::Reads);
        if self.rest.is_empty() {
            match ready!(Pin::new(&mut self.body).poll_frame(cx)) {
                Some(Ok(frame)) => self.rest = frame.into_data().unwrap_or_default(),
                ended => return Poll::Ready(ended),
            }
        }
        self.note(Client::Lingers(Instant::now()));
        Poll::Ready(Some(Ok(Frame::data(cut(&mut self.rest)))))
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
        if self.client.as_ref().is_some_and(|client| matches!(*client.borrow(), Client::Stalled)) {
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
    async fn a_piece_that_waits_for_the_limit_is_a_stall_and_one_that_is_taken_is_none() {
        let limit = Duration::from_secs(7);
        let (client, watched) = watch::channel(Client::Reads);
        let began = Instant::now();
        let watching = tokio::spawn(stalled(watched, limit));
        for _ in 0..3 {
            client.send_replace(Client::Lingers(Instant::now()));
            tokio::time::sleep(limit / 2).await;
            client.send_replace(Client::Reads);
            tokio::time::sleep(2 * limit).await;
            assert!(!watching.is_finished());
        }
        let waited = began.elapsed();
        client.send_replace(Client::Lingers(Instant::now()));
        watching.await.unwrap();
        assert_eq!(began.elapsed() - waited, limit);
    }
}
