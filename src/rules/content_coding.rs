//! E16: bodies come as they are. A compressed body is refused with 415, an unknown transfer coding with 501 (RFC 9112
//! section 6.1), each with what would do; read as JSON it would only be "not JSON".

use http::HeaderMap;
use http::header::{CONTENT_ENCODING, HeaderName, TRANSFER_ENCODING};

use super::errors::Refusal;

/// Checks that neither the content nor its transfer is coded, except in chunks.
///
/// # Errors
///
/// 415 or 501.
pub(crate) fn check(headers: &HeaderMap) -> Result<(), Refusal> {
    if !names_only(headers, CONTENT_ENCODING, "identity") {
        return Err(Refusal::coded_content());
    }
    // Chunked once: whoever looks at it in front of this server may read chunks of chunks as another body.
    let is_once = headers.get_all(TRANSFER_ENCODING).iter().count() <= 1;
    if !is_once || !names_only(headers, TRANSFER_ENCODING, "chunked") {
        return Err(Refusal::coded_transfer());
    }
    Ok(())
}

/// Whether a header, in each of its lines, is the one coding that means nothing here.
fn names_only(headers: &HeaderMap, header: HeaderName, plain: &str) -> bool {
    let lines = headers.get_all(header);
    lines.iter().all(|line| line.to_str().is_ok_and(|line| line.trim().eq_ignore_ascii_case(plain)))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn status(header: HeaderName, value: &str) -> Option<u16> {
        let mut headers = HeaderMap::new();
        headers.append(header, HeaderValue::from_str(value).unwrap());
        check(&headers).err().map(|refusal| refusal.status.as_u16())
    }

    #[test]
    fn a_plain_body_passes() {
        assert_eq!(check(&HeaderMap::new()), Ok(()));
        assert_eq!(status(CONTENT_ENCODING, "identity"), None);
        assert_eq!(status(TRANSFER_ENCODING, "Chunked"), None);
    }

    #[test]
    fn e16_a_coded_body_is_refused_by_name() {
        for coding in ["gzip", "br", "identity, gzip", ""] {
            assert_eq!(status(CONTENT_ENCODING, coding), Some(415), "{coding}");
        }
        for coding in ["gzip, chunked", "chunked, chunked", "gzip", "identity"] {
            assert_eq!(status(TRANSFER_ENCODING, coding), Some(501), "{coding}");
        }
    }
}
