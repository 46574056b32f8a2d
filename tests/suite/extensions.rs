//! Extensions: what is offered to some callers, first match first, the same in lists and uses.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ractor_mcp::Misconfigured;
use ractor_mcp::prelude::*;
use ractor_mcp::suite::{Extension, Offer, OfferBuilder, PromptArguments};
use ractor_mcp::testing::TestClient;
use ractor_mcp::wire::{CacheHints, Prompt, Resource, ResourceTemplate, ServerCapabilities};
use serde_json::{Value, json};

use crate::callers::{LISTS, client, list, nameless, page, serve};
use crate::support::logs::Logs;

/// What it offers can be changed while it is asked; so can what it fails with.
#[derive(Clone)]
struct Shelf {
    capabilities: ServerCapabilities,
    offers: Arc<Mutex<Vec<Offer>>>,
    asked: Arc<AtomicUsize>,
}

impl Shelf {
    fn new(offers: Vec<OfferBuilder>) -> Self {
        let capabilities =
            ServerCapabilities::new().tools(false).resources(false, false).prompts(false).completions();
        let shelf = Self { capabilities, offers: Arc::default(), asked: Arc::default() };
        shelf.put(offers);
        shelf
    }

    fn put(&self, offers: Vec<OfferBuilder>) {
        *self.offers.lock().unwrap() = offers.into_iter().map(|offer| offer.build().unwrap()).collect();
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl Extension for Shelf {
    fn capabilities(&self) -> ServerCapabilities {
        self.capabilities.clone()
    }

    async fn offers(&self, call: &Call) -> Result<Vec<Offer>, ToolError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        match call.principal().id() {
            Some("alice") => Ok(self.offers.lock().unwrap().clone()),
            Some("error") => Err(ToolError::new("the database at 10.0.0.7 is down")),
            Some("gone") => Err(RpcError::new(42, "moved away").into()),
            Some("panic") => panic!("in an extension"),
            _ => Ok(Vec::new()),
        }
    }
}

fn tools(names: &[&str], text: &'static str) -> OfferBuilder {
    names.iter().fold(Offer::builder(), |offer, name| offer.tool(name, move || async move { text }))
}

fn suite(shelf: &Shelf) -> Suite {
    Suite::new("s", "1").tool("own", || async { "the suite's" }).extension(shelf.clone())
}

#[tokio::test(start_paused = true)]
async fn what_an_extension_offers_is_there_for_those_it_offers_it_to() {
    let server = serve(suite(&Shelf::new(vec![tools(&["more"], "more")]))).await;
    let (alice, bob) = (client(&server, "alice").await, client(&server, "bob").await);
    assert_eq!(list(&alice, "tools/list").await, ["own", "more"]);
    assert_eq!(alice.call_tool("more", json!({})).await.text(), "more");
    assert_eq!(list(&bob, "tools/list").await, ["own"]);
    let refused = bob.call_tool("more", json!({})).await;
    assert_eq!(nameless(&refused, "more"), nameless(&bob.call_tool("none", json!({})).await, "none"));
}

#[tokio::test(start_paused = true)]
async fn the_first_match_wins_and_is_listed_once_and_nothing_behind_it_is_asked() {
    let first = Shelf::new(vec![tools(&["own", "a"], "first"), tools(&["a", "b"], "second offer")]);
    let second = Shelf::new(vec![tools(&["b", "c"], "second")]);
    let server = serve(suite(&first).extension(second.clone())).await;
    let alice = client(&server, "alice").await;
    for (name, text, asked) in [
        ("own", "the suite's", (0, 0)),
        ("a", "first", (1, 0)),
        ("b", "second offer", (2, 0)),
        ("c", "second", (3, 1)),
    ] {
        assert_eq!(alice.call_tool(name, json!({})).await.text(), text);
        assert_eq!((first.asked(), second.asked()), asked, "{name}");
    }
    assert_eq!(list(&alice, "tools/list").await, ["own", "a", "b", "c"]);
    assert_eq!((first.asked(), second.asked()), (4, 2), "each once for a list");
}

#[tokio::test(start_paused = true)]
async fn an_extension_is_asked_for_what_its_capabilities_name() {
    let (logs, _guard) = Logs::record(tracing::Level::WARN);
    let mut shelf = Shelf::new(vec![tools(&["more"], "more").prompt("more", || async { "more" })]);
    shelf.capabilities = ServerCapabilities::new().tools(false);
    let server = serve(Suite::new("s", "1").prompt("own", || async { "" }).extension(shelf.clone())).await;
    let alice = client(&server, "alice").await;
    let discovered = alice.request("server/discover", json!({})).await;
    assert_eq!(discovered.result()["capabilities"], json!({"tools": {}, "prompts": {}, "logging": {}}));
    assert_eq!(list(&alice, "prompts/list").await, ["own"]);
    assert_eq!(shelf.asked(), 0);
    assert_eq!(list(&alice, "tools/list").await, ["more"]);
    let told = logs.text();
    assert!(told.contains("an extension offers a kind that its capabilities do not name"), "{told}");
}

#[tokio::test(start_paused = true)]
async fn a_failure_answers_the_request_that_needed_the_extension() {
    let server = serve(suite(&Shelf::new(vec![]))).await;
    for (who, code) in [("error", -32603), ("gone", 42), ("panic", -32603)] {
        let client = client(&server, who).await;
        for (method, params) in
            [("tools/list", json!({})), ("tools/call", json!({"name": "more", "arguments": {}}))]
        {
            let refused = client.request(method, params).await;
            assert_eq!(refused.code(), code, "{who} {method}");
            assert!(!refused.error().to_string().contains("10.0.0.7"), "{refused}");
        }
        assert_eq!(client.call_tool("own", json!({})).await.text(), "the suite's", "{who}");
    }
}

#[tokio::test(start_paused = true)]
async fn page_04_offers_that_change_between_two_pages_lose_nothing_that_stays() {
    let shelf = Shelf::new(vec![tools(&["a", "c", "e"], ""), tools(&["b", "d", "f"], "")]);
    let server = serve(suite(&shelf).page_size(3)).await;
    let alice = client(&server, "alice").await;
    let (first, next) = page(&alice, "tools/list", None).await;
    assert_eq!(first, ["own", "a", "b"]);
    // The last item that was given is gone, the offers have changed places, and others have come.
    shelf.put(vec![tools(&["f", "d"], ""), tools(&["aa", "e", "c", "a"], "")]);
    let (second, next) = page(&alice, "tools/list", next.as_deref()).await;
    assert_eq!(second, ["c", "d", "e"]);
    shelf.put(vec![]);
    let (third, next) = page(&alice, "tools/list", next.as_deref()).await;
    assert_eq!((third, next), (vec![], None));
}

#[tokio::test(start_paused = true)]
async fn page_04_a_cursor_is_for_its_caller() {
    let server = serve(suite(&Shelf::new(vec![tools(&["a", "b"], "")])).page_size(1)).await;
    let (_, next) = page(&client(&server, "alice").await, "tools/list", None).await;
    let stolen = client(&server, "bob").await.request("tools/list", json!({ "cursor": next })).await;
    assert_eq!(stolen.code(), -32602);
}

/// Resources under a prefix, which complete and are listed in pages of one.
struct Family(&'static str);

impl ResourceRepo for Family {
    type Key = String;
    type Cursor = usize;
    type Output = String;

    fn template(&self) -> ResourceTemplate {
        ResourceTemplate::new(format!("{}{{id}}", self.0), "family")
    }

    async fn list(&self, at: Option<usize>, _: &Call) -> Result<Page<Resource, usize>, ToolError> {
        let at = at.unwrap_or(0);
        let next = (at < 1).then_some(at + 1);
        Ok(Page::new(vec![Resource::new(format!("{}{at}", self.0), "one")], next))
    }

    async fn read(&self, id: String, _: &Call) -> Result<String, ToolError> {
        Ok(format!("{} of {}", id, self.0))
    }

    async fn complete(&self, _: Completing, _: &Call) -> Result<Vec<String>, ToolError> {
        Ok(vec![self.0.to_owned()])
    }

    fn cache(&self) -> CacheHints {
        CacheHints::public(Duration::from_secs(9))
    }

    fn depends_on_caller(&self) -> bool {
        false
    }
}

struct Prompts(&'static str);

impl PromptRepo for Prompts {
    type Cursor = ();
    type Output = String;

    fn prefix(&self) -> String {
        self.0.to_owned()
    }

    async fn list(&self, _: Option<()>, _: &Call) -> Result<Page<Prompt, ()>, ToolError> {
        Ok(vec![Prompt::new(format!("{}1", self.0))].into())
    }

    async fn get(&self, name: &str, _: PromptArguments, _: &Call) -> Result<String, ToolError> {
        Ok(format!("{name} filled in"))
    }
}

fn library() -> Suite {
    let offer = Offer::builder()
        .resource("more://1", || async { "more" })
        .resource("own://0", || async { "shadowed" })
        .resource_repo(Family("z://"))
        .resource_repo(Family("b://"))
        .resource_repo(Family("own://deep/"))
        .prompt("more", || async { "more" })
        .prompt_repo(Prompts("their_"));
    Suite::new("s", "1")
        .cache(CacheHints::public(Duration::from_secs(60)))
        .page_size(2)
        .resource_repo(Family("own://"))
        .prompt_repo(Prompts("own_"))
        .extension(Shelf::new(vec![offer]))
}

#[tokio::test(start_paused = true)]
async fn resources_and_prompts_are_listed_where_a_use_of_them_leads() {
    let server = serve(library().resource("fixed://1", || async { "" })).await;
    let alice = client(&server, "alice").await;
    assert_eq!(
        list(&alice, "resources/list").await,
        ["fixed://1", "more://1", "own://0", "own://1", "b://0", "b://1", "z://0", "z://1"],
        "what is under the suite's own prefix is the suite's"
    );
    assert_eq!(list(&alice, "resources/templates/list").await, ["own://{id}", "b://{id}", "z://{id}"]);
    assert_eq!(list(&alice, "prompts/list").await, ["more", "own_1", "their_1"]);
    let read = |uri: &str| alice.request("resources/read", json!({ "uri": uri }));
    for (uri, text) in [("more://1", "more"), ("own://0", "0 of own://"), ("z://7", "7 of z://")] {
        let answer = read(uri).await;
        assert_eq!(answer.result()["contents"][0]["text"], text);
        let scope = if uri == "own://0" { "public" } else { "private" };
        assert_eq!(answer.result()["cacheScope"], scope, "{uri}");
    }
    let filled = alice.request("prompts/get", json!({"name": "their_1"})).await;
    assert!(filled.result().to_string().contains("their_1 filled in"), "{filled}");
    let complete = |client: &TestClient, uri: &str| {
        let reference = json!({"type": "ref/resource", "uri": uri});
        client.request(
            "completion/complete",
            json!({"ref": reference, "argument": {"name": "id", "value": ""}}),
        )
    };
    let completed = complete(&alice, "b://{id}").await;
    assert_eq!(completed.result()["completion"]["values"], json!(["b://"]));
    assert_eq!(complete(&client(&server, "bob").await, "b://{id}").await.code(), -32602);
    assert_eq!(complete(&alice, "own://deep/{id}").await.code(), -32602, "no URI leads there");
}

#[tokio::test(start_paused = true)]
async fn cache_10_lists_that_an_extension_may_add_to_are_private_to_all() {
    let server = serve(library().tool("own", || async {})).await;
    for who in ["alice", "bob"] {
        for (method, ..) in LISTS {
            let answer = client(&server, who).await.request(method, json!({})).await;
            assert_eq!(answer.result()["cacheScope"], "private", "{method} of {who}");
        }
    }
}

async fn granted(suite: Suite, who: &str, uris: Value) -> Value {
    let server = serve(suite).await;
    let filter = json!({"notifications": {"resourceSubscriptions": uris}});
    let mut stream = client(&server, who).await.request("subscriptions/listen", filter).start().await;
    let first = stream.next_event().await.expect("an event");
    first
        .pointer("/params/notifications/resourceSubscriptions")
        .cloned()
        .unwrap_or(first["error"]["code"].clone())
}

#[tokio::test(start_paused = true)]
async fn sub_06_a_stream_may_be_told_of_what_an_extension_offers_its_caller() {
    let uris = json!(["own://1", "more://1", "z://1", "none://1"]);
    let suite = || library().resource_updates();
    assert_eq!(granted(suite(), "alice", uris.clone()).await, json!(["own://1", "more://1", "z://1"]));
    assert_eq!(granted(suite(), "bob", uris.clone()).await, json!(["own://1"]));
    assert_eq!(granted(suite(), "error", uris).await, json!(-32603));
}

#[test]
fn everything_that_is_wrong_with_an_offer_is_told_when_it_is_built() {
    let offer = tools(&["twice", "twice", ""], "").resource("no uri", || async { "" });
    let told: Misconfigured = offer.build().unwrap_err();
    assert_eq!(told.faults().len(), 3, "{told}");
    for fault in ["tool `twice`: registered twice", "tool ``: the name is empty", "resource `no uri`"] {
        assert!(told.to_string().contains(fault), "{fault} in {told}");
    }
}
