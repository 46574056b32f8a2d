//! Prompts over the wire: what is listed, how arguments are checked, what the messages hold, and completion.

use ractor_mcp::prelude::*;
use ractor_mcp::suite::{PromptArguments, prompt_arguments};
use ractor_mcp::wire::{
    Content, GetPromptResult, Icon, Prompt, PromptMessage, ResourceContents, ResourceTemplate,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::{Response, Server, request};

/// Greets someone.
#[derive(Deserialize, JsonSchema)]
struct Greet {
    /// Whom to greet.
    name: String,
    #[serde(default)]
    tone: Tone,
    times: Option<u8>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Tone {
    #[default]
    Formal,
    Warm,
}

async fn greet(Greet { name, tone, times }: Greet) -> String {
    format!("{tone:?}: {name} {times:?}")
}

async fn plain() -> &'static str {
    "a plain prompt"
}

async fn every_kind(_: NoArguments, call: Call) -> GetPromptResult {
    GetPromptResult::new(vec![
        PromptMessage::user(call.name()),
        PromptMessage::assistant(Content::image([1], "image/png")),
        PromptMessage::user(Content::audio([2], "audio/wav")),
        PromptMessage::user(Content::link("a://b", "b")),
        PromptMessage::user(Content::resource(ResourceContents::text("a://b", "text"))),
        PromptMessage::user(Content::resource(ResourceContents::blob("a://c", [3]))),
    ])
    .description("Each kind of content.")
}

async fn failing() -> Result<String, std::io::Error> {
    Err(std::io::Error::other("password=hunter2"))
}

async fn names(completing: Completing, _: Call) -> Vec<String> {
    let tone = completing.known.get("tone").cloned().unwrap_or_default();
    let all = (0..150).map(|n| format!("Ada{n}{tone}")).chain(["Bob".to_owned()]);
    completing.among(all)
}

async fn broken(_: Completing, _: Call) -> Result<Vec<String>, &'static str> {
    Err("password=hunter2")
}

struct Saved;

#[derive(Deserialize, JsonSchema)]
struct Text {
    text: String,
}

impl PromptRepo for Saved {
    type Cursor = ();
    type Output = Option<String>;

    fn prefix(&self) -> String {
        "saved/".to_owned()
    }

    async fn list(&self, _: Option<()>, _: &Call) -> Result<Page<Prompt, ()>, ToolError> {
        let prompt = prompt_arguments::<Text>().into_iter().fold(Prompt::new("saved/one"), Prompt::argument);
        Ok(vec![prompt].into())
    }

    async fn get(
        &self,
        name: &str,
        arguments: PromptArguments,
        _: &Call,
    ) -> Result<Option<String>, ToolError> {
        if name != "saved/one" {
            return Ok(None);
        }
        let Text { text } = arguments.parse()?;
        Ok(Some(format!("saved: {text}")))
    }

    async fn complete(&self, name: &str, completing: Completing, _: &Call) -> Result<Vec<String>, ToolError> {
        Ok(vec![format!("{name} {} {}", completing.name, completing.typed)])
    }
}

/// Cities by country.
struct Cities;

#[derive(Deserialize)]
struct City {
    country: String,
    city: String,
}

impl ResourceRepo for Cities {
    type Key = City;
    type Cursor = ();
    type Output = String;

    fn template(&self) -> ResourceTemplate {
        ResourceTemplate::new("city://{country}/{city}", "city")
    }

    async fn read(&self, City { country, city }: City, _: &Call) -> Result<String, ToolError> {
        Ok(format!("{city} in {country}"))
    }

    async fn complete(&self, completing: Completing, _: &Call) -> Result<Vec<String>, ToolError> {
        Ok(match (&*completing.name, completing.known.get("country").map(String::as_str)) {
            ("country", _) => completing.among(["France", "Finland"]),
            (_, Some("France")) => completing.among(["Paris", "Lyon"]),
            _ => Vec::new(),
        })
    }
}

fn suite() -> Suite {
    let greet = prompt(greet)
        .title("Greet")
        .icon(Icon::new("https://example.com/i.png"))
        .complete("name", names)
        .complete("times", broken);
    Suite::new("prompts", "1")
        .prompt("greet", greet)
        .prompt("plain", prompt(plain).description("Nothing to fill in."))
        .prompt("every kind", every_kind)
        .prompt("failing", failing)
        .prompt_repo(Saved)
        .resource_repo(Cities)
}

async fn get(server: &Server, name: &str, arguments: Value) -> Response {
    let params = json!({"name": name, "arguments": arguments});
    server.send(request("prompts/get", params)).await
}

async fn text(server: &Server, name: &str, arguments: Value) -> String {
    let result = get(server, name, arguments).await.result();
    result["messages"][0]["content"]["text"].as_str().unwrap().to_owned()
}

async fn complete(server: &Server, reference: Value, name: &str, value: &str, known: Value) -> Response {
    let params = json!({
        "ref": reference, "argument": {"name": name, "value": value}, "context": {"arguments": known},
    });
    server.send(request("completion/complete", params)).await
}

fn prompt_ref(name: &str) -> Value {
    json!({"type": "ref/prompt", "name": name})
}

fn template_ref(uri: &str) -> Value {
    json!({"type": "ref/resource", "uri": uri})
}

#[tokio::test]
async fn prm_02_and_prm_12_the_list_says_what_the_types_say() {
    let server = Server::start(suite()).await;
    let result = server.send(request("prompts/list", json!({}))).await.result();
    assert_eq!(
        result["prompts"],
        json!([
            {
                "name": "greet", "title": "Greet", "description": "Greets someone.",
                "arguments": [
                    {"name": "name", "description": "Whom to greet.", "required": true},
                    {"name": "tone"},
                    {"name": "times"}
                ],
                "icons": [{"src": "https://example.com/i.png"}]
            },
            {"name": "plain", "description": "Nothing to fill in."},
            {"name": "every kind"},
            {"name": "failing"},
            {"name": "saved/one", "arguments": [{"name": "text", "required": true}]}
        ])
    );
    assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(0), &json!("private")));
}

#[tokio::test]
async fn prm_05_arguments_are_checked_before_the_prompt_runs() {
    let server = Server::start(suite()).await;
    assert_eq!(text(&server, "greet", json!({"name": "Ada"})).await, "Formal: Ada None");
    let all = json!({"name": "", "tone": "warm", "times": "3"});
    assert_eq!(text(&server, "greet", all).await, "Warm:  Some(3)");
    assert_eq!(text(&server, "plain", json!({})).await, "a plain prompt");
    assert_eq!(text(&server, "saved/one", json!({"text": "x"})).await, "saved: x");
    for (name, arguments, fault) in [
        ("greet", json!({}), "`name` is missing; it takes `name`, `tone`, `times`"),
        ("greet", json!({"name": "a", "who": "b"}), "`who` is unknown"),
        ("greet", json!({"name": "a", "tone": "cold"}), "`tone`: unknown variant `cold`"),
        (
            "greet",
            json!({"name": "a", "times": "many"}),
            "`times`: invalid value: string \"many\", expected u8",
        ),
        ("plain", json!({"a": "b"}), "`a` is unknown; it takes none"),
        ("saved/one", json!({}), "`text` is missing"),
        ("saved/two", json!({}), "unknown prompt"),
        ("Greet", json!({}), "unknown prompt"),
    ] {
        let error = get(&server, name, arguments).await.answer()["error"].clone();
        assert_eq!(error["code"], -32602, "{name}: {error}");
        assert!(error["message"].as_str().unwrap().contains(fault), "{fault} in {error}");
    }
    let failing = get(&server, "failing", json!({})).await;
    assert_eq!(failing.code(), -32603);
    assert!(!failing.body.contains("hunter2"));
}

#[tokio::test]
async fn prm_08_to_prm_10_every_kind_of_content() {
    let server = Server::start(suite()).await;
    let result = get(&server, "every kind", json!({})).await.result();
    assert_eq!(result["description"], "Each kind of content.");
    let contents: Vec<_> = result["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| (message["role"].clone(), message["content"].clone()))
        .collect();
    let user = json!("user");
    assert_eq!(
        contents,
        [
            (user.clone(), json!({"type": "text", "text": "every kind"})),
            (json!("assistant"), json!({"type": "image", "data": "AQ==", "mimeType": "image/png"})),
            (user.clone(), json!({"type": "audio", "data": "Ag==", "mimeType": "audio/wav"})),
            (user.clone(), json!({"type": "resource_link", "uri": "a://b", "name": "b"})),
            (user.clone(), json!({"type": "resource", "resource": {"uri": "a://b", "text": "text"}})),
            (user, json!({"type": "resource", "resource": {"uri": "a://c", "blob": "Aw=="}})),
        ]
    );
}

#[tokio::test]
async fn cmp_03_at_most_100_values_and_the_number_of_all() {
    let server = Server::start(suite()).await;
    let some = complete(&server, prompt_ref("greet"), "name", "b", json!({})).await.result();
    assert_eq!(some["completion"], json!({"values": ["Bob"], "total": 1, "hasMore": false}));
    let many = complete(&server, prompt_ref("greet"), "name", "ada", json!({"tone": "!"})).await.result();
    let completion = &many["completion"];
    assert_eq!(completion["values"].as_array().unwrap().len(), 100);
    assert_eq!(completion["values"][0], "Ada0!", "with what is known already");
    assert_eq!((&completion["total"], &completion["hasMore"]), (&json!(150), &json!(true)));
    let none = complete(&server, prompt_ref("greet"), "tone", "", json!({})).await.result();
    assert_eq!(none["completion"]["values"], json!([]));
}

#[tokio::test]
async fn cmp_02_repositories_complete_names_and_variables() {
    let server = Server::start(suite()).await;
    let saved = complete(&server, prompt_ref("saved/one"), "text", "ty", json!({})).await.result();
    assert_eq!(saved["completion"]["values"], json!(["saved/one text ty"]));
    let city = template_ref("city://{country}/{city}");
    let countries = complete(&server, city.clone(), "country", "fr", json!({})).await.result();
    assert_eq!(countries["completion"]["values"], json!(["France"]));
    let cities = complete(&server, city, "city", "", json!({"country": "France"})).await.result();
    assert_eq!(cities["completion"]["values"], json!(["Paris", "Lyon"]));
}

#[tokio::test]
async fn cmp_04_what_cannot_be_completed_is_refused() {
    let server = Server::start(suite()).await;
    for (reference, argument) in [
        (prompt_ref("nobody"), "name"),
        (prompt_ref("greet"), "nothing"),
        (template_ref("city://{other}"), "city"),
        (template_ref("city://{country}/{city}"), "street"),
    ] {
        let response = complete(&server, reference.clone(), argument, "", json!({})).await;
        assert_eq!(response.code(), -32602, "{reference}");
    }
    let broken = complete(&server, prompt_ref("greet"), "times", "", json!({})).await;
    assert_eq!(broken.code(), -32603);
    assert!(!broken.body.contains("hunter2"));
    let nothing = Server::start(Suite::new("s", "1").prompt("plain", plain)).await;
    let response = complete(&nothing, prompt_ref("plain"), "a", "", json!({})).await;
    assert_eq!(
        (response.status, response.code()),
        (404, -32601),
        "nothing is completed, so nothing is advertised"
    );
}

#[tokio::test]
async fn prm_01_and_cmp_01_what_is_registered_is_advertised() {
    let offered = |server: Server| async move {
        server.send(request("server/discover", json!({}))).await.result()["capabilities"].clone()
    };
    let all = offered(Server::start(suite()).await).await;
    assert_eq!(all, json!({"prompts": {}, "resources": {}, "completions": {}, "logging": {}}));
    let few = offered(Server::start(Suite::new("s", "1").prompt("plain", plain)).await).await;
    assert_eq!(few, json!({"prompts": {}, "logging": {}}));
}

#[tokio::test]
async fn all_faults_are_told_when_the_server_starts() {
    #[derive(Deserialize, JsonSchema)]
    struct Compound {
        #[allow(dead_code)]
        list: Vec<String>,
    }
    async fn compound(_: Compound) -> &'static str {
        ""
    }
    let suite = Suite::new("s", "1")
        .prompt("", plain)
        .prompt("twice", plain)
        .prompt("twice", plain)
        .prompt("compound", compound)
        .prompt("strange", prompt(greet).complete("nothing", names))
        .prompt_repo(Saved)
        .prompt_repo(Saved);
    let told = McpSupervisor::start(suite).await.unwrap_err().to_string();
    for fault in [
        "prompt ``: the name is empty",
        "prompt `twice`: registered twice",
        "prompt `compound`: its argument `list` is an object or a list",
        "prompt `strange`: it completes `nothing`",
        "prompt prefix `saved/`: overlaps with the prefix `saved/`",
    ] {
        assert!(told.contains(fault), "{fault} in {told}");
    }
}

#[tokio::test]
async fn prm_03_the_list_is_the_same_on_each_connection_and_after_each_request() {
    let server = Server::start(suite()).await;
    let mut client = server.client().await;
    let list = request("prompts/list", json!({}));
    let first = client.send(&list).await.body;
    for name in ["plain", "nobody"] {
        client.send(&request("prompts/get", json!({ "name": name }))).await;
        assert_eq!(client.send(&list).await.body, first);
    }
    assert_eq!(server.send(list).await.body, first);
}
