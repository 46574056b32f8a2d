//! The order of checks: of two faults, the one that comes first in the order of checks is told.

use serde_json::{Value, json};

use super::server;
use crate::support::{Post, meta, request};

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

    fn step_3() -> Self {
        let mut body = Self::step_6().0.body;
        body.pop();
        Self(Self::step_6().0.body(body))
    }

    fn step_1() -> Self {
        Self(Self::step_3().0.header("Origin", "http://attacker.example"))
    }
}

#[tokio::test]
async fn the_first_fault_in_the_order_of_checks_is_told() {
    let server = server::start().await;
    for (step, Broken(post), status, code) in [
        (1, Broken::step_1(), 403, -32600),
        (3, Broken::step_3(), 400, -32700),
        (6, Broken::step_6(), 400, -32020),
        (7, Broken::step_7(), 400, -32602),
        (8, Broken::step_8(), 400, -32020),
        (9, Broken::step_9(), 400, -32022),
        (10, Broken::step_10(), 400, -32020),
        (11, Broken::step_11(), 404, -32601),
        (13, Broken::step_13(), 400, -32020),
        (14, Broken::step_14(), 200, -32602),
    ] {
        let refused = server.send(post).await;
        assert_eq!((refused.status, refused.code()), (status, code), "step {step}: {}", refused.body);
    }
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
