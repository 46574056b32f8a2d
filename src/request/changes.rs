//! The changes that a stream has yet to tell. A change that waits already absorbs the next of its kind, so that what
//! waits is bounded by what was granted, and nothing distinct is lost.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use crate::handler::{Change, Noted};

#[derive(Default)]
pub(super) struct Changes {
    tools: bool,
    prompts: bool,
    resources: bool,
    /// Those that changed first come first.
    updated: VecDeque<Arc<str>>,
    waiting: HashSet<Arc<str>>,
}

impl Changes {
    pub(super) fn add(&mut self, change: Change) -> Noted {
        let new = match change {
            Change::Tools => !std::mem::replace(&mut self.tools, true),
            Change::Prompts => !std::mem::replace(&mut self.prompts, true),
            Change::Resources => !std::mem::replace(&mut self.resources, true),
            Change::Resource(uri) => {
                let new = self.waiting.insert(Arc::clone(&uri));
                if new {
                    self.updated.push_back(uri);
                }
                new
            }
        };
        if new { Noted::Queued } else { Noted::Coalesced }
    }

    pub(super) fn next(&mut self) -> Option<Change> {
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
        let uri = self.updated.pop_front()?;
        self.waiting.remove(&uri);
        Some(Change::Resource(uri))
    }

    pub(super) fn len(&self) -> usize {
        [self.tools, self.prompts, self.resources].iter().filter(|waits| **waits).count() + self.updated.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_waiting_change_absorbs_the_next_and_nothing_distinct_is_lost() {
        let mut changes = Changes::default();
        let uri = |uri: &str| Change::Resource(uri.into());
        for _ in 0..1000 {
            changes.add(Change::Tools);
            changes.add(uri("b"));
            changes.add(uri("a"));
        }
        assert_eq!(changes.len(), 3);
        assert_eq!(changes.add(Change::Tools), Noted::Coalesced);
        assert_eq!(changes.add(Change::Prompts), Noted::Queued);
        let told: Vec<_> = std::iter::from_fn(|| changes.next()).collect();
        assert_eq!(told, [Change::Tools, Change::Prompts, uri("b"), uri("a")]);
        assert_eq!(changes.add(uri("a")), Noted::Queued, "told once, it is new again");
    }
}
