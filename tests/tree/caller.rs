//! Who calls: the hooks around a request, what those read who may not call, and what browsers are told.

use std::time::{Duration, SystemTime};

use ractor_mcp::otp::{ExitReason, Tag};
use ractor_mcp::prelude::*;
use ractor_mcp::testing::TestServer;
use ractor_mcp::wire::{Request, ServerCapabilities};
use ractor_mcp::{Challenge, Denied, ManualClock, Options, Principal, ProtectedResource, RequestEnd};
use serde_json::json;
use tokio::sync::mpsc;

use crate::support::streams::acknowledged;
use crate::support::{Post, Response, Server, call, fixture, notification, request};

const HOUR: Duration = Duration::from_secs(3600);
const MILLISECOND: Duration = Duration::from_millis(1);

/// Answers who calls.
async fn whoami(_: NoArguments, call: Call) -> Result<String, RpcError> {
    if !call.principal().has_scope("who") {
        return Err(RpcError::insufficient_scope(["who", "am:i"]));
    }
    Ok(call.principal().id().unwrap_or("nobody").to_owned())
}

/// What time it is for the server.
async fn time(_: NoArguments, call: Call) -> String {
    format!("{:?}", call.clock().now().duration_since(SystemTime::UNIX_EPOCH).unwrap())
}

fn options() -> Options {
    Options::new()
        .connect(|request| async move {
            match request.bearer_token() {
                None => Err(Denied::Unauthorized(Challenge::scopes(["who"]))),
                Some("panic") => panic!("the hook"),
                Some("slow") => std::future::pending().await,
                Some("expired") => {
                    Ok(Principal::new("old").expiring_at(SystemTime::now() - Duration::from_secs(1)))
                }
                Some("down") => Err(Denied::Unavailable("the key server is down".into())),
                Some("banned") => Err(Denied::Forbidden("not you".into())),
                Some("hidden") => Err(Denied::NotFound("nothing here".into())),
                Some("malformed") => Err(Denied::status(400, "one token, please")),
                Some("busy") => Err(Denied::status(429, "too many tokens")),
                Some("other") => Err(Denied::status(401, "not this one")),
                Some("no error") => Err(Denied::status(200, "fine")),
                Some("scopeless") => Ok(Principal::new("carol")),
                Some(name @ ("alice" | "bob")) => Ok(Principal::new(name).with_scopes(["who"])),
                Some(_) => Err(Denied::invalid_token("the token is unknown")),
            }
        })
        .connect_time(Duration::from_millis(100))
        .protected_resource(&ProtectedResource::new("https://example.com/mcp", "https://issuer.example.com"))
        .allowed_origins(["https://app.example.com"])
}

async fn server() -> Server {
    Server::start_with(Suite::new("who", "1").tool("whoami", whoami).tool("slow", fixture::slow), options())
        .await
}

fn as_caller(post: Post, token: &str) -> Post {
    post.header("Authorization", &format!("Bearer {token}"))
}

fn challenge(response: &Response) -> &str {
    response.header("www-authenticate").unwrap_or_else(|| panic!("no challenge in {response:?}"))
}

#[tokio::test]
async fn f10_each_refusal_has_its_status_and_its_challenge() {
    let server = server().await;
    let whoami = || call("whoami", json!({}));
    let url = "resource_metadata=\"https://example.com/.well-known/oauth-protected-resource/mcp\"";

    let none = server.send(whoami()).await;
    assert_eq!(none.status, 401);
    assert_eq!(challenge(&none), format!("Bearer scope=\"who\", {url}"), "no error without a token");
    for (token, status) in
        [("garbage", 401), ("expired", 401), ("banned", 403), ("hidden", 404), ("down", 503)]
    {
        let response = server.send(as_caller(whoami(), token)).await;
        assert_eq!(response.status, status, "{token}");
        assert!(response.answer()["error"]["code"].is_i64(), "{token}: a JSON-RPC error");
        if status == 401 {
            assert!(
                challenge(&response).contains("error=\"invalid_token\""),
                "{token}: {}",
                challenge(&response)
            );
        }
    }
    let scopeless = server.send(as_caller(whoami(), "scopeless").id("\"x\"")).await;
    assert_eq!((scopeless.status, &scopeless.answer()["id"]), (403, &json!("x")));
    assert_eq!(
        challenge(&scopeless),
        format!("Bearer error=\"insufficient_scope\", scope=\"who am:i\", {url}")
    );
}

#[tokio::test]
async fn auth_15_a_hook_may_refuse_with_a_status_of_its_own() {
    let server = server().await;
    for (token, status, message) in [
        ("malformed", 400, "one token, please"),
        ("busy", 429, "too many tokens"),
        ("other", 401, "not this one"),
        ("no error", 500, "internal error"),
    ] {
        let refused = server.send(as_caller(call("whoami", json!({})), token)).await;
        assert_eq!((refused.status, &refused.answer()["error"]["message"]), (status, &json!(message)));
        assert_eq!(refused.header("www-authenticate").is_some(), status == 401, "{token}");
        assert_eq!(refused.header("retry-after").is_some(), status == 429, "{token}");
    }
}

#[tokio::test]
async fn auth_16_the_challenge_is_there_whatever_the_client_accepts() {
    let server = server().await;
    for accept in ["application/json", "text/event-stream", "application/json, text/event-stream"] {
        let post = as_caller(call("whoami", json!({})), "scopeless").header("Accept", accept);
        let refused = server.send(post).await;
        assert_eq!(refused.status, 403, "{accept}");
        assert!(challenge(&refused).contains("error=\"insufficient_scope\""), "{accept}");
    }
}

#[tokio::test]
async fn a_hook_that_panics_or_hangs_costs_its_request_alone() {
    let server = server().await;
    let mut client = server.client().await;
    for (token, status) in [("panic", 500), ("slow", 503), ("alice", 200)] {
        let response = client.send(&as_caller(call("whoami", json!({})), token)).await;
        assert_eq!(response.status, status, "{token}, on the same connection");
    }
}

#[tokio::test]
async fn a_refused_caller_starts_no_actor() {
    let server = server().await;
    let mut exits = server.mcp.exits();
    let mut client = server.client().await;
    for _ in 0..20 {
        assert_eq!(client.send(&call("whoami", json!({}))).await.status, 401);
        assert_eq!(client.send(&notification("notifications/x", json!({}))).await.status, 401);
    }
    assert_eq!(client.send(&as_caller(call("whoami", json!({})), "bob")).await.text(), "bob");
    let first = exits.next().await.expect("an exit").expect("none was missed");
    assert!(first.label.starts_with("request tools/call whoami"), "{}", first.label);
}

#[tokio::test]
async fn f13_the_principal_is_that_of_the_request_not_of_the_connection() {
    let server = server().await;
    let mut client = server.client().await;
    for name in ["alice", "bob", "alice", "bob"] {
        let post = as_caller(call("whoami", json!({})), name).header("Cookie", "user=mallory");
        assert_eq!(client.send(&post).await.text(), name);
    }
}

#[tokio::test]
async fn f7_f8_a_listed_origin_is_told_what_it_may_send_and_read() {
    let server = server().await;
    let origin = "https://app.example.com";
    let preflight = Post::raw("")
        .verb("OPTIONS")
        .header("Origin", origin)
        .header("Access-Control-Request-Method", "POST")
        .header("Access-Control-Request-Headers", "authorization,mcp-method,mcp-name,mcp-param-region");
    let response = server.send(preflight.clone()).await;
    assert_eq!(response.status, 204, "before any token is asked for");
    assert_eq!(response.header("access-control-allow-origin"), Some(origin));
    assert!(response.header("access-control-allow-headers").unwrap().contains("mcp-param-region"));

    let refused = server.send(call("whoami", json!({})).header("Origin", origin)).await;
    assert_eq!((refused.status, refused.header("access-control-allow-origin")), (401, Some(origin)));
    assert!(refused.header("access-control-expose-headers").unwrap().contains("www-authenticate"));

    let scopeless = as_caller(call("whoami", json!({})), "scopeless").header("Origin", origin);
    let refused = server.send(scopeless).await;
    assert_eq!((refused.status, refused.header("access-control-allow-origin")), (403, Some(origin)));
    assert!(challenge(&refused).contains("insufficient_scope"));

    let foreign = server.send(preflight.header("Origin", "https://evil.example.com")).await;
    assert_eq!((foreign.status, foreign.header("access-control-allow-origin")), (403, None));
}

#[tokio::test]
async fn f7_without_listed_origins_pages_are_told_nothing() {
    let server = Server::start(fixture::suite()).await;
    let origin = "http://localhost:5173";
    let preflight = Post::raw("")
        .verb("OPTIONS")
        .header("Origin", origin)
        .header("Access-Control-Request-Method", "POST");
    for (post, status) in
        [(preflight, 405), (call("echo", json!({"text": "x"})).header("Origin", origin), 200)]
    {
        let response = server.send(post).await;
        assert_eq!(response.status, status);
        assert_eq!(response.header("access-control-allow-origin"), None);
        assert_eq!(response.header("access-control-expose-headers"), None);
    }
}

#[tokio::test]
async fn f9_the_metadata_document_needs_no_token_and_is_where_clients_look() {
    let server = server().await;
    let get = |path: &str| Post::raw("").verb("GET").path(path);
    for path in ["/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"] {
        let response = server.send(get(path)).await;
        assert_eq!((response.status, response.header("access-control-allow-origin")), (200, Some("*")));
        let document: serde_json::Value = serde_json::from_str(&response.body).unwrap();
        assert_eq!(document["resource"], "https://example.com/mcp");
        assert_eq!(document["authorization_servers"], json!(["https://issuer.example.com"]));
    }
    assert_eq!(server.send(get("/.well-known/oauth-protected-resource/other")).await.status, 404);
    let plain = Server::start(fixture::suite()).await;
    assert_eq!(plain.send(get("/.well-known/oauth-protected-resource")).await.status, 404);
}

#[tokio::test]
async fn the_disconnect_hook_is_told_every_end_with_its_reason() {
    let (told, mut ends) = mpsc::unbounded_channel::<RequestEnd>();
    let options = options().disconnect(move |end| {
        told.send(end).unwrap();
        panic!("a hook that panics harms nobody");
    });
    let server = Server::start_with(Suite::new("who", "1").tool("slow", fixture::slow), options).await;
    let slow = |ms: u64| as_caller(call("slow", json!({ "ms": ms })), "alice");
    assert_eq!(server.send(slow(1)).await.status, 200);
    let mut client = server.client().await;
    client.write(&slow(60_000)).await;
    let request = server.await_process("request").await;
    drop(client);
    request.join().await;
    let mut client = server.client().await;
    client.write(&slow(60_000)).await;
    server.await_process("request").await.kill();
    let tagged = ExitReason::ShutdownWith;
    for (reason, error) in [
        (tagged(Tag::REPLY), None),
        (tagged(Tag::CLIENT_DISCONNECTED), None),
        (ExitReason::Killed, Some(-32603)),
    ] {
        let end = ends.recv().await.unwrap();
        assert_eq!((&end.reason, end.error), (&reason, error));
        assert_eq!((&*end.method, end.name.as_deref()), ("tools/call", Some("slow")));
        assert_eq!(end.principal.id(), Some("alice"));
    }
    assert!(ends.is_empty());
}

/// The reason of the end says only that there was an answer, and of a panic that there was a panic.
#[tokio::test(start_paused = true)]
async fn the_disconnect_hook_is_told_which_error_an_answer_was() {
    let (told, mut ends) = mpsc::unbounded_channel::<RequestEnd>();
    let options = Options::new().disconnect(move |end| told.send(end).unwrap());
    let fail = || async { Err::<(), _>(ToolError::new("no")) };
    let suite = Suite::new("s", "1").tool("time", time).tool("fail", fail).tool("boom", fixture::boom);
    let client = TestServer::start_with(suite, options).await.connect().await;
    for (tool, error) in [("time", None), ("fail", None), ("none", Some(-32602)), ("boom", Some(-32603))] {
        client.call_tool(tool, json!({})).await;
        let end = ends.recv().await.unwrap();
        assert_eq!((end.name.as_deref(), end.error), (Some(tool), error));
    }
}

/// Accepts every stream.
struct Open;

impl Handler for Open {
    type State = ();
    type Message = ();

    async fn init(&self, _: &Channel<()>) -> Result<(), RpcError> {
        Ok(())
    }

    async fn handle_request(
        &self,
        request: Request,
        _: &Channel<()>,
        (): &mut (),
    ) -> Result<Reply, RpcError> {
        match request {
            Request::Listen(listen) => Ok(Reply::subscribe(listen.notifications)),
            other => Err(RpcError::method_not_found(other.method())),
        }
    }

    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::new().tools(true)
    }
}

/// A server whose caller may call for an hour, by a clock that a test moves.
async fn for_an_hour(handler: impl Handler) -> (Server, ManualClock) {
    let clock = ManualClock::new(SystemTime::UNIX_EPOCH);
    let options = Options::new()
        .clock(clock.clone())
        .connect(|_| async { Ok(Principal::new("alice").expiring_at(SystemTime::UNIX_EPOCH + HOUR)) });
    (Server::start_with(handler, options).await, clock)
}

#[tokio::test]
async fn f12_a_stream_ends_with_the_token_that_opened_it() {
    let (server, clock) = for_an_hour(Open).await;
    let mut client = server.client().await;
    client
        .write(&request("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}})))
        .await;
    client.read_head().await;
    let stream = server.await_process("request subscriptions/listen").await;
    assert_eq!(client.read_event().await.unwrap()["method"], "notifications/subscriptions/acknowledged");
    clock.advance(HOUR - MILLISECOND);
    assert_eq!(server.mcp.notify_tools_changed(), 1);
    assert_eq!(client.read_event().await.unwrap()["method"], "notifications/tools/list_changed");
    clock.advance(MILLISECOND);
    assert_eq!(client.read_event().await.unwrap()["method"], "notifications/cancelled");
    assert_eq!(client.read_event().await.unwrap()["result"]["resultType"], "complete");
    assert_eq!(client.read_event().await, None);
    assert_eq!(stream.join().await, ExitReason::ShutdownWith(Tag::EXPIRED));
    assert_eq!(server.mcp.notify_tools_changed(), 0);
}

#[tokio::test]
async fn auth_14_a_caller_is_refused_from_the_moment_its_token_expires() {
    let (server, clock) = for_an_hour(Suite::new("s", "1").tool("time", time)).await;
    clock.advance(HOUR - MILLISECOND);
    assert_eq!(server.send(call("time", json!({}))).await.text(), "3599.999s");
    clock.advance(MILLISECOND);
    let refused = server.send(call("time", json!({}))).await;
    assert_eq!(refused.status, 401);
    assert!(challenge(&refused).contains("error=\"invalid_token\""), "{}", challenge(&refused));
    clock.set(SystemTime::UNIX_EPOCH);
    assert_eq!(server.send(call("time", json!({}))).await.text(), "0ns");
}

/// That it costs nobody else a stream, however many come at once, is in `crowds.rs`.
#[tokio::test]
async fn i10_a_principal_with_too_many_streams_keeps_its_newest() {
    let options = Options::new()
        .max_streams(1000, 4)
        .connect(|request| async move { Ok(Principal::new(request.bearer_token().unwrap_or("none"))) });
    let server = Server::start_with(Open, options).await;
    let filter = json!({"notifications": {"toolsListChanged": true}});
    let listen = as_caller(request("subscriptions/listen", filter), "alice");
    let mut streams = Vec::new();
    for _ in 0..12 {
        streams.push(acknowledged(server.client().await, &listen).await.0);
    }
    let newest = streams.split_off(8);
    for mut ended in streams {
        assert_eq!(ended.read_event().await.unwrap()["method"], "notifications/cancelled");
    }
    assert_eq!(server.mcp.notify_tools_changed(), 4);
    for mut stream in newest {
        assert_eq!(stream.read_event().await.unwrap()["method"], "notifications/tools/list_changed");
    }
}
