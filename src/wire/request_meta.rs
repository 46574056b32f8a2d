//! `_meta` of a request: everything that is known of the client comes with each request (STATE-01).

use serde_json::{Map, Value};

use super::{ClientCapabilities, Implementation, LogLevel, ProgressToken};

/// The `_meta` of one request, read and checked.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RequestMeta {
    /// The revision that the request is made under.
    pub protocol_version: String,
    /// Who the client says it is. Not to be relied on (META-13).
    pub client_info: Option<Implementation>,
    /// What the client can do, on this request.
    pub client_capabilities: ClientCapabilities,
    /// The least severe log record that the client wants.
    pub log_level: Option<LogLevel>,
    /// The token that progress is reported with.
    pub progress_token: Option<ProgressToken>,
    /// W3C trace context, if it is well-formed; else that of the HTTP header of the same name. So are the next two.
    pub traceparent: Option<String>,
    /// W3C trace context, if it is well-formed.
    pub tracestate: Option<String>,
    /// W3C baggage, if it is well-formed.
    pub baggage: Option<String>,
    /// The members that have no field above, and those whose form none of them takes, as they came.
    pub entries: Map<String, Value>,
}
