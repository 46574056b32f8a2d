//! HDR-02, HDR-06, HDR-07: `Mcp-Method` is required on every request and equals the body's method, case included.

use http::HeaderMap;

use super::errors::Refusal;
use super::header_value::{self, Header};

static HEADER: Header = Header::new("mcp-method", "Mcp-Method");

/// The header against the body (step 10 of the order of checks).
///
/// # Errors
///
/// 400 with `-32020`.
pub(crate) fn check(headers: &HeaderMap, method: &str) -> Result<(), Refusal> {
    match header_value::single(headers, &HEADER)? {
        Some(header) if header == method => Ok(()),
        Some(header) => Err(Refusal::header_differs(HEADER.title, header, method)),
        None => Err(Refusal::header_missing(HEADER.title, method)),
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn code(lines: &[&'static str], method: &str) -> Option<i64> {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append("mcp-method", HeaderValue::from_static(line));
        }
        check(&headers, method).err().map(|refusal| {
            assert_eq!(refusal.status.as_u16(), 400);
            refusal.error.code
        })
    }

    #[test]
    fn hdr_02_the_header_equals_the_method() {
        assert_eq!(code(&["tools/list"], "tools/list"), None);
        assert_eq!(code(&[" tools/list\t"], "tools/list"), None);
        assert_eq!(code(&["tools/list"], "tools/call"), Some(-32020));
    }

    #[test]
    fn hdr_06_case_counts() {
        assert_eq!(code(&["TOOLS/LIST"], "tools/list"), Some(-32020));
    }

    #[test]
    fn hdr_07_a_missing_or_repeated_header_is_refused() {
        assert_eq!(code(&[], "tools/list"), Some(-32020));
        assert_eq!(code(&["tools/list", "tools/list"], "tools/list"), Some(-32020));
    }

    #[test]
    fn hdr_09_this_header_has_no_base64_form() {
        assert_eq!(code(&["=?base64?dG9vbHMvbGlzdA==?="], "tools/list"), Some(-32020));
    }
}
