//! Section 27: the checks of one POST, in order.
//!
//! | step | checks | rule |
//! |---|---|---|
//! | 1 | `Host`, `Origin` | `host.rs`, `origin.rs` |
//! | | `Accept`, `Content-Type` | `accept.rs`, `content_type.rs` |
//! | 3 | the body is one message | `message.rs` |
//! | 4 | no handshake | `request_meta.rs` |
//! | 5 | a notification is done here | |
//! | 6, 8, 9 | `MCP-Protocol-Version` | `protocol_version.rs` |
//! | 7 | required `_meta` | `request_meta.rs` |
//! | 10 | `Mcp-Method` | `mcp_method.rs` |
//! | 11 | the method and its capability | `methods.rs` |
//! | 13 | `Mcp-Name` | `mcp_name.rs` |
//! | 14 | the parameters | `request_meta.rs`, `params.rs` |
//!
//! Step 2, the access token, is the application's; steps 12 and 15 need the handler.

use http::HeaderMap;
use http::request::Parts;
use serde_json::{Map, Value};

use super::accept::{self, Accepts};
use super::errors::Refusal;
use super::host::{self, HostPolicy};
use super::message::{self, Incoming};
use super::origin::{self, OriginPolicy};
use super::{content_type, mcp_method, mcp_name, methods, params, protocol_version, request_meta};
use crate::wire::{MirroredParams, Notification, Request, RequestId, RequestMeta, ServerCapabilities};

/// What a message may measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Levels of nesting in the body, the body itself included: 64 by default, 126 at most.
    pub(crate) depth: usize,
    /// Bytes of an id as JSON: 256 by default.
    pub(crate) id: usize,
    /// Bytes of a progress token or a cursor: 8 KiB by default.
    pub(crate) token: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            depth: 64,
            id: 256,
            token: 8 * 1024,
        }
    }
}

/// A message that passed every check that needs no handler.
#[derive(Debug)]
pub(crate) enum Admitted {
    /// An answer is due.
    Request(Box<AdmittedRequest>),
    /// None is.
    Notification(Notification),
}

/// A request, read.
#[derive(Debug)]
pub(crate) struct AdmittedRequest {
    /// Its id as it came.
    pub(crate) id: RequestId,
    /// Method and parameters.
    pub(crate) request: Request,
    /// What its `_meta` says.
    pub(crate) meta: RequestMeta,
    /// The `Mcp-Param-*` headers of a `tools/call`. Which of them count is known to the tool alone (XHDR-21).
    pub(crate) mirrored_params: MirroredParams,
}

/// Step 1.
///
/// # Errors
///
/// 403.
pub(crate) fn origin(head: &Parts, hosts: &HostPolicy, origins: &OriginPolicy) -> Result<(), Refusal> {
    host::check(head, hosts)?;
    origin::check(&head.headers, origins)
}

/// The media types of both directions, before the body is read.
///
/// # Errors
///
/// 406 or 415.
pub(crate) fn media_types(headers: &HeaderMap) -> Result<Accepts, Refusal> {
    let accepts = accept::check(headers)?;
    content_type::check(headers)?;
    Ok(accepts)
}

/// Steps 3 to 14. `serves` tells whether the handler serves a method that the specification does not define.
///
/// # Errors
///
/// The answer of the first check that fails, with the id of the request.
pub(crate) fn body(
    headers: &HeaderMap,
    body: &[u8],
    capabilities: &ServerCapabilities,
    serves: &dyn Fn(&str) -> bool,
    limits: &Limits,
) -> Result<Admitted, Refusal> {
    let (id, method, params) = match message::read(body, limits.depth, limits.id)? {
        Incoming::Request { id, method, params } => (id, method, params),
        // Nothing more is asked of a notification.
        Incoming::Notification { method, params } => {
            return Ok(Admitted::Notification(Notification::new(
                method,
                params.unwrap_or_default(),
            )));
        }
    };
    match request(headers, method, params, capabilities, serves, limits) {
        Ok((request, meta)) => {
            let mirrored_params = mirrored_params(headers, &request);
            Ok(Admitted::Request(Box::new(AdmittedRequest {
                id,
                request,
                meta,
                mirrored_params,
            })))
        }
        Err(refusal) => Err(refusal.with_id(id)),
    }
}

fn request(
    headers: &HeaderMap,
    method: String,
    params: Option<Map<String, Value>>,
    capabilities: &ServerCapabilities,
    serves: &dyn Fn(&str) -> bool,
    limits: &Limits,
) -> Result<(Request, RequestMeta), Refusal> {
    if method == "initialize" && !request_meta::is_modern(params.as_ref()) {
        return Err(no_handshake(params.as_ref()));
    }
    let header = protocol_version::header(headers)?;
    // Before the comparison with the header: what is missing cannot differ.
    let in_meta = request_meta::version(params.as_ref())?;
    protocol_version::check(header, in_meta)?;
    mcp_method::check(headers, &method)?;
    // Before anything about the parameters: those of a method that is not there have no shape.
    let known = methods::check(&method, capabilities, serves)?;
    let mut params = params.unwrap_or_default();
    let Some(known) = known else {
        let meta = params
            .get("_meta")
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default();
        let meta = request_meta::read(meta, limits.token)?;
        return Ok((Request::Custom { method, params }, meta));
    };
    mcp_name::check(headers, known, &params)?;
    let meta = match params.swap_remove("_meta") {
        Some(Value::Object(entries)) => entries,
        _ => Map::new(),
    };
    let meta = request_meta::read(meta, limits.token)?;
    let request = params::read(known, params, limits.token)?;
    Ok((request, meta))
}

/// Step 4. A client of an earlier revision is told which one would do (VER-10).
fn no_handshake(params: Option<&Map<String, Value>>) -> Refusal {
    let requested = params
        .and_then(|params| params.get("protocolVersion"))
        .and_then(Value::as_str);
    Refusal::no_handshake(requested.unwrap_or_default())
}

fn mirrored_params(headers: &HeaderMap, request: &Request) -> MirroredParams {
    let mut mirrored = MirroredParams::default();
    // The headers mirror arguments of tools, and nothing else (XHDR-22).
    if matches!(request, Request::CallTool(_)) {
        for (name, value) in headers {
            if let Some(name) = name.as_str().strip_prefix("mcp-param-") {
                // A value with other bytes stays one that no check accepts (XHDR-16).
                let value = String::from_utf8_lossy(value.as_bytes());
                mirrored.push(name, value.trim_matches([' ', '\t']));
            }
        }
    }
    mirrored
}
