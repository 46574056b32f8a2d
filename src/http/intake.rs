//! Reading a request body within its limits of size and time, and within what the whole server holds.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use http::header::CONTENT_LENGTH;
use http::request::Parts;
use http_body::Body;
use http_body_util::{BodyExt, LengthLimitError, Limited};

use crate::request::{Budget, Share};
use crate::rules::errors::Refusal;
use crate::rules::head_size;

use super::Limits;

/// A whole body, with what it takes of the server's budget.
pub(super) struct Intake {
    pub(super) body: Bytes,
    pub(super) share: Share,
}

/// Reads a whole body. A declared length beyond the limit is refused before a byte is read. The head, which waits with it,
/// counts too: over HTTP/2 a connection has many.
pub(super) async fn read<B>(
    head: &Parts,
    body: B,
    limits: &Limits,
    budget: &Budget,
) -> Result<Intake, Refusal>
where
    B: Body,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let declared =
        head.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if declared.is_some_and(|length| length > limits.body as u64) {
        return Err(Refusal::body_too_large(limits.body));
    }
    let mut share = budget.share();
    if !share.grow(head_size::in_memory(head)) {
        return Err(too_many_bytes(&share));
    }
    let mut reading = pin!(gather(body, limits.body, share));
    // Most bodies have come with their head: they need no timer.
    if let Poll::Ready(gathered) = poll_fn(|cx| Poll::Ready(reading.as_mut().poll(cx))).await {
        return gathered;
    }
    match tokio::time::timeout(limits.body_time, reading).await {
        Ok(gathered) => gathered,
        Err(_) => Err(Refusal::body_too_slow(limits.body_time)),
    }
}

/// The server holds as much as it may, or this request alone is more than that.
pub(super) fn too_many_bytes(share: &Share) -> Refusal {
    if share.never_fits() { Refusal::takes_too_much() } else { Refusal::too_many_bytes() }
}

async fn gather<B>(body: B, limit: usize, mut share: Share) -> Result<Intake, Refusal>
where
    B: Body,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let mut body = pin!(Limited::new(body, limit));
    // Most bodies come in one piece, which is not copied.
    let mut whole = Bytes::new();
    let mut pieces = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            if error.is::<LengthLimitError>() {
                Refusal::body_too_large(limit)
            } else {
                Refusal::body_broken()
            }
        })?;
        let Ok(mut data) = frame.into_data() else { continue };
        if !share.grow(data.remaining()) {
            return Err(too_many_bytes(&share));
        }
        if whole.is_empty() {
            whole = data.copy_to_bytes(data.remaining());
        } else {
            if pieces.is_empty() {
                pieces.put_slice(&whole);
            }
            pieces.put(data);
        }
    }
    let body = if pieces.is_empty() { whole } else { pieces.freeze() };
    Ok(Intake { body, share })
}
