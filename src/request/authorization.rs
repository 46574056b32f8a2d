//! The changes of resources and tasks that wait until the application says that their stream may be told of them.
//!
//! It is asked before each batch, so that revoked access takes effect, and with all that waits at once. No answer allows
//! nothing.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::timeout;

use crate::handler::{Authorize, Change, Grant, Noted, contained};

use super::changes::Changes;

pub(super) struct Authorization {
    resources: Option<Authorize>,
    tasks: Option<Authorize>,
    /// How long an answer may take.
    limit: Duration,
    /// How many changes may wait for one.
    most: usize,
    waiting: Mutex<Changes>,
    wake: Notify,
}

impl Authorization {
    /// `None` for a stream about which nobody is asked. `most` is how many changes may wait.
    pub(super) fn of(grant: &Grant, limit: Duration, most: usize) -> Option<Self> {
        let (resources, tasks) = (grant.authorize.clone(), grant.authorize_tasks.clone());
        let asks = resources.is_some() || tasks.is_some();
        asks.then(|| Self { resources, tasks, limit, most, waiting: Mutex::default(), wake: Notify::new() })
    }

    /// Whether a change has to be allowed before it is told.
    pub(super) fn covers(&self, change: &Change) -> bool {
        match change {
            Change::Resource(..) => self.resources.is_some(),
            Change::Task(..) => self.tasks.is_some(),
            Change::Tools | Change::Prompts | Change::Resources => false,
        }
    }

    pub(super) fn asks_for_resources(&self) -> bool {
        self.resources.is_some()
    }

    /// Lets changes wait; tells what became of each.
    pub(super) fn ask(&self, changes: impl IntoIterator<Item = Change>) -> Vec<Noted> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let noted = changes.into_iter().map(|change| waiting.add(change, self.most)).collect();
        drop(waiting);
        self.wake.notify_one();
        noted
    }

    /// What is allowed of the next batch, once there is one.
    pub(super) async fn next(&self) -> Vec<Change> {
        let changes = self.batch().await;
        let resources = changes.iter().filter_map(|change| match change {
            Change::Resource(uri, _) => Some(uri.to_string()),
            _ => None,
        });
        let tasks = changes.iter().filter_map(|change| match change {
            Change::Task(id, _) => Some(id.to_string()),
            _ => None,
        });
        let (resources, tasks) = (resources.collect(), tasks.collect());
        let (resources, tasks) = tokio::join!(
            self.allowed("resources", self.resources.as_ref(), resources),
            self.allowed("tasks", self.tasks.as_ref(), tasks)
        );
        let is_allowed = |change: &Change| match change {
            Change::Resource(uri, _) => resources.contains(&**uri),
            Change::Task(id, _) => tasks.contains(&**id),
            Change::Tools | Change::Prompts | Change::Resources => true,
        };
        changes.into_iter().filter(is_allowed).collect()
    }

    async fn batch(&self) -> Vec<Change> {
        loop {
            let woken = self.wake.notified();
            let waiting = std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
            if waiting.len() > 0 {
                return waiting.collect();
            }
            woken.await;
        }
    }

    async fn allowed(
        &self,
        what: &str,
        authorize: Option<&Authorize>,
        asked: Vec<String>,
    ) -> HashSet<String> {
        let Some(authorize) = authorize.filter(|_| !asked.is_empty()) else {
            return HashSet::new();
        };
        match timeout(self.limit, contained(async { authorize(asked).await })).await {
            Ok(Ok(allowed)) => allowed.into_iter().collect(),
            Ok(Err(crash)) => {
                tracing::error!(target: "ractor_mcp", %crash, "the authorization of {what} panicked: none is told");
                HashSet::new()
            }
            Err(_) => {
                let limit = self.limit;
                tracing::error!(target: "ractor_mcp", ?limit, "the authorization of {what} took too long: none is told");
                HashSet::new()
            }
        }
    }
}
