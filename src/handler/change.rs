//! A change that a stream is told of. Changes are level-triggered, so that the same one twice is told once.

use std::sync::Arc;

use crate::wire::ServerNotification;

/// What changed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Change {
    Tools,
    Prompts,
    Resources,
    /// A resource; with the notification that tells it, if that says more than which one.
    Resource(Arc<str>, Option<Arc<ServerNotification>>),
    /// A task, with the notification that tells its state.
    Task(Arc<str>, Arc<ServerNotification>),
}

impl Change {
    /// A resource changed, and there is no more to say of it.
    pub(crate) fn resource(uri: impl Into<Arc<str>>) -> Self {
        Self::Resource(uri.into(), None)
    }

    /// The notification that tells it.
    pub(crate) fn notification(&self) -> ServerNotification {
        match self {
            Self::Tools => ServerNotification::tools_list_changed(),
            Self::Prompts => ServerNotification::prompts_list_changed(),
            Self::Resources => ServerNotification::resources_list_changed(),
            Self::Resource(uri, None) => ServerNotification::resource_updated(&**uri),
            Self::Resource(_, Some(notification)) | Self::Task(_, notification) => (**notification).clone(),
        }
    }

    /// The change that a notification tells; none if the notification is none, or says more than a change can keep.
    pub(crate) fn told_by(notification: &ServerNotification) -> Option<Self> {
        if let Some(uri) = notification.updated_resource() {
            let more = (!notification.is_plain()).then(|| Arc::new(notification.clone()));
            return Some(Self::Resource(uri.into(), more));
        }
        if let Some(id) = notification.changed_task() {
            return Some(Self::Task(id.into(), Arc::new(notification.clone())));
        }
        match notification.method() {
            _ if !notification.is_plain() => None,
            "notifications/tools/list_changed" => Some(Self::Tools),
            "notifications/prompts/list_changed" => Some(Self::Prompts),
            "notifications/resources/list_changed" => Some(Self::Resources),
            _ => None,
        }
    }
}

/// What became of a change that a stream was to be told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Noted {
    /// It will be told.
    Queued,
    /// It waits to be told already.
    Coalesced,
    /// There is no room for it: more parts of what was granted changed than a stream keeps in mind.
    Dropped,
    /// The stream has ended.
    Closed,
}
