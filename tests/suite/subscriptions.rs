//! Streams of a suite: what is promised, what is granted, and who decides.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use ractor_mcp::prelude::*;
use ractor_mcp::suite::{SuiteMessage, SuiteState};
use ractor_mcp::testing::TestServer;
use ractor_mcp::wire::{Request, ServerCapabilities, ServerNotification};
use ractor_mcp::{Options, Principal, Topic};
use serde_json::{Map, Value, json};

use crate::support::streams::{acknowledged, listen};
use crate::support::{Client, Server, request};

async fn open(server: &Server, filter: Value) -> (Client, Value) {
    let (client, acknowledgement) = acknowledged(server.client().await, &listen(filter)).await;
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
    let revoked = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let seen = Arc::clone(&revoked);
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

#[tokio::test]
async fn a_24_a_resource_that_nothing_serves_yet_is_granted_where_none_is_guarded() {
    let server = Server::start(suite().resource_updates()).await;
    let filter = json!({"resourceSubscriptions": ["note:later", "note:a"]});
    let (mut client, granted) = open(&server, filter.clone()).await;
    assert_eq!(granted, filter);
    assert_eq!(server.mcp.notify_resource_updated("note:later"), 1);
    assert_eq!(client.read_event().await.unwrap()["params"]["uri"], "note:later");
}

#[tokio::test]
async fn a_24_a_resource_that_comes_later_is_told_to_those_alone_who_may_read_it() {
    let suite = suite().resource_updates();
    let handle = suite.handle();
    let server = Server::start(suite).await;
    let (mut client, granted) = open(&server, json!({"resourceSubscriptions": ["note:c", "note:d"]})).await;
    assert_eq!(granted, json!({"resourceSubscriptions": ["note:c", "note:d"]}));
    handle.add_resource("note:c", || async { "c" }).unwrap();
    handle.add_resource("note:d", resource(|| async { "d" }).scope("notes:read")).unwrap();
    server.mcp.notify_resource_updated("note:d");
    server.mcp.notify_resource_updated("note:c");
    assert_eq!(client.read_event().await.unwrap()["params"]["uri"], "note:c", "the other is guarded");
}

#[tokio::test]
async fn an_authorization_that_panics_allows_nothing() {
    let suite =
        suite().list_changes().resource_updates().authorize_resource_subscriptions(|uris, _| async move {
            assert!(uris.is_empty(), "a panic");
            uris
        });
    let server = Server::start(suite).await;
    let filter = json!({"toolsListChanged": true, "resourceSubscriptions": ["note:a"]});
    let (_client, granted) = open(&server, filter).await;
    assert_eq!(granted, json!({"toolsListChanged": true}));
}

/// The clock stands still and goes on by itself, so that five seconds take none.
#[tokio::test(start_paused = true)]
async fn an_authorization_that_does_not_answer_allows_nothing() {
    let never = |_: Vec<String>, _: Principal| std::future::pending();
    let suite = suite().resource_updates().authorize_resource_subscriptions(never);
    let server = ractor_mcp::testing::TestServer::start(suite).await;
    let filter = json!({"notifications": {"resourceSubscriptions": ["note:a"]}});
    let mut stream = server.connect().await.request("subscriptions/listen", filter).start().await;
    let acknowledgement = stream.next_event().await.expect("an acknowledgement");
    assert_eq!(acknowledgement["params"]["notifications"], json!({}));
}

/// A handler that has tasks of its own and leaves the rest to a suite.
struct WithTasks(Suite);

impl Handler for WithTasks {
    type State = SuiteState;
    type Message = SuiteMessage;

    async fn init(&self, channel: &Channel<SuiteMessage>) -> Result<SuiteState, RpcError> {
        self.0.init(channel).await
    }

    async fn handle_request(
        &self,
        request: Request,
        channel: &Channel<SuiteMessage>,
        state: &mut SuiteState,
    ) -> Result<Reply, RpcError> {
        self.0.handle_request(request, channel, state).await
    }

    fn capabilities(&self) -> ServerCapabilities {
        self.0.capabilities().extension("io.modelcontextprotocol/tasks", json!({}))
    }
}

#[tokio::test]
async fn tasks_are_authorized_at_the_listen_and_before_each_batch() {
    let revoked = Arc::new(Mutex::new(false));
    let seen = Arc::clone(&revoked);
    let suite = suite().authorize_task_subscriptions(move |ids, caller: Principal| {
        assert!(caller.is_anonymous());
        let revoked = *seen.lock().expect("no panic");
        async move { ids.into_iter().filter(|id| id == "u" || (id == "t" && !revoked)).collect() }
    });
    let server = Server::start(WithTasks(suite)).await;
    let declared = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    let post = listen(json!({"taskIds": ["t", "foreign", "u"]})).capable_of(declared);
    let (mut client, acknowledgement) = acknowledged(server.client().await, &post).await;
    assert_eq!(acknowledgement["params"]["notifications"], json!({"taskIds": ["t", "u"]}));
    let publish = |id: &str| {
        let working = Map::from_iter([("status".to_owned(), json!("working"))]);
        let topic = Topic::task(&Principal::anonymous(), id);
        server.mcp.publish(&topic, &ServerNotification::task_status(id, working))
    };
    assert_eq!((publish("foreign"), publish("t")), (0, 1));
    assert_eq!(client.read_event().await.expect("a state")["params"]["taskId"], "t");
    *revoked.lock().expect("no panic") = true;
    assert_eq!((publish("t"), publish("u")), (1, 1));
    assert_eq!(client.read_event().await.expect("a state")["params"]["taskId"], "u");
}

/// What is granted of a resource and a task if the application decides on each after `time`.
async fn granted_after(time: Duration, options: Options) -> Value {
    let decide = move |asked: Vec<String>, _: Principal| async move {
        tokio::time::sleep(time).await;
        asked
    };
    let suite = suite()
        .resource_updates()
        .authorize_resource_subscriptions(decide)
        .authorize_task_subscriptions(decide)
        .promises(ServerCapabilities::new().extension("io.modelcontextprotocol/tasks", json!({})));
    let server = TestServer::start_with(suite, options).await;
    let client = server.connect().await;
    let client = client.client_capabilities(json!({"extensions": {"io.modelcontextprotocol/tasks": {}}}));
    let filter = json!({"notifications": {"resourceSubscriptions": ["note:a"], "taskIds": ["t"]}});
    let mut stream = client.request("subscriptions/listen", filter).start().await;
    stream.next_event().await.expect("an acknowledgement")["params"]["notifications"].clone()
}

#[tokio::test(start_paused = true)]
async fn authorize_time_is_how_long_a_suite_waits_for_a_decision_too() {
    let (limit, edge) = (Duration::from_secs(7), Duration::from_millis(10));
    let options = || Options::new().authorize_time(limit);
    let all = json!({"resourceSubscriptions": ["note:a"], "taskIds": ["t"]});
    assert_eq!(granted_after(limit - edge, options()).await, all);
    assert_eq!(granted_after(limit + edge, options()).await, json!({}));
    assert_eq!(granted_after(limit - edge, Options::new()).await, json!({}), "5 s by default");
}
