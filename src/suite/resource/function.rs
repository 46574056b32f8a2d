//! Plain functions as resources, and what a registration says of one.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use crate::handler::Principal;
use crate::suite::access::Access;
use crate::suite::page::Keyed;
use crate::suite::{Call, FromCall, Signature, ToolError, timeout};
use crate::wire::{Annotations, CacheHints, Icon, Meta, ReadResourceResult, Resource};

use super::ResourceOutput;
use super::repo::Reading;

/// What can be registered as a resource: an async function `() -> Out` or `(Call) -> Out`, or a [`ResourceSpec`] made of
/// one by [`resource`]. `Out` is a [`ResourceOutput`]. The `Kind` tells the shapes apart and is always inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be served as a resource",
    label = "not a resource",
    note = "a resource is an `async fn` of the shape `() -> Out` or `(Call) -> Out`, where `Out` is text, bytes, `Json<T>`,",
    note = "`ResourceContents`, an `Option` of those, or a `Result` whose error implements `Display`;",
    note = "a family of resources is a `ResourceRepo`"
)]
pub trait IntoResource<Kind>: Signature<Kind> {
    /// The resource with everything that a registration says of it but its URI.
    fn into_resource(self) -> ResourceSpec;
}

#[diagnostic::do_not_recommend]
impl IntoResource<ResourceSpec> for ResourceSpec {
    fn into_resource(self) -> ResourceSpec {
        self
    }
}

impl<F, Fut, Out> IntoResource<fn() -> Out> for F
where
    F: Fn() -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Out> + Send + 'static,
    Out: ResourceOutput + 'static,
{
    fn into_resource(self) -> ResourceSpec {
        ResourceSpec::new(move |_| self())
    }
}

impl<F, Fut, C, Out> IntoResource<fn(C) -> Out> for F
where
    F: Fn(C) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Out> + Send + 'static,
    C: FromCall,
    Out: ResourceOutput + 'static,
{
    fn into_resource(self) -> ResourceSpec {
        ResourceSpec::new(move |call| self(C::from_call(call)))
    }
}

/// A resource with everything that a registration says of it but its URI. [`resource`] makes one of a function.
pub struct ResourceSpec {
    pub(in crate::suite) listed: Resource,
    pub(in crate::suite) access: Access,
    cache: CacheHints,
    has_hints: bool,
    pub(super) timeout: Option<Duration>,
    read: Arc<dyn Fn(Call) -> Reading<'static> + Send + Sync>,
}

/// A resource with options: how it is listed, and how long it may be kept.
///
/// ```
/// use ractor_mcp::prelude::*;
///
/// async fn readme() -> &'static str { "# Read me" }
///
/// let readme = resource(readme).title("Read me").mime_type("text/markdown").size(9);
/// let suite = Suite::new("docs", "1.0.0").resource("docs://readme.md", readme);
/// ```
pub fn resource<Kind>(resource: impl Signature<Kind> + IntoResource<Kind>) -> ResourceSpec {
    resource.into_resource()
}

impl ResourceSpec {
    fn new<F, Fut, Out>(function: F) -> Self
    where
        F: Fn(Call) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Out> + Send + 'static,
        Out: ResourceOutput + 'static,
    {
        let function = Arc::new(function);
        Self {
            listed: Resource::new("", ""),
            access: Access::default(),
            cache: CacheHints::NONE,
            has_hints: Out::HAS_HINTS,
            timeout: None,
            read: Arc::new(move |call| {
                let function = Arc::clone(&function);
                Box::pin(async move {
                    let reading = function(call.clone());
                    reading.await.into_result(call.name())
                })
            }),
        }
    }

    /// The resource under a URI.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it.
    pub(in crate::suite) fn register(mut self, uri: &str) -> Result<Self, Vec<String>> {
        let faults = super::uri::check(uri).err().into_iter().chain(self.access.faults());
        let faults: Vec<String> = faults.chain(timeout::fault(self.timeout)).collect();
        if !faults.is_empty() {
            return Err(faults);
        }
        uri.clone_into(&mut self.listed.uri);
        if self.listed.name.is_empty() {
            last_part(uri).clone_into(&mut self.listed.name);
        }
        Ok(self)
    }

    pub(super) async fn read(&self, call: Call) -> Result<ReadResourceResult, ToolError> {
        let mut result = (self.read)(call).await?;
        super::add_mime_type(&mut result, self.listed.mime_type.as_deref());
        if !self.has_hints {
            result.cache = self.cache;
        }
        Ok(result)
    }

    /// Sets its name for programs. Default: the last part of its URI.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.listed.name = name.into();
        self
    }

    /// Sets its name for people. Default: none.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.listed.title = Some(title.into());
        self
    }

    /// Sets what it is. Default: nothing is said.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.listed.description = Some(description.into());
        self
    }

    /// Sets its media type, in the list and where what is read has none. Default: nothing is said.
    #[must_use]
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.listed.mime_type = Some(mime_type.into());
        self
    }

    /// Sets its size in bytes, before any encoding. Default: nothing is said.
    #[must_use]
    pub fn size(mut self, bytes: u64) -> Self {
        self.listed.size = Some(bytes);
        self
    }

    /// Sets hints on it. Default: none.
    #[must_use]
    pub fn annotations(mut self, annotations: Annotations) -> Self {
        self.listed.annotations = Some(annotations);
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

    /// Sets how long what it holds may be kept. Default: not at all. Public only if it is the same for every caller.
    /// A [`ReadResourceResult`] as output carries its own hints.
    #[must_use]
    pub fn cache(mut self, hints: CacheHints) -> Self {
        self.cache = hints;
        self
    }

    /// Limits how long one read may take; by default it has as long as any request
    /// ([`Options::request_time`](crate::Options::request_time)). When the time is over the client reads `-32603`, the
    /// function is interrupted at its next `.await`, and the request's actor ends with `shutdown: expired`. What runs in
    /// [`Call::uninterrupted`] is finished first.
    #[must_use]
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(limit);
        self
    }

    /// Asks for a scope: a caller without it is refused with
    /// [`RpcError::insufficient_scope`](crate::RpcError::insufficient_scope) before anything of the resource runs, HTTP status
    /// 403 and a challenge that names the scope (AUTH-17). Called again, it asks for one more. The resource is still listed,
    /// so that a client knows what to get a token for. Anonymous callers have no scopes and read 401; a server without
    /// [`Options::connect`](crate::Options::connect) does not start with a suite that has such a resource. What it holds is then
    /// `private` to caches.
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

impl Keyed for ResourceSpec {
    fn key(&self) -> &str {
        &self.listed.uri
    }
}

fn last_part(uri: &str) -> &str {
    uri.rsplit(['/', ':']).find(|part| !part.is_empty()).unwrap_or(uri)
}

impl fmt::Debug for ResourceSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResourceSpec")
            .field("listed", &self.listed)
            .field("cache", &self.cache)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}
