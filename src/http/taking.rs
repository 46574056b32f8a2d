//! The streams of one HTTP/2 connection, and whether their clients take what is written to them.
//!
//! A client may keep the window of a stream at zero while its socket reads on, so that the write stall of the socket sees
//! nothing. A response goes to h2 in pieces, which see each byte that is sent of them: a stream of which nothing was sent
//! for the stall time, while a piece waits, is reset, alone. Streams are sent in turns: one whose turn has not come is
//! spared, for as long as the others are sent. What the client gives no room for and h2 still holds of a response that has
//! ended is at most [`SMALL`] bytes.

use std::convert::Infallible;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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

/// Runs the streams of one connection, each in a task of its own that ends when its client has stopped reading.
#[derive(Clone)]
pub(super) struct Streams {
    limit: Duration,
    traffic: Arc<Traffic>,
}

/// What happens on all streams of a connection.
#[derive(Default)]
struct Traffic {
    begun: AtomicUsize,
    open: AtomicUsize,
    /// How many streams are open, or have something left to send.
    sending: AtomicUsize,
    sent: Mutex<Sent>,
}

/// Of all responses so far, to the socket.
#[derive(Clone, Copy)]
struct Sent {
    bytes: u64,
    last: Instant,
}

impl Default for Sent {
    fn default() -> Self {
        Self { bytes: 0, last: Instant::now() }
    }
}

impl Streams {
    pub(super) fn new(limit: Duration) -> Self {
        Self { limit, traffic: Arc::default() }
    }

    /// How many are at work: from their head on, until the last byte of their response has room in the window.
    pub(super) fn open(&self) -> usize {
        self.traffic.open.load(Ordering::Relaxed)
    }

    /// How many have begun so far, and how many bytes of responses were sent: while both stay, nothing happens.
    pub(super) fn progress(&self) -> (usize, u64) {
        (self.traffic.begun.load(Ordering::Relaxed), self.traffic.sent().bytes)
    }
}

impl Traffic {
    fn sent(&self) -> MutexGuard<'_, Sent> {
        lock(&self.sent)
    }

    /// How many bytes are sent until each stream had its turn for certain.
    fn round(&self) -> u64 {
        (2 * PIECE * self.sending.load(Ordering::Relaxed)) as u64
    }
}

impl<F> Executor<F> for Streams
where
    F: Future<Output = ()> + Send + 'static,
{
    fn execute(&self, stream: F) {
        let open = Open::new(Arc::clone(&self.traffic));
        let limit = self.limit;
        let client = Arc::new(Client::new(Arc::clone(&self.traffic)));
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
struct Open(Arc<Traffic>);

impl Open {
    fn new(traffic: Arc<Traffic>) -> Self {
        traffic.begun.fetch_add(1, Ordering::Relaxed);
        traffic.open.fetch_add(1, Ordering::Relaxed);
        Self(traffic)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The client of one stream. It lives until the last piece of that is sent or dropped.
struct Client {
    taking: Mutex<Taking>,
    traffic: Arc<Traffic>,
}

/// What the client of a stream does.
#[derive(Clone, Copy)]
enum Taking {
    All,
    /// Something waits, of which it has taken nothing since then, when so many bytes had been sent on the connection.
    Nothing {
        since: Instant,
        sent: u64,
    },
    /// For too long.
    Stalled,
}

impl Client {
    fn new(traffic: Arc<Traffic>) -> Self {
        traffic.sending.fetch_add(1, Ordering::Relaxed);
        Self { taking: Mutex::new(Taking::All), traffic }
    }

    fn taking(&self) -> Taking {
        *lock(&self.taking)
    }

    /// A verdict stays, whatever is sent behind it.
    fn note(&self, taking: Taking) {
        let mut noted = lock(&self.taking);
        if !matches!(*noted, Taking::Stalled) {
            *noted = taking;
        }
    }

    /// Something waits from now on.
    fn offered(&self) {
        let sent = self.traffic.sent().bytes;
        self.note(Taking::Nothing { since: Instant::now(), sent });
    }

    fn took(&self, bytes: usize) {
        let now = Instant::now();
        let sent = {
            let mut sent = self.traffic.sent();
            *sent = Sent { bytes: sent.bytes + bytes as u64, last: now };
            sent.bytes
        };
        self.note(Taking::Nothing { since: now, sent });
    }

    /// Resolves when it has taken nothing for the limit, though its turn came or nobody's did.
    async fn stalled(&self, limit: Duration) {
        let mut look = Instant::now() + limit;
        loop {
            sleep_until(look).await;
            let now = Instant::now();
            look = match self.taking() {
                Taking::Nothing { since, .. } if since + limit > now => since + limit,
                Taking::Nothing { sent: before, .. } => {
                    let sent = *self.traffic.sent();
                    let passed_over = sent.bytes - before >= self.traffic.round();
                    if passed_over || sent.last + limit <= now {
                        return self.note(Taking::Stalled);
                    }
                    sent.last + limit
                }
                Taking::All | Taking::Stalled => now + limit,
            };
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.traffic.sending.fetch_sub(1, Ordering::Relaxed);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
        let nobody = |_| Arc::new(Client::new(Arc::default()));
        Self { body, rest: Bytes::new(), client: CLIENT.try_with(Arc::clone).unwrap_or_else(nobody) }
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
        self.client.took(sent);
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
        self.client.offered();
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

    const LIMIT: Duration = Duration::from_secs(7);

    fn watch(client: &Arc<Client>) -> tokio::task::JoinHandle<()> {
        let client = Arc::clone(client);
        tokio::spawn(async move { client.stalled(LIMIT).await })
    }

    fn piece(client: &Arc<Client>, length: usize) -> Piece {
        client.offered();
        Piece { bytes: vec![b'x'; length].into(), client: Arc::clone(client) }
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_takes_nothing_for_the_limit_has_stalled_and_one_that_takes_a_byte_has_not() {
        let client = Arc::new(Client::new(Arc::default()));
        let watching = watch(&client);
        let mut piece = piece(&client, 10);
        while piece.has_remaining() {
            tokio::time::sleep(LIMIT * 3 / 4).await;
            piece.advance(1);
        }
        client.note(Taking::All);
        tokio::time::sleep(LIMIT * 5 / 2).await;
        assert!(!watching.is_finished());

        let began = Instant::now();
        client.offered();
        watching.await.unwrap();
        assert_eq!(began.elapsed(), LIMIT);
        assert!(matches!(client.taking(), Taking::Stalled));
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_whose_turn_has_not_come_is_spared_and_one_that_is_passed_over_is_not() {
        for (pause, limits) in [(LIMIT, 4), (LIMIT / 10, 1)] {
            let traffic = Arc::new(Traffic::default());
            let (one, other) = (Arc::new(Client::new(Arc::clone(&traffic))), Arc::new(Client::new(traffic)));
            let watching = watch(&one);
            let began = Instant::now();
            let (_waits, mut goes_on) = (piece(&one, 1), piece(&other, 100 * PIECE));
            while !watching.is_finished() {
                goes_on.advance(PIECE);
                tokio::time::sleep(pause * 99 / 100).await;
            }
            let waited = began.elapsed();
            assert!(waited > LIMIT * (limits - 1) && waited < LIMIT * (limits + 1), "{waited:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_has_stalled_when_nothing_is_sent_on_any() {
        let traffic = Arc::new(Traffic::default());
        let (one, other) = (Arc::new(Client::new(Arc::clone(&traffic))), Arc::new(Client::new(traffic)));
        let watching = watch(&one);
        let began = Instant::now();
        let (_waits, mut ends) = (piece(&one, 1), piece(&other, 1));
        tokio::time::sleep(LIMIT / 2).await;
        ends.advance(1);
        watching.await.unwrap();
        assert_eq!(began.elapsed(), LIMIT * 3 / 2);
    }
}
