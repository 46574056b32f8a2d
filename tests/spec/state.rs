//! Basic: statelessness (STATE).

use serde_json::json;

use super::server;
use crate::support::mirror::{Mirror, seen};
use crate::support::{Post, Server, call, request};

const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const CLIENT: &str = "io.modelcontextprotocol/clientInfo";

fn of_client(name: &str) -> Post {
    call("any", json!({})).with_meta(CLIENT, json!({"name": name, "version": "1"}))
}

#[tokio::test]
async fn state_01_meta_08_meta_11_capabilities_of_an_earlier_request_do_not_count() {
    let server = server::start().await;
    let mut client = server.client().await;
    let declared = call("samples", json!({})).with_meta(CAPABILITIES, json!({"sampling": {}}));
    assert_eq!(client.send(&declared).await.text(), "sampled");
    let refused = client.send(&call("samples", json!({}))).await;
    assert_eq!((refused.status, refused.code()), (400, -32021));
}

#[tokio::test]
async fn state_02_state_05_conversations_take_turns_on_one_connection() {
    let server = Server::start(Mirror).await;
    let mut client = server.client().await;
    for name in ["one", "two", "one"] {
        assert_eq!(seen(&client.send(&of_client(name)).await)["client"], name);
    }
    let unnamed = client.send(&call("any", json!({}))).await;
    assert_eq!(seen(&unnamed)["client"], json!(null), "nothing is left of the one before");
}

#[tokio::test]
async fn state_03_every_request_may_come_on_a_connection_of_its_own() {
    let server = server::start().await;
    let lists = [
        server.send(request("tools/list", json!({}))).await.body,
        server.send(request("tools/list", json!({}))).await.body,
    ];
    assert_eq!(lists[0], lists[1]);
}
