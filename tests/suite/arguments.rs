//! Faults of arguments are results that the model reads; faults of the call are protocol errors (G8).

use ractor_mcp::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::support::{Server, call, request};

#[derive(Deserialize, JsonSchema)]
struct Search {
    filter: Filter,
    tags: Vec<String>,
    limit: u32,
}

#[derive(Deserialize, JsonSchema)]
struct Filter {
    a: i64,
}

async fn search(Search { filter, tags, limit }: Search) -> String {
    format!("{} {} {limit}", filter.a, tags.join(","))
}

fn suite() -> Suite {
    Suite::new("search", "1").tool("search", search).tool("lenient", tool(search).accept_json_text())
}

#[tokio::test]
async fn n5_three_wrong_fields_at_once_are_all_told_in_a_result_for_the_model() {
    let server = Server::start(suite()).await;
    let response =
        server.send(call("search", json!({"filter": {"a": "x"}, "tags": [1], "limit": 30.5}))).await;
    assert_eq!(response.status, 200);
    assert_eq!(response.result()["isError"], true);
    let text = response.text();
    for part in
        ["at `filter.a`: found \"x\"", "at `tags[0]`: found 1", "at `limit`: found 30.5, expected integer"]
    {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[tokio::test]
async fn g5_whole_floats_reach_the_tool_as_integers() {
    let server = Server::start(suite()).await;
    let body = call("search", json!({"filter": {"a": 0}, "tags": [], "limit": 0}));
    let text = String::from_utf8(body.body.clone()).unwrap();
    let text = text.replace(r#""a":0"#, r#""a":30.0"#).replace(r#""limit":0"#, r#""limit":3e1"#);
    assert_eq!(server.send(body.body(text)).await.text(), "30  30");
}

#[tokio::test]
async fn g7_json_text_is_told_by_default_and_taken_on_demand() {
    let server = Server::start(suite()).await;
    let given = json!({"filter": "{\"a\":1}", "tags": "[\"x\"]", "limit": 2});
    let response = server.send(call("search", given.clone())).await;
    assert_eq!(response.result()["isError"], true);
    let text = response.text();
    assert!(text.contains("at `filter`: found JSON text in a string, expected object"), "{text}");
    assert!(text.contains("at `tags`: found JSON text in a string, expected array"), "{text}");
    assert_eq!(server.send(call("lenient", given)).await.text(), "1 x 2");
}

/// Lists in lists, which a recursion would follow.
#[derive(Deserialize, JsonSchema)]
struct Lists(Vec<Lists>);

#[derive(Deserialize, JsonSchema)]
struct Nested {
    lists: Lists,
}

fn depth(lists: &Lists) -> usize {
    1 + lists.0.iter().map(depth).max().unwrap_or(0)
}

/// Text in text would else be read as deep as the largest body is long.
#[tokio::test]
async fn g7_json_text_is_no_way_around_the_limits_of_a_body() {
    let deep = |Nested { lists }: Nested| async move { depth(&lists) as u64 };
    let server = Server::start(Suite::new("deep", "1").tool("deep", tool(deep).accept_json_text())).await;
    // Lists in lists, each as the text of the one around it.
    let texts = |texts: usize, lists: usize| {
        let text = (0..texts).fold("[]".to_owned(), |inner, _| {
            format!("{}{}{}", "[".repeat(lists), json!(inner), "]".repeat(lists))
        });
        call("deep", json!({"lists": text}))
    };
    assert_eq!(server.send(texts(3, 4)).await.text(), "13");
    for post in [texts(12, 120), texts(16, 5), texts(8, 126)] {
        let refused = server.send(post).await;
        assert_eq!(refused.result()["isError"], true);
        assert!(refused.text().contains("found JSON text in a string"), "{refused:?}");
    }
    let wide =
        server.send(call("deep", json!({"lists": format!("[{}]", vec!["[]"; 20_000].join(","))}))).await;
    assert!(wide.text().contains("found JSON text in a string"), "{wide:?}");
}

#[tokio::test]
async fn g8_unknown_tools_and_malformed_calls_are_protocol_errors() {
    let server = Server::start(suite()).await;
    assert_eq!(server.send(call("none", json!({}))).await.code(), -32602);
    let malformed = request("tools/call", json!({"name": "search", "arguments": [1]}));
    assert_eq!(server.send(malformed).await.code(), -32602);
    let missing = server.send(call("search", json!({}))).await;
    assert_eq!(missing.result()["isError"], true);
}
