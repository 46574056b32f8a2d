//! Who calls, and what a tool knows of it: authentication, metadata, what layers attach (E6, F9, F11, F13, N1).

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::Request;
use axum::middleware::map_request;
use http_body_util::{BodyExt, Full};
use ractor_mcp::prelude::*;
use ractor_mcp::suite::Item;
use ractor_mcp::{Denied, Options, Principal, ProtectedResource};
use serde_json::{Value, json};
use tower_service::Service;

use crate::support::{Post, Server, call, fixture, request};

fn bearing(post: Post, token: &str) -> Post {
    post.header("Authorization", &format!("Bearer {token}"))
}

#[tokio::test]
async fn f9_the_document_of_a_nested_endpoint_claims_nothing_else_of_its_domain() {
    const DOCUMENTS: &str = "/.well-known/oauth-protected-resource";
    let resource = ProtectedResource::new("https://example.com/svc/mcp", "https://issuer.example.com");
    let options = Options::new()
        .path("/svc/mcp")
        .connect(|_| async { Err(Denied::unauthorized()) })
        .protected_resource(&resource);
    let server = Server::start_with(fixture::suite(), options).await;
    let ask = |verb: &str, path: &str| Post::raw("").verb(verb).path(path);
    for (path, status) in [
        (format!("{DOCUMENTS}/svc/mcp"), 200),
        (format!("{DOCUMENTS}/svc/mcp/"), 200),
        (DOCUMENTS.to_owned(), 200),
        (format!("{DOCUMENTS}/svc/other"), 404),
        (format!("{DOCUMENTS}/svc"), 404),
        ("/svc/other".to_owned(), 404),
    ] {
        let found = server.send(ask("GET", &path)).await;
        assert_eq!(found.status, status, "{path}");
        if status == 200 {
            let document: Value = serde_json::from_str(&found.body).expect("JSON");
            assert_eq!(document["resource"], "https://example.com/svc/mcp", "{path}");
        }
    }
    let mut client = server.client().await;
    client.write(&ask("HEAD", &format!("{DOCUMENTS}/svc/mcp"))).await;
    let head = client.read_head().await;
    assert_eq!((head.status, head.header("content-type")), (200, Some("application/json")));
    let preflight = ask("OPTIONS", &format!("{DOCUMENTS}/svc/mcp"))
        .header("Origin", "https://anywhere.example.com")
        .header("Access-Control-Request-Method", "GET")
        .header("Access-Control-Request-Headers", "mcp-protocol-version");
    let allowed = server.send(preflight).await;
    assert_eq!((allowed.status, allowed.header("access-control-allow-origin")), (204, Some("*")));
    let headers = allowed.header("access-control-allow-headers").expect("a list");
    assert!(headers.contains("mcp-protocol-version"), "{headers}");
}

/// AUTH-10.
#[tokio::test]
async fn f11_nothing_that_was_found_of_a_token_is_kept_for_the_next_request() {
    /// What the application knows of its tokens now.
    #[derive(Default)]
    struct Issuer {
        valid: HashSet<String>,
        is_down: bool,
    }
    let issuer = Arc::<Mutex<Issuer>>::default();
    let asked = Arc::clone(&issuer);
    let options = Options::new().connect(move |request| {
        let issuer = asked.lock().expect("no panic");
        let found = match request.bearer_token() {
            _ if issuer.is_down => Err(Denied::Unavailable("the issuer is down".into())),
            Some(token) if issuer.valid.contains(token) => Ok(Principal::new("alice")),
            _ => Err(Denied::invalid_token("the token is unknown")),
        };
        std::future::ready(found)
    });
    let server = Server::start_with(fixture::suite(), options).await;
    let mut client = server.client().await;
    let echo = || bearing(call("echo", json!({"text": "x"})), "new");
    assert_eq!(client.send(&echo()).await.status, 401, "before the rotation");
    issuer.lock().expect("no panic").valid.insert("new".into());
    assert_eq!(client.send(&echo()).await.status, 200, "the next token works at once");
    issuer.lock().expect("no panic").is_down = true;
    assert_eq!(client.send(&echo()).await.status, 503, "not told as a token that is not valid");
    issuer.lock().expect("no panic").is_down = false;
    assert_eq!(client.send(&echo()).await.status, 200, "a failure is not kept as a denial");
    issuer.lock().expect("no panic").valid.clear();
    assert_eq!(client.send(&echo()).await.status, 401, "nor is what was allowed before it was revoked");
}

/// Who is not let in has its body not even read.
#[tokio::test]
async fn e6_an_id_of_megabytes_is_not_echoed_to_who_has_no_token() {
    let options = Options::new().connect(|_| async { Err(Denied::unauthorized()) });
    let server = Server::start_with(fixture::suite(), options).await;
    let large = call("echo", json!({"text": "x"})).id(&format!("\"{}\"", "x".repeat(3 << 20)));
    let head = large.clone().header("Content-Length", &large.body.len().to_string()).body("");
    let refused = server.send(head).await;
    assert_eq!(refused.status, 401, "before the body has arrived");
    assert_eq!(refused.answer().get("id"), None);
    assert!(refused.body.len() < 300, "{}", refused.body);
}

#[tokio::test]
async fn f13_two_tokens_of_one_subject_keep_their_own_scopes_on_one_connection() {
    let whoami = |_: NoArguments, call: Call| async move {
        match call.principal().has_scope("write") {
            true => Ok(call.principal().id().unwrap_or("nobody").to_owned()),
            false => Err(RpcError::insufficient_scope(["write"])),
        }
    };
    let options = Options::new().connect(|request| async move {
        let scopes = match request.bearer_token() {
            Some("strong") => ["read", "write"].as_slice(),
            _ => &["read"],
        };
        Ok(Principal::new("alice").with_scopes(scopes.iter().copied()))
    });
    let suite = Suite::new("scopes", "1")
        .tool("read", fixture::echo)
        .tool("write", fixture::echo)
        .tool("whoami", whoami)
        .visible(|caller, item| match item {
            Item::Tool("whoami") => true,
            Item::Tool(name) => caller.has_scope(name),
            _ => false,
        });
    let server = Server::start_with(suite, options).await;
    let mut client = server.client().await;
    let strong = ["read", "write", "whoami"].as_slice();
    for _ in 0..10 {
        for (token, status, tools) in [("weak", 403, &["read", "whoami"][..]), ("strong", 200, strong)] {
            let with_token = |post| bearing(post, token).header("Cookie", "token=strong");
            let called = client.send(&with_token(call("whoami", json!({})))).await;
            assert_eq!(called.status, status, "{token}");
            let listed = client.send(&with_token(request("tools/list", json!({})))).await.result();
            let listed = listed["tools"].as_array().expect("a list").iter();
            let names: Vec<_> = listed.map(|tool| tool["name"].as_str().expect("a name")).collect();
            assert_eq!(names, tools, "{token}");
        }
    }
}

/// What a layer of the application found out.
#[derive(Clone)]
struct Tenant(&'static str);

/// What the connect hook found out.
#[derive(Clone)]
struct Plan(String);

async fn context(_: NoArguments, call: Call) -> Result<String, ToolError> {
    let tenant = call.extensions().get::<Tenant>();
    let Tenant(tenant) = tenant.ok_or_else(|| ToolError::new("no tenant: the layer is missing"))?;
    let plan = call.principal().extension::<Plan>().map_or("no plan", |Plan(plan)| plan);
    let peer = call.peer().map_or_else(|| "no peer".to_owned(), |peer| peer.to_string());
    let trace = call.meta().traceparent.as_deref().unwrap_or("no trace");
    let client = call.meta().client_capabilities.sampling();
    let caller = call.principal().id().unwrap_or("nobody");
    Ok(format!("{caller} {tenant} {plan} {peer} {trace} {client}"))
}

#[tokio::test]
async fn n1_a_tool_reads_all_that_is_known_of_its_request() {
    const TRACE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let options = Options::new().connect(|request| async move {
        let plan = request.headers().get("x-plan").and_then(|plan| plan.to_str().ok()).unwrap_or("free");
        Ok(Principal::new("alice").with_extension(Plan(plan.to_owned())))
    });
    let suite = Suite::new("context", "1").tool("context", context);
    let server = Server::start_with(suite, options).await;
    let peer: SocketAddr = "192.0.2.7:4711".parse().expect("an address");
    let layer = map_request(move |mut request: Request| async move {
        request.extensions_mut().insert(Tenant("acme"));
        request.extensions_mut().insert(peer);
        request
    });
    let mut router: Router = Router::new().route_service("/mcp", server.mcp.service()).layer(layer);
    let post = call("context", json!({}))
        .capable_of(json!({"sampling": {}}))
        .header("X-Plan", "gold")
        .header("traceparent", TRACE);
    let mut request = http::Request::post("/mcp").header("host", "localhost");
    for (name, value) in &post.headers {
        request = request.header(name, value);
    }
    let request = request.body(Full::from(post.body.clone())).expect("a request");
    let response = router.call(request).await.expect("a router does not fail");
    let body = response.into_body().collect().await.expect("a body").to_bytes();
    let answer: Value = serde_json::from_slice(&body).expect("JSON");
    let told = format!("alice acme gold 192.0.2.7:4711 {TRACE} true");
    assert_eq!(answer["result"]["content"][0]["text"], told);

    // Without the layer: an error that says what is missing, where the tool cares, and nothing where it does not.
    let refused = server.send(post).await;
    assert_eq!(refused.result()["isError"], true);
    assert_eq!(refused.text(), "no tenant: the layer is missing");
}
