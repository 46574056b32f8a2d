//! The server inside something else: a router of axum, a Unix socket, TLS.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::middleware::map_request;
use http_body_util::{BodyExt, Full};
use hyper_util::rt::TokioIo;
use ractor_mcp::otp::ExitReason;
use ractor_mcp::prelude::*;
use ractor_mcp::testing::TestServer;
use ractor_mcp::{Principal, ProtectedResource};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite, duplex};
use tokio::net::UnixStream;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio_rustls::{TlsAcceptor, TlsConnector};
use tower_service::Service;

use crate::support::logs::Logs;
use crate::support::{Client, Post, call, fixture, notification, request};

type Body = Full<bytes::Bytes>;

async fn whoami(_: NoArguments, call: Call) -> String {
    call.peer().map_or_else(|| "nobody".to_owned(), |peer| peer.to_string())
}

async fn server() -> TestServer {
    TestServer::start(fixture::suite().tool("whoami", whoami)).await
}

/// The server at `/mcp` beside a route of the application.
fn router(server: &TestServer) -> Router {
    Router::new()
        .route("/health", axum::routing::get(|| async { "well" }))
        .nest_service("/mcp", server.mcp().service())
}

fn http(post: &Post) -> http::Request<Body> {
    let mut request =
        http::Request::builder().method(post.verb.as_str()).uri(&post.path).header("host", "localhost");
    for (name, value) in &post.headers {
        request = request.header(name, value);
    }
    request.body(Full::from(post.body.clone())).expect("a request")
}

async fn send(router: &Router, post: &Post) -> http::Response<axum::body::Body> {
    router.clone().call(http(post)).await.expect("a router does not fail")
}

async fn text(
    response: http::Response<impl http_body::Body<Data = bytes::Bytes, Error: std::fmt::Debug>>,
) -> String {
    let body = response.into_body().collect().await.expect("a body").to_bytes();
    String::from_utf8(body.to_vec()).expect("a text body")
}

async fn answer_text(
    response: http::Response<impl http_body::Body<Data = bytes::Bytes, Error: std::fmt::Debug>>,
) -> String {
    let body = text(response).await;
    let json = body.trim_end().rsplit("data: ").next().unwrap_or_default();
    let answer: Value = serde_json::from_str(json).unwrap_or_else(|e| panic!("{e} in {body:?}"));
    answer["result"]["content"][0]["text"]
        .as_str()
        .unwrap_or_else(|| panic!("no text in {answer}"))
        .to_owned()
}

#[tokio::test(start_paused = true)]
async fn a_router_of_axum_serves_json_and_streams_beside_its_own_routes() {
    let server = server().await;
    let router = router(&server);
    assert_eq!(text(send(&router, &Post::raw("").verb("GET").path("/health")).await).await, "well");

    let json = send(&router, &call("echo", json!({"text": "through axum"}))).await;
    assert_eq!(json.headers()["content-type"], "application/json");
    assert_eq!(answer_text(json).await, "through axum");

    let stream = send(&router, &call("slow", json!({"ms": 200})).progress(json!("p"))).await;
    assert_eq!(stream.headers()["content-type"], "text/event-stream");
    let events = text(stream).await;
    assert_eq!(events.matches("notifications/progress").count(), 2, "{events}");
    assert!(events.contains("worked for 200 ms"), "{events}");
}

#[tokio::test(start_paused = true)]
async fn a_request_whose_supervisor_is_ending_is_answered_503_and_no_fault_of_the_server() {
    let server = server().await;
    let (logs, _guard) = Logs::record(tracing::Level::DEBUG);
    let shard = server.pid_of("shard 0").await;
    let mut service = server.mcp().service();
    let request = service.call(http(&call("echo", json!({"text": "late"}))));
    let told = service.call(http(&notification("notifications/late", json!({}))));
    shard.exit(ExitReason::Shutdown);
    shard.join().await;
    for late in [request, told] {
        assert_eq!(late.await.expect("a response").status(), 503);
    }
    let text = logs.text();
    let told: Vec<_> = text.lines().filter(|line| line.contains("ractor_mcp")).collect();
    assert_eq!(told.len(), 2, "{told:#?}");
    assert!(told.iter().all(|line| line.contains(" DEBUG ") && line.contains("is ending")), "{told:#?}");
}

#[tokio::test(start_paused = true)]
async fn the_mount_is_served_with_and_without_a_slash_and_deep_inside_other_routers() {
    let server = server().await;
    let inner = Router::new().nest("/tools", router(&server));
    let outer = Router::new().merge(router(&server)).nest("/api/v1", inner);
    for path in ["/mcp", "/mcp/", "/api/v1/tools/mcp", "/api/v1/tools/mcp/"] {
        let post = call("echo", json!({"text": path})).path(path);
        assert_eq!(answer_text(send(&outer, &post).await).await, path);
    }
    assert_eq!(send(&outer, &call("echo", json!({})).path("/other")).await.status(), 404);
}

#[tokio::test(start_paused = true)]
async fn f9_the_metadata_document_is_at_both_places_behind_a_router_that_nests_or_routes() {
    let resource = ProtectedResource::new("https://example.com/mcp", "https://issuer.example.com");
    let options =
        Options::new().protected_resource(&resource).connect(|_| async { Ok(Principal::anonymous()) });
    let server = TestServer::start_with(fixture::suite(), options).await;
    let well_known = || server.mcp().well_known();
    let nested = router(&server).nest_service("/.well-known", well_known());
    let routed = router(&server).route_service("/.well-known/{*rest}", well_known());
    let by_name = router(&server).nest_service("/.well-known/oauth-protected-resource", well_known());
    for router in [nested, routed, by_name] {
        for path in ["/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"] {
            let found = send(&router, &Post::raw("").verb("GET").path(path)).await;
            assert_eq!(
                (found.status().as_u16(), &found.headers()["access-control-allow-origin"]),
                (200, &"*".parse().unwrap())
            );
            let document: Value = serde_json::from_str(&text(found).await).unwrap();
            assert_eq!(document["resource"], "https://example.com/mcp");
        }
        let other = Post::raw("").verb("GET").path("/.well-known/oauth-protected-resource/other");
        assert_eq!(send(&router, &other).await.status(), 404);
    }
    let without = TestServer::start(fixture::suite()).await;
    let router = Router::new().nest_service("/.well-known", without.mcp().well_known());
    let absent = Post::raw("").verb("GET").path("/.well-known/oauth-protected-resource");
    assert_eq!(send(&router, &absent).await.status(), 404);
}

#[tokio::test(start_paused = true)]
async fn a_response_dropped_before_its_head_cancels_the_request() {
    let server = server().await;
    let router = router(&server);
    let post = call("slow", json!({"ms": 60_000})).json_only();
    let sending = tokio::spawn(async move { send(&router, &post).await });
    let request = server.pid_of("request tools/call slow").await;
    assert!(request.parent().expect("a parent").label().to_string().starts_with("shard "));
    sending.abort();
    let reason = server.await_exit("request tools/call slow").await;
    assert_eq!(reason.to_string(), "shutdown: client_disconnected");
}

#[tokio::test(start_paused = true)]
async fn a_body_dropped_in_the_middle_cancels_the_request() {
    let server = server().await;
    let post = call("slow", json!({"ms": 60_000})).progress(json!(1));
    let mut response = send(&router(&server), &post).await;
    let first = response.body_mut().frame().await.expect("a frame").expect("data");
    assert!(first.into_data().expect("data").starts_with(b"data: "));
    assert!(server.has("request tools/call slow"));
    drop(response);
    let reason = server.await_exit("request tools/call slow").await;
    assert_eq!(reason.to_string(), "shutdown: client_disconnected");
}

#[tokio::test(start_paused = true)]
async fn the_peer_is_the_address_among_the_extensions() {
    let server = server().await;
    let peer: SocketAddr = "192.0.2.7:4711".parse().unwrap();
    let known = router(&server).layer(map_request(move |mut request: axum::extract::Request| async move {
        request.extensions_mut().insert(peer);
        request
    }));
    let post = call("whoami", json!({}));
    assert_eq!(answer_text(send(&known, &post).await).await, "192.0.2.7:4711");
    assert_eq!(answer_text(send(&router(&server), &post).await).await, "nobody");
}

#[tokio::test(start_paused = true)]
async fn an_embedded_server_that_has_stopped_answers_503() {
    let server = server().await;
    let router = router(&server);
    server.mcp().shutdown(std::time::Duration::ZERO).await;
    let refused = send(&router, &request("tools/list", json!({}))).await;
    assert_eq!(refused.status(), 503);
    assert!(refused.headers().contains_key("retry-after"));
}

#[tokio::test]
async fn axum_and_the_drain_end_together_and_a_running_call_finishes() {
    let server = server().await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let signal = tokio::sync::watch::Sender::new(false);
    let mut signalled = signal.subscribe();
    let axum = axum::serve(listener, router(&server)).with_graceful_shutdown(server.mcp().draining());
    let serving = tokio::spawn(axum.into_future());
    let mcp = server.mcp().clone();
    let drained = tokio::spawn(async move {
        mcp.run_until(async move {
            signalled.wait_for(|set| *set).await.expect("a signal");
        })
        .await
    });

    let mut client = Client::connect(address).await;
    client.write(&call("slow", json!({"ms": 300})).progress(json!(1))).await;
    server.pid_of("request tools/call slow").await;
    signal.send_replace(true);
    assert_eq!(client.read_response().await.text(), "worked for 300 ms");
    drained.await.unwrap().expect("an ordered end");
    serving.await.unwrap().expect("an ordered end");
    assert!(tokio::net::TcpStream::connect(address).await.is_err(), "the port is closed");
}

/// One request over a transport that the server reads the other end of.
async fn answer_over<IO>(io: IO, post: &Post) -> String
where
    IO: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(io)).await.expect("a handshake");
    tokio::spawn(connection);
    answer_text(sender.send_request(http(post)).await.expect("a response")).await
}

#[tokio::test]
async fn a_pipe_in_memory_is_a_connection() {
    let server = server().await;
    let (ours, theirs) = duplex(64);
    let peer = "198.51.100.1:1".parse().ok();
    let pid = server.mcp().serve(TokioIo::new(theirs), peer).await.expect("served");
    assert_eq!(pid.label().to_string(), "connection 198.51.100.1:1");
    assert_eq!(answer_over(ours, &call("whoami", json!({}))).await, "198.51.100.1:1");
    server.await_none("connection").await;
}

/// Whoever sends a thousand of them, each on a connection of its own, gets one line a second.
#[tokio::test(start_paused = true)]
async fn refusals_are_told_once_a_second_over_all_connections_and_all_services() {
    let (logs, _guard) = Logs::record(tracing::Level::WARN);
    let server = server().await;
    let foreign = || request("tools/list", json!({})).header("Origin", "https://elsewhere.example");
    for _ in 0..3 {
        let (mut ours, theirs) = duplex(4096);
        server.mcp().serve(TokioIo::new(theirs), None).await.expect("served");
        let bytes = foreign().header("Connection", "close").to_bytes("localhost");
        tokio::io::AsyncWriteExt::write_all(&mut ours, &bytes).await.expect("the server reads");
        let mut answer = String::new();
        tokio::io::AsyncReadExt::read_to_string(&mut ours, &mut answer).await.expect("text");
        assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
    }
    let told = || logs.lines("WARN").iter().filter(|line| line.contains("request refused")).count();
    assert_eq!(told(), 1, "{}", logs.text());
    for _ in 0..3 {
        let mounted = Router::new().route_service("/", server.mcp().service());
        assert_eq!(send(&mounted, &foreign().path("/")).await.status(), 403);
    }
    assert_eq!(told(), 1, "{}", logs.text());
}

#[tokio::test]
async fn a_unix_socket_is_a_connection() {
    let server = server().await;
    let (ours, theirs) = UnixStream::pair().expect("a pair of sockets");
    server.mcp().serve(TokioIo::new(theirs), None).await.expect("served");
    let post = call("slow", json!({"ms": 100})).progress(json!("p"));
    assert_eq!(answer_over(ours, &post).await, "worked for 100 ms");
    server.await_none("connection").await;
}

#[tokio::test]
async fn a_unix_socket_that_its_client_closes_cancels_the_request() {
    let server = server().await;
    let (mut ours, theirs) = UnixStream::pair().expect("a pair of sockets");
    server.mcp().serve(TokioIo::new(theirs), None).await.expect("served");
    let post = call("slow", json!({"ms": 60_000}));
    tokio::io::AsyncWriteExt::write_all(&mut ours, &post.to_bytes("localhost"))
        .await
        .expect("the server reads");
    server.pid_of("request tools/call slow").await;
    drop(ours);
    let reason = server.await_exit("request tools/call slow").await;
    assert_eq!(reason.to_string(), "shutdown: client_disconnected");
}

#[tokio::test]
async fn tls_is_a_connection() {
    let server = server().await;
    let (acceptor, connector) = tls();
    let (ours, theirs) = duplex(4096);
    let name = ServerName::try_from("localhost").expect("a name");
    let (accepted, connected) = tokio::join!(acceptor.accept(theirs), connector.connect(name, ours));
    let accepted = accepted.expect("a handshake of the server");
    let connected = connected.expect("a handshake of the client");
    server.mcp().serve(TokioIo::new(accepted), None).await.expect("served");
    let post = call("echo", json!({"text": "in secret"}));
    assert_eq!(answer_over(connected, &post).await, "in secret");
    server.await_none("connection").await;
}

/// A server named `localhost` with a certificate of its own, and a client that trusts it alone.
fn tls() -> (TlsAcceptor, TlsConnector) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).expect("a key");
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).expect("a root");
    let server = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .expect("a configuration");
    let client = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    (TlsAcceptor::from(Arc::new(server)), TlsConnector::from(Arc::new(client)))
}
