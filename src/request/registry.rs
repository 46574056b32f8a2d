//! The subscription registry: which streams are told of what. Sharded maps, not an actor: it has no behaviour of its own.
//!
//! An entry belongs to its stream: it is removed when the stream's state is dropped, whatever ended it. Publishing writes
//! into each stream's outbox and never waits for a client.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ractor_otp::Pid;

use crate::handler::{Change, Principal, Publish};
use crate::wire::{ServerNotification, SubscriptionFilter};

use super::stream::Subscriber;

const SHARDS: usize = 16;

/// What a stream may be subscribed to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Topic {
    /// The list of tools: `toolsListChanged`.
    Tools,
    /// The list of prompts: `promptsListChanged`.
    Prompts,
    /// The list of resources: `resourcesListChanged`.
    Resources,
    /// One resource, by the URI that the stream named exactly: `resourceSubscriptions`.
    Resource(Arc<str>),
    /// One task by its owner, who alone is told of it, and its id: `taskIds`. No owner means anonymous callers.
    Task(Option<Arc<str>>, Arc<str>),
}

impl Topic {
    /// One resource.
    pub fn resource(uri: impl AsRef<str>) -> Self {
        Self::Resource(Arc::from(uri.as_ref()))
    }

    /// One task of a caller.
    pub fn task(owner: &Principal, id: impl AsRef<str>) -> Self {
        Self::Task(owner.id().map(Arc::from), Arc::from(id.as_ref()))
    }

    /// The topics of a filter.
    fn of(filter: &SubscriptionFilter, principal: &Principal) -> Vec<Self> {
        let lists = [
            (filter.tools_list_changed, Self::Tools),
            (filter.prompts_list_changed, Self::Prompts),
            (filter.resources_list_changed, Self::Resources),
        ];
        let lists = lists.into_iter().filter_map(|(wanted, topic)| wanted.then_some(topic));
        let owner: Option<Arc<str>> = principal.id().map(Arc::from);
        let tasks = filter.task_ids.iter().map(|id| Self::Task(owner.clone(), Arc::from(&**id)));
        lists.chain(filter.resource_subscriptions.iter().map(Self::resource)).chain(tasks).collect()
    }
}

impl fmt::Display for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tools => f.write_str("tools"),
            Self::Prompts => f.write_str("prompts"),
            Self::Resources => f.write_str("resources"),
            Self::Resource(uri) => f.write_str(uri),
            Self::Task(Some(owner), id) => write!(f, "task {id} of {owner}"),
            Self::Task(None, id) => write!(f, "task {id}"),
        }
    }
}

type Streams = HashMap<u64, Arc<Subscriber>>;

/// The streams of one server by topic.
#[derive(Clone, Default)]
pub(crate) struct Registry(Arc<Maps>);

#[derive(Default)]
struct Maps {
    shards: [Mutex<HashMap<Topic, Streams>>; SHARDS],
    hasher: RandomState,
    next: AtomicU64,
}

/// A stream's entries. Dropping it removes them.
pub(crate) struct Entry {
    registry: Registry,
    key: u64,
    topics: Vec<Topic>,
}

impl Registry {
    /// Subscribes a stream to the topics of its filter.
    pub(crate) fn register(&self, subscriber: &Arc<Subscriber>, principal: &Principal) -> Entry {
        let key = self.0.next.fetch_add(1, Ordering::Relaxed);
        let topics = Topic::of(subscriber.filter(), principal);
        for topic in &topics {
            self.with(topic, |shard| {
                shard.entry(topic.clone()).or_default().insert(key, Arc::clone(subscriber));
            });
        }
        Entry { registry: self.clone(), key, topics }
    }

    /// Tells all streams of a topic that its list changed; returns how many took it.
    pub(crate) fn notify(&self, topic: &Topic, change: &Change) -> usize {
        self.streams(topic).iter().filter(|stream| stream.note(change.clone())).count()
    }

    /// Tells changes of several resources, all those of one stream together; returns how many streams took any.
    pub(crate) fn notify_resources(&self, uris: impl IntoIterator<Item = Arc<str>>) -> usize {
        let mut told: HashMap<*const Subscriber, (Arc<Subscriber>, Vec<Arc<str>>)> = HashMap::new();
        for uri in uris {
            for stream in self.streams(&Topic::Resource(Arc::clone(&uri))) {
                told.entry(Arc::as_ptr(&stream))
                    .or_insert_with(|| (stream, Vec::new()))
                    .1
                    .push(Arc::clone(&uri));
            }
        }
        told.into_values().map(|(stream, uris)| usize::from(stream.note_resources(uris))).sum()
    }

    /// Tells any notification to all streams of a topic; returns how many took it. A stream whose queue is full misses
    /// it, unless it is a change.
    pub(crate) fn publish(&self, topic: &Topic, notification: &ServerNotification) -> usize {
        let change = Change::told_by(notification);
        self.streams(topic).iter().filter(|stream| stream.publish(notification, change.as_ref())).count()
    }

    /// The streams of a topic.
    pub(crate) fn subscribers(&self, topic: &Topic) -> Vec<Pid> {
        self.streams(topic).iter().map(|stream| stream.pid().clone()).collect()
    }

    /// A copy, so that no lock is held while streams are written to.
    fn streams(&self, topic: &Topic) -> Vec<Arc<Subscriber>> {
        self.with(topic, |shard| shard.get(topic).map(|streams| streams.values().cloned().collect()))
            .unwrap_or_default()
    }

    fn with<T>(&self, topic: &Topic, act: impl FnOnce(&mut HashMap<Topic, Streams>) -> T) -> T {
        let hash = usize::try_from(self.0.hasher.hash_one(topic) % SHARDS as u64).unwrap_or(0);
        let [first, ..] = &self.0.shards;
        let shard = self.0.shards.get(hash).unwrap_or(first);
        act(&mut shard.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Publish for Registry {
    fn publish(&self, change: Change) -> usize {
        let topic = match &change {
            Change::Tools => Topic::Tools,
            Change::Prompts => Topic::Prompts,
            Change::Resources => Topic::Resources,
            Change::Resource(uri, _) => Topic::Resource(Arc::clone(uri)),
            // Whose it is, only its topic says.
            Change::Task(..) => return 0,
        };
        self.notify(&topic, &change)
    }

    fn publish_resources(&self, uris: Vec<Arc<str>>) -> usize {
        self.notify_resources(uris)
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        for topic in &self.topics {
            self.registry.with(topic, |shard| {
                if let Some(streams) = shard.get_mut(topic) {
                    streams.remove(&self.key);
                    if streams.is_empty() {
                        shard.remove(topic);
                    }
                }
            });
        }
    }
}
