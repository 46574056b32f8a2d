//! Tools that ask their client, in each of the ways.

use ractor_mcp::prelude::*;
use ractor_mcp::suite::{Roots, ToolSpec};
use ractor_mcp::wire::{CreateMessageRequest, LogLevel, Root, SamplingMessage};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
pub struct Name {
    name: String,
}

#[derive(Deserialize, JsonSchema)]
struct Confirm {
    ok: bool,
}

pub fn greeting(name: Elicited<Name>) -> String {
    let name = name.accepted().map(|Name { name }| name);
    format!("Hello, {}!", name.as_deref().unwrap_or("stranger"))
}

pub fn sample(prompt: &str, most: u64) -> CreateMessageRequest {
    CreateMessageRequest::new(vec![SamplingMessage::user(prompt)], most)
}

pub fn named(roots: &[Root]) -> String {
    let uris: Vec<_> = roots.iter().map(|root| &*root.uri).collect();
    format!("Roots: {}", uris.join(", "))
}

async fn elicitation(call: Call) -> Result<String, ToolError> {
    Ok(greeting(call.elicit("user_name", "What is your name?")?))
}

async fn streaming(call: Call) -> Result<String, ToolError> {
    call.log(LogLevel::Info, "about to ask").await?;
    elicitation(call).await
}

async fn sampling(call: Call) -> Result<String, ToolError> {
    let question = sample("What is the capital of France?", 100);
    Ok(call.ask("capital_question", question)?.text())
}

async fn list_roots(call: Call) -> Result<String, ToolError> {
    Ok(named(&call.ask("client_roots", Roots)?))
}

async fn state(call: Call) -> Result<String, ToolError> {
    let kept = call.once("kept", async { "state-ok".to_owned() }).await?;
    let confirmed = call.elicit::<Confirm>("confirm", "Please confirm")?;
    let ok = confirmed.accepted().is_some_and(|Confirm { ok }| ok);
    Ok(format!("{kept}, confirmed: {ok}"))
}

/// Registers them all.
pub fn add_to(suite: Suite) -> Suite {
    const P: &str = "test_input_required_result";
    suite
        .tool("test_streaming_elicitation", asks("a name, while it streams", streaming))
        .tool(&format!("{P}_elicitation"), asks("a name", elicitation))
        .tool(&format!("{P}_sampling"), asks("the client's model", sampling))
        .tool(&format!("{P}_list_roots"), asks("the client's roots", list_roots))
        .tool(&format!("{P}_request_state"), asks("a confirmation, and remembers something", state))
        .tool(&format!("{P}_tampered_state"), asks("a confirmation, and trusts no state", state))
        .tool(&format!("{P}_multiple_inputs"), asks("three things at once", super::several::multiple))
        .tool(&format!("{P}_multi_round"), asks("one thing after the other", super::several::multi_round))
        .tool(&format!("{P}_capabilities"), asks("what the client can do", super::several::capabilities))
}

fn asks<F, Fut>(what: &str, function: F) -> ToolSpec
where
    F: Fn(Call) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<String, ToolError>> + Send + 'static,
{
    tool(move |_: NoArguments, call: Call| function(call)).description(format!("Asks for {what}."))
}
