//! `prompts/list` and `prompts/get`.

use serde::Serialize;
use serde_json::{Map, Value};

use super::{CacheHints, Complete, Content, Icon, Meta, Role, cache};

/// What a server says of a prompt (PRM-12).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Prompt {
    /// The name that gets it.
    pub name: String,
    /// Its name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What it takes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<PromptArgument>,
    /// Pictures of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<Icon>,
    /// `_meta`.
    #[serde(rename = "_meta", skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl Prompt {
    /// A prompt by name.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: None,
            arguments: Vec::new(),
            icons: Vec::new(),
            meta: Meta::new(),
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn argument(mut self, argument: PromptArgument) -> Self {
        self.arguments.push(argument);
        self
    }
}

described!(Prompt);

optional!(Prompt {
    /// Sets its name for people.
    title: String,
    /// Sets what it is for.
    description: String,
});

/// An argument of a prompt; its values are strings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PromptArgument {
    /// Its name for programs.
    pub name: String,
    /// Its name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether it must be given.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub required: bool,
}

impl PromptArgument {
    /// An argument that must be given.
    pub fn required(name: impl Into<String>) -> Self {
        Self { name: name.into(), title: None, description: None, required: true }
    }

    /// An argument that may be left out.
    pub fn optional(name: impl Into<String>) -> Self {
        Self { required: false, ..Self::required(name) }
    }
}

optional!(PromptArgument {
    /// Sets its name for people.
    title: String,
    /// Sets what it is.
    description: String,
});

/// One message of a prompt.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PromptMessage {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub content: Content,
}

impl PromptMessage {
    /// What the person says.
    pub fn user(content: impl Into<Content>) -> Self {
        Self { role: Role::User, content: content.into() }
    }

    /// What the model says.
    pub fn assistant(content: impl Into<Content>) -> Self {
        Self { role: Role::Assistant, content: content.into() }
    }
}

/// The parameters of `prompts/list`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListPromptsRequest {
    /// Where to go on, from the previous page.
    pub cursor: Option<String>,
}

/// The parameters of `prompts/get`.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct GetPromptRequest {
    /// The prompt's name.
    pub name: String,
    /// The arguments.
    pub arguments: Map<String, Value>,
    /// Answers to what an earlier round asked, as they came.
    pub input_responses: Option<Map<String, Value>>,
    /// The state that an earlier round gave. Whoever sent it may have made it up (MRTR-09).
    pub request_state: Option<String>,
}

/// One page of the prompts.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListPromptsResult {
    result_type: Complete,
    /// The prompts.
    pub prompts: Vec<Prompt>,
    /// Where the next page starts; `None` ends the list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// How long it may be kept.
    #[serde(flatten, serialize_with = "cache::flat")]
    pub cache: CacheHints,
    /// `_meta`; the framework adds who the server is.
    #[serde(rename = "_meta", skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl ListPromptsResult {
    /// One page of prompts, the last one.
    pub fn new(prompts: Vec<Prompt>) -> Self {
        Self { result_type: Complete, prompts, next_cursor: None, cache: CacheHints::NONE, meta: Meta::new() }
    }

    /// Sets how long it may be kept.
    #[must_use]
    pub fn cache(mut self, hints: CacheHints) -> Self {
        self.cache = hints;
        self
    }
}

optional!(ListPromptsResult {
    /// Sets where the next page starts.
    next_cursor: String,
});

/// A prompt, filled in.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct GetPromptResult {
    result_type: Complete,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The messages.
    pub messages: Vec<PromptMessage>,
    /// `_meta`; the framework adds who the server is.
    #[serde(rename = "_meta", skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl GetPromptResult {
    /// A prompt of these messages.
    pub fn new(messages: Vec<PromptMessage>) -> Self {
        Self { result_type: Complete, description: None, messages, meta: Meta::new() }
    }
}

optional!(GetPromptResult {
    /// Sets what it is for.
    description: String,
});
