//! The response body: nothing, one JSON object, or an SSE stream.
//!
//! A stream writes one event at a time, so that nothing waits for company, and a comment after each keep-alive period of
//! silence (SSE-06). The answer ends it at once (SSE-04), and the connection serves the next request.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use http_body::{Body, Frame, SizeHint};
use tokio::time::{Instant, Sleep, sleep};

use crate::handler::Event;
use crate::request::Outgoing;

use super::delivery::Delivery;

/// How much is handed out at a time. Where a transport cannot take several buffers at once, hyper copies what it is handed;
/// the rest stays here, where it is counted.
const PIECE: usize = 64 * 1024;

/// The body of a response of this server.
#[derive(Debug)]
pub struct ResponseBody {
    /// Not handed out yet. All there is, unless this is a stream.
    rest: Bytes,
    stream: Option<Box<Stream>>,
}

struct Stream {
    delivery: Delivery,
    /// Taken out of the outbox to decide that this is a stream.
    first: Option<Outgoing>,
    silence: Pin<Box<Sleep>>,
    keep_alive: Duration,
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Stream")
    }
}

impl ResponseBody {
    pub(crate) fn empty() -> Self {
        Self::whole(Bytes::new())
    }

    pub(crate) fn whole(bytes: Bytes) -> Self {
        Self { rest: bytes, stream: None }
    }

    pub(crate) fn stream(delivery: Delivery, first: Option<Outgoing>, keep_alive: Duration) -> Self {
        let silence = Box::pin(sleep(keep_alive));
        let stream = Stream { delivery, first, silence, keep_alive };
        Self { rest: Bytes::new(), stream: Some(Box::new(stream)) }
    }

    /// Told before it is dropped, if that is because the client took nothing of it.
    #[cfg(feature = "http2")]
    pub(super) fn stalled(&mut self) {
        if let Some(stream) = &mut self.stream {
            stream.delivery.stalled();
        }
    }
}

impl Stream {
    fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        loop {
            let outgoing = match self.first.take() {
                Some(first) => first,
                None if self.delivery.is_answered() => return Poll::Ready(None),
                None => match self.delivery.poll_next(cx) {
                    Poll::Ready(outgoing) => outgoing,
                    Poll::Pending => return self.poll_keep_alive(cx),
                },
            };
            let frame = match outgoing {
                Outgoing::Event(Event::Open) => continue,
                Outgoing::Event(Event::Message(json)) => event(&json),
                Outgoing::Answer(mut answer) => match answer.farewell.take() {
                    Some(farewell) => {
                        self.first = Some(Outgoing::Answer(answer));
                        event(&farewell)
                    }
                    None => self.delivery.hold(event(&answer.body)),
                },
            };
            self.silence.as_mut().reset(Instant::now() + self.keep_alive);
            return Poll::Ready(Some(frame));
        }
    }

    fn poll_keep_alive(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if self.silence.as_mut().poll(cx).is_pending() {
            return Poll::Pending;
        }
        self.silence.as_mut().reset(Instant::now() + self.keep_alive);
        // Registers the timer for the next period; it cannot have passed yet.
        let _ = self.silence.as_mut().poll(cx);
        Poll::Ready(Some(Bytes::from_static(b":\n\n")))
    }

    fn is_end(&self) -> bool {
        self.first.is_none() && self.delivery.is_answered()
    }
}

/// One SSE event: compact JSON on one `data:` line, no id (SSE-11, SSE-12).
fn event(json: &Bytes) -> Bytes {
    let mut frame = BytesMut::with_capacity(json.len() + 8);
    frame.put_slice(b"data: ");
    frame.put_slice(json);
    frame.put_slice(b"\n\n");
    frame.freeze()
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.rest.is_empty()
            && let Some(stream) = &mut self.stream
        {
            self.rest = ready!(stream.poll_frame(cx)).unwrap_or_default();
        }
        let piece = PIECE.min(self.rest.len());
        Poll::Ready((piece > 0).then(|| Ok(Frame::data(self.rest.split_to(piece)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.stream.as_ref().is_none_or(|stream| stream.is_end())
    }

    fn size_hint(&self) -> SizeHint {
        match &self.stream {
            None => SizeHint::with_exact(self.rest.len() as u64),
            Some(_) => SizeHint::new(),
        }
    }
}
