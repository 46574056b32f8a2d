//! Tools that ask their client, in each of the ways.

use ractor_mcp::prelude::*;
use ractor_mcp::suite::{Roots, ToolSpec, form};
use ractor_mcp::wire::{CreateMessageRequest, InputRequest, LogLevel, Root, SamplingMessage};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Name {
    name: String,
}

#[derive(Deserialize, JsonSchema)]
struct Colour {
    color: String,
}

#[derive(Deserialize, JsonSchema)]
struct Confirm {
    ok: bool,
}

fn greeting(name: Elicited<Name>) -> String {
    let name = name.accepted().map(|Name { name }| name);
    format!("Hello, {}!", name.as_deref().unwrap_or("stranger"))
}

fn sample(prompt: &str, most: u64) -> CreateMessageRequest {
    CreateMessageRequest::new(vec![SamplingMessage::user(prompt)], most)
}

fn named(roots: &[Root]) -> String {
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

async fn multiple(call: Call) -> Result<String, ToolError> {
    let (name, greeted, roots) = call.ask_all((
        ("user_name", form("What is your name?")),
        ("greeting", sample("Generate a greeting", 50)),
        ("client_roots", Roots),
    ))?;
    Ok(format!("{} {} {}", greeting(name), greeted.text(), named(&roots)))
}

async fn multi_round(call: Call) -> Result<String, ToolError> {
    let name = greeting(call.elicit("step1", "Step 1: What is your name?")?);
    let colour = call.elicit::<Colour>("step2", "Step 2: What is your favorite color?")?;
    let colour = colour.accepted().map(|Colour { color }| color);
    Ok(format!("{name} You like {}.", colour.as_deref().unwrap_or("none")))
}

/// Asks for nothing that the client did not declare.
async fn capabilities(call: Call) -> Result<String, ToolError> {
    let declared = &call.meta().client_capabilities;
    let mut questions: Vec<(&str, InputRequest)> = Vec::new();
    if declared.elicitation_form() {
        let schema = serde_json::json!({"type": "object", "properties": {"name": {"type": "string"}}});
        questions.push(("user_name", InputRequest::form("What is your name?", schema)));
    }
    if declared.sampling() {
        questions.push(("greeting", sample("Generate a greeting", 50).into()));
    }
    let answers = call.ask_all(questions)?;
    Ok(format!("{} answers", answers.len()))
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
        .tool(&format!("{P}_multiple_inputs"), asks("three things at once", multiple))
        .tool(&format!("{P}_multi_round"), asks("one thing after the other", multi_round))
        .tool(&format!("{P}_capabilities"), asks("what the client can do", capabilities))
}

fn asks<F, Fut>(what: &str, function: F) -> ToolSpec
where
    F: Fn(Call) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<String, ToolError>> + Send + 'static,
{
    tool(move |_: NoArguments, call: Call| function(call)).description(format!("Asks for {what}."))
}
