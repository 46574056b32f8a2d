//! Resources over the wire: what is listed and read, what is not found, and what never gets through.

use ractor_mcp::prelude::*;
use ractor_mcp::suite::ResourceOutput;
use ractor_mcp::wire::{
    Annotations, Icon, ReadResourceResult, Resource, ResourceContents, ResourceTemplate, Role,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::{Response, Server, request};

async fn text() -> &'static str {
    "read me"
}

async fn bytes() -> Vec<u8> {
    vec![0, 255]
}

async fn several() -> Vec<ResourceContents> {
    vec![
        ResourceContents::text("dir://a/1", "one").mime_type("text/markdown"),
        ResourceContents::blob("dir://a/2", [1]),
    ]
}

async fn who(call: Call) -> String {
    format!("{} by {:?}", call.name(), call.principal().id())
}

async fn failing() -> Result<String, std::io::Error> {
    Err(std::io::Error::other("password=hunter2"))
}

async fn refused() -> Result<String, RpcError> {
    Err(RpcError::new(7, "not today"))
}

async fn gone() -> Option<String> {
    None
}

async fn panics() -> String {
    panic!("a bug")
}

#[derive(Deserialize)]
struct Key {
    shelf: String,
    number: u32,
}

/// Books by shelf and number.
struct Books;

impl ResourceRepo for Books {
    type Key = Key;
    type Cursor = ();
    type Output = Option<String>;

    fn template(&self) -> ResourceTemplate {
        ResourceTemplate::new("book://{shelf}/{number}", "book").mime_type("text/plain")
    }

    async fn list(&self, _: Option<()>, _: &Call) -> Result<Page<Resource, ()>, ToolError> {
        let book = |number| Resource::new(format!("book://a/{number}"), format!("{number}"));
        Ok(vec![book(1), book(2), Resource::new("other://a", "a bug of this repository")].into())
    }

    async fn read(&self, Key { shelf, number }: Key, _: &Call) -> Result<Option<String>, ToolError> {
        Ok((number < 10).then(|| format!("book {number} of shelf {shelf}")))
    }
}

/// Files below a folder: what this test is about is that it is never asked for anything else.
struct Files;

impl ResourceRepo for Files {
    type Key = String;
    type Cursor = ();
    type Output = String;

    fn template(&self) -> ResourceTemplate {
        ResourceTemplate::new("file:///docs/{+path}", "file")
    }

    async fn read(&self, path: String, _: &Call) -> Result<String, ToolError> {
        Ok(format!("/srv/docs/{path}"))
    }
}

fn suite() -> Suite {
    let first = resource(text)
        .title("Read me")
        .description("What to read first.")
        .mime_type("text/plain")
        .size(7)
        .annotations(Annotations::new().audience(Role::User))
        .icon(Icon::new("https://example.com/i.png"));
    Suite::new("resources", "1")
        .resource("doc://readme", first)
        .resource("doc://bytes", resource(bytes).name("some bytes").mime_type("application/x-two"))
        .resource("dir://a", several)
        .resource("doc://who", who)
        .resource("doc://failing", failing)
        .resource("doc://refused", refused)
        .resource("doc://gone", gone)
        .resource("doc://panics", panics)
        .resource("book://a/2", text)
        .resource_repo(Books)
        .resource_repo(Files)
}

async fn read(server: &Server, uri: &str) -> Response {
    server.send(request("resources/read", json!({ "uri": uri }))).await
}

async fn contents(server: &Server, uri: &str) -> Value {
    read(server, uri).await.result()["contents"].clone()
}

#[tokio::test]
async fn res_02_and_res_05_the_list_has_all_that_is_known_in_a_stable_order() {
    let server = Server::start(suite()).await;
    let result = server.send(request("resources/list", json!({}))).await.result();
    let listed = result["resources"].as_array().unwrap();
    assert_eq!(
        listed[0],
        json!({
            "uri": "doc://readme", "name": "readme", "title": "Read me", "description": "What to read first.",
            "mimeType": "text/plain", "size": 7, "annotations": {"audience": ["user"]},
            "icons": [{"src": "https://example.com/i.png"}]
        })
    );
    let uris: Vec<_> = listed.iter().map(|one| one["uri"].as_str().unwrap()).collect();
    // Registered ones first; one URI once, although the repository lists it too; nothing outside of its prefix.
    assert_eq!(
        uris,
        [
            "doc://readme",
            "doc://bytes",
            "dir://a",
            "doc://who",
            "doc://failing",
            "doc://refused",
            "doc://gone",
            "doc://panics",
            "book://a/2",
            "book://a/1"
        ]
    );
    assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(0), &json!("private")));
    assert_eq!(result.get("nextCursor"), None);
}

#[tokio::test]
async fn res_05_templates_have_a_list_of_their_own() {
    let server = Server::start(suite()).await;
    let result = server.send(request("resources/templates/list", json!({}))).await.result();
    assert_eq!(
        result["resourceTemplates"],
        json!([
            {"uriTemplate": "book://{shelf}/{number}", "name": "book", "mimeType": "text/plain"},
            {"uriTemplate": "file:///docs/{+path}", "name": "file"}
        ])
    );
}

#[tokio::test]
async fn res_06_res_07_and_res_14_text_bytes_and_several_contents() {
    let server = Server::start(suite()).await;
    assert_eq!(
        contents(&server, "doc://readme").await,
        json!([{"uri": "doc://readme", "mimeType": "text/plain", "text": "read me"}])
    );
    assert_eq!(
        contents(&server, "doc://bytes").await,
        json!([{"uri": "doc://bytes", "mimeType": "application/x-two", "blob": "AP8="}])
    );
    assert_eq!(
        contents(&server, "dir://a").await,
        json!([
            {"uri": "dir://a/1", "mimeType": "text/markdown", "text": "one"},
            {"uri": "dir://a/2", "blob": "AQ=="}
        ])
    );
    assert_eq!(contents(&server, "doc://who").await[0]["text"], "doc://who by None");
}

#[tokio::test]
async fn res_19_a_template_hands_over_its_variables_in_their_types() {
    let server = Server::start(suite()).await;
    assert_eq!(
        contents(&server, "book://caf%C3%A9%20a/7").await,
        json!([{"uri": "book://caf%C3%A9%20a/7", "mimeType": "text/plain", "text": "book 7 of shelf café a"}])
    );
    // First match wins: what is registered, before the repository of that prefix.
    assert_eq!(contents(&server, "book://a/2").await[0]["text"], "read me");
    assert_eq!(contents(&server, "file:///docs/a/b.md").await[0]["text"], "/srv/docs/a/b.md");
}

#[tokio::test]
async fn res_08_to_10_what_is_not_there_is_told_with_its_uri() {
    let server = Server::start(suite()).await;
    for uri in [
        "doc://nowhere",
        "doc://gone",
        "book://a/10",
        "book://a/many",
        "book://a/-1",
        "book://a/1/2",
        "book://a",
        "DOC://readme",
        "doc://%72eadme",
        "not a uri",
        "",
    ] {
        let answer = read(&server, uri).await.answer();
        assert_eq!(answer["error"]["code"], -32602, "{uri}");
        assert_eq!(answer["error"]["data"], json!({ "uri": uri }));
    }
}

#[tokio::test]
async fn res_13_no_spelling_of_a_path_leaves_the_folder() {
    let server = Server::start(suite()).await;
    for path in [
        "../etc/passwd",
        "a/../../etc",
        "%2e%2e/etc",
        "..%2f..%2fetc",
        "a/..%5c..%5cetc",
        "/etc/passwd",
        "%2Fetc/passwd",
        "a//etc",
        "./a",
        "a%00.md",
    ] {
        let response = read(&server, &format!("file:///docs/{path}")).await;
        assert_eq!(response.code(), -32602, "{path}: {}", response.body);
    }
}

#[tokio::test]
async fn res_11_failures_are_internal_and_say_nothing_internal() {
    let server = Server::start(suite()).await;
    for uri in ["doc://failing", "doc://panics"] {
        let response = read(&server, uri).await;
        assert_eq!(response.code(), -32603, "{uri}");
        assert!(!response.body.contains("hunter2"), "{}", response.body);
    }
    assert_eq!(read(&server, "doc://refused").await.code(), 7);
}

#[test]
fn a_result_of_ones_own_is_the_output_too() {
    let result = ReadResourceResult::new(vec![ResourceContents::text("a://b", "c")]);
    assert_eq!(result.clone().into_result("x://y").unwrap(), result);
}

struct Named(&'static str, &'static str);

impl ResourceRepo for Named {
    type Key = String;
    type Cursor = ();
    type Output = String;

    fn template(&self) -> ResourceTemplate {
        ResourceTemplate::new(self.0, "named")
    }

    fn prefix(&self) -> String {
        self.1.to_owned()
    }

    async fn read(&self, key: String, _: &Call) -> Result<String, ToolError> {
        Ok(key)
    }
}

#[tokio::test]
async fn all_faults_are_told_when_the_server_starts() {
    let suite = Suite::new("s", "1")
        .page_size(0)
        .resource("no uri", text)
        .resource("", text)
        .resource("a://b", text)
        .resource("a://b", text)
        .resource_repo(Named("x://{a}", "x://"))
        .resource_repo(Named("x://y/{a}", "x://y/"))
        .resource_repo(Named("y://{a}{b", "z://"))
        .resource_repo(Named("{+uri}", ""))
        .resource_repo(Named("", ""));
    let told = McpSupervisor::start(suite).await.unwrap_err().to_string();
    for fault in [
        "the page size is 0",
        "resource `no uri`: it is no URI",
        "resource ``: its URI is empty; `notes://today` would do",
        "resource `a://b`: registered twice",
        "`x://y/{a}`: its prefix `x://y/` overlaps with `x://` of `x://{a}`",
        "`y://{a}{b`: it has a `{` without its `}`",
        "`y://{a}{b`: its prefix `z://` is not what the template starts with; `y://` would do",
        "`{+uri}`: it is no URI",
        "resource template ``: its text is empty; `notes://{id}` would do",
    ] {
        assert!(told.contains(fault), "{fault} in {told}");
    }
    assert!(!told.contains("`{+uri}`: its prefix"), "no prefix would do: {told}");
    for empty in ["resource ``", "resource template ``"] {
        assert_eq!(told.matches(empty).count(), 1, "{told}");
    }
}

/// A repository whose template names other variables than its key has fields.
struct Misfit;

impl ResourceRepo for Misfit {
    type Key = Key;
    type Cursor = ();
    type Output = Option<String>;

    fn template(&self) -> ResourceTemplate {
        ResourceTemplate::new("misfit://{shelf}/{page}", "misfit")
    }

    async fn read(&self, _: Key, _: &Call) -> Result<Option<String>, ToolError> {
        Ok(None)
    }
}

#[tokio::test]
async fn a_template_that_never_fits_its_key_and_one_in_the_place_of_a_uri_are_refused_at_start() {
    let suite = Suite::new("s", "1").resource_repo(Misfit).resource("note://{id}", text);
    let Err(ractor_mcp::Error::Misconfigured(faults)) = ractor_mcp::McpSupervisor::start(suite).await else {
        panic!("the server does not start")
    };
    let told = faults.to_string();
    for part in
        ["misfit://{shelf}/{page}", "missing field `number`", "note://{id}", "is for a `ResourceRepo`"]
    {
        assert!(told.contains(part), "{part} in {told}");
    }
}

/// A client could not tell it from a resource that is there and holds nothing.
#[tokio::test]
async fn res_09_empty_contents_are_the_answer_to_nothing() {
    async fn none() -> Vec<ResourceContents> {
        Vec::new()
    }
    async fn own() -> ReadResourceResult {
        ReadResourceResult::new(Vec::new())
    }
    async fn perhaps() -> Result<Option<Vec<ResourceContents>>, RpcError> {
        Ok(Some(Vec::new()))
    }
    let suite = Suite::new("s", "1")
        .resource("x:none", none)
        .resource("x:own", own)
        .resource("x:perhaps", perhaps)
        .resource("x:empty", || async { "" });
    let server = Server::start(suite).await;
    for uri in ["x:none", "x:own", "x:perhaps"] {
        let error = read(&server, uri).await.answer()["error"].clone();
        assert_eq!((&error["code"], &error["data"]["uri"]), (&json!(-32602), &json!(uri)), "{error}");
    }
    assert_eq!(contents(&server, "x:empty").await[0]["text"], "", "a text may be empty");
}

#[tokio::test]
async fn res_03_the_list_is_the_same_on_each_connection_and_after_each_request() {
    let server = Server::start(suite()).await;
    let mut client = server.client().await;
    for method in ["resources/list", "resources/templates/list"] {
        let list = request(method, json!({}));
        let first = client.send(&list).await.body;
        for uri in ["dir://a", "no://such"] {
            client.send(&request("resources/read", json!({ "uri": uri }))).await;
            assert_eq!(client.send(&list).await.body, first);
        }
        assert_eq!(server.send(list).await.body, first);
    }
}
