//! Any body through the checks of a POST, under headers that repeat what it says.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderValue};
use serde_json::Value;

use crate::rules::errors::Refusal;
use crate::rules::order::{self, Admitted, Limits};
use crate::wire::{PROTOCOL_VERSION, ServerCapabilities};

/// Reads any body as one message.
///
/// What is let in is JSON with the id that the body has; what is not is answered with one JSON-RPC error that has its id
/// or none, and is not much longer than a refusal needs to be.
pub fn json_rpc_intake(body: &[u8]) {
    let text: Option<Value> = serde_json::from_slice(body).ok();
    let headers = text.as_ref().map(headers).unwrap_or_default();
    let capabilities = ServerCapabilities::new().tools(true).resources(true, true).prompts(true);
    let serves = |method: &str| Ok(method.starts_with("com.example/"));
    let limits = Limits::default();
    match order::body(&headers, body, &capabilities, &serves, &limits) {
        Ok((Admitted::Request(request), _)) => {
            let id: Value = serde_json::from_str(request.id.as_json()).expect("an id is JSON");
            assert_eq!(
                text.as_ref().and_then(|body| body.get("id")),
                Some(&id),
                "another id than the body has"
            );
            assert!(request.id.as_json().len() <= limits.id, "an id beyond its limit");
        }
        Ok((Admitted::Notification(_), _)) => {
            let body = text.expect("what is let in is JSON");
            assert!(body.get("id").is_none(), "a request that was taken for a notification");
        }
        Err(refusal) => check(&refusal, &limits),
    }
}

/// The headers that a client sends with this body.
fn headers(body: &Value) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let params = &body["params"];
    let version = params["_meta"]["io.modelcontextprotocol/protocolVersion"].as_str();
    for (name, value) in [
        ("mcp-protocol-version", Some(version.unwrap_or(PROTOCOL_VERSION))),
        ("mcp-method", body["method"].as_str()),
        ("mcp-name", params["name"].as_str().or(params["uri"].as_str())),
    ] {
        let plain = value.and_then(|value| HeaderValue::from_str(value).ok());
        let encoded = || HeaderValue::from_str(&format!("=?base64?{}?=", STANDARD.encode(value?))).ok();
        if let Some(value) = plain.or_else(encoded) {
            headers.insert(name, value);
        }
    }
    headers
}

/// What every refusal is.
pub(super) fn check(refusal: &Refusal, limits: &Limits) {
    let statuses = [200, 400, 403, 404, 406, 415];
    assert!(statuses.contains(&refusal.status.as_u16()), "{refusal:?}");
    let bytes = refusal.to_bytes();
    let answer: Value = serde_json::from_slice(&bytes).expect("a refusal is JSON");
    assert!(answer["error"]["code"].is_i64() && answer.get("result").is_none(), "{refusal:?}");
    assert_ne!(
        answer["error"]["code"], -32603,
        "a fault of the client's is told as one of the server's: {refusal:?}"
    );
    let echoed = refusal.id.as_ref().map_or(0, |id| id.as_json().len());
    assert!(echoed <= limits.id, "an id beyond its limit is echoed");
}
