//! A change that a stream is told of. Changes are level-triggered, so that the same one twice is told once.

use std::sync::Arc;

use crate::rules::subscription::covers_resource;
use crate::wire::{ServerNotification, SubscriptionFilter};

/// What changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Tools,
    Prompts,
    Resources,
    Resource(Arc<str>),
}

impl Change {
    /// Whether a granted filter covers it.
    pub(crate) fn is_in(&self, filter: &SubscriptionFilter) -> bool {
        match self {
            Self::Tools => filter.tools_list_changed,
            Self::Prompts => filter.prompts_list_changed,
            Self::Resources => filter.resources_list_changed,
            Self::Resource(uri) => covers_resource(filter, uri),
        }
    }

    /// The notification that tells it.
    pub(crate) fn notification(&self) -> ServerNotification {
        match self {
            Self::Tools => ServerNotification::tools_list_changed(),
            Self::Prompts => ServerNotification::prompts_list_changed(),
            Self::Resources => ServerNotification::resources_list_changed(),
            Self::Resource(uri) => ServerNotification::resource_updated(&**uri),
        }
    }

    /// The change that a notification tells, unless it says more than that.
    pub(crate) fn told_by(notification: &ServerNotification) -> Option<Self> {
        match notification.method() {
            "notifications/tools/list_changed" => Some(Self::Tools),
            "notifications/prompts/list_changed" => Some(Self::Prompts),
            "notifications/resources/list_changed" => Some(Self::Resources),
            "notifications/resources/updated" => {
                notification.updated_resource().map(|uri| Self::Resource(uri.into()))
            }
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
    /// The stream has ended.
    Closed,
}
