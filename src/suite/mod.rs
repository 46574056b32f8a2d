//! The ready-made handler: plain functions as tools, resources and prompts, without a word of protocol.
//!
//! | file | holds |
//! |---|---|
//! | `mod.rs` | [`Suite`]: registration |
//! | `dispatch.rs` | what a suite does with a request; its state and messages |
//! | `function.rs`, `tool.rs` | what can be a tool: functions; structs that implement [`Tool`] |
//! | `signature.rs` | [`Signature`], what a function takes and returns; [`FromArguments`], [`FromCall`] |
//! | `spec.rs` | [`tool`], the options of one tool |
//! | `entry.rs` | a tool as it is kept: checked, compiled, limited |
//! | `running.rs`, `thread.rs` | one running call; one on a thread of its own |
//! | `timeout.rs` | how long one use of a tool, a resource or a prompt may take |
//! | `call.rs`, `address.rs` | [`Call`], what a running tool knows and sends; [`ToolAddress`], how it is reached |
//! | `rounds.rs`, `book.rs` | [`Rounds`], questions and answers over several rounds; what they remember of each other |
//! | `question.rs`, `asking.rs` | [`Question`], what can be asked; asking in a call |
//! | `form.rs`, `blank.rs` | [`Form`], typed answers; what a form of one type asks for |
//! | `arguments.rs`, `shape.rs` | from JSON to the type that a tool takes, whole floats as integers |
//! | `output.rs`, `error.rs` | from what a tool returns to JSON; [`ToolError`] |
//! | `schema.rs` | the schemas that a tool advertises |
//! | `catalog.rs`, `addition.rs` | what is offered, as one value; what is to be added to it |
//! | `current.rs`, `handle.rs` | the catalog as it is now; [`SuiteHandle`], which changes it |
//! | `access.rs`, `view.rs` | scopes and visibility; what one caller sees in one request |
//! | `extension.rs` | [`Extension`], what is offered to some callers only |
//! | `identity.rs` | who the server says it is |
//! | `subscriptions/`, `watched.rs` | what streams may be told, [`SubscriptionHandler`]; of which resources |
//! | `checks.rs`, `faults.rs` | values against schemas; what is wrong with them, in words |
//! | `resource/`, `prompt/` | resources and prompts: functions, repositories, templates, arguments |
//! | `offers.rs` | what is answered about them |
//! | `lists.rs`, `page.rs`, `cache.rs` | lists; their pages; how long they may be kept |
//! | `completion.rs`, `text.rs` | what is completed; types out of texts |
//! | `seal.rs` | [`KeyRing`]: opaque tokens for what clients carry between requests |
//! | `tests.rs` | tests of registration as a whole |
#![allow(
    clippy::implied_bounds_in_impls,
    reason = "a registration asks for the signature first, and then for what implies it: see `signature.rs`"
)]

mod access;
mod addition;
mod address;
mod arguments;
mod asking;
mod blank;
mod book;
mod cache;
mod call;
mod catalog;
mod checks;
mod completion;
mod current;
mod dispatch;
mod entry;
mod error;
mod extension;
#[cfg(feature = "json-schema")]
mod faults;
mod form;
mod function;
mod handle;
mod identity;
mod lists;
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
mod signature;
mod spec;
mod subscriptions;
#[cfg(test)]
mod tests;
mod text;
mod thread;
mod timeout;
mod tool;
mod view;
mod watched;

use std::sync::Arc;
use std::time::Duration;

use crate::handler::{Late, Principal};
use crate::wire::{CacheHints, Implementation, ServerCapabilities};

use addition::Addition;
use extension::Extended;
use identity::Identity;
use subscriptions::Subscriptions;
use view::Providers;

pub use access::Item;
pub use address::ToolAddress;
pub use arguments::NoArguments;
pub use call::{Amount, Call, IntoTotal};
pub use completion::Completing;
pub use dispatch::{SuiteMessage, SuiteState};
pub use entry::TOOL_BUSY;
pub use error::ToolError;
pub use extension::{Extension, Offer, OfferBuilder};
pub use form::{Elicited, Form, form};
pub use function::{Blocking, IntoTool, Struct, blocking};
pub use handle::SuiteHandle;
pub use output::{Json, ToolOutput};
pub use page::Page;
pub use prompt::{
    IntoPrompt, PromptArguments, PromptOutput, PromptRepo, PromptSpec, Proposed, prompt, prompt_arguments,
};
pub use question::{Question, Questions, Roots, WebPage, web_page};
#[cfg(feature = "fuzzing")]
pub(crate) use resource::template_values;
pub use resource::{IntoResource, ResourceOutput, ResourceRepo, ResourceSpec, resource};
pub use rounds::Rounds;
pub use seal::{Binding, InvalidToken, KeyRing, SealError};
pub use signature::{FromArguments, FromCall, Signature};
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
    identity: Identity,
    providers: Providers,
    promises: ServerCapabilities,
    faults: Vec<String>,
    warnings: Vec<String>,
    keys: KeyRing,
    subscriptions: Subscriptions,
    page_size: usize,
    cursor_time: Duration,
    cache: CacheHints,
    question_time: Duration,
    logging: bool,
    /// Uses whose time is over.
    late: Arc<Late>,
}

impl Suite {
    /// A suite that offers nothing yet. Name and version are the server's identity; neither may be empty.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            identity: Identity::new(Implementation::new(name, version)),
            providers: Providers::default(),
            promises: ServerCapabilities::new(),
            faults: Vec::new(),
            warnings: Vec::new(),
            keys: KeyRing::random(),
            subscriptions: Subscriptions::default(),
            page_size: PAGE_SIZE,
            cursor_time: KeyRing::LIFETIME,
            cache: CacheHints::NONE,
            question_time: KeyRing::LIFETIME,
            logging: true,
            late: Arc::new(Late::new()),
        }
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
        if time.is_zero() {
            self.faults.push("the question time is zero; at least a millisecond would do".to_owned());
        }
        self.question_time = time;
        self
    }

    /// Registers a tool: an async function or closure `Args -> Out`, `(Args, Call) -> Out` or `() -> Out`, a [`blocking`]
    /// function, a struct that implements [`Tool`], or one of these with options, made by [`tool`](fn@tool). Tools are listed
    /// in the order of registration.
    ///
    /// What a tool shares with others it brings along, as a closure does or the fields of a struct:
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicU64, Ordering};
    /// use ractor_mcp::prelude::*;
    ///
    /// let calls = Arc::new(AtomicU64::new(0));
    /// let suite = Suite::new("counter", "1.0.0").tool("count", move || {
    ///     let calls = Arc::clone(&calls);
    ///     async move { calls.fetch_add(1, Ordering::Relaxed) + 1 }
    /// });
    /// ```
    ///
    /// Arguments are checked against the schema that the tool advertises before it runs (feature `json-schema`). One that the
    /// struct does not know is ignored, as serde does; with `#[serde(deny_unknown_fields)]` on the struct it is refused, which
    /// tells a model that misspelt a name. A tool without arguments refuses them all ([`NoArguments`]).
    ///
    /// ```
    /// use ractor_mcp::prelude::*;
    ///
    /// /// Says hello.
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// #[serde(deny_unknown_fields)]
    /// struct Greet { name: String }
    ///
    /// async fn greet(Greet { name }: Greet) -> String { format!("hello {name}") }
    ///
    /// let suite = Suite::new("greeter", "1.0.0").tool("greet", greet);
    /// ```
    ///
    /// The description of a tool is the doc comment of that struct, or [`ToolSpec::description`]: a doc comment on a function
    /// cannot be read. Tools without one are named in a warning when the server starts.
    #[must_use]
    pub fn tool<Kind>(self, name: &str, tool: impl Signature<Kind> + IntoTool<Kind>) -> Self {
        self.add(Addition::tool(name, tool.into_tool()))
    }

    /// Registers a resource: an async function `() -> Out` or `(Call) -> Out`, or one of these with options, made by
    /// [`resource`](fn@resource). Resources are listed in the order of registration, in front of those of repositories,
    /// and a URI is read from here before any repository is asked.
    #[must_use]
    pub fn resource<Kind>(self, uri: &str, resource: impl Signature<Kind> + IntoResource<Kind>) -> Self {
        self.add(Addition::resource(uri, resource.into_resource()))
    }

    /// Registers a family of resources. Its prefix must not overlap with the prefix of another one.
    #[must_use]
    pub fn resource_repo(self, repo: impl ResourceRepo) -> Self {
        self.add(Addition::resource_repo(repo))
    }

    /// Registers a prompt: an async function `() -> Out`, `Args -> Out` or `(Args, Call) -> Out`, or one of these with
    /// options, made by [`prompt`](fn@prompt). Prompts are listed in the order of registration, in front of those of
    /// repositories, and a name means the one from here before any repository is asked.
    #[must_use]
    pub fn prompt<Kind>(self, name: &str, prompt: impl Signature<Kind> + IntoPrompt<Kind>) -> Self {
        self.add(Addition::prompt(name, prompt.into_prompt()))
    }

    /// Registers a family of prompts. Its prefix must not overlap with the prefix of another one.
    #[must_use]
    pub fn prompt_repo(self, repo: impl PromptRepo) -> Self {
        self.add(Addition::prompt_repo(repo))
    }

    /// Registers what offers more to some callers than to others, behind the extensions that there are.
    #[must_use]
    pub fn extension(mut self, extension: impl Extension) -> Self {
        Arc::make_mut(&mut self.providers.extensions).push(Extended::new(extension));
        self
    }

    /// Decides what each caller sees of all that is offered, by repositories and extensions too: one rule for lists, uses,
    /// completion and streams, beside what the items say themselves ([`ToolSpec::visible_to`]). What is hidden does not
    /// exist for the caller: whoever names it reads what they would read of any other name. A panic hides. All lists are
    /// `private` to caches then, and so is what resources hold.
    ///
    /// A stream is granted the URIs of a repository that match its template, whether there is such a resource or not, and
    /// those that are hidden are left out: where that tells too much, authorize streams with
    /// [`authorize_resource_subscriptions`](Suite::authorize_resource_subscriptions).
    ///
    /// It runs for each item of each list, so it should be quick.
    ///
    /// ```
    /// use ractor_mcp::prelude::*;
    /// use ractor_mcp::suite::Item;
    ///
    /// # async fn drop_all() {}
    /// let suite = Suite::new("shop", "1.0.0").tool("admin_drop_all", drop_all).visible(|caller, item| match item {
    ///     Item::Tool(name) => !name.starts_with("admin_") || caller.has_scope("admin"),
    ///     _ => true,
    /// });
    /// ```
    #[must_use]
    pub fn visible<F>(mut self, visible: F) -> Self
    where
        F: Fn(&Principal, Item<'_>) -> bool + Send + Sync + 'static,
    {
        self.providers.visible = Some(Arc::new(visible));
        self
    }

    /// Offers more than follows from what is registered: what may be added later by a [handle](Suite::handle), or an
    /// extension of the protocol. `ServerCapabilities::new().tools(true)` is what a server without tools promises that will
    /// have some.
    #[must_use]
    pub fn promises(mut self, capabilities: ServerCapabilities) -> Self {
        self.promises = self.promises.and(capabilities);
        self
    }

    /// What changes this suite while it serves. Take it before the suite is given to a supervisor: from then on the
    /// capabilities promise `listChanged` for each list, and completion where there are prompts or resources, since those
    /// that are added may have it; neither can be promised any more once the server runs.
    pub fn handle(&self) -> SuiteHandle {
        self.providers.current.hand_out();
        SuiteHandle::new(&self.providers.current)
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

    /// Sets how long the cursor behind a page is good, 20 minutes by default; then the client begins its list again.
    #[must_use]
    pub fn cursor_time(mut self, time: Duration) -> Self {
        if time.is_zero() {
            self.faults.push("the cursor time is zero; at least a millisecond would do".to_owned());
        }
        self.cursor_time = time;
        self
    }

    /// Sets how long clients may keep what is the same for every caller: the answer to `server/discover`, the lists of
    /// tools and of templates, and of what is registered here one by one. Default: not at all. A list that
    /// repositories add to is as public, and as fresh, as its least part. A list that is not the same for every caller is
    /// `private`, and for as long as this says.
    #[must_use]
    pub fn cache(mut self, hints: CacheHints) -> Self {
        self.cache = hints;
        self
    }

    /// Sets whether tools, resources and prompts may send log records to clients that ask for them ([`Call::log`], LOG-01).
    /// Default: they may. Where they may not, and where there are none, `logging` is not declared, and a record is dropped and
    /// traced as a bug. The specification would rather see servers trace by other means (LOG-09).
    #[must_use]
    pub fn logging(mut self, on: bool) -> Self {
        self.logging = on;
        self
    }

    /// Sets whether the [`warnings`](Suite::warnings), and the names of tools without a description, are traced when the
    /// supervisor starts. Default: they are.
    #[must_use]
    pub fn trace_warnings(self, on: bool) -> Self {
        self.providers.current.set_warns(on);
        self
    }

    /// What is in order and yet makes clients in use fail: names that they refuse, alternatives at the root of an input
    /// schema, ids in outputs whose digits they lose.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    fn add(mut self, addition: Result<Addition, Vec<String>>) -> Self {
        match addition {
            Ok(mut addition) => {
                let warnings = std::mem::take(&mut addition.warnings);
                match self.providers.current.change(|catalog| catalog.add(addition)) {
                    Ok(()) => self.warnings.extend(warnings),
                    Err(fault) => self.faults.push(fault),
                }
            }
            Err(faults) => self.faults.extend(faults),
        }
        self
    }
}
