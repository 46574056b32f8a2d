//! Streams of a suite: what is promised, what is granted, and who decides.

use ractor_mcp::Options;
use ractor_mcp::Principal;
use ractor_mcp::prelude::*;
use serde_json::{Value, json};

use crate::support::{Client, Server, request};

async fn open(server: &Server, filter: Value) -> (Client, Value) {
    let mut client = server.client().await;
    client.write(&request("subscriptions/listen", json!({ "notifications": filter }))).await;
    assert_eq!(client.read_head().await.status, 200);
    let acknowledgement = client.read_event().await.expect("an acknowledgement");
    let granted = acknowledgement["params"]["notifications"].clone();
    (client, granted)
}

fn suite() -> Suite {
    Suite::new("s", "1")
        .tool("nothing", || async {})
        .resource("note:a", || async { "a" })
        .resource("note:b", || async { "b" })
}

#[tokio::test]
async fn i2_nothing_is_promised_without_a_source_of_changes_and_listen_is_404() {
    let server = Server::start(suite()).await;
    let discovered = server.send(request("server/discover", json!({}))).await.result();
    assert_eq!(discovered["capabilities"]["tools"], json!({}));
    assert_eq!(discovered["capabilities"]["resources"], json!({}));
    let refused = server.send(request("subscriptions/listen", json!({"notifications": {}}))).await;
    assert_eq!((refused.status, refused.code()), (404, -32601));
}

#[tokio::test]
async fn what_is_promised_is_granted_and_told() {
    let server = Server::start(suite().list_changes().resource_updates()).await;
    let discovered = server.send(request("server/discover", json!({}))).await.result();
    assert_eq!(discovered["capabilities"]["tools"], json!({"listChanged": true}));
    assert_eq!(discovered["capabilities"]["resources"], json!({"listChanged": true, "subscribe": true}));
    let filter =
        json!({"toolsListChanged": true, "promptsListChanged": true, "resourceSubscriptions": ["note:a"]});
    let (mut client, granted) = open(&server, filter).await;
    assert_eq!(
        granted,
        json!({"toolsListChanged": true, "resourceSubscriptions": ["note:a"]}),
        "there are no prompts"
    );
    assert_eq!(server.mcp.notify_tools_changed(), 1);
    assert_eq!(client.read_event().await.unwrap()["method"], "notifications/tools/list_changed");
    assert_eq!(server.mcp.notify_resource_updated("note:a"), 1);
    assert_eq!(client.read_event().await.unwrap()["params"]["uri"], "note:a");
}

#[tokio::test]
async fn a_caller_is_granted_what_is_allowed_and_served_here_and_asked_for_again() {
    let revoked = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let seen = std::sync::Arc::clone(&revoked);
    let suite =
        suite().resource_updates().authorize_resource_subscriptions(move |uris, caller: Principal| {
            assert_eq!(caller.id(), Some("alice"));
            let revoked = seen.load(std::sync::atomic::Ordering::SeqCst);
            async move { uris.into_iter().filter(|uri| !revoked && !uri.ends_with('b')).collect() }
        });
    let options = Options::new().connect(|_| async { Ok(Principal::new("alice")) });
    let server = Server::start_with(suite, options).await;
    let filter = json!({"resourceSubscriptions": ["note:a", "note:b", "other:c"]});
    let (mut client, granted) = open(&server, filter).await;
    assert_eq!(granted, json!({"resourceSubscriptions": ["note:a"]}));
    assert_eq!(server.mcp.notify_resource_updated("note:b"), 0);
    assert_eq!(server.mcp.notify_resource_updated("note:a"), 1);
    assert_eq!(client.read_event().await.unwrap()["params"]["uri"], "note:a");
    revoked.store(true, std::sync::atomic::Ordering::SeqCst);
    server.mcp.notify_resource_updated("note:a");
    server.mcp.shutdown(std::time::Duration::ZERO).await;
    let next = client.read_event().await.expect("the teardown");
    assert_eq!(next["method"], "notifications/cancelled", "nothing was told after the revocation");
}
