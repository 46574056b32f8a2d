//! Tools that ask several questions: at once, one after the other, and only what the client can answer.

use ractor_mcp::prelude::*;
use ractor_mcp::suite::{Roots, form};
use ractor_mcp::wire::InputRequest;
use schemars::JsonSchema;
use serde::Deserialize;

use super::rounds::{greeting, named, sample};

#[derive(Deserialize, JsonSchema)]
struct Colour {
    color: String,
}

pub async fn multiple(call: Call) -> Result<String, ToolError> {
    let (name, greeted, roots) = call.ask_all((
        ("user_name", form("What is your name?")),
        ("greeting", sample("Generate a greeting", 50)),
        ("client_roots", Roots),
    ))?;
    Ok(format!("{} {} {}", greeting(name), greeted.text(), named(&roots)))
}

pub async fn multi_round(call: Call) -> Result<String, ToolError> {
    let name = greeting(call.elicit("step1", "Step 1: What is your name?")?);
    let colour = call.elicit::<Colour>("step2", "Step 2: What is your favorite color?")?;
    let colour = colour.accepted().map(|Colour { color }| color);
    Ok(format!("{name} You like {}.", colour.as_deref().unwrap_or("none")))
}

/// Asks for nothing that the client did not declare.
pub async fn capabilities(call: Call) -> Result<String, ToolError> {
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
