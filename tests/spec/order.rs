//! The order of checks: of two faults, the one that comes first in the order of checks is told.

use ractor_mcp::{Denied, Options, Principal};
use serde_json::{Value, json};

use super::server;
use crate::support::{Post, Server, meta, request, streams};

/// One fault for each step, made of a request that has all the later ones too.
struct Broken(Post);

fn everything_wrong_from_step_14() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "echo", "arguments": 7, "_meta": meta()}})
}

impl Broken {
    fn step_14() -> Self {
        Self(Post::of(&everything_wrong_from_step_14()))
    }

    fn step_13() -> Self {
        Self(Self::step_14().0.without("Mcp-Name"))
    }

    fn step_11() -> Self {
        let mut body = everything_wrong_from_step_14();
        body["method"] = json!("no/such");
        Self(Post::of(&body).without("Mcp-Name"))
    }

    fn step_10() -> Self {
        Self(Self::step_11().0.without("Mcp-Method"))
    }

    fn step_9() -> Self {
        let post = Self::step_10().0.with_meta("io.modelcontextprotocol/protocolVersion", json!("v999.0.0"));
        Self(post.header("MCP-Protocol-Version", "v999.0.0"))
    }

    fn step_8() -> Self {
        Self(Self::step_9().0.header("MCP-Protocol-Version", "2026-07-28"))
    }

    fn step_7() -> Self {
        Self(Self::step_8().0.with_meta("io.modelcontextprotocol/clientCapabilities", json!(null)))
    }

    fn step_6() -> Self {
        Self(Self::step_7().0.without("MCP-Protocol-Version"))
    }

    /// `initialize` without metadata, and all that a request with metadata lacks after it.
    fn step_4() -> Self {
        let mut body = everything_wrong_from_step_14();
        body["method"] = json!("initialize");
        body["params"].as_object_mut().expect("an object").remove("_meta");
        Self(Post::raw(body.to_string()))
    }

    fn step_3() -> Self {
        let mut body = Self::step_6().0.body;
        body.pop();
        Self(Self::step_6().0.body(body))
    }

    /// The server that is asked below wants a token, which [`with_token`] adds.
    fn step_2() -> Self {
        Self(Self::step_3().0)
    }

    fn content_coding() -> Self {
        Self(Self::step_2().0.header("Content-Encoding", "gzip"))
    }

    fn content_type() -> Self {
        Self(Self::content_coding().0.header("Content-Type", "text/plain"))
    }

    fn accept() -> Self {
        Self(Self::content_type().0.header("Accept", "text/html"))
    }

    fn step_1() -> Self {
        Self(Self::accept().0.header("Origin", "http://elsewhere.example"))
    }

    fn host() -> Self {
        Self(Self::step_1().0.header("Host", "elsewhere.example"))
    }
}

fn with_token(Broken(post): Broken) -> Post {
    post.header("Authorization", "Bearer token")
}

/// The server of this page, for those who have a token.
async fn closed() -> Server {
    let options = Options::new().connect(|request| async move {
        match request.bearer_token() {
            Some(_) => Ok(Principal::new("alice")),
            None => Err(Denied::unauthorized()),
        }
    });
    Server::start_with(server::suite(), options).await
}

#[tokio::test]
async fn the_first_fault_in_the_order_of_checks_is_told() {
    let server = closed().await;
    for (step, post, status, code) in [
        ("1, host", Broken::host().0, 403, -32600),
        ("1, origin", Broken::step_1().0, 403, -32600),
        ("1, accept", Broken::accept().0, 406, -32600),
        ("1, content type", Broken::content_type().0, 415, -32600),
        ("1, content coding", Broken::content_coding().0, 415, -32600),
        ("2", Broken::step_2().0, 401, -32600),
        ("3", with_token(Broken::step_3()), 400, -32700),
        ("4", with_token(Broken::step_4()), 400, -32022),
        ("6", with_token(Broken::step_6()), 400, -32020),
        ("7", with_token(Broken::step_7()), 400, -32602),
        ("8", with_token(Broken::step_8()), 400, -32020),
        ("9", with_token(Broken::step_9()), 400, -32022),
        ("10", with_token(Broken::step_10()), 400, -32020),
        ("11", with_token(Broken::step_11()), 404, -32601),
        ("13", with_token(Broken::step_13()), 400, -32020),
        ("14", with_token(Broken::step_14()), 200, -32602),
    ] {
        let refused = server.send(post).await;
        assert_eq!((refused.status, refused.code()), (status, code), "step {step}: {}", refused.body);
    }
}

/// No method of this revision asks for a capability by itself: what its parameters ask for is judged when they are known.
#[tokio::test]
async fn step_12_of_the_parameters_comes_after_their_shape_and_before_the_handler() {
    let streams = streams::start(Options::new(), streams::ALL).await;
    let listen = |filter: Value| streams.server.send(streams::listen(filter));
    let unknown = streams.server.send(request("tasks/no_such", json!({"notifications": {"taskIds": ["t"]}})));
    assert_eq!(unknown.await.code(), -32601, "step 11");
    let shapeless = listen(json!({"taskIds": ["t"], "toolsListChanged": "yes"})).await;
    assert_eq!(shapeless.code(), -32602, "step 14");
    let undeclared = listen(json!({"taskIds": ["t"]})).await;
    assert_eq!((undeclared.status, undeclared.code()), (400, -32021));
}

#[tokio::test]
async fn step_5_a_notification_is_done_before_headers_and_metadata() {
    let server = server::start().await;
    let mut body: Value = serde_json::from_slice(&Broken::step_6().0.body).expect("JSON");
    body.as_object_mut().expect("an object").remove("id");
    assert_eq!(server.send(Post::raw(body.to_string())).await.status, 202);
}

#[tokio::test]
async fn step_15_the_tool_is_looked_up_after_all_that_needs_no_handler() {
    let server = server::start().await;
    let unknown =
        |arguments: Value| request("tools/call", json!({"name": "no_such", "arguments": arguments}));
    let shape = server.send(unknown(json!(7))).await.answer()["error"]["message"].clone();
    assert!(shape.as_str().expect("a message").contains("arguments"), "{shape}");
    let tool = server.send(unknown(json!({}))).await.answer()["error"]["message"].clone();
    assert!(tool.as_str().expect("a message").contains("tool"), "{tool}");
}
