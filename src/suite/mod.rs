//! The ready-made handler: plain functions as tools, resources and prompts, without a word of protocol.
//!
//! | file | holds |
//! |---|---|
//! | `mod.rs` | [`Suite`]: registration |
//! | `dispatch.rs` | what a suite does with a request; its state and messages |
//! | `function.rs`, `tool.rs` | what can be a tool: functions; structs that implement [`Tool`] |
//! | `spec.rs` | [`tool`], the options of one tool |
//! | `entry.rs` | a tool as it is kept: checked, compiled, limited |
//! | `running.rs`, `thread.rs` | one running call; one on a thread of its own |
//! | `call.rs`, `address.rs` | [`Call`], what a running tool knows and sends; [`ToolAddress`], how it is reached |
//! | `rounds.rs`, `book.rs` | [`Rounds`], questions and answers over several rounds; what they remember of each other |
//! | `question.rs`, `form.rs`, `asking.rs` | [`Question`], what can be asked; [`Form`], typed answers; asking in a call |
//! | `arguments.rs`, `shape.rs` | from JSON to the type that a tool takes, whole floats as integers |
//! | `output.rs`, `error.rs` | from what a tool returns to JSON; [`ToolError`] |
//! | `schema.rs` | the schemas that a tool advertises |
//! | `subscriptions/` | what streams may be told, and who decides; [`SubscriptionHandler`] |
//! | `checks.rs`, `faults.rs` | values against schemas; what is wrong with them, in words |
//! | `resource/`, `prompt/` | resources and prompts: functions, repositories, templates, arguments |
//! | `offers.rs` | what is answered about them and about lists |
//! | `page.rs`, `cache.rs` | lists in pages; how long they may be kept |
//! | `completion.rs`, `text.rs` | what is completed; types out of texts |
//! | `seal.rs` | [`KeyRing`]: opaque tokens for what clients carry between requests |

mod address;
mod arguments;
mod asking;
mod book;
mod cache;
mod call;
mod checks;
mod completion;
mod dispatch;
mod entry;
mod error;
#[cfg(feature = "json-schema")]
mod faults;
mod form;
mod function;
mod offers;
mod output;
mod page;
mod prompt;
mod question;
mod resource;
mod rounds;
mod running;
mod schema;
mod seal;
mod shape;
mod spec;
mod subscriptions;
#[cfg(test)]
mod tests;
mod text;
mod thread;
mod tool;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crate::wire::{CacheHints, Implementation, ToolList};

use entry::Entry;
use prompt::Prompts;
use resource::Resources;
use subscriptions::Subscriptions;

pub use address::ToolAddress;
pub use arguments::NoArguments;
pub use call::{Amount, Call, IntoTotal};
pub use completion::Completing;
pub use dispatch::{SuiteMessage, SuiteState};
pub use entry::TOOL_BUSY;
pub use error::ToolError;
pub use form::{Elicited, Form, form};
pub use function::{Blocking, IntoTool, Struct, blocking};
pub use output::{Json, ToolOutput};
pub use page::Page;
pub use prompt::{
    IntoPrompt, PromptArguments, PromptOutput, PromptRepo, PromptSpec, Proposed, prompt, prompt_arguments,
};
pub use question::{Question, Questions, Roots, WebPage, web_page};
pub use resource::{IntoResource, ResourceOutput, ResourceRepo, ResourceSpec, resource};
pub use rounds::Rounds;
pub use seal::{Binding, InvalidToken, KeyRing, SealError};
pub use spec::{ToolSpec, tool};
pub use subscriptions::{
    Accept, Subscription, SubscriptionAddress, SubscriptionCapabilities, SubscriptionHandler,
    SubscriptionReply,
};
pub use tool::{Tool, ToolReply};

/// How many items a page of a list holds unless the suite says otherwise.
const PAGE_SIZE: usize = 100;

/// A server made of functions.
///
/// ```
/// use ractor_mcp::prelude::*;
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// /// Adds two integers.
/// #[derive(Deserialize, JsonSchema)]
/// struct Add { a: i64, b: i64 }
///
/// async fn add(Add { a, b }: Add) -> i64 { a + b }
///
/// let suite = Suite::new("calculator", "1.0.0").tool("add", add);
/// ```
///
/// What is wrong with a registration is told when the supervisor starts, all of it in one message.
pub struct Suite {
    info: Implementation,
    instructions: Option<String>,
    listed: ToolList,
    tools: HashMap<Arc<str>, Arc<Entry>>,
    faults: Vec<String>,
    warnings: Vec<String>,
    warns: bool,
    keys: KeyRing,
    subscriptions: Subscriptions,
    resources: Resources,
    prompts: Prompts,
    page_size: usize,
    cache: CacheHints,
    question_time: Duration,
}

impl Suite {
    /// A suite that offers nothing yet. Name and version are the server's identity.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            info: Implementation::new(name, version),
            instructions: None,
            listed: ToolList::default(),
            tools: HashMap::new(),
            faults: Vec::new(),
            warnings: Vec::new(),
            warns: true,
            keys: KeyRing::random(),
            subscriptions: Subscriptions::default(),
            resources: Resources::default(),
            prompts: Prompts::default(),
            page_size: PAGE_SIZE,
            cache: CacheHints::NONE,
            question_time: KeyRing::LIFETIME,
        }
    }

    /// Sets the whole identity: title, description, icons, website.
    #[must_use]
    pub fn info(mut self, info: Implementation) -> Self {
        self.info = info;
        self
    }

    /// Tells clients how to use the server; part of `server/discover`.
    #[must_use]
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.instructions = Some(text.into());
        self
    }

    /// Sets the keys that seal what clients carry from one request to the next. Default: one [random](KeyRing::random) key,
    /// which is right for one process; several nodes need the same [`KeyRing`].
    #[must_use]
    pub fn keys(mut self, keys: KeyRing) -> Self {
        self.keys = keys;
        self
    }

    /// Sets how long a client has to answer a question, 20 minutes by default; then it starts its request again.
    #[must_use]
    pub fn question_time(mut self, time: Duration) -> Self {
        self.question_time = time;
        self
    }

    /// Registers a tool: an async function `Args -> Out`, `(Args, Call) -> Out` or `() -> Out`, a [`blocking`] function, a
    /// struct that implements [`Tool`], or one of these with options, made by [`tool`](fn@tool). Tools are listed in the
    /// order of registration.
    ///
    /// Arguments are checked against the schema that the tool advertises before it runs (feature `json-schema`).
    #[must_use]
    pub fn tool<Kind>(mut self, name: &str, tool: impl IntoTool<Kind>) -> Self {
        match Entry::register(name, tool.into_tool()) {
            Ok(_) if self.tools.contains_key(name) => {
                self.fault("tool", name, "registered twice; each name serves one tool");
            }
            Ok((entry, definition)) => {
                let warnings = entry::warnings(&definition);
                self.warnings.extend(warnings.iter().map(|warning| format!("tool `{name}`: {warning}")));
                self.listed.push(definition);
                self.tools.insert(Arc::clone(&entry.name), Arc::new(entry));
            }
            Err(faults) => faults.iter().for_each(|fault| self.fault("tool", name, fault)),
        }
        self
    }

    /// Registers a resource: an async function `() -> Out` or `(Call) -> Out`, or one of these with options, made by
    /// [`resource`](fn@resource). Resources are listed in the order of registration, in front of those of repositories,
    /// and a URI is read from here before any repository is asked.
    #[must_use]
    pub fn resource<Kind>(mut self, uri: &str, resource: impl IntoResource<Kind>) -> Self {
        if let Err(fault) = self.resources.add(uri, resource.into_resource()) {
            self.fault("resource", uri, &fault);
        }
        self
    }

    /// Registers a family of resources. Its prefix must not overlap with the prefix of another one.
    #[must_use]
    pub fn resource_repo(mut self, repo: impl ResourceRepo) -> Self {
        let template = repo.template().uri_template;
        if let Err(faults) = self.resources.add_repo(repo) {
            faults.iter().for_each(|fault| self.fault("resource template", &template, fault));
        }
        self
    }

    /// Registers a prompt: an async function `() -> Out`, `Args -> Out` or `(Args, Call) -> Out`, or one of these with
    /// options, made by [`prompt`](fn@prompt). Prompts are listed in the order of registration, in front of those of
    /// repositories, and a name means the one from here before any repository is asked.
    #[must_use]
    pub fn prompt<Kind>(mut self, name: &str, prompt: impl IntoPrompt<Kind>) -> Self {
        if let Err(faults) = self.prompts.add(name, prompt.into_prompt()) {
            faults.iter().for_each(|fault| self.fault("prompt", name, fault));
        }
        self
    }

    /// Registers a family of prompts. Its prefix must not overlap with the prefix of another one.
    #[must_use]
    pub fn prompt_repo(mut self, repo: impl PromptRepo) -> Self {
        let prefix = repo.prefix();
        if let Err(fault) = self.prompts.add_repo(repo) {
            self.fault("prompt prefix", &prefix, &fault);
        }
        self
    }

    /// Sets how many tools, resources, templates or prompts a page of their list holds. Default: 100.
    #[must_use]
    pub fn page_size(mut self, items: usize) -> Self {
        if items == 0 {
            self.faults.push("the page size is 0; at least 1 would do".to_owned());
        }
        self.page_size = items;
        self
    }

    /// Sets how long clients may keep what is the same for every caller: the answer to `server/discover`, the lists of
    /// tools and of templates, and of what is registered here one by one. Default: not at all. A list that
    /// repositories add to is as public, and as fresh, as its least part.
    #[must_use]
    pub fn cache(mut self, hints: CacheHints) -> Self {
        self.cache = hints;
        self
    }

    /// Sets whether the [`warnings`](Suite::warnings) are traced when the supervisor starts. Default: they are.
    #[must_use]
    pub fn trace_warnings(mut self, on: bool) -> Self {
        self.warns = on;
        self
    }

    /// What is in order and yet makes clients in use fail: names that they refuse, alternatives at the root of an input
    /// schema, ids in outputs whose digits they lose.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    fn fault(&mut self, kind: &str, name: &str, fault: &str) {
        self.faults.push(format!("{kind} `{name}`: {fault}"));
    }
}
