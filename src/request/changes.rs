//! The changes that a stream has yet to tell. A change that waits already absorbs the next of its kind, so that what
//! waits is bounded by what was granted, and nothing distinct is lost. Only the parts of a granted resource have no number
//! (SUB-12): beyond a bound that leaves room for all that was granted by name, they are dropped.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use crate::handler::{Change, Noted};
use crate::wire::ServerNotification;

#[derive(Default)]
pub(super) struct Changes {
    tools: bool,
    prompts: bool,
    resources: bool,
    /// Those that changed first come first.
    order: VecDeque<Subject>,
    /// What is told of each: the newest, or only that it changed.
    newest: HashMap<Subject, Option<Arc<ServerNotification>>>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum Subject {
    Resource(Arc<str>),
    Task(Arc<str>),
}

impl Changes {
    /// Adds a change, if no more than `most` resources and tasks wait then.
    pub(super) fn add(&mut self, change: Change, most: usize) -> Noted {
        let list = match change {
            Change::Tools => &mut self.tools,
            Change::Prompts => &mut self.prompts,
            Change::Resources => &mut self.resources,
            Change::Resource(uri, more) => return self.set(Subject::Resource(uri), more, most),
            Change::Task(id, state) => return self.set(Subject::Task(id), Some(state), most),
        };
        if std::mem::replace(list, true) { Noted::Coalesced } else { Noted::Queued }
    }

    fn set(&mut self, subject: Subject, newest: Option<Arc<ServerNotification>>, most: usize) -> Noted {
        if let Some(waiting) = self.newest.get_mut(&subject) {
            *waiting = newest;
            return Noted::Coalesced;
        }
        if self.order.len() >= most {
            return Noted::Dropped;
        }
        self.newest.insert(subject.clone(), newest);
        self.order.push_back(subject);
        Noted::Queued
    }

    fn take(&mut self) -> Option<Change> {
        let lists = [
            (&mut self.tools, Change::Tools),
            (&mut self.prompts, Change::Prompts),
            (&mut self.resources, Change::Resources),
        ];
        for (waits, change) in lists {
            if std::mem::take(waits) {
                return Some(change);
            }
        }
        let subject = self.order.pop_front()?;
        let newest = self.newest.remove(&subject).flatten();
        match (subject, newest) {
            (Subject::Resource(uri), more) => Some(Change::Resource(uri, more)),
            (Subject::Task(id), state) => state.map(|state| Change::Task(id, state)),
        }
    }

    pub(super) fn len(&self) -> usize {
        [self.tools, self.prompts, self.resources].iter().filter(|waits| **waits).count() + self.order.len()
    }
}

/// What is taken out is told.
impl Iterator for Changes {
    type Item = Change;

    fn next(&mut self) -> Option<Change> {
        self.take()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    #[test]
    fn a_waiting_change_absorbs_the_next_and_nothing_distinct_is_lost() {
        let mut changes = Changes::default();
        let uri = |uri: &str| Change::resource(uri);
        for _ in 0..1000 {
            changes.add(Change::Tools, 5);
            changes.add(uri("b"), 5);
            changes.add(uri("a"), 5);
        }
        assert_eq!(changes.len(), 3);
        assert_eq!(changes.add(Change::Tools, 5), Noted::Coalesced);
        assert_eq!(changes.add(Change::Prompts, 5), Noted::Queued);
        let told: Vec<_> = changes.by_ref().collect();
        assert_eq!(told, [Change::Tools, Change::Prompts, uri("b"), uri("a")]);
        assert_eq!(changes.add(uri("a"), 5), Noted::Queued, "told once, it is new again");
    }

    #[test]
    fn the_newest_state_of_a_task_wins_and_keeps_its_place() {
        let state = |id: &str, status: &str| {
            let task = Map::from_iter([("status".to_owned(), json!(status))]);
            Change::Task(id.into(), Arc::new(ServerNotification::task_status(id, task)))
        };
        let mut changes = Changes::default();
        assert_eq!(changes.add(state("t", "working"), 5), Noted::Queued);
        changes.add(state("u", "working"), 5);
        assert_eq!(changes.add(state("t", "completed"), 5), Noted::Coalesced);
        // A task is no resource, whatever they are called.
        assert_eq!(changes.add(Change::resource("t"), 5), Noted::Queued);
        let told: Vec<_> = changes.collect();
        assert_eq!(told, [state("t", "completed"), state("u", "working"), Change::resource("t")]);
    }

    #[test]
    fn beyond_the_bound_only_what_waits_already_is_taken() {
        let mut changes = Changes::default();
        let part = |n: u32| Change::resource(format!("a/{n}"));
        let noted: Vec<_> = (0..4).map(|n| changes.add(part(n), 2)).collect();
        assert_eq!(noted, [Noted::Queued, Noted::Queued, Noted::Dropped, Noted::Dropped]);
        assert_eq!(changes.add(part(1), 2), Noted::Coalesced);
        assert_eq!(changes.add(Change::Tools, 2), Noted::Queued, "a list has room of its own");
        assert_eq!(changes.len(), 3);
    }
}
