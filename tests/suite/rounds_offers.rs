//! Prompts and resources that ask their clients (MRTR-02), and what may not ask (MRTR-03).

use ractor_mcp::prelude::*;
use serde_json::{Value, json};

use crate::rounds::{Name, hello};
use crate::support::rounds::{accept, everything};
use crate::support::{Post, Server, request};

async fn asking(call: Call) -> Result<String, RpcError> {
    Ok(hello(call.elicit("name", "What is your name?")?))
}

async fn asking_prompt(_: NoArguments, call: Call) -> Result<String, RpcError> {
    asking(call).await
}

/// A completion that asks, which it may not.
async fn proposes(_: Completing, call: Call) -> Result<Vec<String>, RpcError> {
    call.elicit::<Name>("name", "What is your name?")?;
    Ok(Vec::new())
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Topic {
    #[allow(dead_code)]
    topic: String,
}

async fn completed(_: Topic) -> &'static str {
    "a prompt"
}

async fn server() -> Server {
    let suite = Suite::new("s", "1")
        .prompt("greeting", asking_prompt)
        .prompt("completed", prompt(completed).complete("topic", proposes))
        .resource("test://greeting", asking);
    Server::start(suite).await
}

fn post(method: &str, params: Value) -> Post {
    request(method, params).capable_of(everything())
}

#[tokio::test]
async fn mrtr_02_a_prompt_asks_and_is_filled_in_with_the_answer() {
    let server = server().await;
    let get = || post("prompts/get", json!({"name": "greeting"}));
    let asked = server.send(get()).await;
    assert_eq!(asked.asked_keys(), ["name"]);
    let answers = json!({"name": accept(json!({"name": "Ada"}))});
    let filled = server.send(get().answering_round(&asked, answers)).await;
    assert_eq!(filled.result()["messages"][0]["content"]["text"], "hello Ada");
}

#[tokio::test]
async fn mrtr_02_and_a_42_a_resource_asks_and_what_it_reads_then_is_not_kept() {
    let server = server().await;
    let read = || post("resources/read", json!({"uri": "test://greeting"}));
    let asked = server.send(read()).await;
    assert_eq!(asked.asked_keys(), ["name"]);
    assert!(asked.result().get("ttlMs").is_none());
    let answers = json!({"name": {"action": "decline"}});
    let result = server.send(read().answering_round(&asked, answers)).await.result();
    assert_eq!(result["contents"][0]["text"], "declined");
    assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(0), &json!("private")));
}

#[tokio::test]
async fn a_state_of_a_prompt_is_none_of_a_resource() {
    let server = server().await;
    let asked = server.send(post("prompts/get", json!({"name": "greeting"}))).await;
    let read = post("resources/read", json!({"uri": "test://greeting"}));
    assert_eq!(server.send(read.answering_round(&asked, json!({}))).await.code(), -32602);
}

#[tokio::test]
async fn mrtr_07_a_prompt_and_a_resource_ask_only_who_can_answer() {
    let server = server().await;
    for post in [
        request("prompts/get", json!({"name": "greeting"})),
        request("resources/read", json!({"uri": "test://greeting"})),
    ] {
        let refused = server.send(post).await;
        assert_eq!((refused.status, refused.code()), (400, -32021));
    }
}

#[tokio::test]
async fn mrtr_03_a_completion_may_not_ask() {
    let server = server().await;
    let complete = json!({
        "ref": {"type": "ref/prompt", "name": "completed"},
        "argument": {"name": "topic", "value": ""},
    });
    assert_eq!(server.send(post("completion/complete", complete)).await.code(), -32603);
}
