//! A client of a test server, as most MCP clients are: it keeps idle connections, and opens another for a request that
//! is made while one is under way.

use std::fmt;
use std::net::SocketAddr;
use std::panic::Location;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use ractor_otp::Pid;
use serde_json::{Map, Value, json};

use crate::wire::{PROTOCOL_VERSION, keys};

use super::failure::Asked;
use super::line::Line;
use super::{TestRequest, TestServer};

/// A client of a [`TestServer`]. Its requests are complete and valid unless the test says otherwise; their ids count
/// from 1. Cheap to clone; clones share the connections.
#[derive(Clone)]
pub struct TestClient {
    server: TestServer,
    peer: Option<SocketAddr>,
    idle: Arc<Mutex<Vec<Line>>>,
    ids: Arc<AtomicI64>,
    pub(super) headers: HeaderMap,
    pub(super) meta: Map<String, Value>,
}

impl TestClient {
    pub(super) fn new(server: TestServer, line: Line, peer: Option<SocketAddr>) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(http::header::HOST, HeaderValue::from_static("localhost"));
        let mut meta = Map::new();
        meta.insert(keys::PROTOCOL_VERSION.into(), PROTOCOL_VERSION.into());
        meta.insert(keys::CLIENT_CAPABILITIES.into(), json!({}));
        Self {
            server,
            peer,
            idle: Arc::new(Mutex::new(vec![line])),
            ids: Arc::new(AtomicI64::new(1)),
            headers,
            meta,
        }
    }

    /// Sends this header with every request, in place of what the kit would send: `Host`, `Origin`, `Authorization`.
    ///
    /// # Panics
    ///
    /// When it is no header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        let (name, value) = header(name, value);
        self.headers.insert(name, value);
        self
    }

    /// Declares capabilities of the client on every request (META-05): `json!({"elicitation": {}})`.
    #[must_use]
    pub fn client_capabilities(mut self, capabilities: Value) -> Self {
        self.meta.insert(keys::CLIENT_CAPABILITIES.into(), capabilities);
        self
    }

    /// A `tools/call`. Awaited, it is the [answer](super::TestResponse).
    #[track_caller]
    pub fn call_tool(&self, name: &str, arguments: Value) -> TestRequest {
        self.request("tools/call", json!({"name": name, "arguments": arguments}))
    }

    /// A `resources/read`. Awaited, it is the [answer](super::TestResponse).
    #[track_caller]
    pub fn read_resource(&self, uri: &str) -> TestRequest {
        self.request("resources/read", json!({"uri": uri}))
    }

    /// A `prompts/get`. Awaited, it is the [answer](super::TestResponse).
    #[track_caller]
    pub fn get_prompt(&self, name: &str, arguments: Value) -> TestRequest {
        self.request("prompts/get", json!({"name": name, "arguments": arguments}))
    }

    /// A request of any method, with its parameters as an object. `_meta` is added to them.
    #[track_caller]
    pub fn request(&self, method: &str, params: Value) -> TestRequest {
        let id = self.ids.fetch_add(1, Ordering::Relaxed);
        TestRequest::new(self, method, params, Some(id), Location::caller())
    }

    /// A notification: a message without an id, answered `202` without a body.
    #[track_caller]
    pub fn notify(&self, method: &str, params: Value) -> TestRequest {
        TestRequest::new(self, method, params, None, Location::caller())
    }

    /// A POST with any body, and the headers of plain HTTP only.
    #[track_caller]
    pub fn post(&self, body: impl Into<Bytes>) -> TestRequest {
        TestRequest::raw(self, body.into(), Location::caller())
    }

    /// The actors of the connections that are idle now. One that carries a request is
    /// [`TestCall::connection`](super::TestCall::connection).
    pub fn idle_connections(&self) -> Vec<Pid> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.iter().map(|line| line.connection.clone()).collect()
    }

    /// The server.
    pub fn server(&self) -> &TestServer {
        &self.server
    }

    /// A connection to send on: one that is idle and still open, or a new one.
    pub(super) async fn line(&self, asked: &Asked) -> Line {
        while let Some(mut line) = self.idle() {
            if line.sender.ready().await.is_ok() {
                return line;
            }
        }
        match Line::open(self.server.mcp(), self.peer).await {
            Ok(line) => line,
            Err(error) => asked.fail("a connection", error),
        }
    }

    fn idle(&self) -> Option<Line> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    /// Takes a connection back whose answer was read.
    pub(super) fn keep(&self, line: Line) {
        line.gate.open();
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    }
}

impl fmt::Debug for TestClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TestClient({:?})", self.server.mcp())
    }
}

/// A header from text, or a panic that says why not.
#[track_caller]
pub(super) fn header(name: &str, value: &str) -> (HeaderName, HeaderValue) {
    let known = HeaderName::from_bytes(name.as_bytes());
    match (known, HeaderValue::from_bytes(value.as_bytes())) {
        (Ok(name), Ok(value)) => (name, value),
        _ => panic!(
            "expected a header, found `{name}: {value:?}`; send what HTTP does not know with `connect_raw`"
        ),
    }
}
