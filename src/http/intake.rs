//! Reading a request body within its limits of size and time, before anything is allocated for the request.

use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_LENGTH;
use http_body::Body;
use http_body_util::{BodyExt, LengthLimitError, Limited};

use crate::rules::errors::Refusal;

use super::Limits;

/// Reads a whole body. A declared length beyond the limit is refused before a byte is read.
pub(super) async fn read<B>(headers: &HeaderMap, body: B, limits: &Limits) -> Result<Bytes, Refusal>
where
    B: Body,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let declared = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if declared.is_some_and(|length| length > limits.body as u64) {
        return Err(Refusal::body_too_large(limits.body));
    }
    let reading = Limited::new(body, limits.body).collect();
    match tokio::time::timeout(limits.body_time, reading).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(Refusal::body_too_large(limits.body)),
        Ok(Err(_)) => Err(Refusal::body_broken()),
        Err(_) => Err(Refusal::body_too_slow(limits.body_time)),
    }
}
