//! The response body: nothing, one JSON object, or an SSE stream.
//!
//! A stream writes one event a frame, so that nothing waits for company, and a comment after each keep-alive period of
//! silence (SSE-06). The answer ends it at once (SSE-04), and the connection serves the next request.

use std::io;
use std::pin::Pin;
#[cfg(feature = "http2")]
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use http_body::{Body, Frame, SizeHint};
use tokio::time::{Instant, Sleep, sleep};

use crate::handler::Event;
use crate::request::Outgoing;

use super::delivery::Delivery;
#[cfg(feature = "http2")]
use super::held::{Bodies, Held, lock};

/// The body of a response of this server.
pub struct ResponseBody(Kind);

pub(super) enum Kind {
    Whole(Bytes),
    Stream(Box<Stream>),
    /// One of the above, over HTTP/2.
    #[cfg(feature = "http2")]
    Held(Arc<Mutex<Held>>),
}

pub(super) struct Stream {
    delivery: Delivery,
    /// Taken out of the outbox to decide that this is a stream.
    first: Option<Outgoing>,
    silence: Pin<Box<Sleep>>,
    keep_alive: Duration,
}

impl std::fmt::Debug for ResponseBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ResponseBody")
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

    /// The same body, dropped if the client takes nothing of it for too long.
    #[cfg(feature = "http2")]
    pub(super) fn held(self, bodies: &Bodies) -> Self {
        if self.0.is_end() { self } else { Self(Kind::Held(bodies.hold(self.0))) }
    }
}

impl Kind {
    pub(super) fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        match self {
            Self::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Self::Whole(bytes) => Poll::Ready(Some(Ok(std::mem::take(bytes)))),
            Self::Stream(stream) => stream.poll_frame(cx).map(|frame| frame.map(Ok)),
            #[cfg(feature = "http2")]
            Self::Held(held) => lock(held).poll_frame(cx),
        }
    }

    pub(super) fn is_end(&self) -> bool {
        match self {
            Self::Whole(bytes) => bytes.is_empty(),
            Self::Stream(stream) => stream.is_end(),
            #[cfg(feature = "http2")]
            Self::Held(held) => lock(held).is_end(),
        }
    }

    /// How many bytes are left, where that is known.
    pub(super) fn length(&self) -> Option<u64> {
        match self {
            Self::Whole(bytes) => Some(bytes.len() as u64),
            Self::Stream(_) => None,
            #[cfg(feature = "http2")]
            Self::Held(held) => lock(held).length(),
        }
    }

    /// Ends the request behind a body that its client does not take.
    #[cfg(feature = "http2")]
    pub(super) fn stall(self) {
        if let Self::Stream(stream) = self {
            stream.delivery.stall();
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
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        self.0.poll_frame(cx).map(|frame| frame.map(|frame| frame.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.length().map_or_else(SizeHint::new, SizeHint::with_exact)
    }
}
