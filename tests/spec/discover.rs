//! Server: `server/discover` (DISC).

use ractor_mcp::Suite;
use serde_json::json;

use super::server;
use crate::support::mirror::Mirror;
use crate::support::{Server, request};

async fn discovered(server: &Server) -> serde_json::Value {
    server.send(request("server/discover", json!({}))).await.result()
}

#[tokio::test]
async fn ver_04_disc_01_disc_02_disc_03_versions_capabilities_hints_and_instructions() {
    let result = discovered(&server::start().await).await;
    assert_eq!(result["supportedVersions"], json!(["2026-07-28"]));
    assert!(result["capabilities"].is_object());
    assert!(result["ttlMs"].is_u64(), "{result}");
    assert!(["public", "private"].contains(&result["cacheScope"].as_str().expect("a scope")));
    assert_eq!(result["instructions"], "Call echo first.");
    assert_eq!(result.get("serverInfo"), None, "the identity is in _meta");
}

#[tokio::test]
async fn disc_01_instructions_are_optional() {
    let server = Server::start(Suite::new("bare", "1")).await;
    assert_eq!(discovered(&server).await.get("instructions"), None);
}

#[tokio::test]
async fn disc_04_disc_05_a_capability_is_there_if_and_only_if_the_feature_is_served() {
    let with_tools = discovered(&server::start().await).await["capabilities"].clone();
    assert!(with_tools["tools"].is_object());
    assert!(with_tools["tools"].get("listChanged").is_none_or(|flag| flag == false));
    assert!(with_tools["logging"].is_object(), "a tool may log");
    let bare = Server::start(Suite::new("bare", "1")).await;
    assert_eq!(discovered(&bare).await["capabilities"], json!({}), "nothing is there that could log");
    let quiet = Server::start(Suite::new("quiet", "1").tool("quiet", || async {}).logging(false)).await;
    assert_eq!(discovered(&quiet).await["capabilities"], json!({"tools": {}}));
    for capability in ["prompts", "resources", "completions", "experimental"] {
        assert_eq!(with_tools.get(capability), None, "{capability}");
    }
}

#[tokio::test]
async fn disc_06_methods_of_a_feature_that_is_not_advertised_are_unknown() {
    let server = server::start().await;
    for method in [
        "resources/list",
        "resources/templates/list",
        "resources/read",
        "prompts/list",
        "prompts/get",
        "completion/complete",
        "subscriptions/listen",
    ] {
        let refused = server.send(request(method, json!({}))).await;
        assert_eq!((refused.status, refused.code()), (404, -32601), "{method}");
    }
    let bare = Server::start(Suite::new("bare", "1")).await;
    for method in ["tools/list", "tools/call"] {
        let refused = bare.send(request(method, json!({}))).await;
        assert_eq!((refused.status, refused.code()), (404, -32601), "{method}");
    }
}

#[tokio::test]
async fn disc_07_a_handler_that_does_not_know_discover_is_discovered_by_its_capabilities() {
    let result = discovered(&Server::start(Mirror).await).await;
    assert!(result["capabilities"]["tools"].is_object());
}

#[tokio::test]
async fn disc_08_what_an_error_calls_supported_discover_does_too() {
    let server = server::start().await;
    let supported = discovered(&server).await["supportedVersions"].clone();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2099-01-01",
        "io.modelcontextprotocol/clientCapabilities": {}
    });
    let newer = request("tools/list", json!({"_meta": meta})).header("MCP-Protocol-Version", "2099-01-01");
    assert_eq!(server.send(newer).await.answer()["error"]["data"]["supported"], supported);
}
