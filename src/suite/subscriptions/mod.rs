//! What a suite answers to `subscriptions/listen`: the registry feeds the stream, or a handler of the application does,
//! within what the caller may see.
//!
//! | file | holds |
//! |---|---|
//! | `mod.rs` | the options of a suite that are about streams; what is promised and granted |
//! | `authorization.rs` | asking the application what a caller may be told of |
//! | `handler.rs` | [`SubscriptionHandler`], a source of changes of the application's own |
//! | `subscription.rs` | [`Subscription`], what such a handler knows of a stream and sends on it |
//! | `active.rs` | one running stream of such a handler, its types erased |

mod active;
mod authorization;
mod handler;
mod subscription;

use std::future::Future;

use crate::handler::{Channel, Grant, Principal, Reply, RpcError};
use crate::rules::subscription::narrowed;
use crate::wire::{ListenRequest, ServerCapabilities, SubscriptionFilter};

use crate::suite::{Suite, SuiteMessage, SuiteState};

use active::{Erased, Subscribe};
use authorization::Authorization;

pub(super) use active::Streaming;
pub use handler::{Accept, SubscriptionCapabilities, SubscriptionHandler, SubscriptionReply};
pub use subscription::{Subscription, SubscriptionAddress};

/// What streams of a suite may be told, and who decides.
#[derive(Default)]
pub(super) struct Subscriptions {
    lists: bool,
    resources: bool,
    authorization: Authorization,
    handler: Option<Box<dyn Subscribe>>,
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
    /// it (`resources.subscribe`), and `subscriptions/listen` is served. URIs that nothing here serves are not granted.
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
        self.subscriptions.authorization.set_resources(authorize);
        self
    }

    /// Decides of which tasks of the tasks extension a caller may be told: when it listens, with all ids at once, and again
    /// before each batch of states, so that revoked access takes effect. A panic, or an answer after 5 s, allows none.
    /// Without it, a caller may be told of its own tasks, which are those that are published under its
    /// [topic](crate::Topic::task).
    ///
    /// Tasks are granted where the capabilities have the extension, which a suite does not add by itself: a
    /// [`Handler`](crate::Handler) that serves `tasks/get` does, and leaves `subscriptions/listen` to the suite.
    #[must_use]
    pub fn authorize_task_subscriptions<F, Fut>(mut self, authorize: F) -> Self
    where
        F: Fn(Vec<String>, Principal) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Vec<String>> + Send + 'static,
    {
        self.subscriptions.authorization.set_tasks(authorize);
        self
    }

    /// Serves `subscriptions/listen` with a source of changes of the application's own. It replaces the registry for this
    /// server: `McpSupervisor::notify_tools_changed` and its siblings reach none of its streams, so that
    /// [`list_changes`](Suite::list_changes) and [`resource_updates`](Suite::resource_updates) go with the registry only.
    #[must_use]
    pub fn subscription_handler(mut self, handler: impl SubscriptionHandler) -> Self {
        if self.subscriptions.handler.is_some() {
            self.faults.push("subscription handler: registered twice; one serves all streams".to_owned());
        }
        self.subscriptions.handler = Some(Box::new(Erased::new(handler)));
        self
    }

    /// Promises what streams may be told.
    pub(super) fn promised(&self, mut offered: ServerCapabilities) -> ServerCapabilities {
        let told = &self.subscriptions;
        if let Some(handler) = &told.handler {
            return handler.capabilities().added_to(offered);
        }
        for list in [&mut offered.tools, &mut offered.prompts].into_iter().flatten() {
            list.list_changed = told.lists;
        }
        if let Some(resources) = &mut offered.resources {
            resources.list_changed = told.lists;
            resources.subscribe = told.resources;
        }
        offered
    }

    pub(super) async fn listen(
        &self,
        request: ListenRequest,
        channel: &Channel<SuiteMessage>,
        state: &mut SuiteState,
    ) -> Result<Reply, RpcError> {
        let told = &self.subscriptions;
        let filter = self.allowed(request.notifications, channel.principal()).await;
        let Some(handler) = &told.handler else {
            return Ok(Reply::subscribe(told.authorization.grant(filter, channel.principal())));
        };
        let (accepted, stream) =
            handler.subscribe(filter.clone(), channel.clone(), told.authorization.clone()).await?;
        state.stream = Some(stream);
        let (granted, widened) = narrowed(&filter, &accepted.unwrap_or_else(|| filter.clone()));
        if widened {
            tracing::error!(target: "ractor_mcp", "the subscription handler accepted more than it may; clipped");
        }
        Ok(Reply::subscribe(Grant::new(granted).unregistered()))
    }

    /// What is left of a filter when the application was asked. What resources there are is known to a subscription handler
    /// alone, unless the application wants to be asked.
    async fn allowed(&self, mut filter: SubscriptionFilter, principal: &Principal) -> SubscriptionFilter {
        let told = &self.subscriptions;
        if told.handler.is_none() || told.authorization.asks_for_resources() {
            filter.resource_subscriptions.retain(|uri| self.resources.serves(uri));
        }
        told.authorization.narrow(filter, principal).await
    }
}

impl Subscriptions {
    /// What is wrong with the options together.
    pub(super) fn fault(&self) -> Option<String> {
        let both = self.handler.is_some() && (self.lists || self.resources);
        both.then(|| {
            "subscription handler: found beside list_changes or resource_updates, which are told by the registry that it \
             replaces; one of the two would do"
                .to_owned()
        })
    }
}
