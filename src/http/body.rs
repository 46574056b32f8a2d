//! The response body: nothing, one JSON object, or an SSE stream.
//!
//! A stream writes one event a frame, so that nothing waits for company, and a comment after each keep-alive period of
//! silence (SSE-06). The answer ends it at once (SSE-04), and the connection serves the next request.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use http_body::{Body, Frame, SizeHint};
use tokio::time::{Instant, Sleep, sleep};

use crate::handler::Event;
use crate::request::Outgoing;

use super::delivery::Delivery;

/// The body of a response of this server.
#[derive(Debug)]
pub struct ResponseBody(Kind);

#[derive(Debug)]
enum Kind {
    Whole(Bytes),
    Stream(Box<Stream>),
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
        Self(Kind::Whole(Bytes::new()))
    }

    pub(crate) fn whole(bytes: Bytes) -> Self {
        Self(Kind::Whole(bytes))
    }

    pub(crate) fn stream(delivery: Delivery, first: Option<Outgoing>, keep_alive: Duration) -> Self {
        let silence = Box::pin(sleep(keep_alive));
        Self(Kind::Stream(Box::new(Stream { delivery, first, silence, keep_alive })))
    }

    /// Told before it is dropped, if that is because the client took nothing of it.
    #[cfg(feature = "http2")]
    pub(super) fn stalled(&mut self) {
        if let Kind::Stream(stream) = &mut self.0 {
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
                    None => event(&answer.body),
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
        let frame = match &mut self.0 {
            Kind::Whole(bytes) if bytes.is_empty() => None,
            Kind::Whole(bytes) => Some(std::mem::take(bytes)),
            Kind::Stream(stream) => match stream.poll_frame(cx) {
                Poll::Ready(frame) => frame,
                Poll::Pending => return Poll::Pending,
            },
        };
        Poll::Ready(frame.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Kind::Whole(bytes) => bytes.is_empty(),
            Kind::Stream(stream) => stream.is_end(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Kind::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Kind::Stream(_) => SizeHint::new(),
        }
    }
}
