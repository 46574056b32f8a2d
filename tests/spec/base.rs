//! Basic: the JSON-RPC base protocol (BASE).

use std::time::Duration;

use ractor_mcp::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::server;
use crate::support::logs::Logs;
use crate::support::mirror::Mirror;
use crate::support::streams::acknowledged;
use crate::support::{Post, Response, Server, call, listen_tools, notification, request, shut_down};

/// A progress token makes the response a stream, so that all kinds of messages occur.
async fn streamed(server: &Server) -> Response {
    let steps = json!({"steps": [{"progress": 1}, {"progress": 2}]});
    server.send(call("steps", steps).progress(json!("t"))).await
}

#[tokio::test]
async fn base_01_every_message_is_json_rpc_2_0() {
    let server = server::start().await;
    for response in [
        streamed(&server).await,
        server.send(request("tools/list", json!({}))).await,
        server.send(request("no/such", json!({}))).await,
        server.send(Post::raw("{")).await,
    ] {
        for message in response.messages() {
            assert_eq!(message["jsonrpc"], "2.0", "{message}");
        }
    }
}

#[tokio::test]
async fn base_02_messages_are_utf_8_in_both_directions() {
    let server = server::start().await;
    let echoed = server.send(call("echo", json!({"text": "grüße ❄ 漢字"}))).await;
    assert_eq!(echoed.text(), "grüße ❄ 漢字");
    let latin_1 = call("echo", json!({"text": "gr"})).body(b"{\"text\":\"gr\xfc\xdfe\"}".to_vec());
    let refused = server.send(latin_1).await;
    assert_eq!((refused.status, refused.code()), (400, -32700));
}

#[tokio::test]
async fn base_04_one_response_after_the_notifications_of_that_request() {
    let server = server::start().await;
    let messages = streamed(&server).await.messages();
    let with_id: Vec<bool> = messages.iter().map(|message| message.get("id").is_some()).collect();
    assert_eq!(with_id, [false, false, true]);
}

/// Nor where it has something to say or to ask: on a stream of changes, and in a question to the client (SSE-03, MRTR-01).
#[tokio::test]
async fn base_05_the_server_sends_no_requests() {
    #[derive(Deserialize, JsonSchema)]
    struct Name {
        #[allow(dead_code, reason = "nobody answers")]
        name: String,
    }
    async fn asks(_: NoArguments, call: Call) -> Result<&'static str, ToolError> {
        call.progress(1, None, None).await?;
        let _: Elicited<Name> = call.elicit("name", "Who are you?")?;
        Ok("answered")
    }
    let server = Server::start(server::suite().list_changes().tool("asks", asks)).await;
    let mut messages = streamed(&server).await.messages();
    let forms = json!({"elicitation": {}});
    let asked = server.send(call("asks", json!({})).capable_of(forms).progress(json!(1))).await;
    assert_eq!(asked.result()["resultType"], "input_required");
    messages.extend(asked.messages());
    let (mut client, acknowledgement) = acknowledged(server.client().await, &listen_tools()).await;
    messages.push(acknowledgement);
    server.mcp.notify_tools_changed();
    messages.push(client.read_event().await.expect("a change"));
    shut_down(&server, Duration::from_secs(1));
    while let Some(message) = client.read_event().await {
        messages.push(message);
    }
    assert_eq!(messages.len(), 3 + 2 + 4);
    for message in messages {
        assert!(message.get("id").is_none() || message.get("method").is_none(), "{message}");
    }
}

#[tokio::test]
async fn base_06_an_id_that_is_neither_string_nor_integer_is_an_invalid_request() {
    let server = server::start().await;
    let mut client = server.client().await;
    for id in ["null", "1.5", "1e2", "true", "{}", "[1]"] {
        let refused = client.send(&call("echo", json!({"text": "x"})).id(id)).await;
        assert_eq!((refused.status, refused.code()), (400, -32600), "{id}");
        assert!(refused.answer().get("id").is_none(), "{id}");
    }
}

#[tokio::test]
async fn base_07_two_clients_may_use_one_id_at_a_time() {
    let server = server::start().await;
    let (mut one, mut two) = (server.client().await, server.client().await);
    one.write(&call("slow", json!({"ms": 200}))).await;
    server.await_process("request tools/call slow #1").await;
    assert_eq!(two.send(&call("echo", json!({"text": "mine"}))).await.text(), "mine");
    assert_eq!(one.read_response().await.text(), "worked for 200 ms");
}

#[tokio::test]
async fn base_08_base_12_results_and_errors_echo_the_id_with_value_and_type() {
    let server = server::start().await;
    let mut client = server.client().await;
    // Beyond 32, 53 and 64 bits too.
    for id in ["0", "-1", "\"\"", "\"7\"", "7", "4294967296", "9007199254740993", "123456789012345678901"] {
        for post in [request("tools/list", json!({})), request("no/such", json!({}))] {
            let response = client.send(&post.id(id)).await;
            // To its end: 7 is not the beginning of 77.
            let echoed = format!("\"id\":{id},");
            assert!(response.body.contains(&echoed), "{echoed} in {}", response.body);
        }
    }
}

#[tokio::test]
async fn base_09_base_10_base_11_each_result_is_a_complete_object() {
    let server = server::start().await;
    for post in [
        request("server/discover", json!({})),
        request("tools/list", json!({})),
        call("echo", json!({"text": "x"})),
        call("nothing", json!({})),
        call("fails", json!({})),
    ] {
        let result = server.send(post).await.result();
        assert!(result.is_object());
        assert_eq!(result["resultType"], "complete", "{result}");
    }
}

#[tokio::test]
async fn base_12_a_04_an_id_that_could_not_be_read_is_left_out() {
    let server = server::start().await;
    for body in ["", "not json", "{\"id\":1,", "[]", "7", "{\"id\":1,\"id\":2}"] {
        let response = server.send(Post::raw(body)).await;
        assert_eq!(response.status, 400, "{body}");
        assert!(response.answer().get("id").is_none(), "{body}");
    }
}

/// Each way in which the server itself refuses, and the code that it has to have.
fn refusals() -> Vec<(Post, i64)> {
    let call = || call("echo", json!({"text": "x"}));
    let newer = json!({
        "io.modelcontextprotocol/protocolVersion": "2099-01-01",
        "io.modelcontextprotocol/clientCapabilities": {}
    });
    vec![
        (Post::raw("{"), -32700),
        (Post::raw("{}"), -32600),
        (call().body(r#"{"jsonrpc":"1.0","id":1,"method":"tools/list"}"#), -32600),
        (request("no/such", json!({})), -32601),
        (request("resources/list", json!({})), -32601),
        (request("tools/call", json!({"name": 7})).header("Mcp-Name", "7"), -32602),
        (request("tools/list", json!({"_meta": {}})), -32602),
        (call().without("Mcp-Method"), -32020),
        (crate::support::call("samples", json!({})), -32021),
        (request("tools/list", json!({"_meta": newer})).header("MCP-Protocol-Version", "2099-01-01"), -32022),
        (crate::support::call("boom", json!({})), -32603),
        (call().header("Origin", "http://elsewhere.example"), -32600),
        (call().header("Accept", "text/html"), -32600),
        (call().header("Content-Type", "text/plain"), -32600),
        (call().verb("GET"), -32600),
        (call().path("/other"), -32600),
    ]
}

#[tokio::test]
async fn base_13_base_15_base_16_base_17_an_error_has_its_standard_code_and_one_short_sentence() {
    let server = server::start().await;
    for (post, code) in refusals() {
        let response = server.send(post.clone()).await;
        let error = &response.answer()["error"];
        assert_eq!(error["code"].as_i64(), Some(code), "{post:?}");
        let message = error["message"].as_str().expect("a message");
        assert!(!message.is_empty() && message.len() < 300, "{message}");
        assert!(!message.contains('\n'), "{message}");
    }
}

#[tokio::test]
async fn base_14_base_21_an_application_error_goes_out_with_its_code_and_data() {
    let server = Server::start(Mirror).await;
    for (code, data) in
        [(1, json!("text")), (-31999, json!([1, {"a": true}])), (40_001, json!({"retry": false}))]
    {
        let error =
            server.send(call("fail", json!({"code": code, "data": data}))).await.answer()["error"].clone();
        assert_eq!(error, json!({"code": code, "message": "failed as asked", "data": data}));
    }
}

#[tokio::test]
async fn base_17_base_18_base_20_a_reserved_code_that_the_revision_does_not_define_is_never_sent() {
    let (logs, _guard) = Logs::record(tracing::Level::ERROR);
    let server = Server::start(Mirror).await;
    let reserved = [-32768, -32100, -32099, -32050, -32042, -32023, -32019, -32002, -32000];
    for code in reserved {
        let answer = server.send(call("fail", json!({"code": code, "data": "d"}))).await.answer();
        assert_eq!(answer["error"], json!({"code": -32603, "message": "internal error"}), "{code}");
    }
    assert_eq!(logs.lines("ERROR").len(), reserved.len(), "{}", logs.text());
    for code in [-32700, -32600, -32601, -32602, -32603, -32020, -32021, -32022, -32769, -31999] {
        assert_eq!(server.send(call("fail", json!({"code": code}))).await.code(), code);
    }
}

#[tokio::test]
async fn base_22_a_notification_is_not_answered() {
    let server = server::start().await;
    let response = server.send(notification("notifications/anything", json!({"a": 1}))).await;
    assert_eq!((response.status, response.body.as_str()), (202, ""));
}

#[tokio::test]
async fn base_22_of_a_request_whose_id_was_forgotten_the_trace_asks_for_it() {
    let (logs, _recording) = Logs::record(tracing::Level::DEBUG);
    let server = server::start().await;
    assert_eq!(server.send(notification("tools/call", json!({"name": "echo"}))).await.status, 202);
    let asked = logs.lines("DEBUG").into_iter().find(|line| line.contains("was its id forgotten?"));
    assert!(asked.is_some_and(|line| line.contains("tools/call")), "{}", logs.text());
}

#[tokio::test]
async fn base_23_base_25_notifications_of_a_request_have_no_id_and_a_method() {
    let server = server::start().await;
    let mut messages = streamed(&server).await.messages();
    messages.pop();
    assert_eq!(messages.len(), 2);
    for message in messages {
        assert!(message.get("id").is_none());
        assert_eq!(message["method"], "notifications/progress");
    }
}

#[tokio::test]
async fn base_24_batches_and_responses_are_refused() {
    let server = server::start().await;
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    for body in [
        "[]".to_owned(),
        format!("[{list}]"),
        format!("[{list},{list}]"),
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"}}"#.to_owned(),
    ] {
        let refused = server.send(request("tools/list", json!({})).body(body.clone())).await;
        assert_eq!((refused.status, refused.code()), (400, -32600), "{body}");
        assert!(refused.answer().get("id").is_none(), "{body}");
    }
}

#[tokio::test]
async fn base_28_unknown_members_are_ignored_at_every_level() {
    let server = server::start().await;
    let mut body: Value = serde_json::from_slice(&call("echo", json!({"text": "x"})).body).expect("JSON");
    body["future"] = json!({"a": [1]});
    body["params"]["future"] = json!(null);
    body["params"]["_meta"]["com.example/future"] = json!({"a": [1]});
    body["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"]["future"] = json!(7);
    assert_eq!(server.send(Post::of(&body)).await.text(), "x");
}
