//! Schema: what the server sends is what the published JSON Schema describes.

use std::sync::LazyLock;

use serde_json::{Value, json};

use super::server;
use crate::support::{Post, call, request};

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../schema/2026-07-28.json")).expect("the schema is JSON")
});

/// Panics with every fault unless the value is of this type of the schema.
fn assert_is(kind: &str, value: &Value) {
    assert!(SCHEMA["$defs"].get(kind).is_some(), "the schema has no {kind}");
    let mut schema = SCHEMA.clone();
    schema["$ref"] = json!(format!("#/$defs/{kind}"));
    let validator = jsonschema::validator_for(&schema).expect("a valid schema");
    let faults: Vec<String> = validator.iter_errors(value).map(|fault| fault.to_string()).collect();
    assert!(faults.is_empty(), "{kind}: {faults:#?} in {value}");
}

/// Each notification before the response, then the response, is of its type.
async fn assert_answers(posts: Vec<Post>, kind: &str) {
    let server = server::start().await;
    for post in posts {
        let mut messages = server.send(post).await.messages();
        let response = messages.pop().expect("a response");
        assert_is("JSONRPCMessage", &response);
        match response.get("result") {
            Some(result) => {
                assert_is(&format!("{kind}Response"), &response);
                // The type of the response takes any input-required result too, whose members are all optional.
                assert_is(kind, result);
            }
            None => assert_is(kind, &response),
        }
        for notification in &messages {
            assert_is("ServerNotification", notification);
        }
    }
}

#[test]
#[should_panic(expected = "is a required property")]
fn a_value_of_another_type_is_noticed() {
    assert_is("CallToolResult", &json!({"resultType": "complete"}));
}

#[tokio::test]
async fn discover_results() {
    assert_answers(vec![request("server/discover", json!({}))], "DiscoverResult").await;
}

#[tokio::test]
async fn lists_of_tools() {
    assert_answers(vec![request("tools/list", json!({}))], "ListToolsResult").await;
}

#[tokio::test]
async fn results_of_tools_and_the_notifications_before_them() {
    let steps = json!({"steps": [{"progress": 0.5, "total": 2, "message": "half"}, {"progress": 1}]});
    let calls = vec![
        call("echo", json!({"text": "x"})),
        call("echo", json!({"text": 7})),
        call("slow", json!({"ms": 1})),
        call("steps", steps.clone()).progress(json!("token")),
        call("steps", steps).progress(json!(7)),
        call("logs", json!({})).with_meta("io.modelcontextprotocol/logLevel", json!("debug")),
        call("fails", json!({})),
        call("mirrored", json!({"x": 1, "y": 2})),
        call("numbers", json!({})),
        call("contents", json!({})),
        call("nothing", json!({})),
        call("big", json!({"bytes": 100_000})),
    ];
    assert_answers(calls, "CallToolResult").await;
}

#[tokio::test]
async fn errors_without_a_type_of_their_own() {
    let errors = vec![
        Post::raw("{"),
        Post::raw("[]"),
        request("no/such", json!({})),
        call("no_such", json!({})),
        call("boom", json!({})),
        call("echo", json!({})).header("Origin", "http://elsewhere.example"),
        call("echo", json!({})).verb("GET"),
    ];
    assert_answers(errors, "JSONRPCErrorResponse").await;
}

#[tokio::test]
async fn errors_with_a_type_of_their_own() {
    let newer = json!({
        "io.modelcontextprotocol/protocolVersion": "2099-01-01",
        "io.modelcontextprotocol/clientCapabilities": {}
    });
    let newer = request("tools/list", json!({"_meta": newer})).header("MCP-Protocol-Version", "2099-01-01");
    assert_answers(vec![newer], "UnsupportedProtocolVersionError").await;
    assert_answers(vec![call("samples", json!({}))], "MissingRequiredClientCapabilityError").await;
    let differing = request("tools/list", json!({})).header("Mcp-Method", "tools/call");
    assert_answers(vec![differing], "HeaderMismatchError").await;
}
