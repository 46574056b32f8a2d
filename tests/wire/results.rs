//! Results of every method.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::schema::assert_valid;
use crate::wire::{
    Annotations, CacheHints, CallToolResult, CompleteResult, Content, CreateMessageRequest, DiscoverResult,
    GetPromptResult, Icon, InputRequest, InputRequiredResult, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, ListenResult, Meta, Prompt, PromptArgument, PromptMessage,
    ReadResourceResult, RequestId, Resource, ResourceContents, ResourceLink, ResourceTemplate, ResultBody,
    Role, SamplingMessage, ServerCapabilities, Theme, Tool, ToolAnnotations,
};

fn icon() -> Icon {
    Icon::new("https://example.com/icon.png").mime_type("image/png").size("48x48").theme(Theme::Dark)
}

fn meta() -> Meta {
    Meta::new().with("com.example/colour", "red")
}

/// Whether a definition has that icon and that `_meta`.
#[track_caller]
fn assert_described(definition: &Value) {
    assert_eq!(definition["icons"][0]["src"], "https://example.com/icon.png");
    assert_eq!(definition["_meta"], json!({ "com.example/colour": "red" }));
}

fn annotations() -> Annotations {
    Annotations::new().audience(Role::User).priority(0.5).last_modified("2026-07-28T00:00:00Z")
}

fn contents() -> [Content; 6] {
    [
        Content::text("text").annotated(annotations()),
        Content::image([0, 1, 2], "image/png"),
        Content::audio([0, 1, 2], "audio/wav"),
        Content::from(
            ResourceLink::new("file:///a", "a")
                .title("A")
                .description("d")
                .mime_type("text/plain")
                .size(3_u64)
                .icon(icon())
                .meta(meta()),
        ),
        Content::resource(ResourceContents::text("file:///a", "text").mime_type("text/plain")),
        Content::resource(ResourceContents::blob("file:///b", [0, 255])),
    ]
}

/// Checks a result against its own definition, and as any result does it.
#[track_caller]
fn check(definition: &str, result: impl Into<ResultBody>) -> Value {
    let result = result.into();
    assert_valid("Result", &result);
    assert_valid(definition, &result)
}

#[test]
fn disc_01_discover() {
    let all = ServerCapabilities::new()
        .tools(true)
        .prompts(true)
        .resources(true, true)
        .completions()
        .logging()
        .extension("io.modelcontextprotocol/tasks", json!({}));
    let result =
        DiscoverResult::new(all).instructions("Ask.").cache(CacheHints::public(Duration::from_secs(60)));
    let written = check("DiscoverResult", result);
    assert_eq!(written["resultType"], "complete");
    assert_eq!((&written["ttlMs"], &written["cacheScope"]), (&json!(60_000), &json!("public")));
    assert_eq!(written["capabilities"]["resources"], json!({ "listChanged": true, "subscribe": true }));
    let none = check("DiscoverResult", DiscoverResult::new(ServerCapabilities::new()));
    assert_eq!(none["capabilities"], json!({}));
}

#[test]
fn tool_06_list_of_tools() {
    let tool = Tool::new("add", json!({ "type": "object", "properties": { "zeta": {}, "alpha": {} } }))
        .title("Add")
        .description("Adds.")
        .output_schema(json!({ "type": "integer" }))
        .annotations(
            ToolAnnotations::new()
                .title("Add")
                .read_only_hint(true)
                .destructive_hint(false)
                .idempotent_hint(true)
                .open_world_hint(false),
        )
        .icon(icon())
        .meta(meta());
    let written = check("ListToolsResult", ListToolsResult::new(vec![tool]).next_cursor("2"));
    assert_described(&written["tools"][0]);
    // As the developer wrote it (JSCH-13).
    let properties: Vec<_> =
        written["tools"][0]["inputSchema"]["properties"].as_object().unwrap().keys().collect();
    assert_eq!(properties, ["zeta", "alpha"]);
    check("ListToolsResult", ListToolsResult::new(vec![Tool::new("bare", json!({ "type": "object" }))]));
}

#[test]
fn tool_14_and_21_call() {
    let written = check("CallToolResult", CallToolResult::new(contents().to_vec()));
    assert!(written.get("isError").is_none());
    check("CallToolResult", CallToolResult::new(vec![]));
    assert_eq!(check("CallToolResult", CallToolResult::error("no"))["isError"], true);
    for content in &contents() {
        assert_valid("ContentBlock", content);
    }
}

#[test]
fn tool_14_structured_content_is_any_json() {
    for value in [json!({ "a": 1 }), json!([1.5]), json!("x"), json!(null), json!(7)] {
        let mut result = CallToolResult::text(value.to_string());
        result.structured_content = Some(value.clone());
        assert_eq!(check("CallToolResult", result)["structuredContent"], value);
    }
}

#[test]
fn res_05_lists_of_resources() {
    let resource = Resource::new("file:///a", "a")
        .title("A")
        .description("d")
        .mime_type("text/plain")
        .size(3_u64)
        .annotations(annotations())
        .icon(icon())
        .meta(meta());
    let resources = vec![resource, Resource::new("x:y", "y")];
    assert_described(&check("ListResourcesResult", ListResourcesResult::new(resources))["resources"][0]);
    let template = ResourceTemplate::new("file:///{path}", "files").icon(icon()).meta(meta());
    let templates = ListResourceTemplatesResult::new(vec![template]).next_cursor("");
    assert_described(&check("ListResourceTemplatesResult", templates)["resourceTemplates"][0]);
}

#[test]
fn res_06_read() {
    let text = ResourceContents::text("file:///a", "text").mime_type("text/plain");
    let blob = ResourceContents::blob("file:///b", [0, 255]);
    let written = check("ReadResourceResult", ReadResourceResult::new(vec![text, blob]));
    assert_eq!(written["contents"][1]["blob"], "AP8=");
    assert_eq!((&written["ttlMs"], &written["cacheScope"]), (&json!(0), &json!("private")));
}

#[test]
fn prm_12_prompts() {
    let prompt = Prompt::new("p")
        .title("P")
        .description("d")
        .argument(PromptArgument::required("a").title("A").description("d"))
        .argument(PromptArgument::optional("b"))
        .icon(icon())
        .meta(meta());
    let prompts = ListPromptsResult::new(vec![prompt, Prompt::new("q")]);
    assert_described(&check("ListPromptsResult", prompts)["prompts"][0]);
    let mut messages: Vec<_> = contents().into_iter().map(PromptMessage::user).collect();
    messages.push(PromptMessage::assistant("yes"));
    check("GetPromptResult", GetPromptResult::new(messages).description("d"));
}

#[test]
fn cmp_03_completion() {
    let written = check("CompleteResult", CompleteResult::new((0..120).map(|n| n.to_string())));
    assert_eq!(written["completion"]["values"].as_array().unwrap().len(), 100);
    assert_eq!(
        (&written["completion"]["total"], &written["completion"]["hasMore"]),
        (&json!(120), &json!(true))
    );
}

#[test]
fn sub_14_listen() {
    let mut result = ResultBody::from(ListenResult::new());
    result.meta_mut().stamp_subscription(&RequestId::from(7));
    let written = assert_valid("SubscriptionsListenResult", &result);
    assert_eq!(written["_meta"]["io.modelcontextprotocol/subscriptionId"], 7);
}

#[test]
fn mrtr_06_questions() {
    let schema =
        json!({ "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] });
    let sampling =
        CreateMessageRequest::new(vec![SamplingMessage::user("Hi"), SamplingMessage::assistant("Yes?")], 100)
            .system_prompt("Be short.")
            .temperature(0.5);
    let questions = [
        InputRequest::form("Who are you?", schema),
        InputRequest::url("Sign in", "https://example.com/x"),
        InputRequest::from(sampling),
        InputRequest::roots(),
    ];
    let mut result = InputRequiredResult::new().request_state("sealed");
    for (key, question) in questions.into_iter().enumerate() {
        assert_valid("InputRequest", &question);
        result = result.ask(key.to_string(), question);
    }
    let written = check("InputRequiredResult", result);
    assert_eq!(written["resultType"], "input_required");
    assert!(written.get("ttlMs").is_none());
    assert_eq!(written["inputRequests"].as_object().unwrap().len(), 4);
}

#[test]
fn mrtr_04_state_alone() {
    check("InputRequiredResult", InputRequiredResult::new().request_state("s"));
}

#[test]
fn base_10_a_method_of_the_handler() {
    let mut members = Map::new();
    members.insert("sum".to_owned(), json!(7.5));
    members.insert("resultType".to_owned(), json!("other"));
    let written = check("Result", crate::wire::CustomResult::new(members));
    assert_eq!(written, json!({ "resultType": "complete", "sum": 7.5 }));
}
