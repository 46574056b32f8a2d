//! Server: tools (TOOL).

use ractor_mcp::Suite;
use serde_json::{Value, json};

use super::server;
use crate::support::{Server, call, fixture, request};

async fn listed(server: &Server) -> Vec<Value> {
    let result = server.send(request("tools/list", json!({}))).await.result();
    result["tools"].as_array().expect("tools").clone()
}

async fn tool(server: &Server, name: &str) -> Value {
    let tools = listed(server).await;
    tools.into_iter().find(|tool| tool["name"] == name).expect("the tool is listed")
}

#[tokio::test]
async fn tool_01_tool_02_tools_are_declared_and_listed() {
    let server = server::start().await;
    let discovered = server.send(request("server/discover", json!({}))).await.result();
    assert!(discovered["capabilities"]["tools"].is_object());
    assert_eq!(listed(&server).await[0]["name"], "echo");
}

#[tokio::test]
async fn tool_03_tool_05_the_list_is_the_same_on_each_connection_and_after_each_request() {
    let server = server::start().await;
    let mut client = server.client().await;
    let list = request("tools/list", json!({}));
    let first = client.send(&list).await.body;
    for post in [call("boom", json!({})), call("echo", json!({"text": "x"})), request("no/such", json!({}))] {
        client.send(&post).await;
        assert_eq!(client.send(&list).await.body, first);
    }
    assert_eq!(server.send(list).await.body, first);
}

#[tokio::test]
async fn tool_06_tool_07_a_tool_has_a_name_and_a_schema_of_an_object_and_nothing_of_other_revisions() {
    for tool in listed(&server::start().await).await {
        assert!(tool["name"].is_string());
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        assert_eq!(tool.get("execution"), None, "{tool}");
    }
}

#[tokio::test]
async fn tool_08_a_tool_without_parameters_takes_none() {
    let server = server::start().await;
    let schema = tool(&server, "nothing").await["inputSchema"].clone();
    assert_eq!(schema["type"], "object");
    assert_eq!(schema["additionalProperties"], false);
}

#[tokio::test]
async fn tool_09_names_are_case_sensitive_unique_and_of_1_to_128_characters() {
    let server = server::start().await;
    assert_eq!(server.send(call("Echo", json!({"text": "x"}))).await.code(), -32602);
    let wrong = Suite::new("wrong", "1")
        .tool("", fixture::echo)
        .tool(&"x".repeat(129), fixture::echo)
        .tool("twice", fixture::echo)
        .tool("twice", fixture::echo);
    let told = ractor_mcp::McpSupervisor::start(wrong).await.expect_err("not a server").to_string();
    for fault in ["empty", "129", "twice"] {
        assert!(told.contains(fault), "all faults at once: {told}");
    }
}

#[tokio::test]
async fn tool_10_absent_arguments_are_none() {
    let server = server::start().await;
    let absent = server.send(request("tools/call", json!({"name": "nothing"}))).await;
    assert_eq!(absent.result()["content"], json!([]));
}

#[tokio::test]
async fn tool_11_an_unknown_tool_is_a_protocol_error() {
    let server = server::start().await;
    let unknown = server.send(call("no_such", json!({}))).await;
    assert_eq!((unknown.status, unknown.code()), (200, -32602));
}

#[tokio::test]
async fn tool_12_a_call_of_another_shape_is_a_protocol_error() {
    let server = server::start().await;
    let name = |params: Value| request("tools/call", params).header("Mcp-Name", "echo");
    for params in [
        json!({}),
        json!({"name": 7}),
        json!({"name": null}),
        json!({"name": "echo", "arguments": null}),
        json!({"name": "echo", "arguments": []}),
        json!({"name": "echo", "arguments": "{}"}),
        json!({"name": "echo", "arguments": 7}),
        json!({"name": "echo", "inputResponses": null}),
        json!({"name": "echo", "requestState": 7}),
    ] {
        let refused = server.send(name(params.clone())).await;
        assert_eq!((refused.status, refused.code()), (200, -32602), "{params}");
    }
}

#[tokio::test]
async fn tool_13_tool_19_a_05_what_the_tool_or_its_arguments_got_wrong_is_for_the_model_to_read() {
    let server = server::start().await;
    for (post, text) in [
        (call("fails", json!({})), "out of paper"),
        (call("echo", json!({})), "text"),
        (call("echo", json!({"text": 7})), "text"),
        (call("mirrored", json!({"x": 1, "y": "two"})), "y"),
        (call("nothing", json!({"extra": 1})), "extra"),
    ] {
        let response = server.send(post.clone()).await;
        assert_eq!((response.status, &response.result()["isError"]), (200, &json!(true)), "{post:?}");
        assert!(response.text().contains(text), "{}", response.text());
    }
}

#[tokio::test]
async fn tool_14_a_result_has_content_which_may_be_empty() {
    let server = server::start().await;
    let result = server.send(call("nothing", json!({}))).await.result();
    assert_eq!(result["content"], json!([]));
    assert!(result.get("isError").is_none_or(|flag| flag == false));
}

#[tokio::test]
async fn tool_15_structured_content_conforms_to_the_schema_that_was_advertised() {
    let server = server::start().await;
    for (name, arguments) in [("mirrored", json!({"x": 1, "y": 2})), ("numbers", json!({}))] {
        let schema = tool(&server, name).await["outputSchema"].clone();
        let structured = server.send(call(name, arguments)).await.result()["structuredContent"].clone();
        assert!(jsonschema::is_valid(&schema, &structured), "{structured} against {schema}");
        assert!(!jsonschema::is_valid(&schema, &json!("odd")), "{schema}");
    }
}

#[tokio::test]
async fn tool_16_tool_17_structured_content_of_any_kind_comes_as_text_too() {
    let server = server::start().await;
    for (name, arguments, value) in [
        ("mirrored", json!({"x": 1, "y": 2}), json!({"x": 2, "y": 1})),
        ("numbers", json!({}), json!([1, 2, 3])),
    ] {
        let response = server.send(call(name, arguments)).await;
        assert_eq!(response.result()["structuredContent"], value);
        let text: Value = serde_json::from_str(&response.text()).expect("JSON text");
        assert_eq!(text, value);
    }
}

#[tokio::test]
async fn tool_21_each_type_of_content() {
    let server = server::start().await;
    let content = server.send(call("contents", json!({}))).await.result()["content"].clone();
    let types: Vec<&Value> =
        content.as_array().expect("content").iter().map(|block| &block["type"]).collect();
    assert_eq!(types, ["text", "image", "audio", "resource", "resource_link"]);
    assert_eq!((&content[1]["data"], &content[1]["mimeType"]), (&json!("/wA="), &json!("image/png")));
    assert_eq!((&content[2]["data"], &content[2]["mimeType"]), (&json!("/w=="), &json!("audio/wav")));
    assert_eq!(content[3]["resource"]["text"], "contents");
    assert_eq!((&content[4]["uri"], &content[4]["name"]), (&json!("test://link"), &json!("a link")));
}

#[tokio::test]
async fn tool_22_a_missing_capability_found_by_a_tool_is_minus_32021_and_no_result() {
    let server = server::start().await;
    let refused = server.send(call("samples", json!({}))).await;
    assert_eq!((refused.status, refused.code()), (400, -32021));
    assert_eq!(refused.answer().get("result"), None);
}
