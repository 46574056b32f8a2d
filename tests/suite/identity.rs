//! Who the server says it is, to whom, and where.

use std::time::Duration;

use ractor_mcp::prelude::*;
use ractor_mcp::testing::{TestResponse, TestServer};
use ractor_mcp::wire::{CacheHints, Implementation};
use serde_json::{Value, json};

use crate::callers::{client, serve};

async fn slow() -> &'static str {
    tokio::time::sleep(Duration::from_secs(60)).await;
    "done"
}

fn suite() -> Suite {
    let hints = CacheHints::public(Duration::from_secs(60));
    let slow = tool(slow).timeout(Duration::from_secs(1));
    Suite::new("plain", "1").instructions("for all").cache(hints).tool("ok", || async {}).tool("slow", slow)
}

fn by_caller() -> Suite {
    suite()
        .info_for(|call| Implementation::new(format!("for {:?}", call.principal().id()), "2"))
        .instructions_for(|call| call.principal().id().map(|id| format!("be good, {id}")))
}

fn server_name(answer: &TestResponse) -> Value {
    answer.result()["_meta"]["io.modelcontextprotocol/serverInfo"]["name"].clone()
}

#[tokio::test(start_paused = true)]
async fn disc_03_each_caller_may_read_an_identity_and_instructions_of_its_own() {
    let server = serve(by_caller()).await;
    let discovered = client(&server, "alice").await.request("server/discover", json!({})).await;
    assert_eq!(server_name(&discovered), r#"for Some("alice")"#);
    assert_eq!(discovered.result()["instructions"], "be good, alice");
    assert_eq!(discovered.result()["cacheScope"], "private");
    let nobody = server.connect().await.request("server/discover", json!({})).await;
    assert_eq!(server_name(&nobody), "for None");
    assert_eq!(nobody.result().get("instructions"), None);
}

#[tokio::test(start_paused = true)]
async fn disc_03_without_any_of_that_everyone_reads_the_same() {
    let discovered = serve(suite()).await.connect().await.request("server/discover", json!({})).await;
    assert_eq!(server_name(&discovered), "plain");
    assert_eq!(discovered.result()["instructions"], "for all");
    assert_eq!(discovered.result()["cacheScope"], "public");
}

#[tokio::test(start_paused = true)]
async fn cache_10_an_answer_with_either_is_private() {
    for suite in [suite().info_for(|_| Implementation::new("x", "1")), suite().instructions_for(|_| None)] {
        let discovered = serve(suite).await.connect().await.request("server/discover", json!({})).await;
        assert_eq!(
            (&discovered.result()["cacheScope"], &discovered.result()["ttlMs"]),
            (&json!("private"), &json!(60_000))
        );
    }
}

#[tokio::test(start_paused = true)]
async fn cache_10_a_list_that_names_the_caller_s_own_server_is_private() {
    let offers = || suite().resource("a://b", async || "text").prompt("p", async || "text");
    let server = serve(offers().info_for(|_| Implementation::new("x", "1"))).await;
    let unmarked =
        serve(offers().info_for(|_| Implementation::new("x", "1")).server_info_in_results(false)).await;
    for method in ["tools/list", "resources/list", "resources/templates/list", "prompts/list"] {
        let scope = async |server: &TestServer| {
            server.connect().await.request(method, json!({})).await.result()["cacheScope"].clone()
        };
        assert_eq!(scope(&server).await, "private", "{method}");
        assert_eq!(scope(&unmarked).await, "public", "{method}");
    }
}

#[tokio::test(start_paused = true)]
async fn meta_12_every_result_names_the_server_that_the_caller_was_told_of() {
    let server = serve(by_caller().list_changes()).await;
    let alice = client(&server, "alice").await;
    for answer in [
        alice.call_tool("ok", json!({})).await,
        alice.call_tool("slow", json!({})).await,
        alice.request("tools/list", json!({})).await,
    ] {
        assert_eq!(server_name(&answer), r#"for Some("alice")"#);
    }
    let filter = json!({"notifications": {"toolsListChanged": true}});
    let stream = alice.request("subscriptions/listen", filter).start().await;
    server.pid_of("request subscriptions/listen").await;
    server.mcp().shutdown(Duration::ZERO).await;
    assert_eq!(server_name(&stream.answer().await), r#"for Some("alice")"#);
}

#[tokio::test(start_paused = true)]
async fn meta_12_results_need_not_name_the_server_but_discover_does() {
    for (suite, name) in [(suite(), "plain"), (by_caller(), r#"for Some("alice")"#)] {
        let alice = client(&serve(suite.server_info_in_results(false)).await, "alice").await;
        assert_eq!(alice.call_tool("ok", json!({})).await.result().get("_meta"), None);
        assert_eq!(server_name(&alice.request("server/discover", json!({})).await), name);
    }
}

#[tokio::test(start_paused = true)]
async fn an_identity_that_panics_costs_its_request_alone() {
    let suite = suite().info_for(|call| match call.principal().id() {
        Some("bob") => panic!("who is bob"),
        _ => Implementation::new("fine", "1"),
    });
    let server = serve(suite).await;
    assert_eq!(client(&server, "bob").await.call_tool("ok", json!({})).await.code(), -32603);
    assert_eq!(server_name(&client(&server, "alice").await.call_tool("ok", json!({})).await), "fine");
}
