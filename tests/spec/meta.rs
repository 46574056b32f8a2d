//! Basic: `_meta` and the metadata of each request (META).

use serde_json::{Value, json};

use super::server;
use crate::support::mirror::{Mirror, seen};
use crate::support::{Server, call, meta, request};

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const CLIENT: &str = "io.modelcontextprotocol/clientInfo";
const SERVER: &str = "io.modelcontextprotocol/serverInfo";

fn without(key: &str) -> Value {
    let mut meta = meta();
    meta.as_object_mut().expect("an object").remove(key);
    meta
}

fn with(key: &str, value: Value) -> Value {
    let mut meta = meta();
    meta[key] = value;
    meta
}

#[tokio::test]
async fn meta_05_meta_06_a_request_without_the_required_metadata_is_400_with_minus_32602() {
    let server = server::start().await;
    for broken in [
        json!({}),
        json!(null),
        json!([]),
        without(VERSION),
        without(CAPABILITIES),
        with(VERSION, json!(20_260_728)),
        with(VERSION, json!(null)),
        with(CAPABILITIES, json!([])),
        with(CAPABILITIES, json!(null)),
    ] {
        let refused = server.send(request("tools/list", json!({"_meta": broken})).id("\"m\"")).await;
        assert_eq!((refused.status, refused.code()), (400, -32602), "{broken}");
        assert_eq!(refused.answer()["id"], "m", "{broken}");
    }
    let nothing = request("tools/list", json!({})).body(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    let refused = server.send(nothing).await;
    assert_eq!((refused.status, refused.code()), (400, -32602));
}

#[tokio::test]
async fn meta_07_meta_13_who_the_client_says_it_is_changes_nothing() {
    let server = server::start().await;
    let plain = server.send(request("tools/list", json!({}))).await;
    for info in [json!({"name": "n", "version": "1"}), json!({"name": 7}), json!("odd"), json!(null)] {
        let told = server.send(request("tools/list", json!({})).with_meta(CLIENT, info.clone())).await;
        assert_eq!((told.status, told.body), (200, plain.body.clone()), "{info}");
    }
}

#[tokio::test]
async fn meta_09_meta_10_a_missing_capability_is_400_with_minus_32021_and_an_object_of_what_is_required() {
    let server = server::start().await;
    let refused = server.send(call("samples", json!({}))).await;
    assert_eq!((refused.status, refused.code()), (400, -32021));
    let data = &refused.answer()["error"]["data"];
    assert_eq!(data["requiredCapabilities"], json!({"sampling": {}}));
}

#[tokio::test]
async fn meta_12_every_result_says_who_the_server_is() {
    let server = server::start().await;
    for post in [
        request("server/discover", json!({})),
        request("tools/list", json!({})),
        call("echo", json!({"text": "x"})),
        call("fails", json!({})),
        call("slow", json!({"ms": 1})).progress(json!(1)),
    ] {
        let info = server.send(post).await.result()["_meta"][SERVER].clone();
        assert_eq!((&info["name"], &info["version"]), (&json!("fixture"), &json!("1.0.0")));
    }
}

#[tokio::test]
async fn meta_04_the_server_writes_no_reserved_key_but_its_identity() {
    let server = server::start().await;
    let result = server.send(call("echo", json!({"text": "x"}))).await.result();
    let keys: Vec<&String> = result["_meta"].as_object().expect("an object").keys().collect();
    assert_eq!(keys, [SERVER]);
}

#[tokio::test]
async fn meta_15_trace_context_reaches_the_handler_only_in_its_w3c_form() {
    let server = Server::start(Mirror).await;
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let traced = call("any", json!({}))
        .with_meta("traceparent", json!(parent))
        .with_meta("tracestate", json!("vendor=value"))
        .with_meta("baggage", json!("user=alice"));
    let saw = seen(&server.send(traced.clone()).await);
    assert_eq!(saw["traceparent"], parent);
    assert_eq!(saw["tracestate"], "vendor=value");
    assert_eq!(saw["baggage"], "user=alice");
    for malformed in [json!("00-zz-00-01"), json!(7), json!(parent.to_uppercase()), json!("")] {
        let response = server.send(traced.clone().with_meta("traceparent", malformed.clone())).await;
        assert_eq!(seen(&response)["traceparent"], json!(null), "{malformed}");
        assert_eq!(seen(&response)["tracestate"], json!(null), "{malformed}");
    }
}
