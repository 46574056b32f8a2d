//! BASE-12 to BASE-20, HTTP-13: every error code and every HTTP status, by code and by where it was raised.
//!
//! | raised | code | status |
//! |---|---|---|
//! | `Host`, `Origin` | `-32600` | 403 |
//! | size of the head | `-32600` | 431 |
//! | path, method, `Accept`, `Content-Type`, body size, body time | `-32600` | 404, 405, 406, 415, 413, 408 |
//! | the `connect` hook | `-32600`; `-32603` from 500 on | 401, 403, 404, 503, or its own |
//! | not JSON | `-32700` | 400 |
//! | JSON, but not one request or notification | `-32600` | 400 |
//! | required `_meta` missing | `-32602` | 400 |
//! | `MCP-Protocol-Version`, `Mcp-Method`, `Mcp-Name`, `Mcp-Param-*` | `-32020` | 400 |
//! | version not supported | `-32022` | 400 |
//! | method unknown, or its capability not advertised | `-32601` | 404 |
//! | parameters | `-32602` | 200 |
//! | `Content-Encoding`, `Transfer-Encoding` | `-32600` | 415, 501 |
//! | drain; a limit of the server, the connection or the caller | 503 | 503 |
//! | by the handler: `-32601` | | 404 |
//! | by the handler: `-32020` to `-32022` | | 400 |
//! | by the handler: any other outside of `-32768` to `-32000` | | 200 |
//! | by the handler: any other in there | `-32603` | 200 |
//! | by the handler: the caller lacks scopes | `-32600` | 403; 401 if it is anonymous |
//! | a panic of `Handler::serves` | `-32603` | 500 |
//!
//! A status is an error only where the specification says so: clients lose the JSON-RPC error otherwise.

use std::borrow::Cow;
use std::fmt::{self, Write};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, StatusCode};
use serde_json::json;

use crate::wire::{ErrorObject, PROTOCOL_VERSION, RequestId, SUPPORTED_VERSIONS};

use super::frame;

/// The error codes of this revision (BASE-16, BASE-17). Nothing else in `-32768..=-32000` is ever sent; the server's own
/// lie outside.
pub(crate) mod code {
    /// The body is not JSON.
    pub(crate) const PARSE_ERROR: i64 = -32700;
    /// The body is JSON, but not one request or notification.
    pub(crate) const INVALID_REQUEST: i64 = -32600;
    /// The method is unknown, or its capability is not advertised.
    pub(crate) const METHOD_NOT_FOUND: i64 = -32601;
    /// The parameters do not fit, or name something that does not exist.
    pub(crate) const INVALID_PARAMS: i64 = -32602;
    /// Something failed inside the server.
    pub(crate) const INTERNAL_ERROR: i64 = -32603;
    /// A header is missing, unreadable, or says something else than the body.
    pub(crate) const HEADER_MISMATCH: i64 = -32020;
    /// The request needs a capability that the client did not declare on it.
    pub(crate) const MISSING_CLIENT_CAPABILITY: i64 = -32021;
    /// The server does not implement the revision that the request names.
    pub(crate) const UNSUPPORTED_PROTOCOL_VERSION: i64 = -32022;
    /// The server takes no more now, and nothing of the request has run: it may be sent again (D7).
    pub(crate) const UNAVAILABLE: i64 = 503;
}

/// Whether an error may have this code: any outside of what JSON-RPC reserves (BASE-21), and in there those of this revision
/// (BASE-17, BASE-18, BASE-20).
pub(crate) fn may_be_sent(code: i64) -> bool {
    !(-32768..=-32000).contains(&code)
        || matches!(
            code,
            code::PARSE_ERROR
                | code::INVALID_REQUEST
                | code::METHOD_NOT_FOUND
                | code::INVALID_PARAMS
                | code::INTERNAL_ERROR
                | code::HEADER_MISMATCH
                | code::MISSING_CLIENT_CAPABILITY
                | code::UNSUPPORTED_PROTOCOL_VERSION
        )
}

/// The status of an error of a caller that lacks scopes (AUTH-15 to AUTH-17): who sent no token is asked for one.
pub(crate) fn status_of_lacking_scopes(is_anonymous: bool) -> StatusCode {
    if is_anonymous { StatusCode::UNAUTHORIZED } else { StatusCode::FORBIDDEN }
}

/// The status of an error that a handler answers with, as long as nothing was streamed before.
pub(crate) fn status_from_handler(code: i64) -> StatusCode {
    match code {
        code::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
        code::HEADER_MISMATCH | code::MISSING_CLIENT_CAPABILITY | code::UNSUPPORTED_PROTOCOL_VERSION => {
            StatusCode::BAD_REQUEST
        }
        _ => StatusCode::OK,
    }
}

/// What a client reads of a failure inside the server.
pub(crate) fn internal() -> ErrorObject {
    ErrorObject::new(code::INTERNAL_ERROR, "internal error")
}

/// Why a POST was refused, as far as its status does not say it: what comes with the answer, and who is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The request itself, or whoever sent it.
    Request,
    /// Its method: the answer names the one that is taken.
    Method,
    /// A limit of the whole server, which is the operator's affair, too. The request may be sent again, as after all below.
    ServerLimit,
    /// A limit of the caller's own.
    CallerLimit,
    /// Something that passes.
    Passing,
}

/// A POST that was refused before any handler ran.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refusal {
    /// The HTTP status.
    pub(crate) status: StatusCode,
    /// Why.
    pub(crate) cause: Cause,
    /// The id of the request, once it was read (BASE-12, A-04).
    pub(crate) id: Option<RequestId>,
    /// The method of the request, once it was read: for the trace.
    pub(crate) method: Option<Box<str>>,
    /// The JSON-RPC error.
    pub(crate) error: Box<ErrorObject>,
    /// The `WWW-Authenticate` header.
    pub(crate) challenge: Option<HeaderValue>,
    /// Whether the connection cannot go on, such as when the body was not read to its end.
    pub(crate) closes: bool,
}

impl Refusal {
    fn new(status: StatusCode, code: i64, message: impl Into<Cow<'static, str>>) -> Self {
        Self::made(status, code, message.into())
    }

    /// Out of the way of the requests that pass.
    #[cold]
    #[inline(never)]
    fn made(status: StatusCode, code: i64, message: Cow<'static, str>) -> Self {
        Self {
            status,
            cause: Cause::Request,
            id: None,
            method: None,
            error: Box::new(ErrorObject::new(code, message)),
            challenge: None,
            closes: false,
        }
    }

    /// Names the request that is refused.
    #[must_use]
    pub(crate) fn with_id(self, id: RequestId) -> Self {
        self.with_id_option(Some(id))
    }

    /// Names the request that is refused, if there is one.
    #[must_use]
    pub(crate) fn with_id_option(mut self, id: Option<RequestId>) -> Self {
        self.id = id;
        self
    }

    /// Says what was asked, for the trace.
    #[must_use]
    pub(crate) fn with_method(mut self, method: &str) -> Self {
        self.method = Some(Box::from(method));
        self
    }

    /// Tells how to be let in.
    #[must_use]
    pub(crate) fn with_challenge(mut self, challenge: HeaderValue) -> Self {
        self.challenge = Some(challenge);
        self
    }

    /// Nothing of the request has run, and it may be sent again (D7).
    fn for_now(cause: Cause, message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, code::UNAVAILABLE, message).caused_by(cause)
    }

    fn caused_by(mut self, cause: Cause) -> Self {
        self.cause = cause;
        self
    }

    fn closing(mut self) -> Self {
        self.closes = true;
        self
    }

    /// The body of the response: a JSON-RPC error, without an id if none was read.
    pub(crate) fn to_bytes(&self) -> Bytes {
        frame::error(self.id.as_ref(), &self.error)
    }
}

/// Before the body is read: where the request comes from and how it is sent.
impl Refusal {
    /// The head is larger than the limit (HTTP-20).
    pub(crate) fn head_too_large(limit: usize) -> Self {
        let message = format!("the request head is larger than the {limit} bytes that this server takes");
        Self::new(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, code::INVALID_REQUEST, message).closing()
    }

    /// `Host` is missing, repeated or not allowed.
    pub(crate) fn host(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::FORBIDDEN, code::INVALID_REQUEST, message)
    }

    /// `Origin` is not allowed (HTTP-03).
    pub(crate) fn origin(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::FORBIDDEN, code::INVALID_REQUEST, message)
    }

    /// The `connect` hook does not know the caller (AUTH-14, AUTH-15).
    pub(crate) fn unauthorized() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, code::INVALID_REQUEST, "the request needs a valid access token")
    }

    /// The `connect` hook turns the caller away.
    pub(crate) fn forbidden(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::FORBIDDEN, code::INVALID_REQUEST, message)
    }

    /// The `connect` hook hides the endpoint from the caller.
    pub(crate) fn not_found(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::NOT_FOUND, code::INVALID_REQUEST, message)
    }

    /// The `connect` hook turns the caller away in a way of its own; `None` for a status that is no error. The status is all
    /// that the hook says of the cause.
    pub(crate) fn denied(status: u16, message: impl Into<Cow<'static, str>>) -> Option<Self> {
        let status = StatusCode::from_u16(status).ok()?;
        let code = if status.is_server_error() { code::INTERNAL_ERROR } else { code::INVALID_REQUEST };
        let cause = match status {
            StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS => Cause::Passing,
            StatusCode::METHOD_NOT_ALLOWED => Cause::Method,
            _ => Cause::Request,
        };
        let is_error = status.is_client_error() || status.is_server_error();
        is_error.then(|| Self::new(status, code, message).caused_by(cause))
    }

    /// The caller cannot be judged now.
    pub(crate) fn unavailable(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, code::INTERNAL_ERROR, message).caused_by(Cause::Passing)
    }

    /// A hook of the application failed.
    pub(crate) fn hook_failed() -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, code::INTERNAL_ERROR, "internal error")
    }

    /// The path is not the endpoint's.
    pub(crate) fn no_such_path(endpoint: &str) -> Self {
        let endpoint = if endpoint.is_empty() { "/" } else { endpoint };
        let message = format!("nothing is served at this path; the endpoint is {endpoint}");
        Self::new(StatusCode::NOT_FOUND, code::INVALID_REQUEST, message)
    }

    /// The endpoint is asked with another method than POST (HTTP-14).
    pub(crate) fn method_not_allowed() -> Self {
        let message = "the endpoint takes POST only; each message is a POST of its own";
        Self::new(StatusCode::METHOD_NOT_ALLOWED, code::INVALID_REQUEST, message).caused_by(Cause::Method)
    }

    /// `Accept` excludes both response types.
    pub(crate) fn not_acceptable() -> Self {
        let message = "Accept excludes application/json and text/event-stream; a client lists both";
        Self::new(StatusCode::NOT_ACCEPTABLE, code::INVALID_REQUEST, message)
    }

    /// The body is declared as something else than JSON.
    pub(crate) fn unsupported_media_type() -> Self {
        let message = "Content-Type is not application/json in UTF-8";
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, code::INVALID_REQUEST, message)
    }

    /// The body is compressed (E16).
    pub(crate) fn coded_content() -> Self {
        let message = "Content-Encoding is not served; send the JSON as it is";
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, code::INVALID_REQUEST, message).closing()
    }

    /// The body comes in a transfer coding that is not known (RFC 9112 section 6.1).
    pub(crate) fn coded_transfer() -> Self {
        let message = "Transfer-Encoding is other than chunked; send the JSON as it is";
        Self::new(StatusCode::NOT_IMPLEMENTED, code::INVALID_REQUEST, message).closing()
    }

    /// The server is about to end.
    pub(crate) fn shutting_down() -> Self {
        Self::for_now(Cause::Passing, "the server is shutting down; send the request again").closing()
    }
}

/// While the body is read, or instead of running the request.
impl Refusal {
    /// The body has more bytes than the limit.
    pub(crate) fn body_too_large(limit: usize) -> Self {
        let message = format!("the body is larger than the {limit} bytes that this server takes");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, code::INVALID_REQUEST, message).closing()
    }

    /// The body alone takes more than the server holds for all requests: its values count, too. It need not come again.
    pub(crate) fn takes_too_much() -> Self {
        let message = "the request takes more memory than this server has for all of them";
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, code::INVALID_REQUEST, message).closing()
    }

    /// The body did not arrive in time.
    pub(crate) fn body_too_slow(limit: Duration) -> Self {
        let message = format!("the body took longer than {limit:?} to arrive");
        Self::new(StatusCode::REQUEST_TIMEOUT, code::INVALID_REQUEST, message).closing()
    }

    /// The body ended early, or its chunks are not such.
    pub(crate) fn body_broken() -> Self {
        let message = "the body could not be read to its end: it broke off, or its chunks are malformed";
        Self::new(StatusCode::BAD_REQUEST, code::PARSE_ERROR, message).closing()
    }

    /// The bodies of all requests together have more bytes than the server holds.
    pub(crate) fn too_many_bytes() -> Self {
        let message = "the server holds as many bytes of requests as it may; send the request again later";
        Self::for_now(Cause::ServerLimit, message).closing()
    }

    /// A stream is asked for, and `Accept` excludes it (SSE-14).
    pub(crate) fn needs_a_stream() -> Self {
        let message = "subscriptions/listen is answered by a stream; Accept excludes text/event-stream";
        Self::new(StatusCode::NOT_ACCEPTABLE, code::INVALID_REQUEST, message)
    }

    /// The request is about an extension that its client did not declare (META-09, TASK-28).
    pub(crate) fn missing_extension(id: &str) -> Self {
        let message = "the request needs an extension that the client does not declare";
        let mut refusal = Self::new(StatusCode::BAD_REQUEST, code::MISSING_CLIENT_CAPABILITY, message);
        refusal.error.data = Some(json!({ "requiredCapabilities": { "extensions": { id: {} } } }));
        refusal
    }

    /// The server has as many streams as it may.
    pub(crate) fn too_many_streams() -> Self {
        let message = "the server has as many streams as it may; send the request again later";
        Self::for_now(Cause::ServerLimit, message)
    }

    /// What the request would have run under is ending: its connection, as a rule, whose client has left.
    pub(crate) fn connection_ending() -> Self {
        Self::for_now(Cause::Passing, "the connection is ending; send the request again").closing()
    }

    /// The request's actor did not start, for a reason that the trace has.
    pub(crate) fn not_started() -> Self {
        Self::for_now(Cause::Passing, "the request could not be started; send it again later")
    }

    /// The server runs as many requests as it may.
    pub(crate) fn overloaded() -> Self {
        let message = "the server runs as many requests as it may; send the request again later";
        Self::for_now(Cause::ServerLimit, message)
    }

    /// The connection has as many requests as one may have.
    pub(crate) fn connection_full() -> Self {
        let message = "this connection has as many requests as it may; send the request again later";
        Self::for_now(Cause::CallerLimit, message)
    }

    /// The caller has as many requests as one may have, over all its connections.
    pub(crate) fn principal_full() -> Self {
        let message = "this caller has as many requests as it may; send the request again later";
        Self::for_now(Cause::CallerLimit, message)
    }
}

/// The body as a message (step 3 of the order of checks).
impl Refusal {
    /// The body is not JSON.
    pub(crate) fn not_json(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code::PARSE_ERROR, message)
    }

    /// The body is JSON, but not one request or notification.
    pub(crate) fn not_a_message(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code::INVALID_REQUEST, message)
    }
}

/// The request against its headers and this server (steps 6 to 14 of the order of checks).
impl Refusal {
    /// A member of `_meta` that every request has is missing (META-05, META-06).
    pub(crate) fn meta_required(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code::INVALID_PARAMS, message)
    }

    /// A required header is missing (HDR-07).
    pub(crate) fn header_missing(name: &str, value: &str) -> Self {
        let message = format!("the header {name} is missing; for this body it is `{}`", Shown(value));
        Self::header(message)
    }

    /// A header comes twice (E13).
    pub(crate) fn header_repeated(name: &str) -> Self {
        Self::header(format!("the header {name} comes more than once"))
    }

    /// A header holds characters that it may not (HDR-12).
    pub(crate) fn header_unreadable(name: &str) -> Self {
        Self::header(format!(
            "the header {name} holds characters outside of 0x20 to 0x7E; encode them as Base64"
        ))
    }

    /// A header has the Base64 form, and cannot be decoded (HDR-10).
    pub(crate) fn header_undecodable(name: &str) -> Self {
        Self::header(format!("the header {name} is not strict Base64 of UTF-8 text between its markers"))
    }

    /// A header says something else than the body (HDR-01 to HDR-03).
    pub(crate) fn header_differs(name: &str, header: &str, body: &str) -> Self {
        Self::header(format!("the header {name} is `{}`, the body says `{}`", Shown(header), Shown(body)))
    }

    fn header(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code::HEADER_MISMATCH, message)
    }

    /// The server does not implement the revision that the request names (VER-02, VER-03).
    pub(crate) fn unsupported_version(requested: &str) -> Self {
        let message = format!("MCP revision `{}` is not supported; {PROTOCOL_VERSION} is", Shown(requested));
        Self::version(message, requested)
    }

    /// The request has no version in `_meta`, and its header names a revision that the server does not implement.
    pub(crate) fn version_without_meta(requested: &str) -> Self {
        Self::meta_required(format!(
            "MCP revision `{}` is not supported; {PROTOCOL_VERSION} is, whose requests name it in params._meta, which is \
             missing here",
            Shown(requested)
        ))
    }

    /// `initialize` asks for a revision with a handshake (VER-10).
    pub(crate) fn no_handshake(requested: &str) -> Self {
        Self::version(NO_HANDSHAKE, requested)
    }

    fn version(message: impl Into<Cow<'static, str>>, requested: &str) -> Self {
        let mut refusal = Self::new(StatusCode::BAD_REQUEST, code::UNSUPPORTED_PROTOCOL_VERSION, message);
        // Echoed as it came, unless it is long enough to be no version at all.
        let requested: String = requested.chars().take(256).collect();
        refusal.error.data = Some(json!({ "supported": SUPPORTED_VERSIONS, "requested": requested }));
        refusal
    }

    /// The method is unknown, or its capability is not advertised (HTTP-12).
    pub(crate) fn method_not_found(method: &str) -> Self {
        let message: Cow<'static, str> = match method {
            "initialize" => NO_HANDSHAKE.into(),
            _ => format!("this server does not implement the method `{}`", Shown(method)).into(),
        };
        Self::new(StatusCode::NOT_FOUND, code::METHOD_NOT_FOUND, message)
    }

    /// `subscriptions/listen` to a server that has nothing to tell.
    pub(crate) fn nothing_to_listen_to() -> Self {
        let message = "this server tells no changes: it declares neither `listChanged` nor `subscribe`";
        Self::new(StatusCode::NOT_FOUND, code::METHOD_NOT_FOUND, message)
    }

    /// The parameters do not have the shape that the method takes.
    pub(crate) fn invalid_params(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::OK, code::INVALID_PARAMS, message)
    }
}

/// A modern-only server names its versions in the answer to `initialize` (VER-10).
pub(crate) const NO_HANDSHAKE: &str = "this server speaks MCP 2026-07-28, which has no initialize: \
     send server/discover with that version in _meta";

/// Text of a client as part of a message: shortened, control characters escaped.
pub(crate) struct Shown<'a>(pub(crate) &'a str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const LONGEST: usize = 80;
        let mut characters = self.0.chars();
        for character in characters.by_ref().take(LONGEST) {
            if character.is_control() {
                write!(f, "{}", character.escape_default())?;
            } else {
                f.write_char(character)?;
            }
        }
        if characters.next().is_some() { f.write_str("...") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn parsed(refusal: &Refusal) -> Value {
        serde_json::from_slice(&refusal.to_bytes()).unwrap()
    }

    #[test]
    fn base_12_an_id_that_was_not_read_is_left_out() {
        let without = parsed(&Refusal::not_json("not JSON"));
        assert!(without.get("id").is_none());
        assert_eq!(without["jsonrpc"], "2.0");
        assert_eq!(without["error"]["code"], -32700);
        let with = parsed(&Refusal::not_a_message("no").with_id(RequestId::from("7")));
        assert_eq!(with["id"], "7");
    }

    #[test]
    fn base_15_a_message_stays_short_whatever_the_client_sent() {
        let long = "x".repeat(100_000);
        for refusal in [
            Refusal::method_not_found(&long),
            Refusal::unsupported_version(&long),
            Refusal::version_without_meta(&long),
            Refusal::header_differs("Mcp-Name", &long, &long),
            Refusal::header_missing("Mcp-Name", &long),
        ] {
            assert!(refusal.to_bytes().len() < 600, "{refusal:?}");
        }
    }

    #[test]
    fn base_17_codes_of_the_handler_keep_their_status() {
        for (code, status) in [
            (-32601, 404),
            (-32020, 400),
            (-32021, 400),
            (-32022, 400),
            (-32602, 200),
            (-32603, 200),
            (1, 200),
        ] {
            assert_eq!(status_from_handler(code).as_u16(), status, "{code}");
        }
    }

    #[test]
    fn ver_02_the_error_names_supported_and_requested() {
        let error = &parsed(&Refusal::unsupported_version("v999.0.0"))["error"];
        assert_eq!(error["code"], -32022);
        assert_eq!(error["data"], json!({ "supported": ["2026-07-28"], "requested": "v999.0.0" }));
    }

    #[test]
    fn ver_10_the_answer_to_initialize_names_the_version() {
        assert!(NO_HANDSHAKE.contains(PROTOCOL_VERSION));
        let refusal = Refusal::method_not_found("initialize");
        assert_eq!(refusal.status, StatusCode::NOT_FOUND);
        assert!(refusal.error.message.contains(PROTOCOL_VERSION));
    }

    #[test]
    fn what_cannot_go_on_closes_the_connection() {
        for (refusal, status) in [
            (Refusal::body_too_large(1), 413),
            (Refusal::body_too_slow(Duration::from_secs(1)), 408),
            (Refusal::body_broken(), 400),
            (Refusal::shutting_down(), 503),
        ] {
            assert_eq!((refusal.status.as_u16(), refusal.closes), (status, true));
        }
        for refusal in [Refusal::overloaded(), Refusal::connection_full(), Refusal::principal_full()] {
            assert!(!refusal.closes, "{refusal:?}");
        }
    }

    #[test]
    fn control_characters_of_a_client_do_not_reach_the_message() {
        assert_eq!(Shown("a\r\nb\u{1b}").to_string(), "a\\r\\nb\\u{1b}");
    }
}
