//! A suite whose streams are fed by a handler of the application.

use std::sync::{Arc, Mutex};

use ractor_mcp::Topic;
use ractor_mcp::otp::{ExitReason, Tag};
use ractor_mcp::prelude::*;
use ractor_mcp::suite::{
    Accept, Subscription, SubscriptionAddress, SubscriptionCapabilities, SubscriptionHandler,
    SubscriptionReply,
};
use ractor_mcp::wire::{ServerNotification, SubscriptionFilter};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::support::logs::Logs;
use crate::support::streams::{acknowledged, listen};
use crate::support::{Client, Server, request};

/// Accepts, narrows or refuses by what is asked for; does what it is sent.
#[derive(Clone)]
struct Source {
    streams: Arc<Mutex<Vec<SubscriptionAddress<Told>>>>,
    closed: mpsc::UnboundedSender<(u32, ExitReason)>,
}

enum Told {
    Tools,
    Updates(Vec<&'static str>),
    Any(ServerNotification),
    Stop(ExitReason),
    Fail,
}

impl SubscriptionHandler for Source {
    /// How many messages came.
    type State = u32;
    type Message = Told;

    async fn subscribe(
        &self,
        filter: SubscriptionFilter,
        subscription: &Subscription<Told>,
    ) -> Result<Accept<u32>, RpcError> {
        // Nothing comes before the acknowledgement; a message to itself comes after.
        subscription.tools_changed().await?;
        if filter.prompts_list_changed {
            return Err(RpcError::invalid_params("prompts are not for you"));
        }
        self.streams.lock().expect("no panic").push(subscription.address());
        if filter.resource_subscriptions.iter().any(|uri| uri == "x:greedy") {
            let wider = filter.tools().resource("x:secret");
            return Ok(Accept::Only(wider, 0));
        }
        if filter.resources_list_changed {
            return Ok(Accept::Only(SubscriptionFilter::new().tools(), 0));
        }
        Ok(Accept::All(0))
    }

    async fn handle_message(
        &self,
        told: Told,
        subscription: &Subscription<Told>,
        count: &mut u32,
    ) -> Result<SubscriptionReply, RpcError> {
        *count += 1;
        match told {
            Told::Tools => drop(subscription.tools_changed().await?),
            Told::Updates(uris) => drop(subscription.resources_updated(uris).await?),
            Told::Any(notification) => drop(subscription.notify(notification).await?),
            Told::Stop(reason) => return Ok(SubscriptionReply::Stop(reason)),
            Told::Fail => return Err(RpcError::internal("the source is gone")),
        }
        Ok(SubscriptionReply::Stream)
    }

    async fn handle_close(&self, subscription: &Subscription<Told>, count: &mut u32) {
        assert!(subscription.tools_changed().await.is_err(), "nothing can be sent any more");
        let reason = subscription.pid().exit_requested().expect("an exit was requested");
        let _ = self.closed.send((*count, reason));
    }

    fn subscription_capabilities(&self) -> SubscriptionCapabilities {
        SubscriptionCapabilities::new().tools().prompts().resources().resource_updates()
    }
}

struct Fixture {
    server: Server,
    source: Source,
    closes: mpsc::UnboundedReceiver<(u32, ExitReason)>,
}

async fn start(suite: Suite) -> Fixture {
    let (closed, closes) = mpsc::unbounded_channel();
    let source = Source { streams: Arc::default(), closed };
    let server = Server::start(suite.subscription_handler(source.clone())).await;
    Fixture { server, source, closes }
}

impl Fixture {
    async fn open(&self, filter: Value) -> (Client, Value) {
        let (client, acknowledgement) = acknowledged(self.server.client().await, &listen(filter)).await;
        (client, acknowledgement["params"]["notifications"].clone())
    }

    /// Tells the stream that was opened last.
    async fn tell(&self, told: Told) {
        let address = self.source.streams.lock().expect("no panic").last().expect("a stream").clone();
        address.send(told).await.expect("the stream lives");
    }
}

fn suite() -> Suite {
    Suite::new("s", "1").tool("nothing", || async {}).resource("x:a", || async { "a" })
}

#[tokio::test]
async fn disc_04_what_the_handler_tells_of_is_promised() {
    let fixture = start(suite()).await;
    let discovered = fixture.server.send(request("server/discover", json!({}))).await.result();
    let capabilities = &discovered["capabilities"];
    assert_eq!(capabilities["tools"], json!({"listChanged": true}));
    assert_eq!(capabilities["prompts"], json!({"listChanged": true}));
    assert_eq!(capabilities["resources"], json!({"listChanged": true, "subscribe": true}));
}

#[tokio::test]
async fn a_stream_is_accepted_acknowledged_and_told_by_its_address() {
    let fixture = start(suite()).await;
    let (mut client, granted) =
        fixture.open(json!({"toolsListChanged": true, "resourceSubscriptions": ["x:b"]})).await;
    assert_eq!(granted, json!({"toolsListChanged": true, "resourceSubscriptions": ["x:b"]}));
    fixture.tell(Told::Updates(vec!["x:b", "x:b/part", "x:other"])).await;
    fixture.tell(Told::Any(ServerNotification::prompts_list_changed())).await;
    fixture.tell(Told::Tools).await;
    let mut uris = Vec::new();
    for _ in 0..3 {
        let told = client.read_event().await.expect("a change");
        assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 1);
        uris.push(told["params"]["uri"].as_str().unwrap_or("tools").to_owned());
    }
    uris.sort();
    assert_eq!(uris, ["tools", "x:b", "x:b/part"], "nothing that was not granted");
}

#[tokio::test]
async fn a_filter_is_narrowed_and_the_acknowledgement_says_so() {
    let fixture = start(suite()).await;
    let (mut client, granted) =
        fixture.open(json!({"toolsListChanged": true, "resourcesListChanged": true})).await;
    assert_eq!(granted, json!({"toolsListChanged": true}));
    fixture.tell(Told::Any(ServerNotification::resources_list_changed())).await;
    fixture.tell(Told::Tools).await;
    assert_eq!(client.read_event().await.expect("a change")["method"], "notifications/tools/list_changed");
}

#[tokio::test]
async fn a_filter_that_is_widened_is_clipped_and_traced() {
    let (logs, _guard) = Logs::record(tracing::Level::ERROR);
    let fixture = start(suite()).await;
    let (_client, granted) = fixture.open(json!({"resourceSubscriptions": ["x:greedy"]})).await;
    assert_eq!(granted, json!({"resourceSubscriptions": ["x:greedy"]}));
    assert_eq!(logs.lines("ERROR").len(), 1, "{}", logs.text());
}

#[tokio::test]
async fn a_stream_that_is_refused_is_an_error_and_no_stream() {
    let fixture = start(suite()).await;
    let refused = fixture.server.send(listen(json!({"promptsListChanged": true}))).await;
    assert_eq!((refused.status, refused.is_stream(), refused.code()), (200, false, -32602));
    assert_eq!(refused.messages().len(), 1, "no acknowledgement: {refused:?}");
    fixture.server.await_no_process("request").await;
}

#[tokio::test]
async fn the_registry_does_not_reach_the_streams_of_a_handler() {
    let fixture = start(suite()).await;
    let (_client, _) = fixture.open(json!({"toolsListChanged": true})).await;
    assert_eq!(fixture.server.mcp.notify_tools_changed(), 0);
    assert_eq!(fixture.server.mcp.subscribers(&Topic::Tools), []);
}

#[tokio::test]
async fn a_handler_that_stops_or_fails_ends_the_stream_gracefully_without_a_clean_up() {
    let mut fixture = start(suite()).await;
    for (told, reason) in [
        (Told::Stop(ExitReason::Normal), ExitReason::Normal),
        (Told::Fail, ExitReason::ShutdownWith(Tag::REPLY)),
    ] {
        let (mut client, _) = fixture.open(json!({"toolsListChanged": true})).await;
        let stream = fixture.server.await_process("request subscriptions/listen").await;
        fixture.tell(told).await;
        assert_eq!(client.read_event().await.expect("a cancellation")["method"], "notifications/cancelled");
        assert_eq!(client.read_event().await.expect("a result")["result"]["resultType"], "complete");
        assert_eq!(client.read_event().await, None);
        assert_eq!(stream.join().await, reason);
        fixture.server.await_no_process("request").await;
    }
    assert!(fixture.closes.try_recv().is_err(), "handle_close is for ends from outside");
}

#[tokio::test]
async fn a_client_that_leaves_is_a_close_with_the_state() {
    let mut fixture = start(suite()).await;
    let (mut client, _) = fixture.open(json!({"toolsListChanged": true})).await;
    fixture.tell(Told::Tools).await;
    client.read_event().await.expect("a change");
    client.reset();
    let gone = ExitReason::ShutdownWith(Tag::CLIENT_DISCONNECTED);
    assert_eq!(fixture.closes.recv().await, Some((1, gone)));
}

#[tokio::test]
async fn authorizations_of_the_suite_hold_for_a_handler_too() {
    let revoked = Arc::new(Mutex::new(false));
    let seen = Arc::clone(&revoked);
    let suite = suite()
        .resource("x:denied", || async { "denied" })
        .resource("x:z", || async { "z" })
        .authorize_resource_subscriptions(move |uris, _| {
            let revoked = *seen.lock().expect("no panic");
            async move { uris.into_iter().filter(|uri| uri == "x:z" || (uri == "x:a" && !revoked)).collect() }
        });
    let fixture = start(suite).await;
    let asked = json!({"resourceSubscriptions": ["x:a", "x:denied", "x:z", "x:nothing"]});
    let (mut client, granted) = fixture.open(asked).await;
    assert_eq!(granted, json!({"resourceSubscriptions": ["x:a", "x:z"]}));
    *revoked.lock().expect("no panic") = true;
    fixture.tell(Told::Updates(vec!["x:a"])).await;
    fixture.tell(Told::Any(ServerNotification::resource_updated("x:a"))).await;
    fixture.tell(Told::Updates(vec!["x:a", "x:z"])).await;
    assert_eq!(client.read_event().await.expect("an update")["params"]["uri"], "x:z");
}

/// N6, I8: an event source of one's own, which tells some principals only.
#[tokio::test]
async fn i8_a_handler_chooses_whom_it_tells() {
    let fixture = start(suite()).await;
    let (mut first, _) = fixture.open(json!({"toolsListChanged": true})).await;
    let (mut second, _) = fixture.open(json!({"toolsListChanged": true})).await;
    fixture.tell(Told::Tools).await;
    assert_eq!(second.read_event().await.expect("a change")["method"], "notifications/tools/list_changed");
    fixture.server.mcp.shutdown(std::time::Duration::ZERO).await;
    assert_eq!(first.read_event().await.expect("the end")["method"], "notifications/cancelled");
}

#[tokio::test]
async fn a_registry_beside_a_handler_is_refused_at_the_start() {
    let (closed, _) = mpsc::unbounded_channel();
    let source = Source { streams: Arc::default(), closed };
    let both = suite().list_changes().subscription_handler(source.clone());
    let told = McpSupervisor::start(both).await.expect_err("a fault").to_string();
    assert!(told.contains("subscription handler") && told.contains("list_changes"), "{told}");
    let twice = suite().subscription_handler(source.clone()).subscription_handler(source);
    let told = McpSupervisor::start(twice).await.expect_err("a fault").to_string();
    assert!(told.contains("registered twice"), "{told}");
}

/// A task of the stream ends with it.
struct Ticking(mpsc::UnboundedSender<()>);

impl SubscriptionHandler for Ticking {
    type State = ();
    type Message = u32;

    async fn subscribe(
        &self,
        _: SubscriptionFilter,
        subscription: &Subscription<u32>,
    ) -> Result<Accept<()>, RpcError> {
        let (address, held) = (subscription.address(), self.0.clone());
        subscription.spawn_to(
            async move {
                for tick in 0.. {
                    let _held = &held;
                    if address.send(tick).await.is_err() {
                        break;
                    }
                }
            },
            |_| u32::MAX,
        );
        Ok(Accept::All(()))
    }

    async fn handle_message(
        &self,
        _: u32,
        subscription: &Subscription<u32>,
        (): &mut (),
    ) -> Result<SubscriptionReply, RpcError> {
        subscription.tools_changed().await?;
        Ok(SubscriptionReply::Stream)
    }

    fn subscription_capabilities(&self) -> SubscriptionCapabilities {
        SubscriptionCapabilities::new().tools()
    }
}

#[tokio::test]
async fn a_source_that_never_rests_is_bounded_and_ends_with_its_stream() {
    let (held, mut gone) = mpsc::unbounded_channel();
    let server = Server::start(Suite::new("ticks", "1").subscription_handler(Ticking(held))).await;
    let (mut client, _) =
        acknowledged(server.client().await, &listen(json!({"toolsListChanged": true}))).await;
    for _ in 0..10 {
        assert_eq!(
            client.read_event().await.expect("a change")["method"],
            "notifications/tools/list_changed"
        );
    }
    let stream = server.await_process("request subscriptions/listen").await;
    stream.exit(ExitReason::Shutdown);
    while let Some(event) = client.read_event().await {
        assert_ne!(event["error"], json!({}), "a graceful end");
    }
    stream.join().await;
    server.mcp.shutdown(std::time::Duration::ZERO).await;
    drop(server);
    assert_eq!(gone.recv().await, None, "its task has ended, and the handler with the server");
}
