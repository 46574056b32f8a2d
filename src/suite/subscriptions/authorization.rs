//! Of which resources and tasks the caller of one stream may be told: when it listens, and again before it is told.

use std::sync::Arc;

use crate::handler::Grant;
use crate::suite::ToolError;
use crate::suite::watched::{Authorize, Watched, authorized};
use crate::wire::SubscriptionFilter;

pub(super) struct Authorization {
    pub(super) watched: Watched,
    /// The application's own decision on tasks; without one, a caller may be told of its own.
    pub(super) tasks: Option<Authorize>,
}

impl Authorization {
    /// The part of a filter that is allowed.
    ///
    /// # Errors
    ///
    /// Those of an extension.
    pub(super) async fn narrow(
        &self,
        mut filter: SubscriptionFilter,
    ) -> Result<SubscriptionFilter, ToolError> {
        filter.resource_subscriptions = self.watched.allowed(filter.resource_subscriptions).await?;
        filter.task_ids = self.tasks(filter.task_ids).await;
        Ok(filter)
    }

    /// The resources of these that are allowed now, in the same order.
    pub(super) async fn resources(&self, uris: Vec<String>) -> Vec<String> {
        self.watched.clone().still_allowed(uris).await
    }

    /// The tasks of these that are allowed now, in the same order.
    pub(super) async fn tasks(&self, ids: Vec<String>) -> Vec<String> {
        match &self.tasks {
            Some(authorize) if !ids.is_empty() => authorized(authorize, ids, &self.watched.call).await,
            _ => ids,
        }
    }

    /// A grant under which the registry asks the same again.
    pub(super) fn grant(self: &Arc<Self>, filter: SubscriptionFilter) -> Grant {
        let mut grant = Grant::new(filter);
        if self.watched.may_refuse() {
            let watched = self.watched.clone();
            grant = grant.authorized_by(move |uris| watched.clone().still_allowed(uris));
        }
        if self.tasks.is_some() {
            let again = Arc::clone(self);
            grant = grant.tasks_authorized_by(move |ids| {
                let again = Arc::clone(&again);
                async move { again.tasks(ids).await }
            });
        }
        grant
    }
}
