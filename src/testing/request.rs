//! One request before it is sent.

use std::fmt;
use std::future::IntoFuture;
use std::panic::Location;
use std::pin::Pin;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use http_body_util::Full;
use serde_json::{Map, Value, json};

use crate::wire::{LogLevel, PROTOCOL_VERSION, keys};

use super::client::header;
use super::failure::Asked;
use super::reading::Reading;
use super::{TestCall, TestClient, TestResponse};

/// A request, a notification or any POST, not sent yet. Awaiting it sends it and waits for its answer;
/// [`start`](TestRequest::start) sends it only.
#[must_use = "a request is sent by `.await` or by `.start().await`"]
pub struct TestRequest {
    client: TestClient,
    asked: Asked,
    body: Body,
    headers: HeaderMap,
    absent: Vec<HeaderName>,
}

enum Body {
    Message(Box<Message>),
    Raw(Bytes),
}

/// A JSON-RPC message: a notification, if it has no id.
struct Message {
    id: Option<Value>,
    method: String,
    params: Value,
    meta: Map<String, Value>,
}

impl TestRequest {
    pub(super) fn new(
        client: &TestClient,
        method: &str,
        params: Value,
        id: Option<i64>,
        at: &'static Location<'static>,
    ) -> Self {
        let name = params.get("name").or(params.get("uri")).and_then(Value::as_str);
        let kind = if id.is_some() { "request" } else { "notification" };
        let name = name.map(|name| format!(" {name}")).unwrap_or_default();
        Self {
            asked: Asked::new(client.server().mcp().clone(), format!("{kind} {method}{name}"), at),
            body: Body::Message(Box::new(Message {
                id: id.map(Value::from),
                method: method.to_owned(),
                params,
                meta: client.meta.clone(),
            })),
            headers: client.headers.clone(),
            absent: Vec::new(),
            client: client.clone(),
        }
    }

    pub(super) fn raw(client: &TestClient, body: Bytes, at: &'static Location<'static>) -> Self {
        Self {
            asked: Asked::new(client.server().mcp().clone(), "POST".to_owned(), at),
            body: Body::Raw(body),
            headers: client.headers.clone(),
            absent: Vec::new(),
            client: client.clone(),
        }
    }

    /// Another id: a string or an integer.
    pub fn id(mut self, new: impl Into<Value>) -> Self {
        if let Body::Message(message) = &mut self.body {
            message.id = Some(new.into());
        }
        self
    }

    /// Answers questions of an earlier round, by key, and sends its state back (MRTR-16). `asked` is its response.
    ///
    /// # Panics
    ///
    /// When `asked` is an error.
    #[track_caller]
    pub fn answers(mut self, asked: &TestResponse, answers: Value) -> Self {
        let state = asked.result().get("requestState").cloned();
        if let Body::Message(message) = &mut self.body
            && let Some(params) = message.params.as_object_mut()
        {
            params.insert("inputResponses".to_owned(), answers);
            params.extend(state.map(|state| ("requestState".to_owned(), state)));
        }
        self
    }

    /// Asks for progress, with this token (PROG-01).
    pub fn progress_token(self, token: impl Into<Value>) -> Self {
        self.meta(keys::PROGRESS_TOKEN, token)
    }

    /// Asks for log records of this level and above (LOG-02).
    pub fn log_level(self, level: LogLevel) -> Self {
        let level = serde_json::to_value(level).unwrap_or_default();
        self.meta(keys::LOG_LEVEL, level)
    }

    /// Declares capabilities of the client (META-05): `json!({"elicitation": {}})`.
    pub fn client_capabilities(self, capabilities: Value) -> Self {
        self.meta(keys::CLIENT_CAPABILITIES, capabilities)
    }

    /// Sets an entry of `_meta`; `Value::Null` takes it away.
    pub fn meta(mut self, key: &str, value: impl Into<Value>) -> Self {
        if let Body::Message(message) = &mut self.body {
            match value.into() {
                Value::Null => drop(message.meta.shift_remove(key)),
                value => drop(message.meta.insert(key.to_owned(), value)),
            }
        }
        self
    }

    /// Another `Accept`: with `application/json` alone, nothing can be streamed (HTTP-07).
    pub fn accept(self, media_types: &str) -> Self {
        self.header("accept", media_types)
    }

    /// Sends this header in place of what the kit would send.
    ///
    /// # Panics
    ///
    /// When it is no header.
    #[track_caller]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        let (name, value) = header(name, value);
        self.headers.insert(name, value);
        self
    }

    /// Leaves out a header that the kit would send.
    ///
    /// # Panics
    ///
    /// When it is no header.
    #[track_caller]
    pub fn without_header(mut self, name: &str) -> Self {
        let (name, _) = header(name, "");
        self.headers.remove(&name);
        self.absent.push(name);
        self
    }

    /// Sends it and does not wait for anything.
    ///
    /// # Panics
    ///
    /// When the server takes no connection: why.
    pub async fn start(self) -> TestCall {
        let mut line = self.client.line(&self.asked).await;
        let (client, asked) = (self.client.clone(), self.asked.clone());
        // hyper hands it to the connection's task now; the future is only for the answer.
        let reading = Reading::new(line.sender.send_request(self.build()));
        TestCall::new(client, asked, line, reading)
    }

    fn build(self) -> http::Request<Full<Bytes>> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        let body = match self.body {
            Body::Raw(body) => body,
            Body::Message(message) => {
                message.mirror(&mut headers);
                Bytes::from(message.into_json().to_string())
            }
        };
        headers.extend(self.headers);
        for name in &self.absent {
            headers.remove(name);
        }
        let mut request = http::Request::new(Full::new(body));
        *request.method_mut() = http::Method::POST;
        *request.uri_mut() = self.client.server().mcp().endpoint_uri();
        *request.headers_mut() = headers;
        request
    }
}

impl Message {
    /// The headers that repeat what the body says (HDR-01 to HDR-03).
    fn mirror(&self, headers: &mut HeaderMap) {
        let version = self.meta.get(keys::PROTOCOL_VERSION).and_then(Value::as_str);
        let name = match self.method.as_str() {
            "tools/call" | "prompts/get" => self.params.get("name"),
            "resources/read" => self.params.get("uri"),
            _ => None,
        };
        let lines = [
            ("mcp-protocol-version", Some(version.unwrap_or(PROTOCOL_VERSION))),
            ("mcp-method", Some(self.method.as_str())),
            ("mcp-name", name.and_then(Value::as_str)),
        ];
        for (name, value) in lines {
            // A value that no header can carry is left to the server to miss.
            if let Some(Ok(value)) = value.map(|value| HeaderValue::from_str(&encoded(value))) {
                headers.insert(name, value);
            }
        }
    }

    fn into_json(mut self) -> Value {
        // Parameters that are no object go out as they are: the server has to refuse them.
        if let (Some(params), true) = (self.params.as_object_mut(), self.id.is_some()) {
            params.entry("_meta").or_insert(Value::Object(self.meta));
        }
        let mut message = json!({"jsonrpc": "2.0", "method": self.method, "params": self.params});
        if let (Some(id), Some(message)) = (self.id, message.as_object_mut()) {
            message.insert("id".to_owned(), id);
        }
        message
    }
}

/// Text as a header carries it: plain where it can be, base64 otherwise (HDR-09, HDR-11).
fn encoded(text: &str) -> String {
    let plain = text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
        && text.trim() == text
        && !text.starts_with("=?base64?");
    if plain { text.to_owned() } else { format!("=?base64?{}?=", STANDARD.encode(text)) }
}

impl IntoFuture for TestRequest {
    type Output = TestResponse;
    type IntoFuture = Pin<Box<dyn Future<Output = TestResponse> + Send>>;

    /// Sends it and waits for its answer.
    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { self.start().await.answer().await })
    }
}

impl fmt::Debug for TestRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TestRequest({})", self.asked)
    }
}
