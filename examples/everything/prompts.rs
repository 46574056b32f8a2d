//! Prompts of each kind of content, and the completion of an argument.

use ractor_mcp::prelude::*;
use ractor_mcp::suite::PromptSpec;
use ractor_mcp::wire::{Content, ResourceContents};
use schemars::JsonSchema;
use serde::Deserialize;

use super::content::PNG;

pub fn simple() -> PromptSpec {
    async fn simple() -> &'static str {
        "This is a simple prompt for testing."
    }
    prompt(simple).description("One fixed text.")
}

/// A text with two arguments in it.
#[derive(Deserialize, JsonSchema)]
pub struct WithArguments {
    /// The first one.
    arg1: String,
    /// The second one.
    arg2: String,
}

pub fn with_arguments() -> PromptSpec {
    async fn with_arguments(WithArguments { arg1, arg2 }: WithArguments) -> String {
        format!("Prompt with arguments: arg1='{arg1}', arg2='{arg2}'")
    }
    async fn propose(completing: Completing, _: Call) -> Vec<String> {
        completing.among(["paris", "park", "party"])
    }
    prompt(with_arguments).complete("arg1", propose)
}

/// A resource with its contents, and a text.
#[derive(Deserialize, JsonSchema)]
pub struct WithResource {
    /// The URI that the resource has in the prompt.
    #[serde(rename = "resourceUri")]
    resource_uri: String,
}

pub async fn with_resource(WithResource { resource_uri }: WithResource) -> Vec<Content> {
    let text = "Embedded resource content for testing.";
    let contents = ResourceContents::text(resource_uri, text).mime_type("text/plain");
    vec![Content::resource(contents), Content::text("Please process the embedded resource above.")]
}

pub fn with_image() -> PromptSpec {
    async fn with_image() -> Vec<Content> {
        vec![Content::image(PNG, "image/png"), Content::text("Please analyze the image above.")]
    }
    prompt(with_image).description("A picture, and a text.")
}

#[derive(Deserialize, JsonSchema)]
struct Context {
    context: String,
}

/// A prompt that asks what it is for.
pub fn asking() -> PromptSpec {
    async fn ask(_: NoArguments, call: Call) -> Result<String, RpcError> {
        let answer = call.elicit::<Context>("user_context", "What context should the prompt use?")?;
        let context = answer.accepted().map(|Context { context }| context).unwrap_or_default();
        Ok(format!("Use this context: {context}"))
    }
    prompt(ask).description("Asks for a context.")
}
