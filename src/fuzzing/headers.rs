//! Any bytes as the value of a header: in its Base64 form, and in each header that the checks read.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderValue, Request};

use crate::rules::cors;
use crate::rules::header_value;
use crate::rules::host::HostPolicy;
use crate::rules::order::{self, Limits};
use crate::rules::origin::OriginPolicy;
use crate::wire::ServerCapabilities;

use super::json_rpc::check;

/// The headers whose values are read, beside those of HTTP itself.
const READ: [&str; 14] = [
    "accept",
    "access-control-request-headers",
    "authorization",
    "baggage",
    "content-type",
    "host",
    "mcp-method",
    "mcp-name",
    "mcp-param-region",
    "mcp-protocol-version",
    "origin",
    "traceparent",
    "tracestate",
    "x-forwarded-host",
];

const CALL: &[u8] = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;

/// Reads any bytes as the value of a header.
///
/// A text that a client encodes is decoded to that text, and a call with the bytes in any one of its headers is let in or
/// refused with an answer.
pub fn header_values(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        let encoded = format!("=?base64?{}?=", STANDARD.encode(text));
        assert_eq!(header_value::decode(&encoded).as_deref(), Some(text), "encoded and decoded");
        let literal = header_value::decode(text);
        let has_the_form = text.starts_with("=?base64?") && text.ends_with("?=") && text.len() >= 11;
        assert!(has_the_form || literal.as_deref() == Some(text), "a literal is what it is");
    }
    let Ok(value) = HeaderValue::from_bytes(bytes) else { return };
    for name in READ {
        with(name, &value);
    }
}

fn with(name: &'static str, value: &HeaderValue) {
    let mut request = Request::post("/mcp").body(()).expect("a request");
    let headers = request.headers_mut();
    for (name, value) in [
        ("host", "localhost"),
        ("accept", "application/json, text/event-stream"),
        ("content-type", "application/json"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "echo"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.insert(name, value.clone());
    let (head, ()) = request.into_parts();
    let origins = OriginPolicy::default().with_loopback(true);
    let capabilities = ServerCapabilities::new().tools(true);
    let limits = Limits::default();
    let admitted = order::origin(&head, &HostPolicy::Loopback, &origins)
        .and_then(|()| order::media_types(&head.headers))
        .and_then(|_| order::body(&head.headers, CALL, &capabilities, &|_| Ok(false), &limits));
    if let Err(refusal) = &admitted {
        check(refusal, &limits);
    }
    // What a page is told is made of what it sent.
    cors::preflight(&head.headers, &mut HeaderMap::new());
}
