//! Schemas as clients read them, and what fits them (G1 to G4, G9, G12).

use std::collections::HashSet;

use ractor_mcp::prelude::*;
use ractor_mcp::{Error, McpSupervisor};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::support::logs::Logs;
use crate::support::{Server, call, request};

#[derive(Serialize, Deserialize, JsonSchema)]
struct Address {
    street: String,
    country: Option<Country>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
enum Country {
    De,
    Fr,
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Send {
    to: Address,
    from: Page<Address>,
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Page<T> {
    items: Vec<T>,
    next: Option<u32>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Tree {
    name: String,
    children: Vec<Tree>,
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Options {
    since: Option<String>,
    country: Option<Country>,
    counts: Option<Vec<Option<u32>>>,
    #[serde(default)]
    limit: u32,
}

async fn send(_: Send) {}

async fn locate(_: Address) -> Json<Vec<Address>> {
    Json(Vec::new())
}

async fn grow(tree: Tree) -> Json<Tree> {
    Json(Tree { name: "root".into(), children: vec![tree] })
}

async fn typed(Options { since, limit, .. }: Options) -> String {
    format!("{since:?} {limit}")
}

fn suite() -> Suite {
    Suite::new("schemas", "1")
        .tool("send", send)
        .tool("locate", locate)
        .tool("grow", grow)
        .tool("typed", typed)
}

async fn listed(server: &Server) -> Vec<Value> {
    let result = server.send(request("tools/list", json!({}))).await.result();
    result["tools"].as_array().expect("tools").clone()
}

/// All values under a key, at any depth.
fn under<'v>(value: &'v Value, key: &str) -> Vec<&'v Value> {
    let inside: Vec<&Value> = match value {
        Value::Object(members) => members.values().collect(),
        Value::Array(items) => items.iter().collect(),
        _ => Vec::new(),
    };
    value.get(key).into_iter().chain(inside.into_iter().flat_map(|inside| under(inside, key))).collect()
}

#[tokio::test]
async fn g2_and_g3_every_schema_stands_alone_and_is_valid_2020_12() {
    let server = Server::start(suite()).await;
    let mut references = 0;
    for tool in listed(&server).await {
        for schema in [&tool["inputSchema"], &tool["outputSchema"]].into_iter().filter(|one| !one.is_null()) {
            jsonschema::draft202012::meta::validate(schema)
                .unwrap_or_else(|fault| panic!("{}: {fault}", tool["name"]));
            for reference in under(schema, "$ref") {
                let place = reference.as_str().and_then(|place| place.strip_prefix('#'));
                let target = place.and_then(|place| schema.pointer(place));
                assert!(target.is_some(), "{}: {reference} leads out of {schema}", tool["name"]);
                references += 1;
            }
            assert_eq!(
                under(schema, "nullable"),
                Vec::<&Value>::new(),
                "{}: a word of OpenAPI",
                tool["name"]
            );
        }
        assert_eq!(tool["inputSchema"]["type"], "object", "{}", tool["name"]);
    }
    assert!(references > 0, "the recursive type refers to itself");
    let tree = json!({"name": "a", "children": [{"name": "b", "children": []}]});
    let grown = server.send(call("grow", tree.clone())).await.result();
    assert_eq!(grown["structuredContent"]["children"], json!([tree]));
}

#[tokio::test]
async fn g3_and_g4_what_an_option_takes_its_schema_takes_too() {
    let server = Server::start(suite()).await;
    let tool = listed(&server).await.into_iter().find(|tool| tool["name"] == "typed").expect("typed");
    let schema = jsonschema::draft202012::new(&tool["inputSchema"]).expect("a schema");
    for (arguments, text) in [
        (json!({}), "None 0"),
        (json!({"since": null}), "None 0"),
        (json!({"since": ""}), "Some(\"\") 0"),
        (json!({"country": null, "counts": null}), "None 0"),
        (json!({"country": "Fr", "counts": [1, null]}), "None 0"),
        (json!({"limit": 3}), "None 3"),
    ] {
        assert!(schema.is_valid(&arguments), "{arguments}");
        assert_eq!(server.send(call("typed", arguments.clone())).await.text(), text, "{arguments}");
    }
    for (arguments, field) in [
        (json!({"limit": null}), "limit"),
        (json!({"country": "Xy"}), "country"),
        (json!({"counts": [-1]}), "counts[0]"),
        (json!({"since": 1}), "since"),
    ] {
        assert!(!schema.is_valid(&arguments), "{arguments}");
        let refused = server.send(call("typed", arguments.clone())).await;
        assert_eq!(refused.result()["isError"], true, "{arguments}");
        assert!(refused.text().contains(&format!("`{field}`")), "{}", refused.text());
    }
}

#[tokio::test]
async fn g1_arguments_that_are_no_object_do_not_start_and_each_tool_is_named() {
    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    enum External {
        A(u8),
    }
    #[derive(Deserialize, JsonSchema)]
    #[serde(tag = "kind")]
    #[allow(dead_code)]
    enum Internal {
        A { n: u8 },
    }
    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    struct Newtype(u8);
    async fn external(_: External) {}
    async fn internal(_: Internal) {}
    async fn newtype(_: Newtype) {}
    async fn pair(_: (u8, u8)) {}
    async fn unit(_: ()) {}
    let suite = Suite::new("roots", "1")
        .tool("external", external)
        .tool("internal", internal)
        .tool("newtype", newtype)
        .tool("pair", pair)
        .tool("unit", unit);
    let Err(Error::Misconfigured(faults)) = McpSupervisor::start(suite).await else {
        panic!("the server does not start")
    };
    for name in ["external", "internal", "newtype", "pair", "unit"] {
        let named = faults.faults().iter().any(|fault| fault.contains(&format!("tool `{name}`")));
        assert!(named, "{name} in {faults}");
    }
}

#[tokio::test]
async fn g9_none_is_structured_content_where_the_schema_has_it() {
    async fn list() -> Json<Option<Vec<u8>>> {
        Json(None)
    }
    async fn text() -> Json<Option<String>> {
        Json(None)
    }
    async fn nothing() -> Json<()> {
        Json(())
    }
    async fn failing() -> Result<Json<Vec<u8>>, &'static str> {
        Err("no list")
    }
    let suite = Suite::new("none", "1")
        .tool("list", list)
        .tool("text", text)
        .tool("nothing", nothing)
        .tool("failing", failing);
    let server = Server::start(suite).await;
    for tool in listed(&server).await {
        let name = tool["name"].as_str().expect("a name");
        let result = server.send(call(name, json!({}))).await.result();
        let content = result.get("structuredContent");
        if name == "failing" {
            assert_eq!((content, &result["isError"]), (None, &json!(true)));
        } else {
            let schema = jsonschema::draft202012::new(&tool["outputSchema"]).expect("a schema");
            assert!(schema.is_valid(content.expect("structured content")), "{name}: {result}");
        }
    }
}

#[tokio::test]
async fn g12_names_no_client_takes_are_refused_and_names_some_refuse_are_warned_of() {
    async fn tool() {}
    let long = "a".repeat(129);
    let faulty =
        Suite::new("names", "1").tool("", tool).tool(&long, tool).tool("twice", tool).tool("twice", tool);
    let Err(Error::Misconfigured(faults)) = McpSupervisor::start(faulty).await else {
        panic!("the server does not start")
    };
    assert_eq!(faults.faults().len(), 3, "{faults}");

    let (logs, _guard) = Logs::record(tracing::Level::WARN);
    let names = ["a.b", "a/b", &"a".repeat(65), "fine"];
    let suite = names.iter().fold(Suite::new("names", "1"), |suite, name| suite.tool(name, tool));
    let server = Server::start(suite).await;
    let listed: HashSet<String> =
        listed(&server).await.iter().filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect();
    assert_eq!(listed, names.map(str::to_owned).into());
    let warned = logs.lines("WARN");
    for name in &names[..3] {
        assert!(warned.iter().any(|line| line.contains(&format!("`{name}`"))), "{name} in {warned:?}");
    }
    let of_names = warned.iter().filter(|line| !line.contains("without a description"));
    assert!(!of_names.into_iter().any(|line| line.contains("`fine`")), "{warned:?}");
}
