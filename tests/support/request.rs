//! Requests of the modern era, valid unless a test says otherwise.

use serde_json::{Value, json};

/// A POST as it goes over the wire: method and name headers follow from the body.
#[derive(Clone, Debug)]
pub struct Post {
    pub verb: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// `_meta` with what every request must carry.
pub fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}
    })
}

/// A request with id 1; `_meta` is added unless the parameters have one.
pub fn request(method: &str, mut params: Value) -> Post {
    if params.get("_meta").is_none() {
        params["_meta"] = meta();
    }
    Post::of(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
}

/// A complete valid `tools/call`.
pub fn call(tool: &str, arguments: Value) -> Post {
    request("tools/call", json!({"name": tool, "arguments": arguments}))
}

/// A complete valid `subscriptions/listen` for changes of the list of tools.
pub fn listen_tools() -> Post {
    request("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}))
}

pub fn notification(method: &str, params: Value) -> Post {
    Post::raw(json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string())
}

impl Post {
    /// The headers that fit a body.
    pub fn of(body: &Value) -> Self {
        let mut post = Self::raw(body.to_string()).header("MCP-Protocol-Version", "2026-07-28");
        if let Some(method) = body["method"].as_str() {
            post = post.header("Mcp-Method", method);
        }
        let named = body["params"]["name"].as_str().or(body["params"]["uri"].as_str());
        match named {
            Some(name) if name.is_ascii() => post.header("Mcp-Name", name),
            _ => post,
        }
    }

    /// Any body, with the headers of plain HTTP only.
    pub fn raw(body: impl Into<Vec<u8>>) -> Self {
        let post = Self { verb: "POST".into(), path: "/mcp".into(), headers: Vec::new(), body: body.into() };
        post.header("Content-Type", "application/json")
            .header("Accept", "application/json, text/event-stream")
    }

    /// Adds a header line, replacing those of the same name.
    pub fn header(self, name: &str, value: &str) -> Self {
        self.without(name).another(name, value)
    }

    /// Adds a header line beside those of the same name.
    pub fn another(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self
    }

    pub fn verb(mut self, verb: &str) -> Self {
        self.verb = verb.to_owned();
        self
    }

    pub fn path(mut self, path: &str) -> Self {
        self.path = path.to_owned();
        self
    }

    /// Another body, the same headers.
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// Another id, in JSON form.
    pub fn id(self, id: &str) -> Self {
        let text = String::from_utf8(self.body.clone()).expect("a text body");
        self.body(text.replacen("\"id\":1", &format!("\"id\":{id}"), 1))
    }

    /// Another `_meta` entry beside those there.
    pub fn with_meta(self, key: &str, value: Value) -> Self {
        let mut body: Value = serde_json::from_slice(&self.body).expect("a JSON body");
        body["params"]["_meta"][key] = value;
        self.body(body.to_string())
    }

    /// A progress token.
    pub fn progress(self, token: Value) -> Self {
        self.with_meta("progressToken", token)
    }

    /// Only JSON is acceptable.
    pub fn json_only(self) -> Self {
        self.header("Accept", "application/json")
    }

    /// The bytes on the wire.
    pub fn to_bytes(&self, host: &str) -> Vec<u8> {
        let mut head = format!("{} {} HTTP/1.1\r\n", self.verb, self.path);
        let has = |name: &str| self.headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name));
        if !has("host") {
            head.push_str(&format!("Host: {host}\r\n"));
        }
        if !has("content-length") && !has("transfer-encoding") {
            head.push_str(&format!("Content-Length: {}\r\n", self.body.len()));
        }
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        [head.as_bytes(), &self.body].concat()
    }
}
