//! Bad input: what a body may hold (E1 to E4, E6, E8, E9, E11, E12, E18, E20).

use ractor_mcp::Options;
use serde_json::{Value, json};

use crate::support::mirror::{Mirror, seen};
use crate::support::{Client, Post, Response, Server, call, fixture, meta, next_request, request};

/// The call with text in place of its `arguments`.
fn with_arguments(arguments: &str) -> Post {
    let post = call("anything", json!("HERE"));
    let body = String::from_utf8(post.body.clone()).expect("text");
    post.body(body.replace("\"HERE\"", arguments))
}

fn assert_refused(response: &Response, code: i64, what: &str) {
    assert_eq!((response.status, response.code()), (400, code), "{what}: {}", response.body);
}

#[tokio::test]
async fn e1_an_invalid_request_is_answered_with_its_id() {
    let server = Server::start(fixture::suite()).await;
    let body = json!({"id": 99, "method": "tools/list", "params": {"_meta": meta()}});
    let refused = server.send(Post::of(&body)).await;
    assert_refused(&refused, -32600, "no jsonrpc");
    assert_eq!(refused.answer()["id"], 99);
}

#[tokio::test]
async fn e2_a_batch_is_refused_as_a_whole_and_without_an_id() {
    let server = Server::start(fixture::suite()).await;
    let mut exits = server.mcp.exits();
    let one = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta()}});
    let two = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {"_meta": meta()}});
    let mut client = server.client().await;
    for body in [json!([one, two]), json!([])] {
        let refused = client.send(&request("tools/list", json!({})).body(body.to_string())).await;
        assert_refused(&refused, -32600, "a batch");
        assert!(refused.answer().get("id").is_none());
    }
    // Nothing of it ran: the first request that ends is the next one.
    client.send(&call("echo", json!({"text": "next"})).id("3")).await;
    assert_eq!(next_request(&mut exits).await.label, "request tools/call echo #3");
}

#[tokio::test]
async fn e3_an_id_that_is_none_runs_nothing() {
    let server = Server::start(fixture::suite()).await;
    let mut exits = server.mcp.exits();
    let mut client = server.client().await;
    for id in ["null", "{}", "true", "[1]"] {
        assert_refused(&client.send(&call("echo", json!({"text": "x"})).id(id)).await, -32600, id);
    }
    client.send(&call("echo", json!({"text": "next"})).id("3")).await;
    assert_eq!(next_request(&mut exits).await.label, "request tools/call echo #3");
}

#[tokio::test]
async fn e4_an_id_comes_back_as_it_was_sent() {
    let server = Server::start(fixture::suite()).await;
    let mut client = server.client().await;
    for id in ["0", "-1", "\"\"", "\"7\"", "7", "9007199254740993", "9223372036854775807", "\"snow-❄\""] {
        let result = client.send(&call("echo", json!({"text": "x"})).id(id)).await;
        assert!(result.body.contains(&format!("\"id\":{id},")), "{id} in {}", result.body);
        assert_eq!(result.text(), "x", "{id}");
        let error = client.send(&call("no_such", json!({})).id(id)).await;
        assert!(error.body.contains(&format!("\"id\":{id},")), "{id} in {}", error.body);
    }
}

#[tokio::test]
async fn e4_the_text_7_and_the_number_7_are_two_ids_in_flight_at_once() {
    let server = Server::start(fixture::suite()).await;
    let (mut number, mut text) = (server.client().await, server.client().await);
    number.write(&call("slow", json!({"ms": 200})).id("7")).await;
    text.write(&call("slow", json!({"ms": 200})).id("\"7\"")).await;
    server.await_process("request tools/call slow #7").await;
    server.await_process("request tools/call slow #\"7\"").await;
    assert_eq!(number.read_response().await.answer()["id"], 7);
    assert_eq!(text.read_response().await.answer()["id"], "7");
}

#[tokio::test]
async fn e6_an_id_of_megabytes_is_refused_and_not_echoed() {
    let server = Server::start(fixture::suite()).await;
    let long = format!("\"{}\"", "x".repeat(3 * 1024 * 1024));
    for post in [call("echo", json!({"text": "x"})).id(&long), request("no/such", json!({})).id(&long)] {
        let refused = server.send(post).await;
        assert_refused(&refused, -32600, "3 MiB");
        assert!(refused.body.len() < 500);
    }
    let longest = format!("\"{}\"", "x".repeat(254));
    assert_eq!(server.send(call("echo", json!({"text": "x"})).id(&longest)).await.text(), "x");
}

#[tokio::test]
async fn e6_tokens_and_cursors_of_megabytes_are_refused_and_not_echoed() {
    let server = Server::start(fixture::suite()).await;
    let long = "x".repeat(1024 * 1024);
    for post in [
        call("echo", json!({"text": "x"})).progress(json!(long)),
        request("tools/list", json!({"cursor": long})),
    ] {
        let refused = server.send(post).await;
        assert_eq!(refused.code(), -32602);
        assert!(refused.body.len() < 500);
    }
}

#[tokio::test]
async fn e6_how_long_ids_and_tokens_may_be_is_an_option() {
    let echo = || call("echo", json!({"text": "x"}));
    let long_id = |bytes: usize| echo().id(&format!("\"{}\"", "x".repeat(bytes - 2)));
    let long_token = |bytes: usize| echo().progress(json!("x".repeat(bytes)));
    let wide = Options::new().max_id(300).max_token(9000);
    for (options, id, token) in [(Options::new(), 256, 8 * 1024), (wide, 300, 9000)] {
        let server = Server::start_with(fixture::suite(), options).await;
        for fits in [long_id(id), long_token(token)] {
            assert_eq!(server.send(fits).await.text(), "x");
        }
        assert_eq!(server.send(long_id(id + 1)).await.status, 400);
        let cursor = request("tools/list", json!({"cursor": "x".repeat(token + 1)}));
        for longer in [long_token(token + 1), cursor] {
            let refused = server.send(longer).await;
            assert_eq!(refused.code(), -32602);
            assert!(refused.body.contains("is longer than"), "{refused:?}");
        }
    }
}

#[tokio::test]
async fn e8_deep_nesting_is_answered_and_costs_nothing_else() {
    let server = Server::start(fixture::suite()).await;
    let mut client = server.client().await;
    let arrays = |depth: usize| format!("{{\"n\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
    let objects = |depth: usize| format!("{{\"n\":{}1{}}}", "{\"n\":".repeat(depth), "}".repeat(depth));
    for depth in [100, 127, 128, 129, 5000, 200_000] {
        for arguments in [arrays(depth), objects(depth)] {
            let refused = client.send(&with_arguments(&arguments)).await;
            assert_refused(&refused, -32600, &depth.to_string());
            assert_eq!(refused.answer()["id"], 1, "{depth}");
        }
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{"_meta":{{"deep":{}}}}}}}"#,
            objects(depth)
        );
        let refused = client.send(&request("tools/list", json!({})).body(body)).await;
        assert_refused(&refused, -32600, &depth.to_string());
    }
    assert_eq!(client.send(&with_arguments(&arrays(50))).await.text(), "taken");
}

#[tokio::test]
async fn e9_names_are_case_sensitive() {
    let server = Server::start(fixture::suite()).await;
    let mut body: Value = serde_json::from_slice(&call("echo", json!({"text": "x"})).body).expect("JSON");
    body["params"]["Name"] = json!("boom");
    body["Method"] = json!("tools/list");
    assert_eq!(server.send(Post::of(&body)).await.text(), "x", "the variants are unknown members");
}

#[tokio::test]
async fn e9_repeated_keys_and_trailing_data_are_refused() {
    let server = Server::start(fixture::suite()).await;
    let post = call("echo", json!({"text": "x"}));
    let body = String::from_utf8(post.body.clone()).expect("text");
    for (what, body, code) in [
        ("two methods", body.replacen('{', "{\"method\":\"tools/list\",", 1), -32600),
        ("two ids", body.replacen('{', "{\"id\":2,", 1), -32600),
        ("two names", body.replacen("\"name\":", "\"name\":\"boom\",\"name\":", 1), -32600),
        ("two arguments", body.replacen("\"text\":", "\"text\":1,\"text\":", 1), -32600),
        ("an escaped twin", body.replacen("\"text\":", "\"te\\u0078t\":1,\"text\":", 1), -32600),
        ("trailing data", format!("{body}{{}}"), -32700),
        ("trailing text", format!("{body}x"), -32700),
    ] {
        assert_refused(&server.send(post.clone().body(body)).await, code, what);
    }
}

#[tokio::test]
async fn e11_numbers_that_are_none_are_parse_errors_and_odd_ones_are_fine() {
    let server = Server::start(fixture::suite()).await;
    for number in ["NaN", "Infinity", "-Infinity", "01", "1e400", "-1e400", "+1", ".5", "1.", "0x1"] {
        let refused = server.send(with_arguments(&format!("{{\"n\":{number}}}"))).await;
        assert_refused(&refused, -32700, number);
    }
    for number in ["-0", "1E2", "1e-400", "0.1e1", "18446744073709551616"] {
        let taken = server.send(with_arguments(&format!("{{\"n\":{number}}}"))).await;
        assert_eq!(taken.text(), "taken", "{number}");
    }
}

#[tokio::test]
async fn e12_an_encoded_name_is_decoded_strictly_and_nothing_else_is() {
    let server = Server::start(Mirror).await;
    let named = |name: &str, header: &str| call(name, json!({})).header("Mcp-Name", header);
    let response = server.send(named("grüße", "=?base64?Z3LDvMOfZQ==?=")).await;
    assert_eq!(seen(&response)["tool"], "grüße");
    let odd = "=?base64?x?=";
    let encoded = server.send(named(odd, "=?base64?PT9iYXNlNjQ/eD89?=")).await;
    assert_eq!(seen(&encoded)["tool"], odd);
    for (what, name, header) in [
        ("broken padding", "grüße", "=?base64?Z3LDvMOfZQ=?="),
        ("no UTF-8", "grüße", "=?base64?/w==?="),
        ("sent raw", odd, odd),
        ("marker in capitals", "grüße", "=?BASE64?Z3LDvMOfZQ==?="),
    ] {
        assert_refused(&server.send(named(name, header)).await, -32020, what);
    }
}

#[tokio::test]
async fn e18_arguments_are_an_object_or_absent() {
    let server = Server::start(fixture::suite()).await;
    let mut exits = server.mcp.exits();
    let mut client: Client = server.client().await;
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"boom","_meta":META}}"#;
    let absent = call("boom", json!({})).body(body.replace("META", &meta().to_string()));
    assert_eq!(client.send(&absent).await.code(), -32603, "the tool was entered");
    assert_eq!(next_request(&mut exits).await.label, "request tools/call boom #1");
    for arguments in ["null", "[]", "\"{}\"", "7", "true"] {
        let refused = client.send(&with_arguments(arguments)).await;
        assert_eq!(refused.code(), -32602, "{arguments}");
    }
    client.send(&call("echo", json!({"text": "next"})).id("3")).await;
    assert_eq!(
        next_request(&mut exits).await.label,
        "request tools/call echo #3",
        "no tool was entered before"
    );
}

#[tokio::test]
async fn e20_members_of_newer_clients_are_ignored() {
    let server = Server::start(Mirror).await;
    let capabilities = json!({
        "elicitation": {"form": {}, "hologram": {}},
        "extensions": {"com.example/x": {"v": [1]}},
        "future": 7
    });
    let post =
        call("any", json!({})).with_meta("io.modelcontextprotocol/clientCapabilities", capabilities.clone());
    let response = server.send(post).await;
    assert_eq!(seen(&response)["capabilities"], capabilities);
}

#[tokio::test]
async fn e21_quick_refusals_leave_no_error_and_no_task() {
    let (logs, _guard) = crate::support::logs::Logs::record(tracing::Level::INFO);
    let server = Server::start(fixture::suite()).await;
    let idle = server.tree().to_string();
    let refused: Vec<_> = (0..500)
        .map(|_| {
            let addr = server.addr;
            tokio::spawn(async move {
                let wrong = call("echo", json!({"text": "x"})).header("Mcp-Method", "tools/list");
                Client::connect(addr).await.send(&wrong).await.code()
            })
        })
        .collect();
    for code in refused {
        assert_eq!(code.await.expect("no panic"), -32020);
    }
    server.await_tree(&idle).await;
    assert_eq!(logs.text(), "", "a refusal is the client's affair: debug at most");
}
