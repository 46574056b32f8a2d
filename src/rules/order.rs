//! the order of checks, what is asked of one POST, step by step, as `clauses.md` lists it.
//!
//! | step | checks | rule |
//! |---|---|---|
//! | 1 | `Host`, `Origin` | `host.rs`, `origin.rs` |
//! | | `Accept`, `Content-Type` | `accept.rs`, `content_type.rs` |
//! | | `Content-Encoding`, `Transfer-Encoding` | `content_coding.rs` |
//! | 3 | the body is one message | `message.rs` |
//! | 4 | no handshake | `request_meta.rs` |
//! | 5 | a notification is done here | |
//! | 6, 8, 9 | `MCP-Protocol-Version` | `protocol_version.rs` |
//! | 7 | required `_meta` | `request_meta.rs` |
//! | 10 | `Mcp-Method` | `mcp_method.rs` |
//! | 11 | the method and its capability | `methods.rs` |
//! | 13 | `Mcp-Name` | `mcp_name.rs` |
//! | 14 | the parameters | `request_meta.rs`, `params.rs` |
//! | 12 | the extension that the parameters need | `subscription.rs` |
//!
//! Step 2, the access token, is the application's; step 15 needs the handler, and so does step 12 beyond the above.

use http::HeaderMap;
use http::request::Parts;
use serde_json::Value;

use super::accept::{self, Accepts};
use super::errors::Refusal;
use super::host::{self, HostPolicy};
use super::members::Members;
use super::message::{self, Incoming};
use super::origin::{self, OriginPolicy};
use super::{
    content_coding, content_type, mcp_method, mcp_name, methods, params, protocol_version, request_meta,
    subscription, trace_context,
};
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
        Self { depth: 64, id: 256, token: 8 * 1024 }
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

impl Admitted {
    /// Names this message in a refusal.
    pub(crate) fn refused(&self, refusal: Refusal) -> Refusal {
        match self {
            Self::Request(request) => request.refused(refusal),
            Self::Notification(notification) => refusal.with_method(&notification.method),
        }
    }
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

impl AdmittedRequest {
    /// Names this request in a refusal.
    pub(crate) fn refused(&self, refusal: Refusal) -> Refusal {
        refusal.with_id(self.id.clone()).with_method(self.request.method())
    }
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
/// 406, 415 or 501.
pub(crate) fn media_types(headers: &HeaderMap) -> Result<Accepts, Refusal> {
    let accepts = accept::check(headers)?;
    content_type::check(headers)?;
    content_coding::check(headers)?;
    Ok(accepts)
}

/// Steps 3 to 14. `serves` tells whether the handler serves a method that the specification does not define. The number
/// is how many JSON values the message holds.
///
/// # Errors
///
/// The answer of the first check that fails, with the id of the request.
pub(crate) fn body(
    headers: &HeaderMap,
    body: &[u8],
    capabilities: &ServerCapabilities,
    serves: &dyn Fn(&str) -> Result<bool, Refusal>,
    limits: &Limits,
) -> Result<(Admitted, usize), Refusal> {
    let (incoming, values) = message::read(body, limits.depth, limits.id)?;
    let (id, method, params) = match incoming {
        Incoming::Request { id, method, params } => (id, method, params),
        // Nothing more is asked of a notification.
        Incoming::Notification { method, params } => {
            let notification = Notification::new(method, params.unwrap_or_default().into_map());
            return Ok((Admitted::Notification(notification), values));
        }
    };
    match request(headers, &method, params, capabilities, serves, limits) {
        Ok((request, mut meta)) => {
            trace_context::or_headers(&mut meta, headers);
            let mirrored_params = mirrored_params(headers, &request);
            let request = AdmittedRequest { id, request, meta, mirrored_params };
            Ok((Admitted::Request(Box::new(request)), values))
        }
        Err(refusal) => Err(refusal.with_id(id).with_method(&method)),
    }
}

fn request(
    headers: &HeaderMap,
    method: &str,
    params: Option<Members>,
    capabilities: &ServerCapabilities,
    serves: &dyn Fn(&str) -> Result<bool, Refusal>,
    limits: &Limits,
) -> Result<(Request, RequestMeta), Refusal> {
    if method == "initialize" && !request_meta::is_modern(params.as_ref()) {
        return Err(no_handshake(params.as_ref()));
    }
    let header = protocol_version::header(headers)?;
    if !request_meta::is_modern(params.as_ref()) {
        protocol_version::check_alone(header)?;
    }
    // Before the comparison with the header: what is missing cannot differ.
    let in_meta = request_meta::version(params.as_ref())?;
    protocol_version::check(header, in_meta)?;
    mcp_method::check(headers, method)?;
    // Before anything about the parameters: those of a method that is not there have no shape.
    let known = methods::check(method, capabilities, serves)?;
    let mut params = params.unwrap_or_default();
    let Some(known) = known else {
        let params = params.into_map();
        let meta = params.get("_meta").and_then(Value::as_object).cloned().unwrap_or_default();
        let meta = request_meta::read(meta.into(), limits.token)?;
        return Ok((Request::Custom { method: method.to_owned(), params }, meta));
    };
    mcp_name::check(headers, known, &params)?;
    let meta = request_meta::read(params.take_meta(), limits.token)?;
    let request = params::read(known, params, limits.token)?;
    if let Request::Listen(listen) = &request {
        subscription::check_tasks(&listen.notifications, capabilities, &meta.client_capabilities)?;
    }
    Ok((request, meta))
}

/// Step 4. A client of an earlier revision is told which one would do (VER-10).
fn no_handshake(params: Option<&Members>) -> Refusal {
    let requested = params.and_then(|params| params.get("protocolVersion")).and_then(Value::as_str);
    Refusal::no_handshake(requested.unwrap_or_default())
}

fn mirrored_params(headers: &HeaderMap, request: &Request) -> MirroredParams {
    // The headers mirror arguments of tools, and nothing else (XHDR-22).
    if !matches!(request, Request::CallTool(_)) {
        return MirroredParams::default();
    }
    let mut mirrored = MirroredParams::of_headers();
    for (name, value) in headers {
        if let Some(name) = name.as_str().strip_prefix("mcp-param-") {
            // A value with other bytes stays one that no check accepts (XHDR-16).
            let value = String::from_utf8_lossy(value.as_bytes());
            mirrored.push(name, value.trim_matches([' ', '\t']));
        }
    }
    mirrored
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue, Request as HttpRequest};
    use serde_json::json;

    use super::*;

    /// One POST, to be bent.
    struct Post {
        headers: Vec<(&'static str, String)>,
        body: Value,
    }

    impl Post {
        fn new(method: &'static str, params: Value) -> Self {
            let mut params = params;
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            let mut headers =
                vec![("MCP-Protocol-Version", "2026-07-28".to_owned()), ("Mcp-Method", method.to_owned())];
            if let Some(name) = params["name"].as_str().or(params["uri"].as_str()) {
                headers.push(("Mcp-Name", name.to_owned()));
            }
            Self { headers, body: json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params }) }
        }

        fn call() -> Self {
            Self::new("tools/call", json!({ "name": "echo", "arguments": { "text": "hi" } }))
        }

        fn header(mut self, name: &'static str, value: &str) -> Self {
            self.headers.retain(|(known, _)| *known != name);
            self.headers.push((name, value.to_owned()));
            self
        }

        fn without_header(mut self, name: &str) -> Self {
            self.headers.retain(|(known, _)| *known != name);
            self
        }

        fn set(mut self, pointer: &str, value: Value) -> Self {
            *self.body.pointer_mut(pointer).unwrap() = value;
            self
        }

        fn without_meta(mut self, key: &str) -> Self {
            self.body["params"]["_meta"].as_object_mut().unwrap().remove(key).unwrap();
            self
        }

        fn send(&self) -> Result<Admitted, Refusal> {
            let mut headers = HeaderMap::new();
            for (name, value) in &self.headers {
                headers.append(HeaderName::try_from(*name).unwrap(), HeaderValue::try_from(value).unwrap());
            }
            let capabilities = ServerCapabilities::new().tools(true).resources(false, false).prompts(false);
            let serves = |method: &str| Ok(method == "com.example/sum");
            let bytes = self.body.to_string();
            body(&headers, bytes.as_bytes(), &capabilities, &serves, &Limits::default())
                .map(|(admitted, _)| admitted)
        }

        fn admitted(&self) -> AdmittedRequest {
            match self.send() {
                Ok(Admitted::Request(request)) => *request,
                other => panic!("{other:?}"),
            }
        }

        /// Status and code; the answer has the id.
        fn refused(&self) -> (u16, i64) {
            let refusal = self.send().unwrap_err();
            assert_eq!(refusal.id, Some(RequestId::from(7)), "{refusal:?}");
            (refusal.status.as_u16(), refusal.error.code)
        }
    }

    const VERSION: &str = "/params/_meta/io.modelcontextprotocol~1protocolVersion";
    const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
    const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";

    #[test]
    fn a_request_in_order_is_admitted() {
        let request = Post::call().admitted();
        assert_eq!(request.id, RequestId::from(7));
        assert_eq!((request.request.method(), request.request.name()), ("tools/call", Some("echo")));
        assert_eq!(request.meta.protocol_version, "2026-07-28");
        for (method, params) in [
            ("server/discover", json!({})),
            ("tools/list", json!({})),
            ("prompts/get", json!({ "name": "p" })),
            ("resources/read", json!({ "uri": "file:///a" })),
            ("subscriptions/listen", json!({ "notifications": {} })),
        ] {
            assert_eq!(Post::new(method, params).admitted().request.method(), method);
        }
    }

    #[test]
    fn step_3_comes_before_the_headers() {
        let mut post = Post::call().without_header("MCP-Protocol-Version");
        post.body.as_object_mut().unwrap().remove("jsonrpc").unwrap();
        assert_eq!(post.refused(), (400, -32600));
        let refusal =
            body(&HeaderMap::new(), b"{", &ServerCapabilities::new(), &|_| Ok(false), &Limits::default());
        let refusal = refusal.unwrap_err();
        assert_eq!((refusal.status.as_u16(), refusal.error.code, refusal.id), (400, -32700, None));
    }

    #[test]
    fn step_4_ver_10_initialize_learns_which_version_would_do() {
        let mut post =
            Post::new("initialize", json!({ "protocolVersion": "2025-11-25", "capabilities": {} }));
        post.headers.clear();
        post.body["params"].as_object_mut().unwrap().remove("_meta").unwrap();
        assert_eq!(post.refused(), (400, -32022));
        let error = post.send().unwrap_err().error;
        assert!(error.message.contains("2026-07-28"));
        assert_eq!(error.data, Some(json!({ "supported": ["2026-07-28"], "requested": "2025-11-25" })));
    }

    #[test]
    fn step_4_a_44_modern_metadata_wins_over_initialize() {
        let post = Post::new("initialize", json!({}));
        assert_eq!(post.refused(), (404, -32601));
        assert!(post.send().unwrap_err().error.message.contains("2026-07-28"));
    }

    #[test]
    fn step_5_a_13_a_notification_needs_neither_headers_nor_metadata() {
        for (method, params) in [
            ("notifications/cancelled", json!({ "requestId": 1 })),
            ("notifications/initialized", json!({})),
            ("tools/call", json!({ "name": "boom" })),
        ] {
            let mut post = Post::new("x", json!({}));
            post.headers.clear();
            post.body = json!({ "jsonrpc": "2.0", "method": method, "params": params });
            let Ok(Admitted::Notification(notification)) = post.send() else { panic!("{method}") };
            assert_eq!((&*notification.method, Value::Object(notification.params)), (method, params));
        }
    }

    #[test]
    fn step_5_of_a_notification_no_metadata_is_asked_and_what_was_sent_is_kept() {
        for params in [json!({}), json!({ "_meta": 1 }), json!({ "_meta": {} })] {
            let mut post = Post::new("x", json!({}));
            post.body = json!({ "jsonrpc": "2.0", "method": "x", "params": params });
            let Ok(Admitted::Notification(notification)) = post.send() else { panic!("{params} is refused") };
            assert_eq!(Value::Object(notification.params), params);
        }
    }

    #[test]
    fn step_6_a_10_a_request_without_version_header_is_a_mismatch() {
        let post = Post::call().without_header("MCP-Protocol-Version");
        assert_eq!(post.refused(), (400, -32020));
        // Whatever else is missing.
        let post = post.without_meta(VERSION_KEY).without_header("Mcp-Method");
        assert_eq!(post.refused(), (400, -32020));
    }

    #[test]
    fn step_7_comes_before_step_8() {
        assert_eq!(Post::call().without_meta(VERSION_KEY).refused(), (400, -32602));
        assert_eq!(Post::call().without_meta(CAPABILITIES_KEY).refused(), (400, -32602));
        let legacy = Post::call().without_meta(VERSION_KEY).header("MCP-Protocol-Version", "2025-11-25");
        assert_eq!(legacy.refused(), (400, -32602));
        let message = legacy.send().unwrap_err().error.message;
        assert!(message.contains("2025-11-25") && message.contains("2026-07-28"), "{message}");
    }

    #[test]
    fn step_8_comes_before_step_9() {
        let post = Post::call().set(VERSION, json!("v999.0.0"));
        assert_eq!(post.refused(), (400, -32020));
        assert_eq!(post.header("MCP-Protocol-Version", "v999.0.0").refused(), (400, -32022));
    }

    #[test]
    fn step_9_comes_before_step_10() {
        let post =
            Post::call().set(VERSION, json!("2025-11-25")).header("MCP-Protocol-Version", "2025-11-25");
        assert_eq!(post.without_header("Mcp-Method").refused(), (400, -32022));
    }

    #[test]
    fn step_10_comes_before_step_11() {
        assert_eq!(Post::call().without_header("Mcp-Method").refused(), (400, -32020));
        assert_eq!(Post::call().header("Mcp-Method", "tools/list").refused(), (400, -32020));
        assert_eq!(Post::new("foo/bar", json!({})).without_header("Mcp-Method").refused(), (400, -32020));
    }

    #[test]
    fn step_11_comes_before_the_parameters() {
        for method in
            ["resources/subscribe", "ping", "logging/setLevel", "foo/bar", "completion/complete", "tasks/get"]
        {
            assert_eq!(Post::new(method, json!({})).refused(), (404, -32601), "{method}");
        }
    }

    #[test]
    fn step_13_comes_before_step_14() {
        let post = Post::call().set("/params/arguments", json!(null));
        assert_eq!(post.refused(), (200, -32602));
        assert_eq!(post.header("Mcp-Name", "boom").refused(), (400, -32020));
        assert_eq!(Post::call().without_header("Mcp-Name").refused(), (400, -32020));
    }

    #[test]
    fn step_14_log_level_and_parameters() {
        let mut post = Post::call();
        post.body["params"]["_meta"]["io.modelcontextprotocol/logLevel"] = json!("loud");
        assert_eq!(post.refused(), (200, -32602));
        assert_eq!(Post::call().set("/params/name", json!(7)).refused(), (200, -32602));
    }

    #[test]
    fn a_method_of_the_handler_has_all_its_parameters() {
        let request = Post::new("com.example/sum", json!({ "a": 1 })).admitted();
        let Request::Custom { method, params } = request.request else { panic!("{:?}", request.request) };
        assert_eq!(
            (&*method, &params["a"], params["_meta"].is_object()),
            ("com.example/sum", &json!(1), true)
        );
        assert_eq!(request.meta.protocol_version, "2026-07-28");
    }

    #[test]
    fn xhdr_22_params_are_mirrored_for_tool_calls_only() {
        let mirror = |post: Post| {
            let post = post.header("Mcp-Param-Region", " eu ").header("Mcp-Param-Method", "=?base64?eA==?=");
            let mirrored = post.admitted().mirrored_params;
            mirrored.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>()
        };
        let mut mirrored = mirror(Post::call());
        mirrored.sort();
        assert_eq!(mirrored, ["method==?base64?eA==?=", "region=eu"]);
        assert!(mirror(Post::new("tools/list", json!({}))).is_empty());
    }

    #[test]
    fn the_limits_reach_their_rules() {
        let long = "c".repeat(8193);
        assert_eq!(Post::new("tools/list", json!({ "cursor": &long })).refused(), (200, -32602));
        let mut post = Post::call();
        post.body["params"]["_meta"]["progressToken"] = json!(long);
        assert_eq!(post.refused(), (200, -32602));
        assert_eq!(Post::call().set("/id", json!("x".repeat(300))).send().unwrap_err().id, None);
        let deep = (0..70).fold(json!(1), |value, _| json!([value]));
        assert_eq!(Post::call().set("/params/arguments/text", deep).refused(), (400, -32600));
    }

    #[test]
    fn step_1_host_comes_before_origin() {
        let head = |host: &str, origin: &str| {
            HttpRequest::builder()
                .header("host", host)
                .header("origin", origin)
                .body(())
                .unwrap()
                .into_parts()
                .0
        };
        let origins = OriginPolicy::default().with_loopback(true);
        let check = |host, from| origin(&head(host, from), &HostPolicy::Loopback, &origins);
        assert!(check("localhost:3000", "http://localhost:5173").is_ok());
        assert!(
            check("elsewhere.example", "http://elsewhere.example")
                .unwrap_err()
                .error
                .message
                .contains("host")
        );
        let refusal = check("localhost:3000", "http://elsewhere.example").unwrap_err();
        assert_eq!((refusal.status.as_u16(), refusal.id), (403, None));
    }

    #[test]
    fn media_types_of_both_directions() {
        let check = |lines: &[(&'static str, &'static str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in lines {
                headers.append(*name, HeaderValue::from_static(value));
            }
            media_types(&headers).map_err(|refusal| refusal.status.as_u16())
        };
        assert_eq!(check(&[]), Ok(Accepts { json: true, sse: true }));
        assert_eq!(check(&[("accept", "text/html"), ("content-type", "text/plain")]), Err(406));
        assert_eq!(check(&[("content-type", "text/plain")]), Err(415));
    }
}
