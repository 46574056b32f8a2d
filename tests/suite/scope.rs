//! Scopes: who lacks one is told which, and nothing of the item runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ractor_mcp::Error;
use ractor_mcp::prelude::*;
use ractor_mcp::suite::PromptArguments;
use ractor_mcp::testing::TestResponse;
use ractor_mcp::wire::{CacheHints, CacheScope, Prompt, Resource, ResourceTemplate};
use serde_json::json;

use crate::callers::{client, list, serve};

/// Counts how often code of the author ran.
#[derive(Clone, Default)]
struct Ran(Arc<AtomicUsize>);

impl Ran {
    fn note(&self) -> String {
        self.0.fetch_add(1, Ordering::SeqCst);
        "ran".to_owned()
    }

    fn times(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl ResourceRepo for Ran {
    type Key = String;
    type Cursor = ();
    type Output = String;

    fn template(&self) -> ResourceTemplate {
        ResourceTemplate::new("note://{id}", "note")
    }

    async fn list(&self, _: Option<()>, _: &Call) -> Result<Page<Resource, ()>, ToolError> {
        self.note();
        Ok(vec![Resource::new("note://1", "1")].into())
    }

    async fn read(&self, _: String, _: &Call) -> Result<String, ToolError> {
        Ok(self.note())
    }

    async fn complete(&self, _: Completing, _: &Call) -> Result<Vec<String>, ToolError> {
        Ok(vec![self.note()])
    }

    fn scope(&self) -> Option<String> {
        Some("notes:read".to_owned())
    }
}

struct Saved(Ran);

impl PromptRepo for Saved {
    type Cursor = ();
    type Output = String;

    fn prefix(&self) -> String {
        "saved_".to_owned()
    }

    async fn list(&self, _: Option<()>, _: &Call) -> Result<Page<Prompt, ()>, ToolError> {
        self.0.note();
        Ok(vec![Prompt::new("saved_1")].into())
    }

    async fn get(&self, _: &str, _: PromptArguments, _: &Call) -> Result<String, ToolError> {
        Ok(self.0.note())
    }

    async fn complete(&self, _: &str, _: Completing, _: &Call) -> Result<Vec<String>, ToolError> {
        Ok(vec![self.0.note()])
    }

    fn scope(&self) -> Option<String> {
        Some("notes:read".to_owned())
    }
}

/// The same for everyone who has its scope.
struct Vault;

const VAULT: CacheHints = CacheHints { ttl_ms: 60_000, scope: CacheScope::Public };

impl ResourceRepo for Vault {
    type Key = String;
    type Cursor = ();
    type Output = String;

    fn template(&self) -> ResourceTemplate {
        ResourceTemplate::new("vault://{id}", "vault")
    }

    async fn list(&self, _: Option<()>, _: &Call) -> Result<Page<Resource, ()>, ToolError> {
        Ok(vec![Resource::new("vault://secret", "secret")].into())
    }

    async fn read(&self, id: String, _: &Call) -> Result<String, ToolError> {
        Ok(id)
    }

    fn cache(&self) -> CacheHints {
        VAULT
    }

    fn depends_on_caller(&self) -> bool {
        false
    }

    fn scope(&self) -> Option<String> {
        Some("notes:read".to_owned())
    }
}

impl PromptRepo for Vault {
    type Cursor = ();
    type Output = String;

    fn prefix(&self) -> String {
        "vault_".to_owned()
    }

    async fn list(&self, _: Option<()>, _: &Call) -> Result<Page<Prompt, ()>, ToolError> {
        Ok(vec![Prompt::new("vault_secret")].into())
    }

    async fn get(&self, name: &str, _: PromptArguments, _: &Call) -> Result<String, ToolError> {
        Ok(name.to_owned())
    }

    fn cache(&self) -> CacheHints {
        VAULT
    }

    fn depends_on_caller(&self) -> bool {
        false
    }

    fn scope(&self) -> Option<String> {
        Some("notes:read".to_owned())
    }
}

fn suite(ran: &Ran) -> Suite {
    let note = |ran: &Ran| {
        let ran = ran.clone();
        move || {
            let text = ran.note();
            async move { text }
        }
    };
    Suite::new("scoped", "1")
        .cache(CacheHints::public(Duration::from_secs(60)))
        .tool("read", tool(note(ran)).scope("notes:read"))
        .tool("write", tool(note(ran)).scope("notes:read").scope("notes:write"))
        .resource(
            "fixed://1",
            resource(note(ran)).scope("notes:read").cache(CacheHints::public(Duration::from_secs(9))),
        )
        .resource_repo(ran.clone())
        .prompt("ask", prompt(note(ran)).scope("notes:read"))
        .prompt_repo(Saved(ran.clone()))
}

/// Every way to use what asks for `notes:read`.
fn uses() -> Vec<(&'static str, serde_json::Value)> {
    let completion = |reference| json!({"ref": reference, "argument": {"name": "id", "value": ""}});
    vec![
        ("tools/call", json!({"name": "read", "arguments": {}})),
        ("resources/read", json!({"uri": "fixed://1"})),
        ("resources/read", json!({"uri": "note://1"})),
        ("prompts/get", json!({"name": "ask"})),
        ("prompts/get", json!({"name": "saved_1"})),
        ("completion/complete", completion(json!({"type": "ref/resource", "uri": "note://{id}"}))),
        ("completion/complete", completion(json!({"type": "ref/prompt", "name": "saved_1"}))),
    ]
}

fn challenge(answer: &TestResponse) -> &str {
    answer.header("www-authenticate").unwrap_or_else(|| panic!("no challenge: {answer}"))
}

#[tokio::test(start_paused = true)]
async fn auth_17_without_its_scope_nothing_of_an_item_runs() {
    let ran = Ran::default();
    let server = serve(suite(&ran)).await;
    for token in ["alice", "alice/notes:write"] {
        let client = client(&server, token).await;
        for (method, params) in uses() {
            let refused = client.request(method, params.clone()).await;
            assert_eq!((refused.status(), refused.code()), (403, -32600), "{method} {params}");
            assert_eq!(refused.error()["data"], json!({"requiredScopes": ["notes:read"]}));
            assert!(
                challenge(&refused).contains("error=\"insufficient_scope\", scope=\"notes:read\""),
                "{refused}"
            );
        }
    }
    assert_eq!(ran.times(), 0);
}

#[tokio::test(start_paused = true)]
async fn auth_17_with_its_scope_each_is_served() {
    let ran = Ran::default();
    let server = serve(suite(&ran)).await;
    let alice = client(&server, "alice/notes:read").await;
    for (method, params) in uses() {
        let answer = alice.request(method, params.clone()).await;
        assert!(answer.result().to_string().contains("ran"), "{method} {params}: {answer}");
    }
    assert_eq!(ran.times(), uses().len());
}

#[tokio::test(start_paused = true)]
async fn auth_17_of_several_scopes_all_are_needed_and_all_are_named() {
    let server = serve(suite(&Ran::default())).await;
    let refused = client(&server, "alice/notes:read").await.call_tool("write", json!({})).await;
    assert!(challenge(&refused).contains("scope=\"notes:read notes:write\""), "{refused}");
    let writer = client(&server, "alice/notes:read/notes:write").await;
    assert_eq!(writer.call_tool("write", json!({})).await.text(), "ran");
}

#[tokio::test(start_paused = true)]
async fn auth_15_nobody_has_no_scopes_and_is_asked_for_a_token() {
    let ran = Ran::default();
    let server = serve(suite(&ran)).await;
    let nobody = server.connect().await;
    for (method, params) in uses() {
        let refused = nobody.request(method, params.clone()).await;
        assert_eq!((refused.status(), refused.code()), (401, -32600), "{method} {params}");
        assert!(challenge(&refused).contains("scope=\"notes:read\""), "{refused}");
        assert!(!challenge(&refused).contains("error"), "there was no token to be wrong: {refused}");
    }
    assert_eq!(ran.times(), 0);
}

#[tokio::test(start_paused = true)]
async fn what_needs_a_scope_is_listed_and_what_is_in_a_repository_is_not() {
    let ran = Ran::default();
    let server = serve(suite(&ran)).await;
    let alice = client(&server, "alice").await;
    assert_eq!(list(&alice, "tools/list").await, ["read", "write"]);
    assert_eq!(list(&alice, "resources/list").await, ["fixed://1"]);
    assert_eq!(list(&alice, "resources/templates/list").await, ["note://{id}"]);
    assert_eq!(list(&alice, "prompts/list").await, ["ask"]);
    assert_eq!(ran.times(), 0, "the repositories were not asked");
    let reader = client(&server, "alice/notes:read").await;
    assert_eq!(list(&reader, "resources/list").await, ["fixed://1", "note://1"]);
    assert_eq!(list(&reader, "prompts/list").await, ["ask", "saved_1"]);
}

#[tokio::test(start_paused = true)]
async fn cache_10_what_a_scope_guards_is_private() {
    let server = serve(suite(&Ran::default())).await;
    let reader = client(&server, "alice/notes:read").await;
    let read = reader.request("resources/read", json!({"uri": "fixed://1"})).await;
    assert_eq!(read.result()["cacheScope"], "private");
    assert_eq!(read.result()["ttlMs"], 9_000);
    for (method, scope) in
        [("tools/list", "public"), ("resources/list", "private"), ("prompts/list", "private")]
    {
        let listed = reader.request(method, json!({})).await;
        assert_eq!(listed.result()["cacheScope"], scope, "{method}");
    }
}

#[tokio::test(start_paused = true)]
async fn cache_10_the_list_of_a_repository_that_a_scope_guards_is_private_even_if_it_is_all_there_is() {
    let server = serve(Suite::new("vault", "1").resource_repo(Vault).prompt_repo(Vault)).await;
    for (token, items) in [("alice", 0), ("alice/notes:read", 1)] {
        let client = client(&server, token).await;
        for (method, kind) in [("resources/list", "resources"), ("prompts/list", "prompts")] {
            let listed = client.request(method, json!({})).await;
            let result = listed.result();
            assert_eq!(result[kind].as_array().unwrap().len(), items, "{method} for {token}");
            assert_eq!(result["cacheScope"], "private", "{method} for {token}");
            assert_eq!(result["ttlMs"], 60_000, "{method} for {token}");
        }
    }
}

/// Without the hook every caller is anonymous, whichever way it comes.
#[tokio::test]
async fn scopes_that_nobody_could_have_are_refused_at_start_with_all_else_that_is_wrong() {
    let told = McpSupervisor::start_with(suite(&Ran::default()), Options::new().max_body(0)).await;
    let Err(Error::Misconfigured(faults)) = told else { panic!("{told:?}") };
    assert_eq!(faults.faults().len(), 2, "{faults}");
    assert_eq!(
        faults.faults()[1],
        "connect: there is no hook, so that nobody has a scope, and these are asked for: `notes:read`, `notes:write`; a \
         hook that returns principals with their scopes would do"
    );
    for guarded in [
        Suite::new("s", "1").tool("read", tool(|| async {}).scope("a")),
        Suite::new("s", "1").resource("a://1", resource(|| async { "" }).scope("a")),
        Suite::new("s", "1").resource_repo(Vault),
        Suite::new("s", "1").prompt("ask", prompt(|| async { "" }).scope("a")),
        Suite::new("s", "1").prompt_repo(Vault),
    ] {
        assert!(matches!(McpSupervisor::start(Arc::new(guarded)).await, Err(Error::Misconfigured(_))));
    }
}

#[tokio::test]
async fn a_scope_that_no_challenge_could_name_is_refused_at_start() {
    let suite = Suite::new("s", "1")
        .tool("a", tool(|| async {}).scope("two words"))
        .resource("b://b", resource(|| async { "" }).scope(""))
        .prompt("c", prompt(|| async { "" }).scope("quo\"te"));
    let told = McpSupervisor::start(suite).await.unwrap_err().to_string();
    for fault in
        ["tool `a`: its scope `two words`", "resource `b://b`: its scope ``", "prompt `c`: its scope"]
    {
        assert!(told.contains(fault), "{fault} in {told}");
    }
}
