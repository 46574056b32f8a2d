//! Asking the application of which resources and tasks a caller may be told: when it listens, and again before it is told.

use std::collections::HashSet;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use crate::handler::{Grant, Principal, contained};
use crate::wire::SubscriptionFilter;

/// How long an answer may take; then nothing is allowed.
const LIMIT: Duration = Duration::from_secs(5);

type Asking = Pin<Box<dyn Future<Output = Vec<String>> + Send>>;
type Ask = Arc<dyn Fn(Vec<String>, Principal) -> Asking + Send + Sync>;

/// Who is asked; nobody allows everything.
#[derive(Clone, Default)]
pub(super) struct Authorization {
    resources: Option<Ask>,
    tasks: Option<Ask>,
}

impl Authorization {
    pub(super) fn set_resources<F, Fut>(&mut self, authorize: F)
    where
        F: Fn(Vec<String>, Principal) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Vec<String>> + Send + 'static,
    {
        self.resources = Some(Arc::new(move |uris, principal| Box::pin(authorize(uris, principal))));
    }

    pub(super) fn set_tasks<F, Fut>(&mut self, authorize: F)
    where
        F: Fn(Vec<String>, Principal) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Vec<String>> + Send + 'static,
    {
        self.tasks = Some(Arc::new(move |ids, principal| Box::pin(authorize(ids, principal))));
    }

    pub(super) fn asks_for_resources(&self) -> bool {
        self.resources.is_some()
    }

    /// The part of a filter that is allowed.
    pub(super) async fn narrow(
        &self,
        mut filter: SubscriptionFilter,
        principal: &Principal,
    ) -> SubscriptionFilter {
        filter.resource_subscriptions = self.resources(filter.resource_subscriptions, principal).await;
        filter.task_ids = self.tasks(filter.task_ids, principal).await;
        filter
    }

    /// The resources of these that are allowed, in the same order.
    pub(super) async fn resources(&self, uris: Vec<String>, principal: &Principal) -> Vec<String> {
        allowed("resources", self.resources.as_ref(), uris, principal).await
    }

    /// The tasks of these that are allowed, in the same order.
    pub(super) async fn tasks(&self, ids: Vec<String>, principal: &Principal) -> Vec<String> {
        allowed("tasks", self.tasks.as_ref(), ids, principal).await
    }

    /// A grant under which the registry asks the same again.
    pub(super) fn grant(&self, filter: SubscriptionFilter, principal: &Principal) -> Grant {
        let again = |ask: &Ask| {
            let (ask, principal) = (Arc::clone(ask), principal.clone());
            move |named| ask(named, principal.clone())
        };
        let mut grant = Grant::new(filter);
        if let Some(ask) = &self.resources {
            grant = grant.authorized_by(again(ask));
        }
        if let Some(ask) = &self.tasks {
            grant = grant.tasks_authorized_by(again(ask));
        }
        grant
    }
}

async fn allowed(
    what: &str,
    ask: Option<&Ask>,
    mut named: Vec<String>,
    principal: &Principal,
) -> Vec<String> {
    let Some(ask) = ask.filter(|_| !named.is_empty()) else {
        return named;
    };
    let asked = (named.clone(), principal.clone());
    let allowed: HashSet<String> = match timeout(LIMIT, contained(async { ask(asked.0, asked.1).await }))
        .await
    {
        Ok(Ok(allowed)) => allowed.into_iter().collect(),
        Ok(Err(crash)) => {
            tracing::error!(target: "ractor_mcp", %crash, "the authorization of {what} panicked: none is allowed");
            HashSet::new()
        }
        Err(_) => {
            tracing::error!(target: "ractor_mcp", ?LIMIT, "the authorization of {what} took too long: none is allowed");
            HashSet::new()
        }
    };
    named.retain(|name| allowed.contains(name));
    named
}
