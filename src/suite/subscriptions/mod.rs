//! What a suite answers to `subscriptions/listen`: the registry feeds the stream, or a handler of the application does,
//! within what the caller may see.
//!
//! | file | holds |
//! |---|---|
//! | `mod.rs` | the options of a suite that are about streams; what is promised and granted |
//! | `authorization.rs` | what the caller of one stream may be told of |
//! | `handler.rs` | [`SubscriptionHandler`], a source of changes of the application's own |
//! | `subscription.rs` | [`Subscription`], what such a handler knows of a stream and sends on it |
//! | `active.rs` | one running stream of such a handler, its types erased |

mod active;
mod authorization;
mod handler;
mod subscription;

use std::future::Future;
use std::sync::Arc;

use crate::handler::{Channel, Grant, Principal, Reply};
use crate::rules::subscription::narrowed;
use crate::suite::watched::{Authorize, Watched};
use crate::suite::{Suite, SuiteMessage, SuiteState, ToolError};
use crate::wire::{ListenRequest, ServerCapabilities};

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
    authorize: Option<Authorize>,
    authorize_tasks: Option<Authorize>,
    handler: Option<Box<dyn Subscribe>>,
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

    /// Decides of which tasks of the tasks extension a caller may be told: when it listens, with all ids at once, and again
    /// before each batch of states, so that revoked access takes effect. A panic, or an answer after 5 s
    /// ([`Options::authorize_time`](crate::Options::authorize_time)), allows none. Without it, a caller may be told of its
    /// own tasks, which are those that are published under its [topic](crate::Topic::task).
    ///
    /// Tasks are granted where the capabilities have the extension, which a suite does not add by itself: a
    /// [`Handler`](crate::Handler) that serves `tasks/get` does, and leaves `subscriptions/listen` to the suite.
    #[must_use]
    pub fn authorize_task_subscriptions<F, Fut>(mut self, authorize: F) -> Self
    where
        F: Fn(Vec<String>, Principal) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Vec<String>> + Send + 'static,
    {
        self.subscriptions.authorize_tasks =
            Some(Arc::new(move |ids, principal| Box::pin(authorize(ids, principal))));
        self
    }

    /// Serves `subscriptions/listen` with a source of changes of the application's own. It replaces the registry for this
    /// server: `McpSupervisor::notify_tools_changed` and its siblings reach none of its streams, and neither do the changes
    /// that a [`SuiteHandle`](crate::suite::SuiteHandle) makes. [`list_changes`](Suite::list_changes) and
    /// [`resource_updates`](Suite::resource_updates) go with the registry only.
    #[must_use]
    pub fn subscription_handler(mut self, handler: impl SubscriptionHandler) -> Self {
        if self.subscriptions.handler.is_some() {
            self.faults.push("subscription handler: registered twice; one serves all streams".to_owned());
        }
        self.subscriptions.handler = Some(Box::new(Erased::new(handler)));
        self
    }

    /// Promises what streams may be told: by a subscription handler, or else by the application and by changes made by a
    /// handle.
    pub(super) fn promised(&self, mut offered: ServerCapabilities) -> ServerCapabilities {
        let told = &self.subscriptions;
        if let Some(handler) = &told.handler {
            return handler.capabilities().added_to(offered);
        }
        let lists_change = told.lists || self.providers.current.has_handle();
        for list in [&mut offered.tools, &mut offered.prompts].into_iter().flatten() {
            list.list_changed |= lists_change;
        }
        if let Some(resources) = &mut offered.resources {
            resources.list_changed |= lists_change;
            resources.subscribe |= told.resources;
        }
        offered
    }

    pub(super) async fn listen(
        &self,
        request: ListenRequest,
        channel: &Channel<SuiteMessage>,
        state: &mut SuiteState,
    ) -> Result<Reply, ToolError> {
        let authorization = Arc::new(self.authorization(channel));
        let filter = authorization.narrow(request.notifications).await?;
        let Some(handler) = &self.subscriptions.handler else {
            return Ok(Reply::subscribe(authorization.grant(filter)));
        };
        let (accepted, stream) = handler.subscribe(filter.clone(), channel.clone(), authorization).await?;
        state.stream = Some(stream);
        let (granted, widened) = narrowed(&filter, &accepted.unwrap_or_else(|| filter.clone()));
        if widened {
            tracing::error!(target: "ractor_mcp", "the subscription handler accepted more than it may; clipped");
        }
        Ok(Reply::subscribe(Grant::new(granted).unregistered()))
    }

    fn authorization(&self, channel: &Channel<SuiteMessage>) -> Authorization {
        let watched = Watched {
            providers: self.providers.clone(),
            authorize: self.subscriptions.authorize.clone(),
            call: self.call_of(channel, channel.method()),
        };
        Authorization { watched, tasks: self.subscriptions.authorize_tasks.clone() }
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
