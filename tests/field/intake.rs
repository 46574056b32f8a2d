//! Bad input: heads, media types, sizes and slowness (E13, E15, E16, E19).

use std::time::Duration;

use ractor_mcp::Options;
use serde_json::json;

use crate::support::logs::Logs;
use crate::support::{Post, Server, call, fixture, meta, next_request, request};

fn echo() -> Post {
    call("echo", json!({"text": "x"}))
}

#[tokio::test]
async fn e13_header_and_body_disagree_or_a_header_is_missing_or_repeated() {
    let server = Server::start(fixture::suite()).await;
    let mut exits = server.mcp.exits();
    let version = "io.modelcontextprotocol/protocolVersion";
    let unversioned = |post: Post| post.with_meta(version, json!(null));
    for (what, post, code) in [
        ("another method", echo().header("Mcp-Method", "tools/list"), -32020),
        ("method in capitals", echo().header("Mcp-Method", "Tools/Call"), -32020),
        ("two names", echo().another("Mcp-Name", "echo"), -32020),
        ("two methods", echo().another("Mcp-Method", "tools/call"), -32020),
        ("two versions", echo().another("MCP-Protocol-Version", "2026-07-28"), -32020),
        ("version header only", unversioned(echo()), -32602),
        ("_meta version only", echo().without("MCP-Protocol-Version"), -32020),
        ("two versions that differ", echo().with_meta(version, json!("2025-11-25")), -32020),
    ] {
        let refused = server.send(post).await;
        assert_eq!((refused.status, refused.code()), (400, code), "{what}");
    }
    let equal = echo().with_meta(version, json!("2030-01-01")).header("MCP-Protocol-Version", "2030-01-01");
    let refused = server.send(equal).await;
    assert_eq!((refused.status, refused.code()), (400, -32022));
    assert_eq!(refused.answer()["error"]["data"]["supported"], json!(["2026-07-28"]));
    server.send(echo().header("mcp-NAME", "echo").id("3")).await;
    assert_eq!(next_request(&mut exits).await.label, "request tools/call echo #3", "no other request ran");
}

#[tokio::test]
async fn e15_what_is_acceptable_is_served() {
    let server = Server::start(fixture::suite()).await;
    let (json, sse) = (Some("application/json"), Some("text/event-stream"));
    for (accept, status, content_type) in [
        ("*/*", 200, json),
        ("application/*", 200, json),
        ("application/json", 200, json),
        ("APPLICATION/JSON; q=0.1", 200, json),
        ("text/event-stream", 200, sse),
        ("application/json;q=0, text/event-stream", 200, sse),
        ("text/*", 200, sse),
        ("text/html", 406, json),
        ("application/json;q=0", 406, json),
    ] {
        let response = server.send(echo().header("Accept", accept)).await;
        assert_eq!((response.status, response.header("content-type")), (status, content_type), "{accept}");
        if status == 200 {
            assert_eq!(response.text(), "x", "{accept}");
        }
    }
    assert_eq!(server.send(echo().without("Accept")).await.text(), "x");
    let lines = echo().header("Accept", "text/html").another("Accept", "text/event-stream");
    assert!(server.send(lines).await.is_stream(), "several lines are one list");
}

#[tokio::test]
async fn e16_the_media_type_alone_decides() {
    let server = Server::start(fixture::suite()).await;
    for (content_type, status) in [
        ("Application/JSON; charset=\"UTF-8\"", 200),
        ("application/json;charset=utf-8", 200),
        ("application/json; profile=x", 200),
        ("application/json;charset=utf-16", 415),
        ("text/plain", 415),
        ("application/jsonx", 415),
        ("", 415),
    ] {
        let response = server.send(echo().header("Content-Type", content_type)).await;
        assert_eq!(response.status, status, "{content_type:?}");
    }
    assert_eq!(server.send(echo().without("Content-Type")).await.status, 200);
}

fn small() -> Options {
    Options::new().max_body(4096).body_time(Duration::from_millis(200))
}

#[tokio::test]
async fn e19_a_chunked_body_without_end_is_cut_at_the_limit() {
    let server = Server::start_with(fixture::suite(), small()).await;
    let mut client = server.client().await;
    client.write(&echo().header("Transfer-Encoding", "chunked").body("")).await;
    let chunk = format!("400\r\n{}\r\n", "x".repeat(1024));
    for _ in 0..5 {
        client.write_bytes(chunk.as_bytes()).await;
    }
    let refused = client.read_response().await;
    assert_eq!((refused.status, refused.code()), (413, -32600));
    assert_eq!(refused.header("connection"), Some("close"));
    client.read_to_end().await;
}

/// Read as JSON they would only be "not JSON", or, worse, be taken for what they are not.
#[tokio::test]
async fn e16_coded_bodies_are_refused_by_name() {
    let server = Server::start(fixture::suite()).await;
    let compressed = echo().header("Content-Encoding", "gzip");
    assert_eq!((server.send(compressed.clone()).await.status), 415);
    let coded = echo().header("Transfer-Encoding", "gzip, chunked").body("");
    let mut client = server.client().await;
    client.write(&coded).await;
    assert_eq!(client.read_response().await.status, 501);
}

#[tokio::test]
async fn e19_malformed_chunks_are_told() {
    let server = Server::start(fixture::suite()).await;
    let mut client = server.client().await;
    client.write(&echo().header("Transfer-Encoding", "chunked").body("")).await;
    client.write_bytes(b"zz\r\nnot a size\r\n").await;
    let refused = client.read_response().await;
    assert_eq!((refused.status, refused.code()), (400, -32700));
    assert!(refused.body.contains("malformed"), "{}", refused.body);
}

#[tokio::test]
async fn e19_a_declared_length_beyond_the_limit_is_refused_before_the_body() {
    let server = Server::start_with(fixture::suite(), small()).await;
    for length in ["10000000000", "4097"] {
        let mut client = server.client().await;
        client.write(&echo().header("Content-Length", length).body("")).await;
        assert_eq!(client.read_response().await.status, 413, "{length}");
        client.read_to_end().await;
    }
}

#[tokio::test]
async fn e19_a_body_of_exactly_the_limit_is_served() {
    let padded = |bytes: usize| {
        let post = echo();
        let padding = " ".repeat(bytes - post.body.len());
        let body = [post.body.clone(), padding.into_bytes()].concat();
        post.body(body)
    };
    let server = Server::start_with(fixture::suite(), small()).await;
    assert_eq!(server.send(padded(4096)).await.text(), "x");
    assert_eq!(server.send(padded(4097)).await.status, 413);
}

#[tokio::test]
async fn e19_a_trickled_body_is_408() {
    let server = Server::start_with(fixture::suite(), small()).await;
    let mut client = server.client().await;
    client.write(&echo().header("Content-Length", "100").body("{")).await;
    let refused = client.read_response().await;
    assert_eq!((refused.status, refused.code()), (408, -32600));
    client.read_to_end().await;
}

#[tokio::test]
async fn e19_a_body_that_ends_early_runs_nothing() {
    use tokio::io::AsyncWriteExt;
    let server = Server::start(fixture::suite()).await;
    let mut exits = server.mcp.exits();
    let mut client = server.client().await;
    client.write(&echo().header("Content-Length", "5000")).await;
    client.socket.shutdown().await.expect("the write side closes");
    client.read_to_end().await;
    server.await_no_process("connection").await;
    server.send(echo().id("3")).await;
    assert_eq!(next_request(&mut exits).await.label, "request tools/call echo #3");
}

#[tokio::test]
async fn a_silent_connect_and_a_slow_head_are_closed() {
    let time = Duration::from_millis(100);
    let options = Options::new().first_byte_time(time).head_time(time);
    let server = Server::start_with(fixture::suite(), options).await;
    let mut silent = server.client().await;
    assert!(silent.read_to_end().await.is_empty());
    let mut slow = server.client().await;
    slow.write_bytes(b"POST /mcp HT").await;
    slow.read_to_end().await;
    let mut kept = server.client().await;
    assert_eq!(kept.send(&request("tools/list", json!({}))).await.status, 200);
    assert!(kept.read_to_end().await.is_empty(), "an idle connection is closed");
    server.await_no_process("connection").await;
}

/// Who runs a server looks for the one client that is refused, and for what it sent.
#[tokio::test]
async fn a_refusal_is_traced_with_the_id_the_method_and_the_peer() {
    let (logs, _guard) = Logs::record(tracing::Level::DEBUG);
    let server = Server::start(fixture::suite()).await;
    let refused = |reason: &str| {
        let lines = logs.lines("DEBUG");
        lines.into_iter().rfind(|line| line.contains("request refused") && line.contains(reason)).unwrap()
    };
    let peer = format!(" peer={}:", std::net::Ipv4Addr::LOCALHOST);

    server.send(request("foo/bar", json!({})).id("\"a\"")).await;
    let told = refused("does not implement");
    assert!(told.contains(" id=\"a\" method=foo/bar") && told.contains(&peer), "{told}");

    server.send(Post::raw("not json")).await;
    let told = refused("not JSON");
    assert!(!told.contains(" id=") && !told.contains(" method=") && told.contains(&peer), "{told}");

    // Text of a client makes no lines of its own.
    server
        .send(
            Post::of(&json!({"jsonrpc": "2.0", "id": 1, "method": "a\nb", "params": {"_meta": meta()}}))
                .without("Mcp-Method"),
        )
        .await;
    let told = refused("Mcp-Method");
    assert!(told.contains(r" method=a\nb"), "{told}");
}

#[tokio::test]
async fn the_end_of_a_connection_is_traced_with_the_peer() {
    let (logs, _guard) = Logs::record(tracing::Level::DEBUG);
    let options = Options::new().first_byte_time(Duration::from_millis(50));
    let server = Server::start_with(fixture::suite(), options).await;
    server.client().await.read_to_end().await;
    let mut strange = server.client().await;
    strange.write_bytes(b"\0\r\n\r\n").await;
    strange.read_to_end().await;
    let mut leaves = server.client().await;
    // The byte behind the request hides the end of the connection from hyper.
    leaves.write(&call("slow", json!({"ms": 60_000}))).await;
    leaves.write_bytes(b"P").await;
    server.await_process("request tools/call slow").await;
    drop(leaves);
    server.await_no_process("connection").await;
    let peer = format!(" peer={}:", std::net::Ipv4Addr::LOCALHOST);
    for end in ["sent nothing", "ended early", "the client closed the connection"] {
        let told = logs.lines("DEBUG").into_iter().find(|line| line.contains(end)).expect(end);
        assert!(told.contains(&peer), "{told}");
    }
}

/// What the client reads of its error, the log says too, and whose request it was.
#[tokio::test]
async fn an_error_of_the_suite_is_traced_with_its_reason_and_the_peer() {
    let (logs, _guard) = Logs::record(tracing::Level::DEBUG);
    let server = Server::start(fixture::suite()).await;
    let response = server.send(call("nobody", json!({}))).await;
    let message = response.answer()["error"]["message"].as_str().unwrap().to_owned();
    let lines = logs.lines("DEBUG");
    let told = lines.iter().find(|line| line.contains("answered with an error")).unwrap();
    assert!(told.contains(&format!("reason=\"{message}\"")), "{told}");
    assert!(told.contains(&format!("peer={}:", std::net::Ipv4Addr::LOCALHOST)), "{told}");
}
