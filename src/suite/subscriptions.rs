//! What a suite answers to `subscriptions/listen`: the registry feeds the stream, within what the caller may see.

use std::future::Future;
use std::sync::Arc;

use crate::handler::{Channel, Grant, Principal, Reply};
use crate::wire::{ListenRequest, ServerCapabilities};

use super::watched::{Authorize, Watched};
use super::{Suite, SuiteMessage, ToolError};

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
    /// capabilities promise it (`listChanged`), and `subscriptions/listen` is served. Default: it does not. A
    /// [handle](Suite::handle) tells them by itself.
    #[must_use]
    pub fn list_changes(mut self) -> Self {
        self.subscriptions.lists = true;
        self
    }

    /// Says that the application tells streams when resources change, with
    /// [`McpSupervisor::notify_resource_updated`](crate::McpSupervisor::notify_resource_updated): the capabilities promise
    /// it (`resources.subscribe`), and `subscriptions/listen` is served. Default: it does not.
    #[must_use]
    pub fn resource_updates(mut self) -> Self {
        self.subscriptions.resources = true;
        self
    }

    /// Decides which resources a caller may be told of: when it listens, with all URIs at once, and again before each
    /// batch of notifications, so that revoked access takes effect. URIs that nothing here serves are refused before. A
    /// panic, or an answer after 5 s ([`Options::authorize_time`](crate::Options::authorize_time)), allows none. Default:
    /// all that the caller sees and has the scopes for.
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

    /// Promises what streams may be told: what the application tells, and the changes made by a handle.
    pub(super) fn promised(&self, mut offered: ServerCapabilities) -> ServerCapabilities {
        let lists_change = self.subscriptions.lists || self.providers.current.has_handle();
        for list in [&mut offered.tools, &mut offered.prompts].into_iter().flatten() {
            list.list_changed |= lists_change;
        }
        if let Some(resources) = &mut offered.resources {
            resources.list_changed |= lists_change;
            resources.subscribe |= self.subscriptions.resources;
        }
        offered
    }

    pub(super) async fn listen(
        &self,
        request: ListenRequest,
        channel: &Channel<SuiteMessage>,
    ) -> Result<Reply, ToolError> {
        let mut filter = request.notifications;
        let watched = Watched {
            providers: self.providers.clone(),
            authorize: self.subscriptions.authorize.clone(),
            call: self.call_of(channel, channel.method()),
        };
        if !watched.may_refuse() {
            return Ok(Reply::subscribe(filter));
        }
        filter.resource_subscriptions = watched.allowed(filter.resource_subscriptions).await?;
        let again = move |uris| watched.clone().still_allowed(uris);
        Ok(Reply::subscribe(Grant::new(filter).authorized_by(again)))
    }
}
