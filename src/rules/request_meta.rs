//! META-05 to META-08, LOG-05, PROG-03: `_meta` of a request has a version and capabilities; the rest is optional.

use serde::Deserialize;
use serde_json::Value;

use super::errors::{Refusal, Shown};
use super::members::{META, Members};
use super::{params, trace_context};
use crate::wire::{ClientCapabilities, Implementation, LogLevel, ProgressToken, RequestMeta, keys};

/// Whether a request is made under a revision with per-request metadata, this one or a later one (VER-07, A-44).
pub(crate) fn is_modern(params: Option<&Members>) -> bool {
    let meta = params.and_then(Members::meta);
    meta.is_some_and(|meta| meta.get(keys::PROTOCOL_VERSION).is_some())
}

/// The version that `_meta` names, once its required members are there (step 7 of the order of checks).
///
/// # Errors
///
/// 400 with `-32602`.
pub(crate) fn version(params: Option<&Members>) -> Result<&str, Refusal> {
    let Some(meta) = params.and_then(Members::meta) else {
        return Err(not_meta(params));
    };
    if !meta.get(keys::CLIENT_CAPABILITIES).is_some_and(Value::is_object) {
        return Err(required(keys::CLIENT_CAPABILITIES, "an object"));
    }
    let version = meta.get(keys::PROTOCOL_VERSION).and_then(Value::as_str);
    version.ok_or_else(|| required(keys::PROTOCOL_VERSION, "a string"))
}

fn not_meta(params: Option<&Members>) -> Refusal {
    match params.and_then(|params| params.get(META)) {
        Some(other) => {
            let found = params::kind(other);
            Refusal::meta_required(format!("params._meta is {found}; it has to be an object"))
        }
        None => Refusal::meta_required(
            "params._meta is missing; it names the protocol version and what the client can do",
        ),
    }
}

fn required(key: &str, kind: &str) -> Refusal {
    Refusal::meta_required(format!("params._meta[\"{key}\"] is required and is {kind}"))
}

/// Reads a `_meta` that passed [`version`], with tokens of at most `longest_token` bytes (step 14).
///
/// Who the client says it is changes nothing, so what cannot be read of it is as good as absent (META-07, META-13); so
/// is trace context that does not follow its format (META-15).
///
/// # Errors
///
/// `-32602` for a log level or a progress token that is none.
pub(crate) fn read(mut members: Members, longest_token: usize) -> Result<RequestMeta, Refusal> {
    let mut meta = RequestMeta::default();
    if let Some(Value::String(version)) = members.take(keys::PROTOCOL_VERSION) {
        meta.protocol_version = version;
    }
    if let Some(Value::Object(declared)) = members.take(keys::CLIENT_CAPABILITIES) {
        meta.client_capabilities = ClientCapabilities::from_map(declared);
    }
    meta.client_info = members.get(keys::CLIENT_INFO).and_then(|info| Implementation::deserialize(info).ok());
    if meta.client_info.is_some() {
        members.take(keys::CLIENT_INFO);
    }
    meta.log_level = members.take(keys::LOG_LEVEL).map(|level| log_level(&level)).transpose()?;
    let token = members.take(keys::PROGRESS_TOKEN);
    meta.progress_token = token.map(|token| progress_token(&token, longest_token)).transpose()?;
    meta.traceparent = text(&mut members, keys::TRACEPARENT, trace_context::is_traceparent);
    // Without its parent, the state of a trace belongs to nothing.
    if meta.traceparent.is_some() {
        meta.tracestate = text(&mut members, keys::TRACESTATE, trace_context::is_tracestate);
    }
    meta.baggage = text(&mut members, keys::BAGGAGE, trace_context::is_baggage);
    meta.entries = members.into_map();
    Ok(meta)
}

/// A text of the right form is taken out; what has another form stays among the entries.
fn text(members: &mut Members, key: &str, is_valid: fn(&str) -> bool) -> Option<String> {
    if !members.get(key)?.as_str().is_some_and(is_valid) {
        return None;
    }
    match members.take(key) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

fn log_level(value: &Value) -> Result<LogLevel, Refusal> {
    value.as_str().and_then(LogLevel::from_name).ok_or_else(|| {
        let found = Shown(value.as_str().unwrap_or("no string")).to_string();
        let key = keys::LOG_LEVEL;
        Refusal::invalid_params(format!(
            "params._meta[\"{key}\"] is `{found}`; \
             a level is debug, info, notice, warning, error, critical, alert or emergency"
        ))
    })
}

fn progress_token(value: &Value, longest: usize) -> Result<ProgressToken, Refusal> {
    if value.as_str().is_some_and(|token| token.len() > longest) {
        return Err(Refusal::invalid_params(format!(
            "params._meta.progressToken is longer than {longest} bytes"
        )));
    }
    ProgressToken::from_value(value).ok_or_else(|| {
        Refusal::invalid_params("params._meta.progressToken is neither a string nor an integer of 64 bits")
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;
    use crate::rules::message::{self, Incoming};

    const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    fn params(params: Value) -> Members {
        let body = json!({ "jsonrpc": "2.0", "method": "m", "params": params }).to_string();
        match message::read(body.as_bytes(), 64, 256).unwrap().0 {
            Incoming::Notification { params, .. } => params.unwrap(),
            Incoming::Request { .. } => unreachable!("it has no id"),
        }
    }

    fn meta(extra: Value) -> Map<String, Value> {
        let mut meta = object(json!({ VERSION: "2026-07-28", CAPABILITIES: {} }));
        meta.extend(object(extra));
        meta
    }

    fn read(extra: Value) -> RequestMeta {
        super::read(meta(extra).into(), 8192).unwrap()
    }

    fn refused(extra: Value) -> Refusal {
        let refusal = super::read(meta(extra).into(), 8192).unwrap_err();
        assert_eq!((refusal.status.as_u16(), refusal.error.code), (200, -32602));
        refusal
    }

    #[test]
    fn meta_05_and_06_required_members() {
        for params in [
            json!({}),
            json!({ "_meta": null }),
            json!({ "_meta": "x" }),
            json!({ "_meta": {} }),
            json!({ "_meta": { VERSION: "2026-07-28" } }),
            json!({ "_meta": { CAPABILITIES: {} } }),
            json!({ "_meta": { VERSION: 20260728, CAPABILITIES: {} } }),
            json!({ "_meta": { VERSION: "2026-07-28", CAPABILITIES: [] } }),
            json!({ "_meta": { VERSION: "2026-07-28", CAPABILITIES: null } }),
        ] {
            let refusal = version(Some(&self::params(params.clone()))).unwrap_err();
            assert_eq!((refusal.status.as_u16(), refusal.error.code), (400, -32602), "{params}");
        }
        assert_eq!(version(None).unwrap_err().error.code, -32602);
        let params = params(json!({ "_meta": meta(json!({})) }));
        assert_eq!(version(Some(&params)).unwrap(), "2026-07-28");
    }

    #[test]
    fn meta_that_is_no_object_is_refused_as_such() {
        for (meta, found) in [(json!(null), "null"), (json!([]), "an array"), (json!("x"), "a string")] {
            let params = params(json!({ "_meta": meta }));
            let message = format!("params._meta is {found}; it has to be an object");
            assert_eq!(version(Some(&params)).unwrap_err().error.message, message);
        }
    }

    #[test]
    fn meta_07_who_the_client_is_may_be_left_out() {
        assert_eq!(read(json!({})).client_info, None);
        let info =
            json!({ "io.modelcontextprotocol/clientInfo": { "name": "c", "version": "1", "hologram": [] } });
        assert_eq!(read(info).client_info, Some(Implementation::new("c", "1")));
        assert_eq!(read(json!({ "io.modelcontextprotocol/clientInfo": { "name": 7 } })).client_info, None);
    }

    #[test]
    fn e20_unknown_capabilities_are_kept() {
        let declared = json!({
            "elicitation": { "form": {}, "hologram": {} },
            "extensions": { "com.example/x": { "v": [1] } },
            "future": 7,
        });
        let meta = read(json!({ CAPABILITIES: declared.clone() }));
        assert_eq!(&Value::Object(meta.client_capabilities.as_map().clone()), &declared);
        assert!(meta.client_capabilities.elicitation_form());
        assert!(meta.entries.is_empty());
    }

    #[test]
    fn log_05_an_unknown_level_is_refused() {
        let level = |level: Value| json!({ "io.modelcontextprotocol/logLevel": level });
        assert_eq!(read(level(json!("warning"))).log_level, Some(LogLevel::Warning));
        for value in [json!("verbose"), json!("INFO"), json!(3), json!(null)] {
            assert!(refused(level(value)).error.message.contains("logLevel"));
        }
    }

    #[test]
    fn prog_03_and_h1_a_token_keeps_its_type() {
        for token in [json!(0), json!(""), json!("7"), json!(7), json!(-1), json!(9_007_199_254_740_993_u64)]
        {
            let read = read(json!({ "progressToken": token })).progress_token;
            assert_eq!(serde_json::to_value(read.unwrap()).unwrap(), token);
        }
        assert_eq!(read(json!({})).progress_token, None);
        // An integer, though `Value` holds it as a float.
        let minus_zero: Value = serde_json::from_str("-0").unwrap();
        let token = read(json!({ "progressToken": minus_zero })).progress_token.unwrap();
        assert_eq!(serde_json::to_string(&token).unwrap(), "-0");
    }

    #[test]
    fn prog_03_other_tokens_are_refused() {
        let large: Value = serde_json::from_str("18446744073709551616").unwrap();
        for token in
            [json!(1.5), json!(0.0), json!(null), json!(true), json!({}), large, json!("x".repeat(8193))]
        {
            refused(json!({ "progressToken": token }));
        }
    }

    #[test]
    fn meta_15_malformed_trace_context_is_ignored() {
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let meta = read(json!({ "traceparent": parent, "tracestate": "a=b", "baggage": "k=v" }));
        assert_eq!(meta.traceparent.as_deref(), Some(parent));
        assert_eq!((meta.tracestate.as_deref(), meta.baggage.as_deref()), (Some("a=b"), Some("k=v")));

        let meta = read(json!({ "traceparent": "00-x", "tracestate": "a=b", "baggage": 7 }));
        assert_eq!((meta.traceparent, meta.tracestate, meta.baggage), (None, None, None));
        assert_eq!(meta.entries["traceparent"], "00-x");
    }

    #[test]
    fn ver_07_the_version_in_meta_makes_a_request_modern() {
        assert!(is_modern(Some(&params(json!({ "_meta": { VERSION: 7 } })))));
        assert!(!is_modern(Some(&params(json!({ "_meta": {}, "protocolVersion": "2025-11-25" })))));
        assert!(!is_modern(None));
    }
}
