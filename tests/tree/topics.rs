//! Topics: what is published reaches the streams that were granted it, as far as its receivers may be told.

use std::sync::Mutex;

use ractor_mcp::wire::{ServerNotification, SubscriptionFilter};
use ractor_mcp::{Grant, Options, Principal, Topic};
use serde_json::{Map, Value, json};

use crate::support::streams::{ALL, Fixture, Order, acknowledged, listen, start};
use crate::support::{Client, Post};

fn by_token() -> Options {
    Options::new()
        .connect(|request| async move { Ok(request.bearer_token().map(Principal::new).unwrap_or_default()) })
}

/// Names tasks, and declares the extension that has them.
fn listen_to_tasks(ids: &[&str]) -> Post {
    listen(json!({ "taskIds": ids })).capable_of(json!({"extensions": {"io.modelcontextprotocol/tasks": {}}}))
}

async fn open_as(fixture: &Fixture, who: &str, post: Post) -> (Client, Value) {
    let post = post.header("Authorization", &format!("Bearer {who}"));
    acknowledged(fixture.server.client().await, &post).await
}

fn state(id: &str, status: &str) -> ServerNotification {
    ServerNotification::task_status(id, Map::from_iter([("status".to_owned(), json!(status))]))
}

#[tokio::test]
async fn task_29_a_state_reaches_the_streams_of_the_owner_that_named_the_task() {
    let fixture = start(by_token(), ALL).await;
    let (mut alice, acknowledgement) = open_as(&fixture, "alice", listen_to_tasks(&["t", "u"])).await;
    assert_eq!(acknowledgement["params"]["notifications"], json!({"taskIds": ["t", "u"]}));
    let (_bob, _) = open_as(&fixture, "bob", listen_to_tasks(&["t"])).await;
    let mcp = &fixture.server.mcp;
    let owner = Principal::new("alice");
    assert_eq!(mcp.subscribers(&Topic::task(&owner, "t")).len(), 1);
    assert_eq!(mcp.publish(&Topic::task(&owner, "t"), &state("t", "working")), 1);
    assert_eq!(mcp.publish(&Topic::task(&Principal::anonymous(), "t"), &state("t", "working")), 0);
    assert_eq!(mcp.publish(&Topic::task(&owner, "v"), &state("v", "working")), 0, "nobody named it");
    assert_eq!(
        mcp.publish(&Topic::task(&owner, "t"), &state("v", "working")),
        0,
        "not the task of the topic"
    );
    let told = alice.read_event().await.expect("a state");
    assert_eq!(told["method"], "notifications/tasks");
    let stamp = json!({"io.modelcontextprotocol/subscriptionId": 1});
    assert_eq!(told["params"], json!({"taskId": "t", "status": "working", "_meta": stamp}));
}

#[tokio::test]
async fn the_newest_state_of_a_task_wins() {
    let fixture = start(by_token(), ALL).await;
    let (mut client, _) = open_as(&fixture, "alice", listen_to_tasks(&["t"])).await;
    let topic = Topic::task(&Principal::new("alice"), "t");
    // The test has the only thread: nothing is written in between.
    for status in ["working", "input_required", "completed"] {
        assert_eq!(fixture.server.mcp.publish(&topic, &state("t", status)), 1);
    }
    assert_eq!(client.read_event().await.expect("a state")["params"]["status"], "completed");
    let tree = fixture.server.tree().to_string();
    assert!(tree.contains("[t] 0 waiting, 2 delivered, 2 coalesced, 0 dropped"), "{tree}");
}

#[tokio::test]
async fn task_28_tasks_are_for_clients_that_declare_the_extension() {
    let fixture = start(Options::new(), ALL).await;
    let refused = fixture.server.send(listen(json!({"taskIds": ["t"]}))).await;
    assert_eq!((refused.status, refused.code()), (400, -32021));
    let required = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    assert_eq!(refused.answer()["error"]["data"]["requiredCapabilities"], required);
    assert!(fixture.server.find("request").is_none());
}

#[tokio::test]
async fn tasks_are_authorized_again_before_each_batch() {
    static REVOKED: Mutex<bool> = Mutex::new(false);
    let revocable: fn(SubscriptionFilter) -> Grant = |filter| {
        Grant::new(filter).tasks_authorized_by(|ids| async move {
            let revoked = *REVOKED.lock().expect("no panic");
            ids.into_iter().filter(|id| !revoked || id != "t").collect()
        })
    };
    let fixture = start(by_token(), revocable).await;
    let (mut client, _) = open_as(&fixture, "alice", listen_to_tasks(&["t", "u"])).await;
    let owner = Principal::new("alice");
    let publish = |id: &str| fixture.server.mcp.publish(&Topic::task(&owner, id), &state(id, "working"));
    assert_eq!(publish("t"), 1);
    assert_eq!(client.read_event().await.expect("a state")["params"]["taskId"], "t");
    *REVOKED.lock().expect("no panic") = true;
    // One batch, in this order: had the first been told, it would have come first.
    assert_eq!((publish("t"), publish("u")), (1, 1));
    assert_eq!(client.read_event().await.expect("a state")["params"]["taskId"], "u");
}

#[tokio::test]
async fn a_published_update_of_a_resource_is_authorized_and_keeps_its_meta() {
    let some: fn(SubscriptionFilter) -> Grant = |filter| {
        Grant::new(filter).authorized_by(|uris| async move {
            uris.into_iter().filter(|uri| uri.contains("allowed")).collect()
        })
    };
    let fixture = start(Options::new(), some).await;
    let (mut client, _) = fixture.open(json!({"resourceSubscriptions": ["x:denied", "x:allowed"]})).await;
    let publish = |uri: &str| {
        let update = ServerNotification::resource_updated(uri).with_meta("com.example/version", 7);
        fixture.server.mcp.publish(&Topic::resource(uri), &update)
    };
    assert_eq!((publish("x:denied"), publish("x:allowed")), (1, 1));
    let told = client.read_event().await.expect("an update");
    assert_eq!(
        (&told["params"]["uri"], &told["params"]["_meta"]["com.example/version"]),
        (&json!("x:allowed"), &json!(7))
    );
}

#[tokio::test]
async fn sub_02_what_is_published_on_the_wrong_topic_reaches_nobody() {
    let fixture = start(Options::new(), ALL).await;
    let (mut client, _) = fixture.open(json!({"toolsListChanged": true})).await;
    let publish = |notification| fixture.server.mcp.publish(&Topic::Tools, &notification);
    let by_hand = |method| ServerNotification::custom(method, Map::new());
    assert_eq!(publish(ServerNotification::resource_updated("x:secret")), 0);
    assert_eq!(publish(ServerNotification::prompts_list_changed()), 0);
    assert_eq!(publish(by_hand("notifications/progress")), 0, "SSE-10");
    assert_eq!(publish(by_hand("notifications/com.example/news")), 1);
    assert_eq!(client.read_event().await.expect("the news")["method"], "notifications/com.example/news");
}

/// SSE-10, SUB-17, LOG-04; what does come names the subscription (SUB-07).
#[tokio::test]
async fn h8_progress_and_logs_never_reach_a_stream() {
    let fixture = start(Options::new(), ALL).await;
    let post = listen(json!({"toolsListChanged": true}))
        .progress(json!("token"))
        .with_meta("io.modelcontextprotocol/logLevel", json!("debug"));
    let (mut client, _) = acknowledged(fixture.server.client().await, &post).await;
    fixture.order(Order::Report).await;
    fixture.order(Order::Send(ServerNotification::tools_list_changed())).await;
    let told = client.read_event().await.expect("a change");
    assert_eq!(told["method"], "notifications/tools/list_changed");
    assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 1);
}

#[tokio::test]
async fn what_does_not_coalesce_is_bounded_and_counted_when_it_is_dropped() {
    let fixture = start(Options::new().stream_queue(10), ALL).await;
    let (mut client, _) = fixture.open(json!({"toolsListChanged": true})).await;
    let news = ServerNotification::custom("notifications/com.example/news", Map::new());
    let taken: usize = (0..100).map(|_| fixture.server.mcp.publish(&Topic::Tools, &news)).sum();
    assert_eq!(taken, 10, "the queue");
    assert_eq!(fixture.server.mcp.notify_tools_changed(), 1, "a change has room of its own");
    for _ in 0..10 {
        assert_eq!(client.read_event().await.expect("news")["method"], news.method());
    }
    assert_eq!(client.read_event().await.expect("a change")["method"], "notifications/tools/list_changed");
    let tree = fixture.server.tree().to_string();
    assert!(tree.contains("[tools] 0 waiting, 12 delivered, 0 coalesced, 90 dropped"), "{tree}");
}

/// The parts of a resource have no number, unlike what was named.
#[tokio::test]
async fn sub_12_changes_of_parts_are_bounded_too() {
    let asking: fn(SubscriptionFilter) -> Grant =
        |filter| Grant::new(filter).authorized_by(|uris| async { uris });
    for grant in [ALL, asking] {
        let fixture = start(Options::new().stream_queue(10), grant).await;
        let (mut client, _) = fixture.open(json!({"resourceSubscriptions": ["x:a"]})).await;
        let publish = |part: usize| {
            let update = ServerNotification::resource_updated(format!("x:a/{part}"));
            fixture.server.mcp.publish(&Topic::resource("x:a"), &update)
        };
        assert_eq!((0..100).map(publish).sum::<usize>(), 11, "the queue, and one for what was named");
        for part in 0..11 {
            let told = client.read_event().await.expect("an update");
            assert_eq!(told["params"]["uri"], format!("x:a/{part}"));
        }
        let tree = fixture.server.tree().to_string();
        assert!(tree.contains("[x:a] 0 waiting, 12 delivered, 0 coalesced, 89 dropped"), "{tree}");
    }
}
