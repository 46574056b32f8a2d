//! Plain functions as prompts, and what a registration says of one.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use crate::handler::Principal;
use crate::suite::access::Access;
use crate::suite::page::Keyed;
use crate::suite::{Call, Completing, FromArguments, FromCall, NoArguments, Signature, ToolError, timeout};
use crate::wire::{GetPromptResult, Icon, Meta, Prompt, PromptArgument};

use super::arguments::Declared;
use super::{PromptArguments, PromptOutput};

/// What can be registered as a prompt: an async function `() -> Out`, `Args -> Out` or `(Args, Call) -> Out`, or a
/// [`PromptSpec`] made of one by [`prompt`].
///
/// `Args` is a struct that implements `serde::Deserialize` and `schemars::JsonSchema`, with fields that are text,
/// numbers, or enums without fields, since clients send text: its fields are the arguments, their doc comments the
/// descriptions, and its doc comment is the prompt's description. `Out` is a [`PromptOutput`]. The `Kind` tells the
/// shapes apart and is always inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be served as a prompt",
    label = "not a prompt",
    note = "a prompt is an `async fn` of the shape `() -> Out`, `Args -> Out` or `(Args, Call) -> Out`:",
    note = "`Args` is a struct of texts with `#[derive(serde::Deserialize, schemars::JsonSchema)]`, taken by value,",
    note = "or `NoArguments`; `Out` is text, `Content`, `PromptMessage`, a `Vec` of those, or a `Result` of those whose error",
    note = "implements `Display`; a family of prompts is a `PromptRepo`"
)]
pub trait IntoPrompt<Kind>: Signature<Kind> {
    /// The prompt with everything that a registration says of it but its name.
    fn into_prompt(self) -> PromptSpec;
}

#[diagnostic::do_not_recommend]
impl IntoPrompt<PromptSpec> for PromptSpec {
    fn into_prompt(self) -> PromptSpec {
        self
    }
}

impl<F, Fut, Out> IntoPrompt<fn() -> Out> for F
where
    F: Fn() -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Out> + Send + 'static,
    Out: PromptOutput + 'static,
{
    fn into_prompt(self) -> PromptSpec {
        PromptSpec::new(move |_: NoArguments, _| self())
    }
}

impl<F, Fut, Args, Out> IntoPrompt<fn(Args) -> Out> for F
where
    F: Fn(Args) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Out> + Send + 'static,
    Args: FromArguments,
    Out: PromptOutput + 'static,
{
    fn into_prompt(self) -> PromptSpec {
        PromptSpec::new(move |args: Args, _| self(args))
    }
}

impl<F, Fut, Args, C, Out> IntoPrompt<fn(Args, C) -> Out> for F
where
    F: Fn(Args, C) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Out> + Send + 'static,
    C: FromCall,
    Args: FromArguments,
    Out: PromptOutput + 'static,
{
    fn into_prompt(self) -> PromptSpec {
        PromptSpec::new(move |args: Args, call| self(args, C::from_call(call)))
    }
}

pub(super) type Getting<'a> = Pin<Box<dyn Future<Output = Result<GetPromptResult, ToolError>> + Send + 'a>>;

type Get = dyn Fn(PromptArguments, Arc<[PromptArgument]>, Call) -> Getting<'static> + Send + Sync;

type Completer = Box<dyn Fn(Completing, Call) -> Completed + Send + Sync>;

type Completed = Pin<Box<dyn Future<Output = Result<Vec<String>, ToolError>> + Send>>;

/// A prompt with everything that a registration says of it but its name. [`prompt`] makes one of a function.
pub struct PromptSpec {
    pub(in crate::suite) listed: Prompt,
    pub(in crate::suite) access: Access,
    pub(super) completers: HashMap<String, Completer>,
    /// What is wrong with the type of its arguments.
    fault: Option<String>,
    pub(super) timeout: Option<Duration>,
    declared: Arc<[PromptArgument]>,
    get: Arc<Get>,
}

/// A prompt with options: how it is listed, and how its arguments are completed.
///
/// ```
/// use ractor_mcp::prelude::*;
///
/// /// Reviews code.
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Review {
///     /// The language that the code is written in.
///     language: String,
/// }
///
/// async fn review(Review { language }: Review) -> String {
///     format!("Review this {language} code.")
/// }
///
/// async fn languages(completing: Completing, _: Call) -> Vec<String> {
///     completing.among(["C", "Elixir", "Erlang", "Rust"])
/// }
///
/// let review = prompt(review).title("Review").complete("language", languages);
/// let suite = Suite::new("reviews", "1.0.0").prompt("review", review);
/// ```
pub fn prompt<Kind>(prompt: impl Signature<Kind> + IntoPrompt<Kind>) -> PromptSpec {
    prompt.into_prompt()
}

impl PromptSpec {
    fn new<F, Fut, Args, Out>(function: F) -> Self
    where
        F: Fn(Args, Call) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Out> + Send + 'static,
        Args: FromArguments,
        Out: PromptOutput + 'static,
    {
        let function = Arc::new(function);
        let get =
            move |given: PromptArguments, declared: Arc<[PromptArgument]>, call: Call| -> Getting<'static> {
                let function = Arc::clone(&function);
                Box::pin(async move {
                    let args = given.read(&declared)?;
                    function(args, call.clone()).await.into_result(call.name())
                })
            };
        let mut listed = Prompt::new("");
        let (declared, fault) = match Declared::by::<Args>() {
            Ok(declared) => {
                listed.description = declared.description;
                (declared.arguments, None)
            }
            Err(fault) => (Vec::new(), Some(fault)),
        };
        listed.arguments.clone_from(&declared);
        Self {
            listed,
            access: Access::default(),
            completers: HashMap::new(),
            fault,
            timeout: None,
            declared: declared.into(),
            get: Arc::new(get),
        }
    }

    /// The prompt under a name.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it.
    pub(in crate::suite) fn register(mut self, name: &str) -> Result<Self, Vec<String>> {
        let mut faults: Vec<String> = self.fault.take().into_iter().chain(self.access.faults()).collect();
        faults.extend(timeout::fault(self.timeout));
        if name.is_empty() {
            faults.push("the name is empty; any text would do".to_owned());
        }
        let strange = self.completers.keys().filter(|name| !self.has_argument(name));
        faults.extend(strange.map(|name| format!("it completes `{name}`, which is none of its arguments")));
        if !faults.is_empty() {
            return Err(faults);
        }
        name.clone_into(&mut self.listed.name);
        Ok(self)
    }

    pub(super) fn has_argument(&self, name: &str) -> bool {
        self.listed.arguments.iter().any(|argument| argument.name == name)
    }

    /// Begins to fill it in.
    pub(super) fn get(&self, arguments: PromptArguments, call: Call) -> Getting<'static> {
        (self.get)(arguments, Arc::clone(&self.declared), call)
    }

    /// Sets its name for people. Default: none.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.listed.title = Some(title.into());
        self
    }

    /// Sets what it is for, in place of the doc comment of its arguments.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.listed.description = Some(description.into());
        self
    }

    /// Adds a picture. Default: none.
    #[must_use]
    pub fn icon(mut self, icon: Icon) -> Self {
        self.listed.icons.push(icon);
        self
    }

    /// Sets its `_meta`. Default: empty.
    #[must_use]
    pub fn meta(mut self, meta: Meta) -> Self {
        self.listed.meta = meta;
        self
    }

    /// Proposes values for an argument: the function returns them with the best first; clients get 100 of them and the
    /// number of all (CMP-03). Without this an argument has no proposals.
    #[must_use]
    pub fn complete<F, Fut, Out>(mut self, argument: &str, complete: F) -> Self
    where
        F: Fn(Completing, Call) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Out> + Send + 'static,
        Out: Proposed + 'static,
    {
        let completer: Completer = Box::new(move |completing, call| {
            let proposing = complete(completing, call);
            Box::pin(async move { proposing.await.into_values() })
        });
        self.completers.insert(argument.to_owned(), completer);
        self
    }

    /// Limits how long one use may take; by default it has as long as any request
    /// ([`Options::request_time`](crate::Options::request_time)). When the time is over the client reads `-32603`, the
    /// function is interrupted at its next `.await`, and the request's actor ends with `shutdown: expired`. What runs in
    /// [`Call::uninterrupted`] is finished first.
    #[must_use]
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(limit);
        self
    }

    /// Asks for a scope: a caller without it is refused with
    /// [`RpcError::insufficient_scope`](crate::RpcError::insufficient_scope) before anything of the prompt runs, HTTP status
    /// 403 and a challenge that names the scope (AUTH-17). Called again, it asks for one more. The prompt is still listed,
    /// so that a client knows what to get a token for. Anonymous callers have no scopes and read 401; a server without
    /// [`Options::connect`](crate::Options::connect) does not start with a suite that has such a prompt.
    #[must_use]
    pub fn scope(mut self, scope: impl Into<String>) -> Self {
        self.access.need(scope.into());
        self
    }

    /// Shows it to some callers only. To all others it does not exist: it is not listed, and whoever names it reads what
    /// they would read of any other name. A predicate that panics hides. The list is then `private` to caches.
    #[must_use]
    pub fn visible_to<F>(mut self, visible: F) -> Self
    where
        F: Fn(&Principal) -> bool + Send + Sync + 'static,
    {
        self.access.show_to(visible);
        self
    }
}

impl Keyed for PromptSpec {
    fn key(&self) -> &str {
        &self.listed.name
    }
}

/// What completes an argument: `Vec<String>`, or a `Result` of it.
pub trait Proposed: Send {
    /// The values.
    ///
    /// # Errors
    ///
    /// `-32603`, or the error asked for by name.
    fn into_values(self) -> Result<Vec<String>, ToolError>;
}

impl Proposed for Vec<String> {
    fn into_values(self) -> Result<Vec<String>, ToolError> {
        Ok(self)
    }
}

impl<E: fmt::Display + Send + 'static> Proposed for Result<Vec<String>, E> {
    fn into_values(self) -> Result<Vec<String>, ToolError> {
        self.map_err(ToolError::from_any)
    }
}

impl fmt::Debug for PromptSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PromptSpec")
            .field("listed", &self.listed)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}
