//! HDR-05, HDR-09 to HDR-13: one header line, white space trimmed, allowed characters, the Base64 form of a value.
//!
//! A value that a header cannot carry as it is travels as `=?base64?<b64>?=`. Whatever lacks one of the two markers, or
//! has no room for both, is a literal (HDR-11, A-19). Base64 is strict: standard alphabet, padding, no loose bits.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderName, HeaderValue};

use super::errors::Refusal;

const PREFIX: &str = "=?base64?";
const SUFFIX: &str = "?=";

/// A header that the specification defines.
pub(crate) struct Header {
    name: HeaderName,
    /// As the specification writes it.
    pub(crate) title: &'static str,
}

impl Header {
    /// `name` is the title in lower case.
    pub(crate) const fn new(name: &'static str, title: &'static str) -> Self {
        Self { name: HeaderName::from_static(name), title }
    }
}

/// The value of a header that may come once at most: trimmed, its characters checked, still encoded. `None` without the
/// header; a second line is refused, since whoever looks at only one of them would read something else (E13).
///
/// # Errors
///
/// 400 with `-32020`.
pub(crate) fn single<'a>(headers: &'a HeaderMap, header: &Header) -> Result<Option<&'a str>, Refusal> {
    let mut lines = headers.get_all(&header.name).iter();
    let Some(first) = lines.next() else {
        return Ok(None);
    };
    if lines.next().is_some() {
        return Err(Refusal::header_repeated(header.title));
    }
    readable(first).map(Some).ok_or_else(|| Refusal::header_unreadable(header.title))
}

/// The text of a value without the white space around it; `None` if it holds anything but 0x21 to 0x7E, space and tab.
pub(crate) fn readable(value: &HeaderValue) -> Option<&str> {
    // `to_str` lets exactly the allowed characters pass.
    value.to_str().ok().map(|text| text.trim_matches([' ', '\t']))
}

/// The value that a header text stands for; `None` if it has the Base64 form and its payload is not strict Base64 of
/// UTF-8 text.
pub(crate) fn decode(text: &str) -> Option<Cow<'_, str>> {
    let Some(payload) = text.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(SUFFIX)) else {
        return Some(Cow::Borrowed(text));
    };
    let bytes = STANDARD.decode(payload).ok()?;
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    static NAME: Header = Header::new("mcp-name", "Mcp-Name");

    /// What a client writes: the text itself if a header can carry it, else its Base64 form.
    fn encode(value: &str) -> String {
        let plain = value.bytes().all(|byte| (0x20..=0x7e).contains(&byte))
            && value.trim_matches(' ') == value
            && !(value.starts_with(PREFIX) && value.ends_with(SUFFIX));
        if plain { value.to_owned() } else { format!("{PREFIX}{}{SUFFIX}", STANDARD.encode(value)) }
    }

    fn headers(lines: &[(&'static str, &[u8])]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, HeaderValue::from_bytes(value).unwrap());
        }
        headers
    }

    #[test]
    fn hdr_09_the_base64_form_is_decoded() {
        assert_eq!(decode("=?base64?Z3LDvMOfZQ==?=").unwrap(), "grüße");
        assert_eq!(decode("=?base64??=").unwrap(), "");
    }

    #[test]
    fn hdr_10_a_payload_that_is_not_strict_base64_is_refused() {
        // No padding, half a padding, URL alphabet, loose bits, white space, not UTF-8.
        for payload in ["Z3LDvMOfZQ", "Z3LDvMOfZQ=", "_-8=", "Z3LDvMOfZR==", "Z3LD vMOfZQ==", "/w==", "x"] {
            assert_eq!(decode(&format!("=?base64?{payload}?=")), None, "{payload}");
        }
    }

    #[test]
    fn hdr_11_one_marker_or_another_case_is_a_literal() {
        for literal in ["=?base64?Zm9v", "Zm9v?=", "=?BASE64?Zm9v?=", "=?Base64?Zm9v?=", "echo", ""] {
            assert_eq!(decode(literal).unwrap(), literal);
        }
    }

    #[test]
    fn a_19_markers_that_overlap_are_a_literal() {
        assert_eq!(decode("=?base64?=").unwrap(), "=?base64?=");
    }

    #[test]
    fn hdr_05_names_compare_without_case() {
        for name in ["mcp-name", "Mcp-Name", "MCP-NAME"] {
            assert_eq!(single(&headers(&[(name, b"echo")]), &NAME).unwrap(), Some("echo"));
        }
    }

    #[test]
    fn hdr_12_other_characters_are_refused() {
        for value in [&b"gr\xc3\xbc\xc3\x9fe"[..], b"a\xffb"] {
            let refusal = single(&headers(&[("mcp-name", value)]), &NAME).unwrap_err();
            assert_eq!((refusal.status.as_u16(), refusal.error.code), (400, -32020));
        }
        assert_eq!(single(&headers(&[("mcp-name", b"a b\tc")]), &NAME).unwrap(), Some("a b\tc"));
    }

    #[test]
    fn hdr_13_white_space_around_a_value_does_not_count() {
        assert_eq!(single(&headers(&[("mcp-name", b" \t echo\t ")]), &NAME).unwrap(), Some("echo"));
    }

    #[test]
    fn e13_a_second_line_is_refused() {
        let refusal = single(&headers(&[("mcp-name", b"a"), ("mcp-name", b"a")]), &NAME).unwrap_err();
        assert_eq!((refusal.status.as_u16(), refusal.error.code), (400, -32020));
        assert_eq!(single(&HeaderMap::new(), &NAME).unwrap(), None);
    }

    proptest! {
        #[test]
        fn any_text_survives_encoding(text in any::<String>()) {
            let encoded = encode(&text);
            let value = HeaderValue::from_str(&encoded).unwrap();
            prop_assert_eq!(decode(readable(&value).unwrap()).unwrap(), text);
        }

        #[test]
        fn text_near_the_markers_survives_encoding(text in "(=\\?base64\\?)?[=?A-Za-z0-9+/]{0,6}(\\?=)?") {
            let encoded = encode(&text);
            prop_assert_eq!(decode(&encoded).unwrap(), text);
        }
    }
}
