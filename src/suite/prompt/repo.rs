//! Families of prompts: what a repository of them implements, and the repository as the suite keeps it.

use std::future::{Future, ready};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::suite::access::Access;
use crate::suite::completion::Proposals;
use crate::suite::page::{self, Keyed, Listing, Lists};
use crate::suite::{Call, Completing, Page, ToolError, cache, timeout};
use crate::wire::{CacheHints, Prompt};

use super::function::Getting;
use super::{PromptArguments, PromptOutput};

/// A family of prompts whose names start alike, such as those that people have saved.
///
/// ```
/// use ractor_mcp::prelude::*;
/// use ractor_mcp::suite::{PromptArguments, prompt_arguments};
/// use ractor_mcp::wire::Prompt;
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Text {
///     /// The text to translate.
///     text: String,
/// }
///
/// struct Translations;
///
/// impl PromptRepo for Translations {
///     type Cursor = ();
///     type Output = Option<String>;
///
///     fn prefix(&self) -> String {
///         "translate_".to_owned()
///     }
///
///     async fn list(&self, _: Option<()>, _: &Call) -> Result<Page<Prompt, ()>, ToolError> {
///         let prompts = ["de", "fr"].map(|language| {
///             let prompt = Prompt::new(format!("translate_{language}"));
///             prompt_arguments::<Text>().into_iter().fold(prompt, Prompt::argument)
///         });
///         Ok(prompts.to_vec().into())
///     }
///
///     async fn get(&self, name: &str, arguments: PromptArguments, _: &Call) -> Result<Option<String>, ToolError> {
///         let language = match name {
///             "translate_de" => "German",
///             "translate_fr" => "French",
///             _ => return Ok(None),
///         };
///         let Text { text } = arguments.parse()?;
///         Ok(Some(format!("Translate into {language}: {text}")))
///     }
/// }
///
/// let suite = Suite::new("translator", "1.0.0").prompt_repo(Translations);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a repository of prompts",
    note = "a struct becomes one with `impl PromptRepo for {Self}`; one prompt is a function, given to `Suite::prompt`"
)]
pub trait PromptRepo: Send + Sync + 'static {
    /// Where a page of the list starts; `()` if there is one page only. Clients get it sealed.
    type Cursor: Serialize + DeserializeOwned + Send + 'static;

    /// What a prompt returns: text, messages, an `Option` of those, and so on.
    type Output: PromptOutput + 'static;

    /// What the names of its prompts start with. No prefix may start with another one.
    fn prefix(&self) -> String;

    /// One page of its prompts, from the first or from where an earlier page said.
    ///
    /// # Errors
    ///
    /// As for [`get`](PromptRepo::get).
    fn list(
        &self,
        cursor: Option<Self::Cursor>,
        call: &Call,
    ) -> impl Future<Output = Result<Page<Prompt, Self::Cursor>, ToolError>> + Send;

    /// Fills in one prompt. Its arguments are as they came; [`PromptArguments::parse`] checks them against a type.
    ///
    /// # Errors
    ///
    /// `-32602` for a prompt that is not there, which an `Option` as output says with `None`, and for arguments that do
    /// not fit; any other error is `-32603`, read by the trace and not by the client, unless it is an
    /// [`RpcError`](crate::RpcError).
    fn get(
        &self,
        name: &str,
        arguments: PromptArguments,
        call: &Call,
    ) -> impl Future<Output = Result<Self::Output, ToolError>> + Send;

    /// Proposals for an argument of one of its prompts, the best first; clients get 100 of them and the number of all
    /// (CMP-03). Default: none.
    ///
    /// # Errors
    ///
    /// As for [`get`](PromptRepo::get).
    fn complete(
        &self,
        name: &str,
        completing: Completing,
        call: &Call,
    ) -> impl Future<Output = Result<Vec<String>, ToolError>> + Send {
        let _ = (name, completing, call);
        ready(Ok(Vec::new()))
    }

    /// How long its list may be kept. Default: not at all. Public hints are for a repository of which
    /// [`depends_on_caller`](PromptRepo::depends_on_caller) is not true: what is kept is served to everyone.
    fn cache(&self) -> CacheHints {
        CacheHints::NONE
    }

    /// Whether what it lists is not the same for every caller. Default: it may be so.
    fn depends_on_caller(&self) -> bool {
        true
    }

    /// The scope that callers need for what is here, read once, at registration. Without it, its prompts and completion are
    /// refused before any of this code runs, as for [`PromptSpec::scope`](crate::suite::PromptSpec::scope), and its
    /// prompts are left out of lists, since their names are content too. Default: none.
    fn scope(&self) -> Option<String> {
        None
    }

    /// How long one prompt may take, read once, at registration, as for [`PromptSpec::timeout`](crate::suite::PromptSpec::timeout).
    /// Default: as long as any request ([`Options::request_time`](crate::Options::request_time)).
    fn timeout(&self) -> Option<Duration> {
        None
    }
}

/// A registered repository.
pub(in crate::suite) struct Repo {
    pub(in crate::suite) cache: CacheHints,
    pub(in crate::suite) access: Access,
    prefix: String,
    pub(super) timeout: Option<Duration>,
    serve: Box<dyn Serve>,
}

impl Repo {
    /// A repository as it is kept.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it.
    pub(in crate::suite) fn register<R: PromptRepo>(repo: R) -> Result<Self, Vec<String>> {
        let (prefix, cache, access) = (repo.prefix(), repo.cache(), Access::of_repo(repo.scope()));
        let faults = cache::fault(cache, repo.depends_on_caller()).into_iter().chain(access.faults());
        let limit = repo.timeout();
        let faults: Vec<String> = faults.chain(timeout::fault(limit)).collect();
        if !faults.is_empty() {
            return Err(faults);
        }
        let serve = Box::new(Erased(repo));
        Ok(Self { cache, access, prefix, timeout: limit, serve })
    }

    pub(super) fn get<'a>(&'a self, arguments: PromptArguments, call: &'a Call) -> Getting<'a> {
        self.serve.get(arguments, call)
    }

    pub(super) fn complete<'a>(&'a self, completing: Completing, call: &'a Call) -> Proposals<'a> {
        self.serve.complete(completing, call)
    }
}

impl Keyed for Repo {
    fn key(&self) -> &str {
        &self.prefix
    }
}

impl Lists<Prompt> for Repo {
    fn prefix(&self) -> &str {
        &self.prefix
    }

    fn list<'a>(&'a self, cursor: Option<Value>, call: &'a Call) -> Listing<'a, Prompt> {
        self.serve.list(cursor, call)
    }
}

/// A repository of any type.
trait Serve: Send + Sync {
    fn list<'a>(&'a self, cursor: Option<Value>, call: &'a Call) -> Listing<'a, Prompt>;

    fn get<'a>(&'a self, arguments: PromptArguments, call: &'a Call) -> Getting<'a>;

    fn complete<'a>(&'a self, completing: Completing, call: &'a Call) -> Proposals<'a>;
}

struct Erased<R>(R);

impl<R: PromptRepo> Serve for Erased<R> {
    fn list<'a>(&'a self, cursor: Option<Value>, call: &'a Call) -> Listing<'a, Prompt> {
        Box::pin(async move { page::untyped(self.0.list(page::typed(cursor)?, call).await?) })
    }

    fn get<'a>(&'a self, arguments: PromptArguments, call: &'a Call) -> Getting<'a> {
        Box::pin(async move {
            let output = self.0.get(call.name(), arguments, call).await?;
            output.into_result(call.name())
        })
    }

    fn complete<'a>(&'a self, completing: Completing, call: &'a Call) -> Proposals<'a> {
        Box::pin(self.0.complete(call.name(), completing, call))
    }
}
