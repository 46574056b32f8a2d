//! Transports: Streamable HTTP (HTTP).

use serde_json::json;

use super::server;
use crate::support::{Post, call, notification, request};

fn echo() -> Post {
    call("echo", json!({"text": "x"}))
}

#[tokio::test]
async fn http_01_one_path_takes_posts() {
    let server = server::start().await;
    assert_eq!(server.send(echo().path("/mcp")).await.status, 200);
    assert_eq!(server.send(echo().path("/mcp/")).await.status, 200);
    for path in ["/", "/mcp2", "/mcp/x", "/MCP", "//mcp"] {
        assert_eq!(server.send(echo().path(path)).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn http_02_http_03_http_04_a_foreign_origin_is_403_without_an_id() {
    let server = server::start().await;
    for origin in ["http://elsewhere.example", "https://127.0.0.1.elsewhere.example", "null", "file://", ""] {
        let refused = server.send(echo().header("Origin", origin)).await;
        assert_eq!(refused.status, 403, "{origin:?}");
        assert!(refused.answer().get("id").is_none() && refused.code() != 0, "{origin:?}");
    }
    for origin in ["http://localhost:6274", "http://127.0.0.1", "https://[::1]:1"] {
        assert_eq!(server.send(echo().header("Origin", origin)).await.status, 200, "{origin}");
    }
}

#[tokio::test]
async fn http_08_a_request_is_answered_as_json_or_as_a_stream() {
    let server = server::start().await;
    let json = server.send(echo()).await;
    assert_eq!(json.header("content-type"), Some("application/json"));
    assert_eq!(json.messages().len(), 1);
    let stream = server.send(call("slow", json!({"ms": 1})).progress(json!(1))).await;
    assert_eq!(stream.header("content-type"), Some("text/event-stream"));
}

#[tokio::test]
async fn http_09_a_13_a_38_a_notification_is_202_without_a_body_whatever_its_headers() {
    let server = server::start().await;
    let cancelled = || notification("notifications/cancelled", json!({"requestId": 1}));
    for post in [
        cancelled(),
        cancelled().header("Mcp-Method", "notifications/cancelled"),
        cancelled().header("Mcp-Method", "tools/list").header("MCP-Protocol-Version", "2099-01-01"),
        notification("com.example/unknown", json!({})),
    ] {
        let taken = server.send(post.clone()).await;
        assert_eq!((taken.status, taken.body.as_str()), (202, ""), "{post:?}");
        assert_eq!(taken.header("content-type"), None);
    }
}

#[tokio::test]
async fn http_10_http_11_a_notification_that_cannot_be_taken_is_an_http_error_without_an_id() {
    let server = server::start().await;
    for body in [
        r#"{"jsonrpc":"2.0","method":"notifications/x","params":[]}"#,
        r#"{"method":"notifications/x"}"#,
        r#"{"jsonrpc":"2.0","method":7}"#,
    ] {
        let refused = server.send(Post::raw(body)).await;
        assert_eq!((refused.status, refused.code()), (400, -32600), "{body}");
        assert!(refused.answer().get("id").is_none(), "{body}");
    }
}

#[tokio::test]
async fn http_12_an_unimplemented_method_is_404_with_minus_32601() {
    let server = server::start().await;
    for method in ["no/such", "Tools/List", "tools/list ", "notifications/cancelled", "rpc.discover"] {
        let refused = server.send(request(method, json!({})).header("Mcp-Method", method.trim())).await;
        // A trailing space is no part of the header, so there the header differs first.
        let expected = if method.ends_with(' ') { (400, -32020) } else { (404, -32601) };
        assert_eq!((refused.status, refused.code()), expected, "{method:?}");
        assert_eq!(refused.answer()["id"], 1, "{method:?}");
    }
}

#[tokio::test]
async fn http_13_a_03_a_status_is_an_error_only_where_a_page_says_so() {
    let server = server::start().await;
    for (post, status, code) in [
        (echo().without("Mcp-Name"), 400, -32020),
        (call("samples", json!({})), 400, -32021),
        (request("tools/list", json!({"_meta": {}})), 400, -32602),
        (call("no_such_tool", json!({})), 200, -32602),
        (request("tools/list", json!({"cursor": 7})), 200, -32602),
        (call("boom", json!({})), 200, -32603),
    ] {
        let response = server.send(post.clone()).await;
        assert_eq!((response.status, response.code()), (status, code), "{post:?}");
    }
}

#[tokio::test]
async fn http_14_other_methods_than_post_are_405_and_told_what_would_do() {
    let server = server::start().await;
    for verb in ["GET", "DELETE", "PUT", "PATCH", "OPTIONS"] {
        let refused = server.send(echo().verb(verb)).await;
        assert_eq!(refused.status, 405, "{verb}");
        assert_eq!(refused.header("allow"), Some("POST"), "{verb}");
    }
}

#[tokio::test]
async fn http_15_http_16_sessions_and_resumption_of_earlier_revisions_are_ignored() {
    let server = server::start().await;
    let legacy = echo().header("Mcp-Session-Id", "s-1").header("Last-Event-ID", "7");
    let response = server.send(legacy).await;
    assert_eq!(response.text(), "x");
    assert_eq!(response.header("mcp-session-id"), None);
}

#[tokio::test]
async fn http_18_a_10_a_request_without_the_version_header_is_400_with_minus_32020() {
    let server = server::start().await;
    let refused = server.send(echo().without("MCP-Protocol-Version")).await;
    assert_eq!((refused.status, refused.code()), (400, -32020));
    assert_eq!(refused.answer()["id"], 1);
}

#[tokio::test]
async fn http_20_http_21_an_oversized_head_is_431() {
    let server = server::start().await;
    let mut client = server.client().await;
    client.write(&echo().header("X-Large", &"x".repeat(80 * 1024))).await;
    assert_eq!(client.read_head().await.status, 431);
}

#[tokio::test]
async fn http_22_a_foreign_host_is_403() {
    let server = server::start().await;
    for host in ["elsewhere.example", "127.0.0.1.elsewhere.example", "0.0.0.0", "[::]"] {
        assert_eq!(server.send(echo().header("Host", host)).await.status, 403, "{host}");
    }
}

#[tokio::test]
async fn a_39_accept_that_excludes_both_is_406_and_another_body_type_is_415() {
    let server = server::start().await;
    for (post, status) in [
        (echo().without("Accept"), 200),
        (echo().header("Accept", "*/*"), 200),
        (echo().header("Accept", "text/html, image/*"), 406),
        (echo().without("Content-Type"), 200),
        (echo().header("Content-Type", "application/x-www-form-urlencoded"), 415),
    ] {
        assert_eq!(server.send(post.clone()).await.status, status, "{post:?}");
    }
}
