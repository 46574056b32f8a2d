//! Which resources a stream may be told of: those that its caller sees, may read, and is allowed by the application, when
//! it listens and again before each batch of notifications.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use tokio::time::timeout;

use crate::handler::{Principal, contained};

use super::catalog::Kind;
use super::view::Providers;
use super::{Call, ToolError};

type Authorizing = Pin<Box<dyn Future<Output = Vec<String>> + Send>>;

/// The application's own decision.
pub(super) type Authorize = Arc<dyn Fn(Vec<String>, Principal) -> Authorizing + Send + Sync>;

/// Decides for one stream. It takes a new look at the suite each time, and so sees what has changed.
#[derive(Clone)]
pub(super) struct Watched {
    pub(super) providers: Providers,
    pub(super) authorize: Option<Authorize>,
    pub(super) call: Call,
}

impl Watched {
    /// Whether the caller may ever be refused a resource.
    pub(super) fn may_refuse(&self) -> bool {
        self.refuses() || self.providers.current.has_handle()
    }

    /// Whether some callers are refused some resources as things stand.
    fn refuses(&self) -> bool {
        self.authorize.is_some()
            || self.providers.depend_on_caller(Kind::Resources)
            || self.providers.current.catalog().resources.restricts
    }

    /// Those of some resources that the caller may be told of. URIs that nothing serves are refused with those that are
    /// hidden, so that nobody can tell the two apart.
    ///
    /// # Errors
    ///
    /// Those of an extension.
    pub(super) async fn allowed(&self, mut uris: Vec<String>) -> Result<Vec<String>, ToolError> {
        if uris.is_empty() || !self.refuses() {
            return Ok(uris);
        }
        let principal = self.call.principal();
        let whole = self.providers.view(principal).whole(Kind::Resources, &self.call).await?;
        uris.retain(|uri| {
            whole.resource(uri).is_some_and(|named| named.access().allows(principal) && named.serves(uri))
        });
        match &self.authorize {
            Some(authorize) if !uris.is_empty() => Ok(authorized(authorize, uris, &self.call).await),
            _ => Ok(uris),
        }
    }

    /// The same for a stream that is open: a failure allows none.
    pub(super) async fn still_allowed(self, uris: Vec<String>) -> Vec<String> {
        self.allowed(uris).await.unwrap_or_else(|error| {
            tracing::error!(target: "ractor_mcp", ?error, "an extension failed: the stream is told of no resource");
            Vec::new()
        })
    }
}

/// What the application allows of what is asked, in the same order: nothing on failure, which an answer after
/// [`Options::authorize_time`](crate::Options::authorize_time) is too.
pub(super) async fn authorized(authorize: &Authorize, mut uris: Vec<String>, call: &Call) -> Vec<String> {
    let asked = uris.clone();
    let asking = contained(async { authorize(asked, call.principal().clone()).await });
    match timeout(call.authorize_time(), asking).await {
        Ok(Ok(allowed)) => uris.retain(|uri| allowed.contains(uri)),
        failed => {
            tracing::error!(target: "ractor_mcp", ?failed, "the authorization of a stream failed: it is granted none of what was asked");
            uris.clear();
        }
    }
    uris
}
