//! Subscription streams: requests with a long answer. How they are opened, told, bounded and ended.

use std::time::Duration;

use ractor_mcp::otp::{ExitReason, Tag};
use ractor_mcp::prelude::*;
use ractor_mcp::wire::{Request, ServerCapabilities, ServerNotification, SubscriptionFilter};
use ractor_mcp::{Grant, Options, Topic};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::support::{Client, Post, Server, eventually, request};

/// Accepts every stream as it is asked for, and tells what its callbacks see.
struct Streams {
    closed: mpsc::UnboundedSender<ExitReason>,
    grant: fn(SubscriptionFilter) -> Grant,
}

enum Order {
    Send(ServerNotification),
    Stop(ExitReason),
    Panic,
    Close,
}

impl Handler for Streams {
    type State = ();
    type Message = Order;

    async fn init(&self, _: &Channel<Order>) -> Result<(), RpcError> {
        Ok(())
    }

    async fn handle_request(
        &self,
        request: Request,
        channel: &Channel<Order>,
        (): &mut (),
    ) -> Result<Reply, RpcError> {
        let Request::Listen(listen) = request else {
            return Err(RpcError::method_not_found(request.method()));
        };
        ADDRESSES.lock().unwrap().push((channel.pid().id(), channel.address()));
        Ok(Reply::subscribe((self.grant)(listen.notifications)))
    }

    async fn handle_message(
        &self,
        order: Order,
        channel: &Channel<Order>,
        (): &mut (),
    ) -> Result<Reply, RpcError> {
        match order {
            Order::Send(notification) => {
                channel.send_notification(notification).await?;
                Ok(Reply::Stream)
            }
            Order::Stop(reason) => Ok(Reply::Stop(reason)),
            Order::Panic => panic!("the handler of a stream"),
            Order::Close => {
                channel.close();
                Ok(Reply::Stream)
            }
        }
    }

    async fn handle_close(&self, channel: &Channel<Order>, (): &mut ()) {
        let _ = self.closed.send(channel.pid().exit_requested().expect("an exit was requested"));
    }

    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::new().tools(true).prompts(true).resources(true, true)
    }
}

static ADDRESSES: std::sync::Mutex<Vec<(u64, ractor_mcp::otp::Address<Order>)>> =
    std::sync::Mutex::new(Vec::new());

struct Fixture {
    server: Server,
    closes: mpsc::UnboundedReceiver<ExitReason>,
}

async fn start(options: Options, grant: fn(SubscriptionFilter) -> Grant) -> Fixture {
    let (closed, closes) = mpsc::unbounded_channel();
    Fixture { server: Server::start_with(Streams { closed, grant }, options).await, closes }
}

fn listen(filter: Value) -> Post {
    request("subscriptions/listen", json!({ "notifications": filter }))
}

/// Opens a stream and reads its acknowledgement.
async fn open(server: &Server, filter: Value) -> (Client, Value) {
    let mut client = server.client().await;
    client.write(&listen(filter)).await;
    let head = client.read_head().await;
    assert_eq!((head.status, head.is_stream()), (200, true));
    let acknowledgement = client.read_event().await.expect("an acknowledgement");
    assert_eq!(acknowledgement["method"], "notifications/subscriptions/acknowledged");
    (client, acknowledgement)
}

/// Reads the teardown that every server-side end has, and nothing after it.
async fn expect_teardown(client: &mut Client) {
    let cancelled = client.read_event().await.expect("a cancellation");
    assert_eq!(cancelled["method"], "notifications/cancelled");
    assert_eq!(cancelled["params"]["requestId"], 1);
    assert_eq!(cancelled["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 1);
    let result = client.read_event().await.expect("a result");
    assert_eq!((&result["id"], &result["result"]["resultType"]), (&json!(1), &json!("complete")));
    assert_eq!(result["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 1);
    assert_eq!(client.read_event().await, None, "nothing after the result");
}

const TOOLS: fn(SubscriptionFilter) -> Grant = Grant::new;

#[tokio::test]
async fn sub_03_the_acknowledgement_comes_first_and_names_what_is_granted() {
    let only_tools: fn(SubscriptionFilter) -> Grant = |_| Grant::new(SubscriptionFilter::new().tools());
    let fixture = start(Options::new(), only_tools).await;
    let (_client, acknowledgement) =
        open(&fixture.server, json!({"toolsListChanged": true, "resourceSubscriptions": ["file:///a"]}))
            .await;
    assert_eq!(acknowledgement["params"]["notifications"], json!({"toolsListChanged": true}));
    assert_eq!(acknowledgement["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 1);
}

#[tokio::test]
async fn a_grant_that_widens_the_filter_is_clipped() {
    let everything: fn(SubscriptionFilter) -> Grant =
        |_| Grant::new(SubscriptionFilter::new().tools().prompts().resource("file:///secret"));
    let fixture = start(Options::new(), everything).await;
    let (_client, acknowledgement) = open(&fixture.server, json!({"toolsListChanged": true})).await;
    assert_eq!(acknowledgement["params"]["notifications"], json!({"toolsListChanged": true}));
    assert_eq!(fixture.server.mcp.notify_prompts_changed(), 0);
    assert_eq!(fixture.server.mcp.notify_resource_updated("file:///secret"), 0);
}

#[tokio::test]
async fn changes_reach_the_streams_that_asked_and_are_counted() {
    let fixture = start(Options::new(), TOOLS).await;
    let (mut tools, _) = open(&fixture.server, json!({"toolsListChanged": true})).await;
    let (mut file, _) = open(&fixture.server, json!({"resourceSubscriptions": ["file:///a"]})).await;
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
    let fixture = start(Options::new(), TOOLS).await;
    for id in ["\"7\"", "7", "\"\"", "0"] {
        let mut client = fixture.server.client().await;
        client.write(&listen(json!({"toolsListChanged": true})).id(id)).await;
        client.read_head().await;
        let acknowledgement = client.read_event().await.unwrap();
        let told = &acknowledgement["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
        assert_eq!(told.to_string(), id);
    }
}

async fn order(server: &Server, order: Order) {
    let stream = server.await_process("request subscriptions/listen").await;
    let address = {
        let addresses = ADDRESSES.lock().unwrap();
        addresses.iter().find(|(pid, _)| *pid == stream.id()).expect("an address").1.clone()
    };
    address.send(order).await.unwrap_or_else(|_| panic!("the stream lives"));
}

#[tokio::test]
async fn sub_02_what_a_handler_sends_outside_the_granted_filter_is_dropped() {
    let fixture = start(Options::new(), TOOLS).await;
    let (mut client, _) = open(&fixture.server, json!({"resourceSubscriptions": ["file:///a"]})).await;
    order(&fixture.server, Order::Send(ServerNotification::tools_list_changed())).await;
    order(&fixture.server, Order::Send(ServerNotification::resource_updated("file:///b"))).await;
    order(&fixture.server, Order::Send(ServerNotification::resource_updated("file:///a/part"))).await;
    let told = client.read_event().await.unwrap();
    assert_eq!(told["params"]["uri"], "file:///a/part", "a part of a named resource is covered");
}

#[tokio::test]
async fn a_handler_that_stops_ends_the_stream_gracefully_with_its_reason() {
    let mut fixture = start(Options::new(), TOOLS).await;
    let (mut client, _) = open(&fixture.server, json!({"toolsListChanged": true})).await;
    let stream = fixture.server.await_process("request subscriptions/listen").await;
    order(&fixture.server, Order::Stop(ExitReason::Normal)).await;
    expect_teardown(&mut client).await;
    assert_eq!(stream.join().await, ExitReason::Normal);
    assert!(fixture.closes.try_recv().is_err(), "handle_close is for ends from outside");
    assert_eq!(fixture.server.mcp.notify_tools_changed(), 0);
}

#[tokio::test]
async fn a_handler_that_closes_or_panics_ends_the_stream_gracefully_too() {
    let mut fixture = start(Options::new(), TOOLS).await;
    let (mut client, _) = open(&fixture.server, json!({"toolsListChanged": true})).await;
    order(&fixture.server, Order::Close).await;
    expect_teardown(&mut client).await;
    assert_eq!(fixture.closes.recv().await, Some(ExitReason::ShutdownWith(Tag::CLOSED)));
    fixture.server.await_no_process("request ").await;

    let (mut client, _) = open(&fixture.server, json!({"toolsListChanged": true})).await;
    let stream = fixture.server.await_process("request subscriptions/listen").await;
    order(&fixture.server, Order::Panic).await;
    expect_teardown(&mut client).await;
    assert!(matches!(stream.join().await, ExitReason::Crash(_)));
    assert_eq!(fixture.server.mcp.notify_tools_changed(), 0);
}

#[tokio::test]
async fn a_stream_killed_from_outside_is_torn_down_and_leaves_no_entry() {
    let fixture = start(Options::new(), TOOLS).await;
    let (mut client, _) = open(&fixture.server, json!({"toolsListChanged": true})).await;
    let stream = fixture.server.await_process("request subscriptions/listen").await;
    stream.kill();
    expect_teardown(&mut client).await;
    assert_eq!(stream.join().await, ExitReason::Killed);
    assert_eq!(fixture.server.mcp.subscribers(&Topic::Tools).len(), 0);
}

#[tokio::test]
async fn a_drain_ends_streams_at_once_while_calls_go_on() {
    let mut fixture = start(Options::new(), TOOLS).await;
    let (mut client, _) = open(&fixture.server, json!({"toolsListChanged": true})).await;
    let mcp = fixture.server.mcp.clone();
    let stopping = tokio::spawn(async move { mcp.shutdown(Duration::from_secs(20)).await });
    expect_teardown(&mut client).await;
    assert_eq!(fixture.closes.recv().await, Some(ExitReason::Shutdown));
    stopping.await.unwrap();
}

#[tokio::test]
async fn a_client_that_leaves_ends_its_stream_without_another_byte() {
    let mut fixture = start(Options::new(), TOOLS).await;
    let (client, _) = open(&fixture.server, json!({"toolsListChanged": true})).await;
    let stream = fixture.server.await_process("request subscriptions/listen").await;
    client.reset();
    assert_eq!(stream.join().await, ExitReason::ShutdownWith(Tag::CLIENT_DISCONNECTED));
    assert_eq!(fixture.closes.recv().await, Some(ExitReason::ShutdownWith(Tag::CLIENT_DISCONNECTED)));
    assert_eq!(fixture.server.mcp.notify_tools_changed(), 0);
}

#[tokio::test]
async fn a10_the_maximum_lifetime_ends_a_stream_gracefully() {
    let mut fixture = start(Options::new().stream_lifetime(Duration::from_millis(50)), TOOLS).await;
    let (mut client, _) = open(&fixture.server, json!({"toolsListChanged": true})).await;
    expect_teardown(&mut client).await;
    assert_eq!(fixture.closes.recv().await, Some(ExitReason::ShutdownWith(Tag::EXPIRED)));
}

#[tokio::test]
async fn a_stream_that_is_told_nothing_ends_idle_if_the_server_says_so() {
    let mut fixture = start(Options::new().stream_idle(Duration::from_millis(50)), TOOLS).await;
    let (mut client, _) = open(&fixture.server, json!({"toolsListChanged": true})).await;
    expect_teardown(&mut client).await;
    assert_eq!(fixture.closes.recv().await, Some(ExitReason::ShutdownWith(Tag::IDLE)));
}

#[tokio::test]
async fn anonymous_callers_may_be_capped_and_then_the_oldest_stream_is_superseded() {
    let options = Options::new().max_streams(100, 2).cap_anonymous_streams(true);
    let mut fixture = start(options, TOOLS).await;
    let filter = json!({"toolsListChanged": true});
    let (mut first, _) = open(&fixture.server, filter.clone()).await;
    let (_second, _) = open(&fixture.server, filter.clone()).await;
    let (_third, _) = open(&fixture.server, filter).await;
    expect_teardown(&mut first).await;
    assert_eq!(fixture.closes.recv().await, Some(ExitReason::ShutdownWith(Tag::SUPERSEDED)));
    eventually("two are left", || (fixture.server.mcp.notify_tools_changed() == 2).then_some(())).await;
}

#[tokio::test]
async fn a_server_that_is_full_of_streams_answers_503_before_anything_starts() {
    let fixture = start(Options::new().max_streams(1, 4), TOOLS).await;
    let (client, _) = open(&fixture.server, json!({"toolsListChanged": true})).await;
    let refused = fixture.server.send(listen(json!({"toolsListChanged": true}))).await;
    assert_eq!(refused.status, 503);
    assert!(refused.header("retry-after").is_some());
    drop(client);
    eventually("the place is free", || fixture.server.find("request ").is_none().then_some(())).await;
    open(&fixture.server, json!({"toolsListChanged": true})).await;
}

#[tokio::test]
async fn i6_filters_with_gaps() {
    let fixture = start(Options::new().max_filter(3), TOOLS).await;
    let code = |post: Post| {
        let server = &fixture.server;
        async move { server.send(post).await.code() }
    };
    assert_eq!(code(request("subscriptions/listen", json!({}))).await, -32602);
    assert_eq!(code(listen(json!({"toolsListChanged": "yes"}))).await, -32602);
    assert_eq!(code(listen(json!({"resourceSubscriptions": "file:///a"}))).await, -32602);
    assert_eq!(code(listen(json!({"resourceSubscriptions": ["a:1", "a:2", "a:3", "a:4"]}))).await, -32602);
    let (_client, acknowledgement) = open(&fixture.server, json!({})).await;
    assert_eq!(acknowledgement["params"]["notifications"], json!({}), "A-23: acknowledged, and open");
    assert_eq!(fixture.server.mcp.notify_tools_changed(), 0);
}

#[tokio::test]
async fn sse_14_a_client_that_takes_no_stream_is_refused() {
    let fixture = start(Options::new(), TOOLS).await;
    assert_eq!(fixture.server.send(listen(json!({"toolsListChanged": true})).json_only()).await.status, 406);
}

#[tokio::test]
async fn d3_a_slow_reader_keeps_its_stream_and_misses_nothing_distinct() {
    let fixture = start(Options::new(), TOOLS).await;
    let uris = ["file:///a", "file:///b", "file:///c"];
    let (mut client, _) = open(&fixture.server, json!({ "resourceSubscriptions": uris })).await;
    for _ in 0..10_000 {
        assert_eq!(fixture.server.mcp.notify_resources_updated(uris), 1);
    }
    fixture.server.mcp.notify_resource_updated("file:///c");
    let mut seen = std::collections::HashSet::new();
    while seen.len() < 3 {
        seen.insert(client.read_event().await.unwrap()["params"]["uri"].to_string());
    }
    let stream = fixture.server.await_process("request subscriptions/listen").await;
    assert!(stream.is_alive());
    let tree = fixture.server.tree().to_string();
    assert!(tree.contains("[3 resources]"), "the tree shows filter and counters: {tree}");
}

#[tokio::test]
async fn resources_are_authorized_again_before_each_batch() {
    let revocable: fn(SubscriptionFilter) -> Grant = |filter| {
        Grant::new(filter).authorized_by(|uris| async move {
            if uris.iter().any(|uri| uri.contains("panic")) {
                panic!("the authorization");
            }
            uris.into_iter().filter(|uri| uri.contains("allowed")).collect()
        })
    };
    let fixture = start(Options::new(), revocable).await;
    let uris = ["x:allowed/1", "x:denied", "x:panic", "x:allowed/2"];
    let (mut client, _) = open(&fixture.server, json!({ "resourceSubscriptions": uris })).await;
    assert_eq!(fixture.server.mcp.notify_resources_updated(["x:denied", "x:allowed/1"]), 1);
    assert_eq!(client.read_event().await.unwrap()["params"]["uri"], "x:allowed/1");
    fixture.server.mcp.notify_resource_updated("x:panic");
    fixture.server.mcp.notify_resource_updated("x:denied");
    fixture.server.mcp.notify_resource_updated("x:allowed/2");
    let told = eventually_event(&mut client, &fixture).await;
    assert_eq!(told["params"]["uri"], "x:allowed/2");
}

/// A panic denies its whole batch, which may hold the URI that the test waits for: it is told again until it arrives.
async fn eventually_event(client: &mut Client, fixture: &Fixture) -> Value {
    loop {
        tokio::select! {
            event = client.read_event() => return event.expect("an event"),
            () = tokio::time::sleep(Duration::from_millis(20)) => {
                fixture.server.mcp.notify_resource_updated("x:allowed/2");
            }
        }
    }
}

#[tokio::test]
async fn i3_no_change_after_the_acknowledgement_is_missed() {
    let fixture = start(Options::new(), TOOLS).await;
    let mcp = fixture.server.mcp.clone();
    let publisher = tokio::spawn(async move {
        loop {
            mcp.notify_tools_changed();
            tokio::task::yield_now().await;
        }
    });
    for _ in 0..100 {
        let (mut client, _) = open(&fixture.server, json!({"toolsListChanged": true})).await;
        let told = client.read_event().await.expect("a change");
        assert_eq!(told["method"], "notifications/tools/list_changed");
    }
    publisher.abort();
}
