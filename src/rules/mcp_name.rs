//! HDR-03, HDR-09, HDR-10: `Mcp-Name` equals the tool, prompt or resource that the body names, once decoded.

use http::HeaderMap;
use serde_json::Value;

use super::errors::Refusal;
use super::header_value::{self, Header};
use super::members::Members;
use super::methods::Method;

static HEADER: Header = Header::new("mcp-name", "Mcp-Name");

/// The header against the body (step 13 of the order of checks). Methods that name nothing may have it (HDR-16).
///
/// A body that lacks the name is left to the check of the parameters, which says more.
///
/// # Errors
///
/// 400 with `-32020`.
pub(crate) fn check(headers: &HeaderMap, method: Method, params: &Members) -> Result<(), Refusal> {
    let Some(member) = method.mirrored_name() else {
        return Ok(());
    };
    let body = params.get(member).and_then(Value::as_str);
    let Some(header) = header_value::single(headers, &HEADER)? else {
        return Err(Refusal::header_missing(HEADER.title, body.unwrap_or(member)));
    };
    let header = header_value::decode(header).ok_or_else(|| Refusal::header_undecodable(HEADER.title))?;
    match body {
        Some(body) if header != body => Err(Refusal::header_differs(HEADER.title, &header, body)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use serde_json::json;

    use super::*;

    fn code(lines: &[&'static str], method: Method, params: Value) -> Option<i64> {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append("mcp-name", HeaderValue::from_static(line));
        }
        check(&headers, method, &params.as_object().unwrap().clone().into()).err().map(|refusal| {
            assert_eq!(refusal.status.as_u16(), 400);
            refusal.error.code
        })
    }

    #[test]
    fn hdr_03_three_methods_mirror_what_they_name() {
        assert_eq!(code(&["echo"], Method::CallTool, json!({ "name": "echo" })), None);
        assert_eq!(code(&["echo"], Method::GetPrompt, json!({ "name": "echo" })), None);
        assert_eq!(code(&["file:///a"], Method::ReadResource, json!({ "uri": "file:///a" })), None);
        assert_eq!(
            code(&["echo"], Method::CallTool, json!({ "name": "boom", "Name": "echo" })),
            Some(-32020)
        );
        assert_eq!(code(&["Echo"], Method::CallTool, json!({ "name": "echo" })), Some(-32020));
        assert_eq!(
            code(&["echo"], Method::ReadResource, json!({ "uri": "x", "name": "echo" })),
            Some(-32020)
        );
    }

    #[test]
    fn hdr_07_a_missing_or_repeated_header_is_refused() {
        assert_eq!(code(&[], Method::CallTool, json!({ "name": "echo" })), Some(-32020));
        assert_eq!(code(&[], Method::CallTool, json!({})), Some(-32020));
        assert_eq!(code(&["echo", "echo"], Method::CallTool, json!({ "name": "echo" })), Some(-32020));
    }

    #[test]
    fn e12_the_base64_form_is_decoded_before_comparing() {
        let german = json!({ "name": "grüße" });
        assert_eq!(code(&["=?base64?Z3LDvMOfZQ==?="], Method::CallTool, german.clone()), None);
        assert_eq!(code(&["=?base64?Z3LDvMOfZQ?="], Method::CallTool, german.clone()), Some(-32020));
        assert_eq!(code(&["=?BASE64?Z3LDvMOfZQ==?="], Method::CallTool, german), Some(-32020));
    }

    #[test]
    fn e12_a_name_that_looks_encoded_travels_encoded() {
        let odd = json!({ "name": "=?base64?x?=" });
        assert_eq!(code(&["=?base64?PT9iYXNlNjQ/eD89?="], Method::CallTool, odd.clone()), None);
        assert_eq!(code(&["=?base64?x?="], Method::CallTool, odd), Some(-32020));
    }

    #[test]
    fn hdr_16_the_header_is_no_error_where_nothing_is_named() {
        assert_eq!(code(&["echo"], Method::ListTools, json!({})), None);
        assert_eq!(code(&[], Method::Discover, json!({})), None);
    }

    #[test]
    fn a_body_without_a_name_is_left_to_the_parameters() {
        assert_eq!(code(&["echo"], Method::CallTool, json!({ "name": 7 })), None);
    }
}
