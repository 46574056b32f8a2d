//! Basic: versioning and extensions (VER).

use serde_json::{Value, json};

use super::server;
use crate::support::mirror::Mirror;
use crate::support::{Post, Server, call, request};

/// A request that names a revision in both places.
fn in_revision(version: &str) -> Post {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {}
    });
    request("tools/list", json!({"_meta": meta})).header("MCP-Protocol-Version", version)
}

#[tokio::test]
async fn ver_01_ver_05_the_first_request_may_be_any_and_each_is_judged_by_its_own_version() {
    let server = server::start().await;
    let mut client = server.client().await;
    assert_eq!(client.send(&call("echo", json!({"text": "first"}))).await.text(), "first");
    assert_eq!(client.send(&in_revision("2099-01-01")).await.code(), -32022);
    assert_eq!(client.send(&in_revision("2026-07-28")).await.status, 200);
}

#[tokio::test]
async fn ver_02_ver_03_a_version_that_is_not_there_is_400_with_minus_32022_and_what_is_there() {
    let server = server::start().await;
    for version in ["v999.0.0", "2099-01-01", "DRAFT-2026-v1"] {
        let refused = server.send(in_revision(version)).await;
        assert_eq!((refused.status, refused.code()), (400, -32022), "{version}");
        assert_eq!(
            refused.answer()["error"]["data"],
            json!({"supported": ["2026-07-28"], "requested": version})
        );
    }
}

#[tokio::test]
async fn a_09_modern_metadata_cannot_select_a_legacy_revision() {
    let server = server::start().await;
    for version in ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] {
        let refused = server.send(in_revision(version)).await;
        assert_eq!((refused.status, refused.code()), (400, -32022), "{version}");
        assert_eq!(refused.answer()["error"]["data"]["supported"], json!(["2026-07-28"]));
    }
}

#[tokio::test]
async fn ver_10_a_handshake_is_refused_with_the_versions_that_are_served() {
    let server = server::start().await;
    let initialize = Post::raw(
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}
        }})
        .to_string(),
    );
    let refused = server.send(initialize).await;
    assert_eq!((refused.status, &refused.answer()["id"]), (400, &json!(0)));
    let error = &refused.answer()["error"];
    assert!(error["message"].as_str().expect("a message").contains("2026-07-28"), "{error}");
    assert_eq!(error["data"]["supported"], json!(["2026-07-28"]));
}

#[tokio::test]
async fn ver_11_ver_14_extensions_are_off_until_the_developer_names_them() {
    let discover = || request("server/discover", json!({}));
    let none = server::start().await.send(discover()).await.result();
    assert_eq!(none["capabilities"].get("extensions"), None);
    let one = Server::start(Mirror).await.send(discover()).await.result();
    assert_eq!(one["capabilities"]["extensions"], json!({"com.example/mirror": {"depth": 1}}));
}

#[tokio::test]
async fn ver_12_methods_of_an_extension_that_is_not_there_are_unknown() {
    let server = server::start().await;
    for method in ["tasks/get", "tasks/update", "tasks/cancel", "tasks/result", "tasks/list"] {
        let refused = server.send(request(method, json!({"taskId": "t"})).header("Mcp-Name", "t")).await;
        assert_eq!((refused.status, refused.code()), (404, -32601), "{method}");
    }
}

#[tokio::test]
async fn ver_16_removed_methods_are_404_with_minus_32601_before_their_parameters_are_looked_at() {
    let server = server::start().await;
    for method in ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"] {
        for params in [json!({}), json!({"level": 7, "uri": []})] {
            let refused = server.send(request(method, params)).await;
            assert_eq!((refused.status, refused.code()), (404, -32601), "{method}");
        }
    }
}

#[tokio::test]
async fn ver_17_notifications_of_earlier_revisions_mean_nothing() {
    let server = server::start().await;
    for method in ["notifications/initialized", "notifications/roots/list_changed"] {
        let body: Value = json!({"jsonrpc": "2.0", "method": method});
        let taken = server.send(Post::raw(body.to_string())).await;
        assert_eq!((taken.status, taken.body.as_str()), (202, ""), "{method}");
    }
}
