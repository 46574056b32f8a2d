//! Results hold to the output schema that the tool advertises (G6, G9).

use ractor_mcp::prelude::*;
use ractor_mcp::wire::CallToolResult;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::support::{Server, call, request};

#[derive(Serialize, JsonSchema)]
struct Order {
    id: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

async fn order() -> Json<Order> {
    let note = None;
    Json(Order { id: 1_915_883_588_174_806_058, note })
}

async fn failing() -> Result<Json<Order>, &'static str> {
    Err("no such order")
}

async fn listed() -> Json<Option<Vec<u8>>> {
    Json(None)
}

/// The schema says at least 1, the code does not.
#[derive(Serialize, JsonSchema)]
struct Stars {
    #[schemars(range(min = 1))]
    stars: u8,
}

async fn stars() -> Json<Stars> {
    Json(Stars { stars: 0 })
}

fn by_hand(result: CallToolResult) -> ractor_mcp::suite::ToolSpec {
    let by_hand = move || std::future::ready(result.clone());
    tool(by_hand).output_schema(json!({"type": "object", "required": ["n"]}))
}

fn suite() -> Suite {
    let failed = CallToolResult::error("it failed").structured(json!({"why": "details"}));
    Suite::new("output", "1")
        .trace_warnings(false)
        .tool("order", order)
        .tool("failing", failing)
        .tool("listed", listed)
        .tool("stars", stars)
        .tool("unchecked", tool(stars).without_output_schema())
        .tool("failed", by_hand(failed))
        .tool("missing", by_hand(CallToolResult::text("nothing structured")))
        .tool("right", by_hand(CallToolResult::text("1").structured(json!({"n": 1}))))
}

#[tokio::test]
async fn g6_the_text_beside_structured_content_carries_every_digit() {
    let server = Server::start(suite()).await;
    let response = server.send(call("order", json!({}))).await;
    assert_eq!(response.text(), r#"{"id":1915883588174806058}"#);
    assert!(response.body.contains(r#""structuredContent":{"id":1915883588174806058}"#), "{}", response.body);
}

#[tokio::test]
async fn g9_success_conforms_and_an_error_has_no_structured_content() {
    let server = Server::start(suite()).await;
    let failing = server.send(call("failing", json!({}))).await.result();
    assert_eq!(failing["isError"], true);
    assert_eq!(failing.get("structuredContent"), None);
    let failed = server.send(call("failed", json!({}))).await.result();
    assert_eq!((&failed["isError"], failed.get("structuredContent")), (&json!(true), None));
    let listed = server.send(call("listed", json!({}))).await.result();
    assert_eq!(listed.get("structuredContent"), Some(&Value::Null));
    assert_eq!(server.send(call("right", json!({}))).await.result()["structuredContent"], json!({"n": 1}));
}

#[tokio::test]
async fn output_that_does_not_fit_its_schema_is_the_tools_bug_and_none_of_it_is_sent() {
    let server = Server::start(suite()).await;
    for name in ["stars", "missing"] {
        let response = server.send(call(name, json!({}))).await;
        assert_eq!(response.code(), -32603, "{name}");
        assert!(!response.body.contains("stars"), "{}", response.body);
    }
    assert_eq!(server.send(call("unchecked", json!({}))).await.text(), r#"{"stars":0}"#);
}

#[tokio::test]
async fn p3_an_output_schema_may_be_left_out_of_the_listing() {
    let server = Server::start(suite()).await;
    let tools = server.send(request("tools/list", json!({}))).await.result()["tools"].clone();
    let tool =
        |name: &str| tools.as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap().clone();
    assert_eq!(tool("stars")["outputSchema"]["properties"]["stars"]["minimum"], 1);
    assert_eq!(tool("unchecked").get("outputSchema"), None);
    assert_eq!(tool("order")["outputSchema"]["required"], json!(["id"]), "as it is written");
}
