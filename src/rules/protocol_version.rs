//! HDR-01, HTTP-18, VER-02: `MCP-Protocol-Version` is there, equals `_meta`, and names a revision that the server has.

use http::HeaderMap;

use super::errors::Refusal;
use super::header_value::{self, Header};
use crate::wire::{PROTOCOL_VERSION, SUPPORTED_VERSIONS};

static HEADER: Header = Header::new("mcp-protocol-version", "MCP-Protocol-Version");

/// The header (step 6 of the order of checks).
///
/// # Errors
///
/// 400 with `-32020` if it is missing, repeated or unreadable.
pub(crate) fn header(headers: &HeaderMap) -> Result<&str, Refusal> {
    header_value::single(headers, &HEADER)?
        .ok_or_else(|| Refusal::header_missing(HEADER.title, PROTOCOL_VERSION))
}

/// The header against the version in `_meta`, then that version against what the server has (steps 8 and 9). In this
/// order, since a header that differs says nothing of which of the two was meant.
///
/// # Errors
///
/// 400 with `-32020` or `-32022`.
pub(crate) fn check(header: &str, in_meta: &str) -> Result<(), Refusal> {
    if header != in_meta {
        return Err(Refusal::header_differs(HEADER.title, header, in_meta));
    }
    if SUPPORTED_VERSIONS.contains(&in_meta) { Ok(()) } else { Err(Refusal::unsupported_version(in_meta)) }
}

/// A request without a version in `_meta`, under the header of a revision that the server does not have: it lacks metadata
/// (step 7 comes before step 9), and what its client has to know is that its revision is not served.
///
/// # Errors
///
/// 400 with `-32602`.
pub(crate) fn check_alone(header: &str) -> Result<(), Refusal> {
    if SUPPORTED_VERSIONS.contains(&header) { Ok(()) } else { Err(Refusal::version_without_meta(header)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(header: &str, in_meta: &str) -> Option<i64> {
        check(header, in_meta).err().map(|refusal| {
            assert_eq!(refusal.status.as_u16(), 400);
            refusal.error.code
        })
    }

    #[test]
    fn hdr_01_the_header_equals_the_version_in_meta() {
        assert_eq!(code("2026-07-28", "2026-07-28"), None);
        assert_eq!(code("2026-07-28", "v999.0.0"), Some(-32020));
        assert_eq!(code("2025-11-25", "2026-07-28"), Some(-32020));
    }

    #[test]
    fn ver_02_an_unknown_version_in_both_is_not_supported() {
        assert_eq!(code("v999.0.0", "v999.0.0"), Some(-32022));
    }

    #[test]
    fn a_09_modern_metadata_cannot_select_a_legacy_revision() {
        let refusal = check("2025-11-25", "2025-11-25").unwrap_err();
        assert_eq!(refusal.error.data.unwrap()["supported"], serde_json::json!(["2026-07-28"]));
    }

    #[test]
    fn the_header_of_another_revision_alone_is_told_which_one_is_served() {
        assert!(check_alone("2026-07-28").is_ok());
        let refusal = check_alone("2025-06-18").unwrap_err();
        assert_eq!((refusal.status.as_u16(), refusal.error.code), (400, -32602));
        for part in ["`2025-06-18` is not supported", "2026-07-28", "params._meta"] {
            assert!(refusal.error.message.contains(part), "{refusal:?}");
        }
    }

    #[test]
    fn http_18_a_request_without_the_header_is_refused() {
        let refusal = header(&HeaderMap::new()).unwrap_err();
        assert_eq!((refusal.status.as_u16(), refusal.error.code), (400, -32020));
        assert!(refusal.error.message.contains("2026-07-28"));
    }
}
