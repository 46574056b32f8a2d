//! Parameters that clients mirror as headers, over the wire (XHDR).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ractor_mcp::prelude::*;
use ractor_mcp::testing::TestChannel;
use ractor_mcp::wire::{CallToolRequest, CallToolResult, Request, ServerCapabilities};
use ractor_mcp::{Error, McpSupervisor, MirroredSchema};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::{Post, Server, call, request};

#[derive(Deserialize, JsonSchema)]
struct Query {
    #[schemars(extend("x-mcp-header" = "Region"))]
    region: String,
    #[schemars(with = "i64", extend("x-mcp-header" = "Limit"))]
    #[serde(default)]
    limit: Option<i64>,
}

/// The suite, and how often its tool ran.
fn suite() -> (Suite, Arc<AtomicUsize>) {
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&runs);
    let query = move |Query { region, limit }: Query| {
        counted.fetch_add(1, Ordering::SeqCst);
        std::future::ready(format!("{region} {limit:?}"))
    };
    (Suite::new("s", "1").tool("query", query), runs)
}

fn query(arguments: Value) -> Post {
    call("query", arguments)
}

#[tokio::test]
async fn xhdr_13_a_call_whose_headers_fit_runs() {
    let (suite, _) = suite();
    let server = Server::start(suite).await;
    let plain = query(json!({"region": "eu"})).header("Mcp-Param-Region", "eu");
    assert_eq!(server.send(plain).await.text(), "eu None");
    let encoded = query(json!({"region": "grün", "limit": 7}))
        .header("mcp-param-region", "=?base64?Z3LDvG4=?=")
        .header("Mcp-Param-Limit", "7.0")
        .header("Mcp-Param-Other", "forwarded by a gateway");
    assert_eq!(server.send(encoded).await.text(), "grün Some(7)");
}

/// Calls that say something else in their headers.
fn differing() -> [Post; 6] {
    let eu = || query(json!({"region": "eu"}));
    [
        eu(),
        eu().header("Mcp-Param-Region", "us"),
        eu().header("Mcp-Param-Region", "=?base64?ZXU?="),
        eu().header("Mcp-Param-Region", "eu").another("mcp-param-region", "eu"),
        eu().header("Mcp-Param-Region", "eu").header("Mcp-Param-Limit", "1"),
        query(json!({})).header("Mcp-Param-Region", "eu"),
    ]
}

async fn assert_refuses_differing(server: &Server) {
    for post in differing() {
        let refused = server.send(post.clone()).await;
        assert_eq!((refused.status, refused.code()), (400, -32020), "{post:?}");
        assert_eq!(refused.answer()["id"], 1);
    }
}

#[tokio::test]
async fn xhdr_15_to_17_a_call_whose_headers_differ_is_refused_before_its_tool_runs() {
    let (suite, runs) = suite();
    let server = Server::start(suite).await;
    assert_refuses_differing(&server).await;
    assert_eq!(runs.load(Ordering::SeqCst), 0);
}

/// Serves the same tool without a suite.
struct ByHand(MirroredSchema);

impl Handler for ByHand {
    type State = ();
    type Message = ();

    async fn init(&self, _: &Channel<()>) -> Result<(), RpcError> {
        Ok(())
    }

    async fn handle_request(
        &self,
        request: Request,
        channel: &Channel<()>,
        (): &mut (),
    ) -> Result<Reply, RpcError> {
        let Request::CallTool(call) = request else {
            return Err(RpcError::method_not_found(request.method()));
        };
        self.0.check(channel.mirrored_params(), &call.arguments)?;
        Ok(CallToolResult::text("fits").into())
    }

    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::new().tools(false)
    }
}

#[tokio::test]
async fn xhdr_13_to_17_a_handler_without_a_suite_checks_the_same() {
    let schema = json!({"type": "object", "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "limit": {"type": "integer", "x-mcp-header": "Limit"},
    }});
    let server = Server::start(ByHand(MirroredSchema::of(&schema).unwrap())).await;
    assert_refuses_differing(&server).await;
    let fits = query(json!({"region": "eu", "limit": null})).header("Mcp-Param-Region", "eu");
    assert_eq!(server.send(fits).await.text(), "fits");
    let faults = MirroredSchema::of(&json!({"x-mcp-header": "Root"})).unwrap_err();
    assert!(faults.faults()[0].starts_with("`x-mcp-header` at the root"), "{faults}");
}

#[tokio::test]
async fn the_headers_are_checked_before_the_arguments_and_after_the_name_of_the_tool() {
    let (suite, _) = suite();
    let server = Server::start(suite).await;
    let wrong_type = query(json!({"region": ["eu"]})).header("Mcp-Param-Region", "eu");
    assert_eq!(server.send(wrong_type).await.code(), -32020);
    let missing = server.send(query(json!({}))).await;
    assert_eq!(missing.result()["isError"], true);
    let unknown = call("other", json!({"region": "eu"})).header("Mcp-Param-Region", "us");
    assert_eq!(server.send(unknown).await.code(), -32602);
}

#[tokio::test]
async fn xhdr_22_without_headers_nothing_is_checked() {
    let (suite, _) = suite();
    let test = TestChannel::start("tools/call").await;
    let mut state = suite.init(test.channel()).await.unwrap();
    assert!(!test.channel().mirrored_params().have_headers());
    let mut call = CallToolRequest::default();
    "query".clone_into(&mut call.name);
    call.arguments.insert("region".into(), "eu".into());
    let request = Request::CallTool(call);
    let reply = suite.handle_request(request, test.channel(), &mut state).await;
    assert!(format!("{:?}", reply.unwrap()).contains("eu None"));
}

#[tokio::test]
async fn xhdr_01_the_annotation_is_listed_as_it_is_written() {
    let (suite, _) = suite();
    let listed = Server::start(suite).await.send(request("tools/list", json!({}))).await.result();
    let region = &listed["tools"][0]["inputSchema"]["properties"]["region"];
    assert_eq!(region, &json!({"type": "string", "x-mcp-header": "Region"}));
}

#[tokio::test]
async fn xhdr_10_a_bad_annotation_is_refused_when_the_supervisor_starts_by_the_name_of_the_tool() {
    async fn any(_: NoArguments) {}
    let schema = json!({"type": "object", "properties": {
        "a": {"type": "number", "x-mcp-header": "A"},
        "b": {"type": "array", "items": {"type": "string", "x-mcp-header": "B"}},
    }});
    let suite = Suite::new("s", "1").tool("marked", tool(any).input_schema(schema));
    let Err(Error::Misconfigured(told)) = McpSupervisor::start(suite).await else {
        panic!("the supervisor started");
    };
    let told = told.to_string();
    for fault in
        ["tool `marked`: `x-mcp-header` at `a`: the type", "tool `marked`: `x-mcp-header` at `b.items`: only"]
    {
        assert!(told.contains(fault), "{told}");
    }
}

#[test]
fn xhdr_11_a_mirrored_secret_is_warned_about() {
    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    struct Login {
        #[schemars(extend("x-mcp-header" = "Key"))]
        api_key: String,
    }
    async fn login(_: Login) {}
    let suite = Suite::new("s", "1").tool("login", login);
    assert!(suite.warnings()[0].contains("`api_key` looks like a secret"), "{:?}", suite.warnings());
}
