//! Families of resources: what a repository of them implements, and the repository as the suite keeps it.

use std::future::{Future, ready};
use std::pin::Pin;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::handler::RpcError;
use crate::suite::access::Access;
use crate::suite::completion::Proposals;
use crate::suite::page::{self, Keyed, Listing, Lists};
use crate::suite::{Call, Completing, Page, ToolError, cache, text, timeout};
use crate::wire::{CacheHints, ReadResourceResult, Resource, ResourceTemplate};

use super::ResourceOutput;
use super::template::{Template, Values};

/// A family of resources under one URI template, such as `notes://{id}`.
///
/// A URI belongs to the repository whose [prefix](ResourceRepo::prefix) it starts with, and to no other; if it does not
/// match the template, or its variables do not fit the key, there is no such resource. How URIs are matched, and what
/// of a path can be relied on, is told at [`template`](ResourceRepo::template).
///
/// ```
/// use ractor_mcp::prelude::*;
/// use ractor_mcp::wire::{Resource, ResourceTemplate};
///
/// struct Squares;
///
/// impl ResourceRepo for Squares {
///     type Key = u64;
///     type Cursor = u64;
///     type Output = String;
///
///     fn template(&self) -> ResourceTemplate {
///         ResourceTemplate::new("square://{number}", "square").mime_type("text/plain")
///     }
///
///     async fn list(&self, start: Option<u64>, _: &Call) -> Result<Page<Resource, u64>, ToolError> {
///         let start = start.unwrap_or(1);
///         let squares = (start..start + 50).map(|n| Resource::new(format!("square://{n}"), format!("{n} squared")));
///         Ok(Page::new(squares.collect(), Some(start + 50)))
///     }
///
///     async fn read(&self, number: u64, _: &Call) -> Result<String, ToolError> {
///         Ok(number.saturating_mul(number).to_string())
///     }
/// }
///
/// let suite = Suite::new("squares", "1.0.0").resource_repo(Squares);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a repository of resources",
    note = "a struct becomes one with `impl ResourceRepo for {Self}`; one resource is a function, given to `Suite::resource`"
)]
pub trait ResourceRepo: Send + Sync + 'static {
    /// What the variables of the template become: a struct with a field for each; a number or a `String` if there is
    /// only one.
    type Key: DeserializeOwned + Send + 'static;

    /// Where a page of the list starts; `()` if there is one page only. Clients get it sealed.
    type Cursor: Serialize + DeserializeOwned + Send + 'static;

    /// What a resource is read as: `String`, `Vec<u8>`, `Json<T>`, `Option` of one of those, and so on.
    type Output: ResourceOutput + 'static;

    /// The template, its name, and what else is listed of it.
    ///
    /// Of RFC 6570 there are `{a}`, `{a,b}`, `{/a,b}`, and one `{+a}`, which takes slashes too. Values come decoded and are
    /// never empty. No `/` or `\` is hidden in one, no segment is `.` or `..`, and a value never starts a path anew: a
    /// value that is joined to a folder stays in that folder, as far as symbolic links let it.
    fn template(&self) -> ResourceTemplate;

    /// What the URIs of its resources start with. Default: the text in front of the template's first variable. No prefix
    /// may start with another one.
    fn prefix(&self) -> String {
        literal_start(&self.template().uri_template).to_owned()
    }

    /// One page of its resources, from the first or from where an earlier page said. Default: none are listed.
    ///
    /// # Errors
    ///
    /// As for [`read`](ResourceRepo::read).
    fn list(
        &self,
        cursor: Option<Self::Cursor>,
        call: &Call,
    ) -> impl Future<Output = Result<Page<Resource, Self::Cursor>, ToolError>> + Send {
        let _ = (cursor, call);
        ready(Ok(Page::from(Vec::new())))
    }

    /// What one resource holds. [`Call::name`] is its URI.
    ///
    /// # Errors
    ///
    /// [`RpcError::resource_not_found`], which an `Option` as output says with `None`; any other error is `-32603`, read
    /// by the trace and not by the client (RES-11), unless it is an [`RpcError`].
    fn read(
        &self,
        key: Self::Key,
        call: &Call,
    ) -> impl Future<Output = Result<Self::Output, ToolError>> + Send;

    /// Proposals for a variable of the template, the best first; clients get 100 of them and the number of all (CMP-03).
    /// Default: none.
    ///
    /// # Errors
    ///
    /// As for [`read`](ResourceRepo::read).
    fn complete(
        &self,
        completing: Completing,
        call: &Call,
    ) -> impl Future<Output = Result<Vec<String>, ToolError>> + Send {
        let _ = (completing, call);
        ready(Ok(Vec::new()))
    }

    /// How long its list, and what its resources hold, may be kept. Default: not at all. A [`ReadResourceResult`] as
    /// output carries its own hints. Public hints are for a repository of which
    /// [`depends_on_caller`](ResourceRepo::depends_on_caller) is not true, since what is kept is served to everyone: here
    /// they are refused at the start, and those of an output become `private`.
    fn cache(&self) -> CacheHints {
        CacheHints::NONE
    }

    /// Whether what it lists or reads is not the same for every caller. Default: it may be so.
    fn depends_on_caller(&self) -> bool {
        true
    }

    /// The scope that callers need for what is here, read once, at registration. Without it, reads and completion are
    /// refused before any of this code runs, as for [`ResourceSpec::scope`](crate::suite::ResourceSpec::scope), and its
    /// resources are left out of lists, since their names are content too. Its template is
    /// listed still. Default: none.
    fn scope(&self) -> Option<String> {
        None
    }

    /// How long one read may take, read once, at registration, as for [`ResourceSpec::timeout`](crate::suite::ResourceSpec::timeout).
    /// Default: as long as any request ([`Options::request_time`](crate::Options::request_time)).
    fn timeout(&self) -> Option<Duration> {
        None
    }
}

/// The text in front of the first variable.
fn literal_start(template: &str) -> &str {
    template.split_once('{').map_or(template, |(start, _)| start)
}

pub(super) type Reading<'a> =
    Pin<Box<dyn Future<Output = Result<ReadResourceResult, ToolError>> + Send + 'a>>;

/// A registered repository.
pub(in crate::suite) struct Repo {
    pub(in crate::suite) listed: ResourceTemplate,
    pub(in crate::suite) cache: CacheHints,
    pub(in crate::suite) access: Access,
    depends_on_caller: bool,
    template: Template,
    has_hints: bool,
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
    pub(in crate::suite) fn register<R: ResourceRepo>(repo: R) -> Result<Self, Vec<String>> {
        let (listed, prefix, cache) = (repo.template(), repo.prefix(), repo.cache());
        let (access, limit) = (Access::of_repo(repo.scope()), repo.timeout());
        let mut faults: Vec<String> = access.faults().chain(timeout::fault(limit)).collect();
        let template = Template::parse(&listed.uri_template).map_err(|fault| faults.push(fault)).ok();
        if let Some(what) = template.as_ref().and_then(|template| text::misfit::<R::Key>(template.names())) {
            faults.push(format!(
                "its template does not fit its key: {what}; the key has a field for each variable, or is one value for one"
            ));
        }
        let start = literal_start(&listed.uri_template);
        if let Err(fault) = super::uri::check(&format!("{start}x"))
            && !listed.uri_template.is_empty()
        {
            faults.push(fault);
        }
        // Without a start, no prefix would do.
        if !start.is_empty() && (!start.starts_with(&prefix) || prefix.is_empty()) {
            faults.push(format!(
                "its prefix `{prefix}` is not what the template starts with; `{start}` would do"
            ));
        }
        let depends_on_caller = repo.depends_on_caller();
        faults.extend(cache::fault(cache, depends_on_caller));
        match template {
            Some(template) if faults.is_empty() => Ok(Self {
                listed,
                template,
                cache,
                access,
                depends_on_caller,
                has_hints: R::Output::HAS_HINTS,
                prefix,
                timeout: limit,
                serve: Box::new(Erased(repo)),
            }),
            _ => Err(faults),
        }
    }

    /// Whether a URI may be that of a resource here.
    pub(in crate::suite) fn serves(&self, uri: &str) -> bool {
        uri.starts_with(&self.prefix) && self.template.matches(uri).is_some()
    }

    /// Reads a URI that starts with the prefix.
    pub(super) async fn read(&self, uri: &str, call: &Call) -> Result<ReadResourceResult, ToolError> {
        let Some(values) = self.template.matches(uri) else {
            return Err(RpcError::resource_not_found(uri).into());
        };
        let mut result = self.serve.read(values, call).await?;
        super::add_mime_type(&mut result, self.listed.mime_type.as_deref());
        if !self.has_hints {
            result.cache = self.cache;
        }
        if self.depends_on_caller {
            result.cache = cache::private(result.cache);
        }
        Ok(result)
    }

    pub(in crate::suite) fn has_variable(&self, name: &str) -> bool {
        self.template.names().any(|known| known == name)
    }

    pub(in crate::suite) fn complete<'a>(&'a self, completing: Completing, call: &'a Call) -> Proposals<'a> {
        self.serve.complete(completing, call)
    }
}

impl Keyed for Repo {
    fn key(&self) -> &str {
        &self.listed.uri_template
    }
}

impl Lists<Resource> for Repo {
    fn prefix(&self) -> &str {
        &self.prefix
    }

    fn list<'a>(&'a self, cursor: Option<Value>, call: &'a Call) -> Listing<'a, Resource> {
        self.serve.list(cursor, call)
    }
}

/// A repository of any type.
trait Serve: Send + Sync {
    fn list<'a>(&'a self, cursor: Option<Value>, call: &'a Call) -> Listing<'a, Resource>;

    fn read<'a>(&'a self, values: Values, call: &'a Call) -> Reading<'a>;

    fn complete<'a>(&'a self, completing: Completing, call: &'a Call) -> Proposals<'a>;
}

struct Erased<R>(R);

impl<R: ResourceRepo> Serve for Erased<R> {
    fn list<'a>(&'a self, cursor: Option<Value>, call: &'a Call) -> Listing<'a, Resource> {
        Box::pin(async move { page::untyped(self.0.list(page::typed(cursor)?, call).await?) })
    }

    fn read<'a>(&'a self, values: Values, call: &'a Call) -> Reading<'a> {
        Box::pin(async move {
            let key = text::typed(values).map_err(|fault| {
                tracing::debug!(target: "ractor_mcp", uri = call.name(), %fault, "the URI does not fit the key");
                RpcError::resource_not_found(call.name())
            })?;
            self.0.read(key, call).await?.into_result(call.name())
        })
    }

    fn complete<'a>(&'a self, completing: Completing, call: &'a Call) -> Proposals<'a> {
        Box::pin(self.0.complete(completing, call))
    }
}
