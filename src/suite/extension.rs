//! Providers that depend on the caller: what an [`Extension`] offers, in sets that are built once.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::handler::Misconfigured;
use crate::wire::ServerCapabilities;

use super::addition::Addition;
use super::catalog::{Catalog, Kind};
use super::{Call, IntoPrompt, IntoResource, IntoTool, PromptRepo, ResourceRepo, Signature, ToolError};

/// Offers more to some callers than to others: the tools of a tenant, the resources of an account.
///
/// A request is served by the first that has what it names: the suite itself, then its extensions in the order of
/// registration, then the offers of one extension in the order given. An extension is asked once for a request, if
/// nothing in front of it serves the request and its capabilities name the kind; for lists, templates and streams all are
/// asked. What they add is listed behind what is the suite's own, in the order of names, each name once. A list that an
/// extension may add to is `private` to caches, and so is a resource that one offers.
///
/// Offers are built once and given again and again:
///
/// ```
/// use ractor_mcp::prelude::*;
/// use ractor_mcp::suite::{Extension, Offer};
/// use ractor_mcp::wire::ServerCapabilities;
///
/// async fn refund() -> &'static str { "refunded" }
///
/// struct Staff { offer: Offer }
///
/// impl Extension for Staff {
///     fn capabilities(&self) -> ServerCapabilities {
///         ServerCapabilities::new().tools(false)
///     }
///
///     async fn offers(&self, call: &Call) -> Result<Vec<Offer>, ToolError> {
///         let is_staff = call.principal().has_scope("staff");
///         Ok(is_staff.then(|| self.offer.clone()).into_iter().collect())
///     }
/// }
///
/// # fn main() -> Result<(), ractor_mcp::Misconfigured> {
/// let offer = Offer::builder().tool("refund", refund).build()?;
/// let suite = Suite::new("shop", "1.0.0").extension(Staff { offer });
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an extension of a suite",
    note = "a struct becomes one with `impl Extension for {Self}`"
)]
pub trait Extension: Send + Sync + 'static {
    /// What it may offer at all, to whomever. The server offers it beside what it offers itself, also to callers for whom
    /// the list turns out to be empty. Completion is among it, if what it offers completes. Read once, at registration; a
    /// kind that is not named here is not asked for.
    fn capabilities(&self) -> ServerCapabilities;

    /// What it offers to this caller. [`Call::name`] is what the request is about: the name of a tool or prompt, a URI, a
    /// template, or the method of a list or a stream. It is asked for each such request, and again before a stream is told
    /// of resources, so it should be quick.
    ///
    /// # Errors
    ///
    /// Text answers the request with `-32603`, read by the trace and not by the client; an
    /// [`RpcError`](crate::RpcError) answers it as it is.
    fn offers(&self, call: &Call) -> impl Future<Output = Result<Vec<Offer>, ToolError>> + Send;
}

/// A set of tools, resources and prompts: checked and compiled once, cheap to clone.
#[derive(Clone)]
pub struct Offer(Arc<Catalog>);

impl Offer {
    /// An offer of nothing yet.
    pub fn builder() -> OfferBuilder {
        OfferBuilder::default()
    }

    pub(super) fn catalog(&self) -> &Catalog {
        &self.0
    }
}

impl fmt::Debug for Offer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds = Kind::ALL.into_iter().filter(|kind| self.0.has(*kind)).map(Kind::name);
        write!(f, "Offer({})", kinds.collect::<Vec<_>>().join(", "))
    }
}

/// Collects an [`Offer`], in the words of a [`Suite`](super::Suite). Scopes in it are known only when it is made: a server without
/// [`Options::connect`](crate::Options::connect) starts with it, and nobody has them.
#[derive(Default)]
pub struct OfferBuilder {
    catalog: Catalog,
    faults: Vec<String>,
    warnings: Vec<String>,
}

impl OfferBuilder {
    /// Adds a tool, as [`Suite::tool`](super::Suite::tool) does.
    #[must_use]
    pub fn tool<Kind>(self, name: &str, tool: impl Signature<Kind> + IntoTool<Kind>) -> Self {
        self.add(Addition::tool(name, tool.into_tool()))
    }

    /// Adds a resource, as [`Suite::resource`](super::Suite::resource) does.
    #[must_use]
    pub fn resource<Kind>(self, uri: &str, resource: impl Signature<Kind> + IntoResource<Kind>) -> Self {
        self.add(Addition::resource(uri, resource.into_resource()))
    }

    /// Adds a family of resources, as [`Suite::resource_repo`](super::Suite::resource_repo) does.
    #[must_use]
    pub fn resource_repo(self, repo: impl ResourceRepo) -> Self {
        self.add(Addition::resource_repo(repo))
    }

    /// Adds a prompt, as [`Suite::prompt`](super::Suite::prompt) does.
    #[must_use]
    pub fn prompt<Kind>(self, name: &str, prompt: impl Signature<Kind> + IntoPrompt<Kind>) -> Self {
        self.add(Addition::prompt(name, prompt.into_prompt()))
    }

    /// Adds a family of prompts, as [`Suite::prompt_repo`](super::Suite::prompt_repo) does.
    #[must_use]
    pub fn prompt_repo(self, repo: impl PromptRepo) -> Self {
        self.add(Addition::prompt_repo(repo))
    }

    /// The offer. What clients in use may stumble over is traced, as [`Suite::warnings`](super::Suite::warnings) are.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with what was added.
    pub fn build(self) -> Result<Offer, Misconfigured> {
        Misconfigured::unless_empty(self.faults)?;
        for warning in &self.warnings {
            tracing::warn!(target: "ractor_mcp", "{warning}");
        }
        Ok(Offer(Arc::new(self.catalog)))
    }

    fn add(mut self, addition: Result<Addition, Vec<String>>) -> Self {
        match addition {
            Ok(mut addition) => {
                self.warnings.append(&mut addition.warnings);
                self.faults.extend(self.catalog.add(addition).err());
            }
            Err(faults) => self.faults.extend(faults),
        }
        self
    }
}

impl fmt::Debug for OfferBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OfferBuilder").field("faults", &self.faults).finish_non_exhaustive()
    }
}

type Offering<'a> = Pin<Box<dyn Future<Output = Result<Vec<Offer>, ToolError>> + Send + 'a>>;

/// An extension of any type.
trait Offers: Send + Sync {
    fn offers<'a>(&'a self, call: &'a Call) -> Offering<'a>;
}

impl<E: Extension> Offers for E {
    fn offers<'a>(&'a self, call: &'a Call) -> Offering<'a> {
        Box::pin(Extension::offers(self, call))
    }
}

/// A registered extension.
#[derive(Clone)]
pub(super) struct Extended {
    pub(super) capabilities: ServerCapabilities,
    extension: Arc<dyn Offers>,
}

impl Extended {
    pub(super) fn new(extension: impl Extension) -> Self {
        Self { capabilities: extension.capabilities(), extension: Arc::new(extension) }
    }

    pub(super) fn may_offer(&self, kind: Kind) -> bool {
        kind.is_in(&self.capabilities)
    }

    /// What it offers to a caller.
    ///
    /// # Errors
    ///
    /// Those of the extension, none of which is for the model to read.
    pub(super) async fn ask(&self, call: &Call) -> Result<Vec<Offer>, ToolError> {
        let offers = self.extension.offers(call).await.map_err(ToolError::into_protocol)?;
        for kind in Kind::ALL.into_iter().filter(|kind| !self.may_offer(*kind)) {
            if offers.iter().any(|offer| offer.0.has(kind)) {
                tracing::error!(target: "ractor_mcp", kind = kind.name(),
                    "an extension offers a kind that its capabilities do not name; it is left out");
            }
        }
        Ok(offers)
    }
}
