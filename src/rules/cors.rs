//! F7, F8: what a browser must be told before the pages of a listed origin may call, and read the answer.

use http::HeaderMap;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, HeaderValue, ORIGIN, VARY,
};

const METHODS: &str = "POST, OPTIONS";
const METADATA_METHODS: &str = "GET, HEAD, OPTIONS";
const HEADERS: &str = "authorization, content-type, accept, mcp-protocol-version, mcp-method, mcp-name, traceparent, \
                       tracestate, baggage";
const EXPOSED: &str = "www-authenticate, retry-after";

/// Whether a request asks if it may be sent, rather than to be served.
pub(crate) fn is_preflight(method: &http::Method, headers: &HeaderMap) -> bool {
    *method == http::Method::OPTIONS
        && headers.contains_key(ORIGIN)
        && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

/// What a preflight's answer has beside the headers of [every answer](answer). Mirrored parameters are allowed by
/// their prefix, since a preflight cannot say which tool it is for.
pub(crate) fn preflight(request: &HeaderMap, response: &mut HeaderMap) {
    let mut allowed = HEADERS.to_owned();
    let asked =
        request.get(ACCESS_CONTROL_REQUEST_HEADERS).and_then(|asked| asked.to_str().ok()).unwrap_or_default();
    let mirrored = asked.split(',').map(str::trim).filter(|name| {
        name.len() <= 128
            && name.get(..10).is_some_and(|prefix| prefix.eq_ignore_ascii_case("mcp-param-"))
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    });
    for name in mirrored.take(64) {
        allowed.push_str(", ");
        allowed.push_str(&name.to_ascii_lowercase());
    }
    response.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(METHODS));
    if let Ok(allowed) = HeaderValue::from_str(&allowed) {
        response.insert(ACCESS_CONTROL_ALLOW_HEADERS, allowed);
    }
    response.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
}

/// The headers of every answer to a page of a listed origin, errors included: without them it cannot read the challenge of a
/// 401.
pub(crate) fn answer(origin: HeaderValue, response: &mut HeaderMap) {
    response.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    response.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
    response.append(VARY, HeaderValue::from_static("Origin"));
}

/// The headers of the metadata document, which anyone may read.
pub(crate) fn metadata(response: &mut HeaderMap) {
    response.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    response.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(METADATA_METHODS));
    response.insert(
        ACCESS_CONTROL_ALLOW_HEADERS,
        HeaderValue::from_static("mcp-protocol-version, authorization"),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(lines: &[(&'static str, &str)]) -> HeaderMap {
        lines
            .iter()
            .map(|(name, value)| (http::HeaderName::from_static(name), value.parse().unwrap()))
            .collect()
    }

    #[test]
    fn f7_a_preflight_names_the_methods_and_the_headers() {
        let request = headers(&[
            ("origin", "https://app.example.com"),
            ("access-control-request-method", "POST"),
            ("access-control-request-headers", "authorization,mcp-method,Mcp-Param-Region, x-other"),
        ]);
        assert!(is_preflight(&http::Method::OPTIONS, &request));
        let mut response = HeaderMap::new();
        preflight(&request, &mut response);
        assert_eq!(response["access-control-allow-methods"], "POST, OPTIONS");
        let allowed = response["access-control-allow-headers"].to_str().unwrap();
        for name in [
            "authorization",
            "mcp-protocol-version",
            "mcp-method",
            "mcp-name",
            "traceparent",
            "mcp-param-region",
        ] {
            assert!(allowed.split(", ").any(|known| known == name), "{name} in {allowed}");
        }
        assert!(!allowed.contains("x-other"));
    }

    #[test]
    fn f8_a_page_may_read_the_challenge() {
        let mut response = HeaderMap::new();
        answer(HeaderValue::from_static("https://a"), &mut response);
        assert_eq!(
            (&response["access-control-allow-origin"], &response["vary"]),
            (&"https://a".parse().unwrap(), &"Origin".parse().unwrap())
        );
        assert!(response["access-control-expose-headers"].to_str().unwrap().contains("www-authenticate"));
    }
}
