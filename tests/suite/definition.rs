//! What `tools/list` says of tools, and that every way to define one comes to the same (N4).

use std::convert::Infallible;

use ractor_mcp::prelude::*;
use ractor_mcp::wire::{Icon, Meta, ToolAnnotations};
use ractor_mcp::{Error, McpSupervisor, Options};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::logs::Logs;
use crate::support::{Server, call, fixture, request};

/// Greets.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Greet {
    /// Whom.
    name: String,
}

async fn greet(Greet { name }: Greet) -> Result<String, ToolError> {
    greeting(&name)
}

fn greet_blocking(Greet { name }: Greet) -> Result<String, ToolError> {
    greeting(&name)
}

fn greeting(name: &str) -> Result<String, ToolError> {
    match name {
        "" => Err(ToolError::new("whom?")),
        "nobody" => Err(ToolError::protocol(RpcError::invalid_params("nobody is no name"))),
        name => Ok(format!("hello {name}")),
    }
}

struct Greeter;

impl Tool for Greeter {
    type Args = Greet;
    type Output = String;
    type State = ();
    type Message = Infallible;

    async fn call(&self, args: Greet, _: &Call, (): &mut ()) -> Result<ToolReply<String>, ToolError> {
        Ok(ToolReply::Answer(greeting(&args.name)?))
    }
}

async fn listed(server: &Server) -> Vec<Value> {
    let result = server.send(request("tools/list", json!({}))).await.result();
    result["tools"].as_array().unwrap().clone()
}

#[tokio::test]
async fn n4_function_blocking_function_and_struct_are_the_same_on_the_wire() {
    let mut seen = Vec::new();
    for suite in [
        Suite::new("greet", "1").tool("greet", greet),
        Suite::new("greet", "1").tool("greet", blocking(greet_blocking)),
        Suite::new("greet", "1").tool("greet", Greeter),
        Suite::new("greet", "1").tool("greet", tool(Greeter).blocking()),
    ] {
        let server = Server::start(suite).await;
        let mut bodies = vec![server.send(request("tools/list", json!({}))).await.body];
        for arguments in
            [json!({"name": "you"}), json!({"name": ""}), json!({"name": "nobody"}), json!({"nam": 1})]
        {
            bodies.push(server.send(call("greet", arguments)).await.body);
        }
        seen.push(bodies);
    }
    assert!(seen[0][0].contains("Greets."), "{}", seen[0][0]);
    assert!(seen[0][1].contains("hello you"), "{}", seen[0][1]);
    for other in &seen[1..] {
        assert_eq!(*other, seen[0]);
    }
}

#[tokio::test]
async fn tool_06_options_are_listed() {
    let spec = tool(greet)
        .title("Greeter")
        .description("Says hello.")
        .annotations(ToolAnnotations::new().read_only_hint(true))
        .icon(Icon::new("https://example.com/i.png"))
        .meta(Meta::new().with("com.example/colour", "red"));
    let server = Server::start(Suite::new("s", "1").tool("greet", spec)).await;
    assert_eq!(
        listed(&server).await,
        [json!({
            "name": "greet",
            "title": "Greeter",
            "description": "Says hello.",
            "inputSchema": {
                "type": "object",
                "properties": {"name": {"description": "Whom.", "type": "string"}},
                "required": ["name"],
                "additionalProperties": false
            },
            "annotations": {"readOnlyHint": true},
            "icons": [{"src": "https://example.com/i.png"}],
            "_meta": {"com.example/colour": "red"}
        })]
    );
}

#[tokio::test]
async fn a_struct_defines_itself_and_a_registration_has_the_last_word() {
    struct Shown;
    impl Tool for Shown {
        type Args = NoArguments;
        type Output = ();
        type State = ();
        type Message = Infallible;

        async fn call(&self, _: NoArguments, _: &Call, (): &mut ()) -> Result<ToolReply<()>, ToolError> {
            Ok(ToolReply::Answer(()))
        }

        fn title(&self) -> Option<String> {
            Some("Own title".into())
        }

        fn description(&self) -> Option<String> {
            Some("Own words.".into())
        }

        fn annotations(&self) -> Option<ToolAnnotations> {
            Some(ToolAnnotations::new().idempotent_hint(true))
        }

        fn icons(&self) -> Vec<Icon> {
            vec![Icon::new("data:,")]
        }

        fn meta(&self) -> Meta {
            Meta::new().with("com.example/a", 1)
        }
    }
    let suite = Suite::new("s", "1").tool("own", Shown).tool("other", tool(Shown).title("Other title"));
    let server = Server::start(suite).await;
    let tools = listed(&server).await;
    assert_eq!((&tools[0]["title"], &tools[1]["title"]), (&json!("Own title"), &json!("Other title")));
    assert_eq!(tools[1]["description"], "Own words.");
    assert_eq!(tools[0]["annotations"], json!({"idempotentHint": true}));
    assert_eq!(
        (&tools[0]["icons"][0]["src"], &tools[0]["_meta"]["com.example/a"]),
        (&json!("data:,"), &json!(1))
    );
}

#[tokio::test]
async fn g13_servers_of_one_suite_list_byte_for_byte_the_same() {
    let (one, two) = (Server::start(fixture::suite()).await, Server::start(fixture::suite()).await);
    let first = one.send(request("tools/list", json!({}))).await.body;
    for server in [&one, &two] {
        for _ in 0..5 {
            assert_eq!(server.send(request("tools/list", json!({}))).await.body, first);
        }
    }
}

#[tokio::test]
async fn a_server_with_faulty_tools_does_not_start_and_names_them_all() {
    async fn number(_: u32) {}
    async fn pair(_: (i64, i64)) {}
    let suite = Suite::new("s", "1")
        .tool("number", number)
        .tool("pair", pair)
        .tool("dialect", tool(greet).input_schema(json!({"type": "object", "$schema": "urn:own"})));
    let Err(Error::Misconfigured(faults)) = McpSupervisor::start(suite).await else {
        panic!("the server does not start")
    };
    let told = faults.to_string();
    for part in ["tool `number`", "tool `pair`", "tool `dialect`", "urn:own"] {
        assert!(told.contains(part), "{part} in {told}");
    }
}

#[tokio::test]
async fn faults_of_the_options_and_of_the_suite_come_in_one_message() {
    let (suite, options) = (Suite::new(" ", "").page_size(0), Options::new().path("mcp").max_body(0));
    let Err(Error::Misconfigured(faults)) = McpSupervisor::start_with(suite, options).await else {
        panic!("the server does not start")
    };
    let told = faults.to_string();
    for part in ["path `mcp`", "max_body", "its name is empty", "its version is empty", "the page size is 0"]
    {
        assert!(told.contains(part), "{part} in {told}");
    }
    assert_eq!(faults.faults().len(), 5, "{told}");
}

#[tokio::test]
async fn tools_without_a_description_are_named_in_one_warning_at_the_start() {
    /// Nobody reads this.
    async fn quiet() {}
    let suite = || {
        Suite::new("s", "1")
            .tool("greet", greet)
            .tool("one", quiet)
            .tool("other", tool(quiet).description(" "))
            .tool("described", tool(quiet).description("Does nothing."))
    };
    let (logs, _guard) = Logs::record(tracing::Level::WARN);
    let _quiet = Server::start(suite().trace_warnings(false)).await;
    assert_eq!(logs.text(), "");
    let server = Server::start(suite()).await;
    server.send(call("one", json!({}))).await;
    let warned = logs.lines("WARN");
    assert_eq!(warned.len(), 1, "{warned:?}");
    assert!(warned[0].contains("`one`, `other`") && warned[0].contains("description("), "{warned:?}");
    assert!(!warned[0].contains("greet") && !warned[0].contains("described`"), "{warned:?}");
}

#[tokio::test]
async fn a_tool_that_fails_is_traced_with_the_text_that_the_model_reads() {
    let (logs, _guard) = Logs::record(tracing::Level::DEBUG);
    let server = Server::start(Suite::new("s", "1").tool("greet", greet)).await;
    server.send(call("greet", json!({"name": ""}))).await;
    let lines = logs.lines("DEBUG");
    let told = lines.iter().find(|line| line.contains("the tool failed")).unwrap();
    assert!(told.contains(r#"tool=greet error="whom?""#), "{told}");
}
