//! What changes a suite while it serves.

use std::fmt;
use std::sync::{Arc, Weak};

use crate::handler::Misconfigured;

use super::addition::Addition;
use super::catalog::{Catalog, Kind};
use super::current::Current;
use super::{IntoPrompt, IntoResource, IntoTool, PromptRepo, ResourceRepo, Signature};

/// Adds to a suite and takes away from it while it serves; see [`Suite::handle`](super::Suite::handle).
///
/// What is added is checked as at the start, and all that is wrong is told; nothing is changed then. Only scopes are taken as
/// they are where nobody can have them, without [`Options::connect`](crate::Options::connect). A request that runs
/// keeps what it began with: a call of a tool that is removed goes on to its end. Each change tells the open streams that
/// asked for it that the list changed, on every server that serves the suite; whoever changes a node tells that node.
///
/// A handle keeps nothing alive, so that a tool may hold the handle of its own suite. Once the suite is gone, additions fail
/// and there is nothing to remove. Changes are told to every stream that asked for them, also to those whose callers do not
/// see what was added: their client lists again and finds nothing new.
///
/// A client hears of them with `subscriptions/listen` and a filter of `toolsListChanged`, `promptsListChanged` or
/// `resourcesListChanged`, each `true`.
///
/// What a server offers is fixed when it starts: a kind that there was none of then can be added later only if it was
/// [promised](super::Suite::promises).
///
/// ```
/// use ractor_mcp::prelude::*;
///
/// async fn ping() -> &'static str { "pong" }
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let suite = Suite::new("growing", "1.0.0").tool("ping", ping);
/// let handle = suite.handle();
/// let mcp = McpSupervisor::start(suite).await?;
/// handle.add_tool("ping_again", ping)?;
/// assert!(handle.remove_tool("ping"));
/// # Ok(())
/// # }
/// # tokio::runtime::Runtime::new().unwrap().block_on(run()).unwrap();
/// ```
#[derive(Clone)]
pub struct SuiteHandle(Weak<Current>);

impl SuiteHandle {
    pub(super) fn new(current: &Arc<Current>) -> Self {
        Self(Arc::downgrade(current))
    }

    fn add(&self, addition: Result<Addition, Vec<String>>) -> Result<(), Misconfigured> {
        match self.0.upgrade() {
            Some(current) => current.add(addition),
            None => Err(Misconfigured::new("the suite is gone: the server that it was given to has ended")),
        }
    }

    fn remove<T>(&self, kind: Kind, remove: impl FnOnce(&mut Catalog) -> Option<T>) -> bool {
        self.0.upgrade().is_some_and(|current| current.remove(kind, remove))
    }

    /// Adds a tool behind the others; see [`Suite::tool`](super::Suite::tool).
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it, a name that is taken, or a server that offers no tools.
    pub fn add_tool<Kind>(
        &self,
        name: &str,
        tool: impl Signature<Kind> + IntoTool<Kind>,
    ) -> Result<(), Misconfigured> {
        self.add(Addition::tool(name, tool.into_tool()))
    }

    /// Removes a tool. False if there was none of this name.
    pub fn remove_tool(&self, name: &str) -> bool {
        self.remove(Kind::Tools, |catalog| catalog.tools.remove(name))
    }

    /// Adds a resource behind the others; see [`Suite::resource`](super::Suite::resource).
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it, a URI that is taken, or a server that offers no resources.
    pub fn add_resource<Kind>(
        &self,
        uri: &str,
        resource: impl Signature<Kind> + IntoResource<Kind>,
    ) -> Result<(), Misconfigured> {
        self.add(Addition::resource(uri, resource.into_resource()))
    }

    /// Removes a resource. False if there was none of this URI.
    pub fn remove_resource(&self, uri: &str) -> bool {
        self.remove(Kind::Resources, |catalog| catalog.resources.remove(uri))
    }

    /// Adds a family of resources behind the others; see [`Suite::resource_repo`](super::Suite::resource_repo).
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it, a prefix that overlaps with another one, or a server that offers no resources.
    pub fn add_resource_repo(&self, repo: impl ResourceRepo) -> Result<(), Misconfigured> {
        self.add(Addition::resource_repo(repo))
    }

    /// Removes a family of resources by its URI template. False if there was none.
    pub fn remove_resource_repo(&self, uri_template: &str) -> bool {
        self.remove(Kind::Resources, |catalog| catalog.resources.remove_repo(uri_template))
    }

    /// Adds a prompt behind the others; see [`Suite::prompt`](super::Suite::prompt).
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it, a name that is taken, or a server that offers no prompts.
    pub fn add_prompt<Kind>(
        &self,
        name: &str,
        prompt: impl Signature<Kind> + IntoPrompt<Kind>,
    ) -> Result<(), Misconfigured> {
        self.add(Addition::prompt(name, prompt.into_prompt()))
    }

    /// Removes a prompt. False if there was none of this name.
    pub fn remove_prompt(&self, name: &str) -> bool {
        self.remove(Kind::Prompts, |catalog| catalog.prompts.remove(name))
    }

    /// Adds a family of prompts behind the others; see [`Suite::prompt_repo`](super::Suite::prompt_repo).
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it, a prefix that overlaps with another one, or a server that offers no prompts.
    pub fn add_prompt_repo(&self, repo: impl PromptRepo) -> Result<(), Misconfigured> {
        self.add(Addition::prompt_repo(repo))
    }

    /// Removes a family of prompts by its prefix. False if there was none.
    pub fn remove_prompt_repo(&self, prefix: &str) -> bool {
        self.remove(Kind::Prompts, |catalog| catalog.prompts.remove_repo(prefix))
    }
}

impl fmt::Debug for SuiteHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SuiteHandle")
    }
}
