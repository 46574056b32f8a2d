//! `_meta` of what the server writes: an open object, stamped by the framework.

use std::sync::Arc;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::{RequestId, keys};

/// The `_meta` member of a result, a notification or an object.
#[derive(Clone, Debug, Default)]
pub struct Meta {
    entries: Map<String, Value>,
    server_info: Option<Arc<RawValue>>,
    subscription: Option<RequestId>,
}

impl Meta {
    /// An empty `_meta`, which is not written.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.server_info.is_none() && self.subscription.is_none()
    }

    /// An entry that was set.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.entries.get(key)
    }

    /// The keys that were set.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// Sets an entry. Keys of your own have a prefix, such as `com.example/colour` (META-01 to META-04).
    pub fn insert(&mut self, key: impl Into<String>, value: impl Into<Value>) {
        self.entries.insert(key.into(), value.into());
    }

    /// Sets an entry, chained.
    #[must_use]
    pub fn with(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.insert(key, value);
        self
    }

    /// Names the server (META-12), unless an entry does already.
    pub(crate) fn stamp_server_info(&mut self, info: Arc<RawValue>) {
        if !self.entries.contains_key(keys::SERVER_INFO) {
            self.server_info = Some(info);
        }
    }

    /// Names the subscription (META-14), with the id's JSON type kept.
    pub(crate) fn stamp_subscription(&mut self, id: &RequestId) {
        self.entries.shift_remove(keys::SUBSCRIPTION_ID);
        self.subscription = Some(id.clone());
    }
}

impl PartialEq for Meta {
    fn eq(&self, other: &Self) -> bool {
        let info = |meta: &Self| meta.server_info.as_deref().map(|raw| raw.get().to_owned());
        self.entries == other.entries && info(self) == info(other) && self.subscription == other.subscription
    }
}

impl Serialize for Meta {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (key, value) in &self.entries {
            map.serialize_entry(key, value)?;
        }
        if let Some(info) = &self.server_info {
            map.serialize_entry(keys::SERVER_INFO, &**info)?;
        }
        if let Some(id) = &self.subscription {
            map.serialize_entry(keys::SUBSCRIPTION_ID, id)?;
        }
        map.end()
    }
}
