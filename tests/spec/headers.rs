//! Transports: the standard request headers (HDR).

use serde_json::json;

use super::server;
use crate::support::mirror::{Mirror, seen};
use crate::support::{Post, Response, Server, call, request};

fn echo() -> Post {
    call("echo", json!({"text": "x"}))
}

/// 400, `-32020`, the id of the request (HDR-08).
fn assert_mismatch(refused: &Response, what: &str) {
    assert_eq!((refused.status, refused.code()), (400, -32020), "{what}");
    assert_eq!(refused.answer()["id"], 1, "{what}");
}

#[tokio::test]
async fn hdr_01_the_version_header_equals_the_metadata() {
    let server = server::start().await;
    for version in ["2025-11-25", "v999.0.0", "2026-07-28x", ""] {
        let refused = server.send(echo().header("MCP-Protocol-Version", version)).await;
        assert_mismatch(&refused, version);
    }
}

#[tokio::test]
async fn hdr_02_hdr_03_hdr_07_hdr_08_hdr_14_a_missing_or_differing_header_is_a_mismatch() {
    let server = server::start().await;
    for (what, post) in [
        ("no Mcp-Method", echo().without("Mcp-Method")),
        ("another method", echo().header("Mcp-Method", "tools/list")),
        ("empty method", echo().header("Mcp-Method", "")),
        ("no Mcp-Name", echo().without("Mcp-Name")),
        ("another name", echo().header("Mcp-Name", "boom")),
        ("empty name", echo().header("Mcp-Name", "")),
        ("no Mcp-Method on a list", request("tools/list", json!({})).without("Mcp-Method")),
    ] {
        assert_mismatch(&server.send(post).await, what);
    }
}

#[tokio::test]
async fn hdr_05_header_names_compare_without_case() {
    let server = server::start().await;
    let post = echo()
        .without("Mcp-Method")
        .header("MCP-METHOD", "tools/call")
        .without("Mcp-Name")
        .header("mcp-name", "echo")
        .without("MCP-Protocol-Version")
        .header("mcp-protocol-version", "2026-07-28");
    assert_eq!(server.send(post).await.text(), "x");
}

#[tokio::test]
async fn hdr_06_header_values_compare_with_case() {
    let server = server::start().await;
    assert_mismatch(&server.send(echo().header("Mcp-Method", "TOOLS/CALL")).await, "method");
    assert_mismatch(&server.send(echo().header("Mcp-Name", "Echo")).await, "name");
}

#[tokio::test]
async fn hdr_09_the_base64_form_of_a_name_is_decoded() {
    let server = Server::start(Mirror).await;
    for (name, header) in [
        ("grüße", "=?base64?Z3LDvMOfZQ==?="),
        ("echo", "=?base64?ZWNobw==?="),
        ("", "=?base64??="),
        (" padded ", "=?base64?IHBhZGRlZCA=?="),
    ] {
        let response = server.send(call(name, json!({})).header("Mcp-Name", header)).await;
        assert_eq!(seen(&response)["tool"], name);
    }
}

#[tokio::test]
async fn hdr_10_a_20_a_payload_that_is_not_strict_base64_is_a_mismatch() {
    let server = Server::start(Mirror).await;
    for payload in ["ZWNobw", "ZWNobw=", "ZWNob_==", "ZWNobx==", "ZWN obw==", "x"] {
        let header = format!("=?base64?{payload}?=");
        assert_mismatch(&server.send(call("echo", json!({})).header("Mcp-Name", &header)).await, &header);
    }
}

#[tokio::test]
async fn hdr_11_a_19_half_a_marker_another_case_and_markers_that_overlap_are_literals() {
    let server = Server::start(Mirror).await;
    for literal in ["=?base64?ZWNobw==", "ZWNobw==?=", "=?BASE64?ZWNobw==?=", "=?base64?="] {
        let response = server.send(call(literal, json!({}))).await;
        assert_eq!(seen(&response)["tool"], literal);
    }
}

#[tokio::test]
async fn hdr_12_characters_that_a_header_may_not_have_are_a_mismatch() {
    let server = Server::start(Mirror).await;
    let raw = call("grüße", json!({})).header("Mcp-Name", "grüße");
    assert_mismatch(&server.send(raw).await, "UTF-8 as it is");
}

#[tokio::test]
async fn hdr_13_white_space_around_a_value_does_not_count() {
    let server = server::start().await;
    let post = echo()
        .header("Mcp-Method", " \t tools/call\t ")
        .header("Mcp-Name", "\techo ")
        .header("MCP-Protocol-Version", "  2026-07-28  ");
    assert_eq!(server.send(post).await.text(), "x");
}

#[tokio::test]
async fn hdr_16_headers_that_a_method_does_not_need_are_ignored() {
    let server = server::start().await;
    let list =
        request("tools/list", json!({})).header("Mcp-Name", "anything").header("Mcp-Param-Region", "x");
    assert_eq!(server.send(list).await.status, 200);
}
