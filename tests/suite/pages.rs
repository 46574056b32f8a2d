//! Lists in pages: nothing is lost or told twice, cursors are good for their list and caller only, one scope for all.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use ractor_mcp::prelude::*;
use ractor_mcp::suite::{KeyRing, PromptArguments};
use ractor_mcp::wire::{
    CacheHints, Prompt, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
};
use ractor_mcp::{ConnectRequest, Denied, ManualClock, Principal};
use serde_json::{Value, json};

use crate::support::{Post, Response, Server, request};

async fn nothing() -> &'static str {
    ""
}

/// A repository with pages of these sizes; the cursor is the number of the page.
struct Paged {
    prefix: &'static str,
    sizes: &'static [usize],
    cache: CacheHints,
    asked: Arc<AtomicUsize>,
}

impl Paged {
    fn new(prefix: &'static str, sizes: &'static [usize]) -> Self {
        let asked = Arc::default();
        Self { prefix, sizes, cache: CacheHints::NONE, asked }
    }

    fn cache(mut self, hints: CacheHints) -> Self {
        self.cache = hints;
        self
    }

    fn names(&self, page: Option<usize>) -> (Vec<String>, Option<usize>) {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let page = page.unwrap_or(0);
        let size = self.sizes.get(page).copied().unwrap_or(0);
        let names = (0..size).map(|n| format!("{}{page}.{n}", self.prefix)).collect();
        (names, (page + 1 < self.sizes.len()).then_some(page + 1))
    }
}

impl ResourceRepo for Paged {
    type Key = String;
    type Cursor = usize;
    type Output = ReadResourceResult;

    fn template(&self) -> ResourceTemplate {
        ResourceTemplate::new(format!("{}{{id}}", self.prefix), "paged")
    }

    async fn list(&self, page: Option<usize>, _: &Call) -> Result<Page<Resource, usize>, ToolError> {
        let (names, next) = self.names(page);
        let resources = names.into_iter().map(|uri| Resource::new(uri, "one"));
        Ok(Page::new(resources.collect(), next))
    }

    async fn read(&self, id: String, call: &Call) -> Result<ReadResourceResult, ToolError> {
        let contents = vec![ResourceContents::text(call.name(), id)];
        Ok(ReadResourceResult::new(contents).cache(CacheHints::public(Duration::from_secs(9))))
    }

    fn cache(&self) -> CacheHints {
        self.cache
    }

    fn depends_on_caller(&self) -> bool {
        false
    }
}

struct PagedPrompts(Paged);

impl PromptRepo for PagedPrompts {
    type Cursor = usize;
    type Output = String;

    fn prefix(&self) -> String {
        self.0.prefix.to_owned()
    }

    async fn list(&self, page: Option<usize>, _: &Call) -> Result<Page<Prompt, usize>, ToolError> {
        let (names, next) = self.0.names(page);
        Ok(Page::new(names.into_iter().map(Prompt::new).collect(), next))
    }

    async fn get(&self, name: &str, _: PromptArguments, _: &Call) -> Result<String, ToolError> {
        Ok(name.to_owned())
    }
}

fn list(method: &str, cursor: Option<&str>) -> Post {
    match cursor {
        Some(cursor) => request(method, json!({ "cursor": cursor })),
        None => request(method, json!({})),
    }
}

/// All pages of a list: the results, and the names on each page.
async fn walk(server: &Server, method: &str, items: &str, name: &str) -> (Vec<Value>, Vec<Vec<String>>) {
    let (mut results, mut pages, mut cursor): (Vec<Value>, Vec<Vec<String>>, Option<String>) =
        Default::default();
    loop {
        let result = server.send(list(method, cursor.as_deref())).await.result();
        let page = result[items].as_array().unwrap().iter();
        pages.push(page.map(|item| item[name].as_str().unwrap().to_owned()).collect());
        cursor = result["nextCursor"].as_str().map(str::to_owned);
        results.push(result);
        assert!(results.len() < 100, "the list ends");
        if cursor.is_none() {
            return (results, pages);
        }
    }
}

fn names(prefix: &str, pages: &[usize]) -> Vec<String> {
    let page =
        |(page, size): (usize, &usize)| (0..*size).map(|n| format!("{prefix}{page}.{n}")).collect::<Vec<_>>();
    pages.iter().enumerate().flat_map(page).collect()
}

#[tokio::test]
async fn page_01_tools_and_templates_come_in_pages() {
    let suite =
        (0..7).fold(Suite::new("s", "1").page_size(3), |suite, n| suite.tool(&format!("t{n}"), nothing));
    let prefixes: Vec<&'static str> = vec!["a://", "b://", "c://", "d://"];
    let suite = prefixes.iter().fold(suite, |suite, prefix| suite.resource_repo(Paged::new(prefix, &[])));
    let server = Server::start(suite).await;
    let (_, tools) = walk(&server, "tools/list", "tools", "name").await;
    assert_eq!(tools, [vec!["t0", "t1", "t2"], vec!["t3", "t4", "t5"], vec!["t6"]]);
    let (_, templates) = walk(&server, "resources/templates/list", "resourceTemplates", "uriTemplate").await;
    assert_eq!(templates, [vec!["a://{id}", "b://{id}", "c://{id}"], vec!["d://{id}"]]);
}

#[tokio::test]
async fn page_02_a_hundred_items_unless_the_suite_says_otherwise() {
    let suite = (0..101).fold(Suite::new("s", "1"), |suite, n| suite.tool(&format!("t{n}"), nothing));
    let (_, pages) = walk(&Server::start(suite).await, "tools/list", "tools", "name").await;
    assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), [100, 1]);
}

#[tokio::test]
async fn empty_pages_end_nothing_and_long_ones_are_cut() {
    let suite = (0..3).fold(Suite::new("s", "1").page_size(4), |suite, n| {
        suite.resource(&format!("fixed://{n}"), nothing).prompt(&format!("fixed {n}"), nothing)
    });
    let suite = suite
        .resource_repo(Paged::new("a://", &[0, 0, 2, 0]))
        .resource_repo(Paged::new("b://", &[]))
        .resource_repo(Paged::new("c://", &[9, 1, 0, 5]))
        .resource_repo(Paged::new("d://", &[0]))
        .prompt_repo(PagedPrompts(Paged::new("x", &[0, 3, 0, 6])));
    let server = Server::start(suite).await;
    let (_, pages) = walk(&server, "resources/list", "resources", "uri").await;
    let expected = [
        (0..3).map(|n| format!("fixed://{n}")).collect(),
        names("a://", &[0, 0, 2, 0]),
        names("c://", &[9, 1, 0, 5]),
    ];
    assert_eq!(pages.concat(), expected.concat(), "all, once, in order");
    assert!(pages.iter().all(|page| page.len() <= 4), "{pages:?}");
    assert!(pages.iter().rev().skip(1).all(|page| page.len() == 4), "{pages:?}");
    let (_, prompts) = walk(&server, "prompts/list", "prompts", "name").await;
    assert_eq!(prompts.concat().len(), 12);
}

#[tokio::test]
async fn a_repository_without_an_end_is_not_asked_for_ever() {
    const EMPTY: [usize; 250] = [0; 250];
    let repo = Paged::new("a://", &EMPTY);
    let asked = Arc::clone(&repo.asked);
    let server = Server::start(Suite::new("s", "1").resource_repo(repo)).await;
    let result = server.send(list("resources/list", None)).await.result();
    assert_eq!(result["resources"], json!([]));
    assert!(result["nextCursor"].is_string(), "an empty page, and not the end");
    assert!(asked.load(Ordering::SeqCst) <= 100);
    let (results, _) = walk(&server, "resources/list", "resources", "uri").await;
    assert_eq!(results.len(), 3);
}

async fn by_name(request: ConnectRequest) -> Result<Principal, Denied> {
    let name = request.headers().get("x-name").and_then(|name| name.to_str().ok());
    Ok(name.map_or(Principal::anonymous(), Principal::new))
}

fn long() -> Suite {
    let keys = KeyRing::new([[7; 32]]).unwrap();
    (0..4).fold(Suite::new("s", "1").page_size(2).keys(keys), |suite, n| {
        suite
            .tool(&format!("t{n}"), nothing)
            .resource(&format!("r://{n}"), nothing)
            .prompt(&format!("p{n}"), nothing)
    })
}

fn cursor(response: &Response) -> String {
    response.result()["nextCursor"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn page_04_a_cursor_is_good_for_its_list_and_its_caller_only() {
    let options = Options::new().connect(by_name);
    let server = Server::start_with(long(), options).await;
    let alice = |post: Post| post.header("X-Name", "alice");
    let cursor = cursor(&server.send(alice(list("resources/list", None))).await);
    assert!(!cursor.contains("r://"));
    let again = list("resources/list", Some(&cursor));
    assert_eq!(server.send(alice(again.clone())).await.code(), 0);
    for (what, post) in [
        ("another caller", again.clone().header("X-Name", "bob")),
        ("nobody", again.clone()),
        ("another list", alice(list("prompts/list", Some(&cursor)))),
        ("another list", alice(list("tools/list", Some(&cursor)))),
        ("altered", alice(list("resources/list", Some(&format!("{cursor}A"))))),
        ("cut", alice(list("resources/list", Some(&cursor[..cursor.len() - 1])))),
        ("empty", alice(list("resources/list", Some("")))),
        ("made up", alice(list("resources/list", Some("2")))),
    ] {
        let error = server.send(post).await.answer()["error"].clone();
        assert_eq!(error["code"], -32602, "{what}: {error}");
        assert_eq!(
            error["message"],
            "the cursor or the `requestState` is not valid for this request; start again without it"
        );
    }
}

#[tokio::test]
async fn page_03_and_o5_a_cursor_outlives_a_restart_with_the_same_keys_unless_its_repository_is_gone() {
    let with = |suite: Suite, sizes| suite.resource_repo(Paged::new("a://", sizes)).page_size(5);
    let one = Server::start(with(long(), &[3, 3])).await;
    let cursor = cursor(&one.send(list("resources/list", None)).await);
    let again = list("resources/list", Some(&cursor));
    let same = Server::start(with(long(), &[3, 3])).await.send(again.clone()).await.result();
    assert_eq!(same["resources"][0]["uri"], "a://0.1");
    let gone = Server::start(long()).await.send(again.clone()).await;
    assert_eq!(gone.code(), -32602);
    let other_keys = with(long(), &[3, 3]).keys(KeyRing::random());
    assert_eq!(Server::start(other_keys).await.send(again).await.code(), -32602);
}

#[tokio::test]
async fn page_04_a_cursor_is_stale_after_20_minutes() {
    let clock = ManualClock::new(SystemTime::UNIX_EPOCH);
    let server = Server::start_with(long(), Options::new().clock(clock.clone())).await;
    for method in ["tools/list", "resources/list", "prompts/list"] {
        let cursor = cursor(&server.send(list(method, None)).await);
        clock.advance(KeyRing::LIFETIME - Duration::from_millis(1));
        assert_eq!(server.send(list(method, Some(&cursor))).await.code(), 0, "{method}");
        clock.advance(Duration::from_millis(1));
        assert_eq!(server.send(list(method, Some(&cursor))).await.code(), -32602, "{method}");
    }
}

#[tokio::test]
async fn page_04_a_cursor_is_good_for_as_long_as_the_suite_says() {
    const HOUR: Duration = Duration::from_secs(60 * 60);
    let clock = ManualClock::new(SystemTime::UNIX_EPOCH);
    let server = Server::start_with(long().cursor_time(HOUR), Options::new().clock(clock.clone())).await;
    let cursor = cursor(&server.send(list("tools/list", None)).await);
    clock.advance(HOUR - Duration::from_millis(1));
    assert_eq!(server.send(list("tools/list", Some(&cursor))).await.code(), 0);
    clock.advance(Duration::from_millis(1));
    assert_eq!(server.send(list("tools/list", Some(&cursor))).await.code(), -32602);
}

#[tokio::test]
async fn cache_04_all_pages_have_one_scope() {
    let public = CacheHints::public(Duration::from_secs(60));
    let suite = long()
        .cache(public)
        .resource_repo(Paged::new("a://", &[2]).cache(public))
        .resource_repo(Paged::new("b://", &[2]).cache(CacheHints::private(Duration::from_secs(5))));
    let server = Server::start(suite).await;
    let hints = |result: &Value| (result["ttlMs"].clone(), result["cacheScope"].clone());
    let (results, _) = walk(&server, "resources/list", "resources", "uri").await;
    assert_eq!(results.len(), 4);
    for result in &results {
        assert_eq!(hints(result), (json!(5_000), json!("private")));
    }
    for method in ["tools/list", "prompts/list", "resources/templates/list", "server/discover"] {
        let result = server.send(list(method, None)).await.result();
        assert_eq!(hints(&result), (json!(60_000), json!("public")), "{method}");
    }
}

#[tokio::test]
async fn cache_10_reads_have_their_own_hints_and_retries_have_none() {
    let public = CacheHints::public(Duration::from_secs(3));
    let suite = Suite::new("s", "1")
        .resource("fixed://kept", resource(nothing).cache(public))
        .resource("fixed://not-kept", nothing)
        .resource_repo(Paged::new("a://", &[]));
    let server = Server::start(suite).await;
    for (params, ttl, scope) in [
        (json!({"uri": "fixed://kept"}), 3_000, "public"),
        (json!({"uri": "fixed://not-kept"}), 0, "private"),
        (json!({"uri": "a://1"}), 9_000, "public"),
        (json!({"uri": "fixed://kept", "inputResponses": {}}), 0, "private"),
    ] {
        let result = server.send(request("resources/read", params.clone())).await.result();
        assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(ttl), &json!(scope)), "{params}");
    }
}

struct PerCaller;

impl ResourceRepo for PerCaller {
    type Key = String;
    type Cursor = ();
    type Output = String;

    fn template(&self) -> ResourceTemplate {
        ResourceTemplate::new("mine://{id}", "mine")
    }

    async fn read(&self, id: String, _: &Call) -> Result<String, ToolError> {
        Ok(id)
    }

    fn cache(&self) -> CacheHints {
        CacheHints::public(Duration::from_secs(1))
    }
}

/// What depends on the caller, unless it says otherwise, with hints of its own.
struct Hinted;

impl ResourceRepo for Hinted {
    type Key = String;
    type Cursor = ();
    type Output = ReadResourceResult;

    fn template(&self) -> ResourceTemplate {
        ResourceTemplate::new("hinted://{id}", "hinted")
    }

    async fn read(&self, id: String, call: &Call) -> Result<ReadResourceResult, ToolError> {
        let contents = vec![ResourceContents::text(call.name(), id)];
        Ok(ReadResourceResult::new(contents).cache(CacheHints::public(Duration::from_secs(9))))
    }
}

#[tokio::test]
async fn cache_10_what_may_depend_on_the_caller_is_private_whatever_its_output_says() {
    let server = Server::start(Suite::new("s", "1").resource_repo(Hinted)).await;
    let read = server.send(request("resources/read", json!({"uri": "hinted://1"}))).await.result();
    assert_eq!((&read["ttlMs"], &read["cacheScope"]), (&json!(9_000), &json!("private")));
}

#[tokio::test]
async fn o6_public_hints_on_what_depends_on_the_caller_are_refused_at_start() {
    let suite = Suite::new("s", "1").resource_repo(PerCaller);
    let told = McpSupervisor::start(suite).await.unwrap_err().to_string();
    assert!(told.contains("`mine://{id}`: its cache hints are public"), "{told}");
}
