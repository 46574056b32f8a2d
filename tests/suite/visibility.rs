//! Visibility: what is hidden from a caller does not exist for it, in lists, uses, completion and streams.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ractor_mcp::Principal;
use ractor_mcp::prelude::*;
use ractor_mcp::suite::{Item, PromptArguments};
use ractor_mcp::testing::{TestCall, TestServer};
use ractor_mcp::wire::{CacheHints, Prompt, Resource, ResourceTemplate};
use serde_json::{Value, json};

use crate::callers::{LISTS, client, list, nameless, page, serve};
use crate::support::logs::Logs;

async fn text() -> &'static str {
    "text"
}

fn is_alice(caller: &Principal) -> bool {
    caller.id() == Some("alice")
}

/// Notes 1 to 3, whose ids can be completed.
struct Notes;

impl ResourceRepo for Notes {
    type Key = String;
    type Cursor = ();
    type Output = String;

    fn template(&self) -> ResourceTemplate {
        ResourceTemplate::new("note://{id}", "note")
    }

    async fn list(&self, _: Option<()>, _: &Call) -> Result<Page<Resource, ()>, ToolError> {
        Ok([1, 2, 3].map(|n| Resource::new(format!("note://{n}"), "note")).to_vec().into())
    }

    async fn read(&self, id: String, _: &Call) -> Result<String, ToolError> {
        Ok(id)
    }

    async fn complete(&self, _: Completing, _: &Call) -> Result<Vec<String>, ToolError> {
        Ok(vec!["1".to_owned()])
    }
}

struct Saved;

impl PromptRepo for Saved {
    type Cursor = ();
    type Output = String;

    fn prefix(&self) -> String {
        "saved_".to_owned()
    }

    async fn list(&self, _: Option<()>, _: &Call) -> Result<Page<Prompt, ()>, ToolError> {
        Ok(["saved_1", "saved_2"].map(Prompt::new).to_vec().into())
    }

    async fn get(&self, name: &str, _: PromptArguments, _: &Call) -> Result<String, ToolError> {
        Ok(name.to_owned())
    }
}

fn suite() -> Suite {
    Suite::new("s", "1")
        .cache(CacheHints::public(Duration::from_secs(60)))
        .tool("open", text)
        .tool("alices", tool(text).visible_to(is_alice))
        .resource("open://1", text)
        .resource("alices://1", resource(text).visible_to(is_alice))
        .prompt("open", text)
        .prompt("alices", prompt(text).visible_to(is_alice))
}

fn completion(reference: Value) -> Value {
    json!({"ref": reference, "argument": {"name": "id", "value": ""}})
}

/// Uses of a tool, a resource and a prompt of this name.
fn uses(name: &str, uri: &str) -> [(&'static str, Value); 4] {
    [
        ("tools/call", json!({"name": name, "arguments": {}})),
        ("resources/read", json!({ "uri": uri })),
        ("prompts/get", json!({ "name": name })),
        ("completion/complete", completion(json!({"type": "ref/prompt", "name": name}))),
    ]
}

#[tokio::test(start_paused = true)]
async fn what_is_hidden_is_not_listed_and_answers_as_what_does_not_exist() {
    let completing = suite().prompt_repo(Saved);
    let server = serve(completing).await;
    let (alice, bob) = (client(&server, "alice").await, client(&server, "bob").await);
    assert_eq!(list(&alice, "tools/list").await, ["open", "alices"]);
    assert_eq!(list(&bob, "tools/list").await, ["open"]);
    assert_eq!(list(&bob, "resources/list").await, ["open://1"]);
    assert_eq!(list(&bob, "prompts/list").await, ["open", "saved_1", "saved_2"]);
    for (hidden, absent) in uses("alices", "alices://1").into_iter().zip(uses("absent", "absent://1")) {
        let refused = bob.request(hidden.0, hidden.1.clone()).await;
        let unknown = bob.request(absent.0, absent.1).await;
        assert_eq!(refused.status(), unknown.status(), "{}", hidden.0);
        assert_eq!(nameless(&refused, "alices"), nameless(&unknown, "absent"), "{}", hidden.0);
    }
    for (method, params) in uses("alices", "alices://1").into_iter().take(3) {
        assert!(alice.request(method, params).await.result().to_string().contains("text"), "{method}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_state_that_does_not_fit_is_refused_before_anything_is_looked_up() {
    let suite = suite().resource_repo(Notes).prompt_repo(Saved).visible(|caller, item| {
        is_alice(caller) || !matches!(item, Item::Resource("note://1") | Item::Prompt("saved_1"))
    });
    let server = serve(suite).await;
    let bob = client(&server, "bob").await;
    for (method, key, hidden, seen) in
        [("resources/read", "uri", "note://1", "note://2"), ("prompts/get", "name", "saved_1", "saved_2")]
    {
        let refused = bob.request(method, json!({ key: hidden, "requestState": "x" })).await;
        let other = bob.request(method, json!({ key: seen, "requestState": "x" })).await;
        assert_eq!(refused.error(), other.error(), "{method}");
    }
}

#[tokio::test(start_paused = true)]
async fn one_predicate_covers_the_whole_suite_and_its_repositories() {
    let suite = suite().resource_repo(Notes).prompt_repo(Saved).visible(|caller, item| match item {
        Item::Tool(name) | Item::Prompt(name) => is_alice(caller) || name == "saved_1",
        Item::Resource(uri) => is_alice(caller) || uri == "note://2",
        _ => true,
    });
    let server = serve(suite).await;
    let bob = client(&server, "bob").await;
    for (method, seen) in [
        ("tools/list", vec![]),
        ("prompts/list", vec!["saved_1"]),
        ("resources/list", vec!["note://2"]),
        ("resources/templates/list", vec!["note://{id}"]),
    ] {
        assert_eq!(list(&bob, method).await, seen, "{method}");
    }
    let read = |uri: &str| bob.request("resources/read", json!({ "uri": uri }));
    assert_eq!(read("note://2").await.result()["contents"][0]["text"], "2");
    assert_eq!(nameless(&read("note://1").await, "note://1"), nameless(&read("no://1").await, "no://1"));
    let get = |name: &str| bob.request("prompts/get", json!({ "name": name }));
    assert!(get("saved_1").await.result().to_string().contains("saved_1"));
    assert_eq!(nameless(&get("saved_2").await, "saved_2"), nameless(&get("none").await, "none"));
    let alice = client(&server, "alice").await;
    assert_eq!(list(&alice, "resources/list").await.len(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_hidden_template_is_of_no_use() {
    let suite = Suite::new("s", "1").resource_repo(Notes).resource("open://1", text);
    let suite =
        suite.visible(|caller, item| item != Item::ResourceTemplate("note://{id}") || is_alice(caller));
    let server = serve(suite).await;
    let (alice, bob) = (client(&server, "alice").await, client(&server, "bob").await);
    let template = |uri: &str| completion(json!({"type": "ref/resource", "uri": uri}));
    assert_eq!(list(&bob, "resources/templates/list").await, Vec::<String>::new());
    assert_eq!(list(&bob, "resources/list").await, ["open://1"]);
    assert_eq!(bob.request("resources/read", json!({"uri": "note://1"})).await.code(), -32602);
    let hidden = bob.request("completion/complete", template("note://{id}")).await;
    let unknown = bob.request("completion/complete", template("none://{id}")).await;
    assert_eq!(hidden.error(), unknown.error());
    assert_eq!(list(&alice, "resources/list").await.len(), 4);
    let completed = alice.request("completion/complete", template("note://{id}")).await;
    assert_eq!(completed.result()["completion"]["values"], json!(["1"]));
}

#[tokio::test(start_paused = true)]
async fn cache_10_a_list_that_a_predicate_can_change_is_private_and_others_are_not() {
    let public = || Suite::new("s", "1").cache(CacheHints::public(Duration::from_secs(60)));
    let scopes = async |suite: Suite| {
        let client = serve(suite).await.connect().await;
        let mut scopes = Vec::new();
        for (method, ..) in LISTS {
            let result = client.request(method, json!({})).await.result().clone();
            assert!(result["ttlMs"] == 60_000 || method == "resources/list", "{result}");
            scopes.push(result["cacheScope"].as_str().unwrap().to_owned());
        }
        scopes
    };
    let with = |suite: Suite| suite.tool("t", text).resource_repo(Notes).prompt("p", text);
    assert_eq!(scopes(with(public())).await, ["public", "private", "public", "public"]);
    assert_eq!(scopes(with(public().visible(|_, _| true))).await, ["private"; 4]);
    let one = with(public()).tool("alices", tool(text).visible_to(is_alice));
    assert_eq!(scopes(one).await, ["private", "private", "public", "public"]);
    let read = client(&serve(suite()).await, "alice").await;
    let read = read.request("resources/read", json!({"uri": "alices://1"})).await;
    assert_eq!(read.result()["cacheScope"], "private");
}

#[tokio::test(start_paused = true)]
async fn page_04_pages_are_full_of_what_is_seen_and_hiding_the_last_item_costs_no_page() {
    let hides = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&hides);
    let suite = (0..9).fold(Suite::new("s", "1").page_size(2), |suite, n| suite.tool(&format!("t{n}"), text));
    let suite = suite.visible(move |_, item| match item {
        Item::Tool("t0" | "t3" | "t8") => false,
        Item::Tool("t2") => !seen.load(Ordering::SeqCst),
        _ => true,
    });
    let server = serve(suite).await;
    let bob = client(&server, "bob").await;
    let (first, next) = page(&bob, "tools/list", None).await;
    assert_eq!(first, ["t1", "t2"]);
    hides.store(true, Ordering::SeqCst);
    let (second, next) = page(&bob, "tools/list", next.as_deref()).await;
    assert_eq!(second, ["t4", "t5"]);
    let (third, next) = page(&bob, "tools/list", next.as_deref()).await;
    assert_eq!((third, next), (vec!["t6".to_owned(), "t7".to_owned()], None), "no empty page behind it");
}

#[tokio::test]
async fn a_predicate_that_panics_hides_and_is_traced() {
    let (logs, _guard) = Logs::record(tracing::Level::WARN);
    let suite = Suite::new("s", "1")
        .tool("open", text)
        .tool("broken", tool(text).visible_to(|_| panic!("no idea who that is")));
    let bob = client(&serve(suite).await, "bob").await;
    assert_eq!(list(&bob, "tools/list").await, ["open"]);
    assert_eq!(bob.call_tool("broken", json!({})).await.code(), -32602);
    assert_eq!(bob.call_tool("open", json!({})).await.text(), "text", "nothing else is harmed");
    let told = logs.text();
    assert!(told.contains("no idea who that is") && told.contains("broken"), "{told}");
}

async fn open(server: &TestServer, token: &str, uris: &[&str]) -> (TestCall, Value) {
    let filter = json!({"notifications": {"resourceSubscriptions": uris}});
    let mut stream = client(server, token).await.request("subscriptions/listen", filter).start().await;
    let acknowledged = stream.next_event().await.expect("an acknowledgement");
    (stream, acknowledged["params"]["notifications"]["resourceSubscriptions"].clone())
}

#[tokio::test(start_paused = true)]
async fn sub_06_a_stream_is_granted_what_its_caller_sees_and_may_read() {
    let guarded = resource(text).scope("notes:read");
    let suite = suite().resource_repo(Notes).resource("guarded://1", guarded).resource_updates();
    let server = serve(suite).await;
    let asked = ["open://1", "alices://1", "guarded://1", "note://7", "absent://1"];
    assert_eq!(open(&server, "bob", &asked).await.1, json!(["open://1", "note://7"]));
    let all = json!(["open://1", "alices://1", "guarded://1", "note://7"]);
    assert_eq!(open(&server, "alice/notes:read", &asked).await.1, all);
}

#[tokio::test(start_paused = true)]
async fn sub_06_what_is_hidden_later_is_told_no_more() {
    let hides = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&hides);
    let visible = move |_: &Principal, item: Item<'_>| {
        item != Item::Resource("note://1") || !seen.load(Ordering::SeqCst)
    };
    let server = serve(Suite::new("s", "1").resource_repo(Notes).resource_updates().visible(visible)).await;
    let (mut stream, granted) = open(&server, "bob", &["note://1", "note://2"]).await;
    assert_eq!(granted, json!(["note://1", "note://2"]));
    server.mcp().notify_resource_updated("note://1");
    assert_eq!(stream.next_event().await.unwrap()["params"]["uri"], "note://1");
    hides.store(true, Ordering::SeqCst);
    server.mcp().notify_resources_updated(["note://1", "note://2"]);
    assert_eq!(stream.next_event().await.unwrap()["params"]["uri"], "note://2");
    hides.store(false, Ordering::SeqCst);
    server.mcp().notify_resource_updated("note://1");
    assert_eq!(stream.next_event().await.unwrap()["params"]["uri"], "note://1");
}
