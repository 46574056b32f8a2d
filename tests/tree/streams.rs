//! Subscription streams: requests with a long answer. How they are opened, told and bounded.

use ractor_mcp::wire::{ServerNotification, SubscriptionFilter};
use ractor_mcp::{Grant, Options, Topic};
use serde_json::json;
use tokio::sync::Notify;

use crate::support::streams::{ALL, Order, listen, start};
use crate::support::{Post, request};

#[tokio::test]
async fn sub_03_the_acknowledgement_comes_first_and_names_what_is_granted() {
    let only_tools: fn(SubscriptionFilter) -> Grant = |_| Grant::new(SubscriptionFilter::new().tools());
    let fixture = start(Options::new(), only_tools).await;
    let (_client, acknowledgement) =
        fixture.open(json!({"toolsListChanged": true, "resourceSubscriptions": ["file:///a"]})).await;
    assert_eq!(acknowledgement["params"]["notifications"], json!({"toolsListChanged": true}));
    assert_eq!(acknowledgement["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 1);
}

#[tokio::test]
async fn a_grant_that_widens_the_filter_is_clipped() {
    let everything: fn(SubscriptionFilter) -> Grant =
        |_| Grant::new(SubscriptionFilter::new().tools().prompts().resource("file:///secret"));
    let fixture = start(Options::new(), everything).await;
    let (_client, acknowledgement) = fixture.open(json!({"toolsListChanged": true})).await;
    assert_eq!(acknowledgement["params"]["notifications"], json!({"toolsListChanged": true}));
    assert_eq!(fixture.server.mcp.notify_prompts_changed(), 0);
    assert_eq!(fixture.server.mcp.notify_resource_updated("file:///secret"), 0);
}

#[tokio::test]
async fn changes_reach_the_streams_that_asked_and_are_counted() {
    let fixture = start(Options::new(), ALL).await;
    let (mut tools, _) = fixture.open(json!({"toolsListChanged": true})).await;
    let (mut file, _) = fixture.open(json!({"resourceSubscriptions": ["file:///a"]})).await;
    let mcp = &fixture.server.mcp;
    assert_eq!(mcp.notify_tools_changed(), 1);
    assert_eq!(mcp.notify_prompts_changed(), 0);
    assert_eq!(mcp.notify_resource_updated("file:///a"), 1);
    assert_eq!(mcp.notify_resource_updated("file:///a/b"), 0, "the registry matches exactly");
    assert_eq!(mcp.subscribers(&Topic::Tools).len(), 1);
    let told = tools.read_event().await.unwrap();
    assert_eq!(told["method"], "notifications/tools/list_changed");
    assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 1);
    let told = file.read_event().await.unwrap();
    assert_eq!(
        (&told["method"], &told["params"]["uri"]),
        (&json!("notifications/resources/updated"), &json!("file:///a"))
    );
}

#[tokio::test]
async fn meta_16_the_subscription_id_keeps_its_json_type() {
    let fixture = start(Options::new(), ALL).await;
    for id in ["\"7\"", "7", "\"\"", "0"] {
        let mut client = fixture.server.client().await;
        client.write(&listen(json!({"toolsListChanged": true})).id(id)).await;
        client.read_head().await;
        let acknowledgement = client.read_event().await.unwrap();
        let told = &acknowledgement["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
        assert_eq!(told.to_string(), id);
    }
}

#[tokio::test]
async fn sub_02_what_a_handler_sends_outside_the_granted_filter_is_dropped() {
    let fixture = start(Options::new(), ALL).await;
    let (mut client, _) = fixture.open(json!({"resourceSubscriptions": ["file:///a"]})).await;
    fixture.order(Order::Send(ServerNotification::tools_list_changed())).await;
    fixture.order(Order::Send(ServerNotification::resource_updated("file:///b"))).await;
    fixture.order(Order::Send(ServerNotification::resource_updated("file:///a/part"))).await;
    let told = client.read_event().await.unwrap();
    assert_eq!(told["params"]["uri"], "file:///a/part", "a part of a named resource is covered");
}

#[tokio::test]
async fn a_server_that_is_full_of_streams_answers_503_before_anything_starts() {
    let fixture = start(Options::new().max_streams(1, 4), ALL).await;
    let (client, _) = fixture.open(json!({"toolsListChanged": true})).await;
    let refused = fixture.server.send(listen(json!({"toolsListChanged": true}))).await;
    assert_eq!(refused.status, 503);
    assert!(refused.header("retry-after").is_some());
    drop(client);
    fixture.server.await_no_process("request").await;
    fixture.open(json!({"toolsListChanged": true})).await;
}

#[tokio::test]
async fn i6_filters_with_gaps() {
    let fixture = start(Options::new().max_filter(3), ALL).await;
    let code = |post: Post| {
        let server = &fixture.server;
        async move { server.send(post).await.code() }
    };
    assert_eq!(code(request("subscriptions/listen", json!({}))).await, -32602);
    assert_eq!(code(listen(json!({"toolsListChanged": "yes"}))).await, -32602);
    assert_eq!(code(listen(json!({"resourceSubscriptions": "file:///a"}))).await, -32602);
    assert_eq!(code(listen(json!({"resourceSubscriptions": ["a:1", "a:2", "a:3", "a:4"]}))).await, -32602);
    let (_client, acknowledgement) = fixture.open(json!({})).await;
    assert_eq!(acknowledgement["params"]["notifications"], json!({}), "A-23: acknowledged, and open");
    assert_eq!(fixture.server.mcp.notify_tools_changed(), 0);
}

#[tokio::test]
async fn sse_14_a_client_that_takes_no_stream_is_refused() {
    let fixture = start(Options::new(), ALL).await;
    assert_eq!(fixture.server.send(listen(json!({"toolsListChanged": true})).json_only()).await.status, 406);
}

#[tokio::test]
async fn d3_a_slow_reader_keeps_its_stream_and_misses_nothing_distinct() {
    let fixture = start(Options::new(), ALL).await;
    let uris = ["file:///a", "file:///b", "file:///c"];
    let (mut client, _) = fixture.open(json!({ "resourceSubscriptions": uris })).await;
    for _ in 0..10_000 {
        assert_eq!(fixture.server.mcp.notify_resources_updated(uris), 1);
    }
    fixture.server.mcp.notify_resource_updated("file:///c");
    let mut seen = std::collections::HashSet::new();
    while seen.len() < 3 {
        seen.insert(client.read_event().await.unwrap()["params"]["uri"].to_string());
    }
    let stream = fixture.stream().await;
    assert!(stream.is_alive());
    let tree = fixture.server.tree().to_string();
    assert!(tree.contains("[3 resources]"), "the tree shows filter and counters: {tree}");
}

#[tokio::test]
async fn resources_are_authorized_again_before_each_batch() {
    static PANICS: Notify = Notify::const_new();
    let revocable: fn(SubscriptionFilter) -> Grant = |filter| {
        Grant::new(filter).authorized_by(|uris| async move {
            if uris.iter().any(|uri| uri.contains("panic")) {
                PANICS.notify_one();
                panic!("the authorization");
            }
            uris.into_iter().filter(|uri| uri.contains("allowed")).collect()
        })
    };
    let fixture = start(Options::new(), revocable).await;
    let uris = ["x:allowed/1", "x:denied", "x:panic", "x:allowed/2"];
    let (mut client, _) = fixture.open(json!({ "resourceSubscriptions": uris })).await;
    assert_eq!(fixture.server.mcp.notify_resources_updated(["x:denied", "x:allowed/1"]), 1);
    assert_eq!(client.read_event().await.unwrap()["params"]["uri"], "x:allowed/1");
    fixture.server.mcp.notify_resource_updated("x:panic");
    // A panic denies its whole batch: what is told from now on is in the next one.
    PANICS.notified().await;
    fixture.server.mcp.notify_resource_updated("x:denied");
    fixture.server.mcp.notify_resource_updated("x:allowed/2");
    assert_eq!(client.read_event().await.unwrap()["params"]["uri"], "x:allowed/2");
}
