//! How code that belongs to a handler tells streams of changes, without knowing what serves it.

use std::fmt;
use std::sync::{Arc, Weak};

use super::Change;

/// What tells changes to the open streams of one server. Publishing never waits for a client.
pub(crate) trait Publish: Send + Sync {
    /// Returns how many streams took it.
    fn publish(&self, change: Change) -> usize;

    /// As [`publish`](Publish::publish), with one authorization for each stream.
    fn publish_resources(&self, uris: Vec<Arc<str>>) -> usize;
}

/// Tells the open streams of one server what changed: what [`Handler::started`](super::Handler::started) is given.
///
/// It holds the server weakly: a handler may keep it, and when the server is gone it tells nobody. Like all publishing, it
/// reaches those streams that were granted the change, and only if the handler's capabilities promise it (`listChanged`,
/// `resources.subscribe`): without that, or without streams, 0 is returned.
#[derive(Clone)]
pub struct Notifier(Weak<dyn Publish>);

impl Notifier {
    pub(crate) fn new(publish: &Arc<dyn Publish>) -> Self {
        Self(Arc::downgrade(publish))
    }

    /// Tells that the list of tools changed. Returns how many streams took it.
    pub fn tools_changed(&self) -> usize {
        self.publish(Change::Tools)
    }

    /// Tells that the list of prompts changed. Returns how many streams took it.
    pub fn prompts_changed(&self) -> usize {
        self.publish(Change::Prompts)
    }

    /// Tells that the list of resources changed. Returns how many streams took it.
    pub fn resources_changed(&self) -> usize {
        self.publish(Change::Resources)
    }

    /// Tells those streams that named this URI exactly that the resource changed. Returns how many took it.
    pub fn resource_updated(&self, uri: impl AsRef<str>) -> usize {
        self.publish(Change::resource(uri.as_ref()))
    }

    /// Tells changes of several resources at once, with one authorization for each stream. Returns how many streams took
    /// any of them.
    pub fn resources_updated<U: AsRef<str>>(&self, uris: impl IntoIterator<Item = U>) -> usize {
        let uris = uris.into_iter().map(|uri| Arc::from(uri.as_ref())).collect();
        self.0.upgrade().map_or(0, |server| server.publish_resources(uris))
    }

    /// Whether the server is gone.
    pub fn is_closed(&self) -> bool {
        self.0.strong_count() == 0
    }

    fn publish(&self, change: Change) -> usize {
        self.0.upgrade().map_or(0, |server| server.publish(change))
    }
}

impl fmt::Debug for Notifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_closed() { "Notifier(closed)" } else { "Notifier" })
    }
}
