//! What a suite answers to `subscriptions/listen`: the registry feeds the stream, within what the caller may see.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use crate::handler::{Channel, Grant, Principal, Reply, contained};
use crate::wire::{ListenRequest, ServerCapabilities};

use super::{Suite, SuiteMessage};

/// How long the authorization of a new stream may take; then it is granted no resource.
const AUTHORIZE_TIME: Duration = Duration::from_secs(5);

type Authorizing = Pin<Box<dyn Future<Output = Vec<String>> + Send>>;
type Authorize = Arc<dyn Fn(Vec<String>, Principal) -> Authorizing + Send + Sync>;

/// What streams of a suite may be told, and who decides.
#[derive(Clone, Default)]
pub(super) struct Subscriptions {
    lists: bool,
    resources: bool,
    authorize: Option<Authorize>,
}

impl Suite {
    /// Says that the application tells streams when the lists of this suite change, with
    /// [`McpSupervisor::notify_tools_changed`](crate::McpSupervisor::notify_tools_changed) and its siblings: the
    /// capabilities promise it (`listChanged`), and `subscriptions/listen` is served.
    #[must_use]
    pub fn list_changes(mut self) -> Self {
        self.subscriptions.lists = true;
        self
    }

    /// Says that the application tells streams when resources change, with
    /// [`McpSupervisor::notify_resource_updated`](crate::McpSupervisor::notify_resource_updated): the capabilities promise
    /// it (`resources.subscribe`), and `subscriptions/listen` is served.
    #[must_use]
    pub fn resource_updates(mut self) -> Self {
        self.subscriptions.resources = true;
        self
    }

    /// Decides which resources a caller may be told of: when it listens, with all URIs at once, and again before each
    /// batch of notifications, so that revoked access takes effect. URIs that nothing here serves are refused before. A
    /// panic, or an answer after 5 s, allows none.
    #[must_use]
    pub fn authorize_resource_subscriptions<F, Fut>(mut self, authorize: F) -> Self
    where
        F: Fn(Vec<String>, Principal) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Vec<String>> + Send + 'static,
    {
        self.subscriptions.authorize =
            Some(Arc::new(move |uris, principal| Box::pin(authorize(uris, principal))));
        self
    }

    /// Promises what streams may be told.
    pub(super) fn promised(&self, mut offered: ServerCapabilities) -> ServerCapabilities {
        let told = &self.subscriptions;
        for list in [&mut offered.tools, &mut offered.prompts].into_iter().flatten() {
            list.list_changed = told.lists;
        }
        if let Some(resources) = &mut offered.resources {
            resources.list_changed = told.lists;
            resources.subscribe = told.resources;
        }
        offered
    }

    pub(super) async fn listen(&self, request: ListenRequest, channel: &Channel<SuiteMessage>) -> Reply {
        let mut filter = request.notifications;
        let Some(authorize) = &self.subscriptions.authorize else {
            return Reply::subscribe(filter);
        };
        filter.resource_subscriptions.retain(|uri| self.resources.serves(uri));
        let (authorize, principal) = (Arc::clone(authorize), channel.principal().clone());
        if !filter.resource_subscriptions.is_empty() {
            let asked = filter.resource_subscriptions.clone();
            let asking = contained(async { authorize(asked, principal.clone()).await });
            let allowed = match timeout(AUTHORIZE_TIME, asking).await {
                Ok(Ok(allowed)) => allowed,
                failed => {
                    tracing::error!(target: "ractor_mcp", ?failed, "the authorization of a stream failed: it is granted no resource");
                    Vec::new()
                }
            };
            filter.resource_subscriptions.retain(|uri| allowed.contains(uri));
        }
        let again = move |uris| authorize(uris, principal.clone());
        Reply::subscribe(Grant::new(filter).authorized_by(again))
    }
}
