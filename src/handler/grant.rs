//! What a handler grants to a stream, and how it is asked again before resources and tasks are told of.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::wire::SubscriptionFilter;

/// Which of these resources, or tasks, the caller may be told of now.
pub(crate) type Authorize = Arc<dyn Fn(Vec<String>) -> Authorizing + Send + Sync>;

type Authorizing = Pin<Box<dyn Future<Output = Vec<String>> + Send>>;

/// The acceptance of a `subscriptions/listen` request: a filter, at most what was asked for, and where its
/// notifications come from.
#[derive(Clone)]
pub struct Grant {
    pub(crate) filter: SubscriptionFilter,
    pub(crate) registered: bool,
    pub(crate) authorize: Option<Authorize>,
    pub(crate) authorize_tasks: Option<Authorize>,
}

impl Grant {
    /// Grants a filter. The server's registry feeds the stream: `McpSupervisor::notify_tools_changed` and its siblings
    /// reach it.
    pub fn new(filter: SubscriptionFilter) -> Self {
        Self { filter, registered: true, authorize: None, authorize_tasks: None }
    }

    /// Keeps the stream out of the registry: only the handler itself sends on it.
    #[must_use]
    pub fn unregistered(mut self) -> Self {
        self.registered = false;
        self
    }

    /// Asks before each batch of resource notifications of the registry which of the resources the caller may still be
    /// told of, so that revoked access takes effect. An answer that takes too long, or a panic, allows none.
    #[must_use]
    pub fn authorized_by<F, Fut>(mut self, authorize: F) -> Self
    where
        F: Fn(Vec<String>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Vec<String>> + Send + 'static,
    {
        self.authorize = Some(Arc::new(move |uris| Box::pin(authorize(uris))));
        self
    }

    /// Asks before each batch of task states of the registry which of the tasks the caller may still be told of, as
    /// [`authorized_by`](Grant::authorized_by) does for resources.
    #[must_use]
    pub fn tasks_authorized_by<F, Fut>(mut self, authorize: F) -> Self
    where
        F: Fn(Vec<String>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Vec<String>> + Send + 'static,
    {
        self.authorize_tasks = Some(Arc::new(move |ids| Box::pin(authorize(ids))));
        self
    }
}

impl From<SubscriptionFilter> for Grant {
    fn from(filter: SubscriptionFilter) -> Self {
        Self::new(filter)
    }
}

impl fmt::Debug for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Grant")
            .field("filter", &self.filter)
            .field("registered", &self.registered)
            .field("authorized", &self.authorize.is_some())
            .field("tasks_authorized", &self.authorize_tasks.is_some())
            .finish()
    }
}
