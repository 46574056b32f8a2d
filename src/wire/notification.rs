//! Notifications: those that a server sends, and those that a client may post.

use serde::Serialize;
use serde_json::{Map, Value};

use super::{LogLevel, Meta, ProgressToken, RequestId, SubscriptionFilter};

/// A notification of the client, as it came.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Notification {
    /// The method.
    pub method: String,
    /// The parameters; none is the same as `{}`.
    pub params: Map<String, Value>,
}

impl Notification {
    /// A notification by method.
    pub fn new(method: impl Into<String>, params: Map<String, Value>) -> Self {
        Self { method: method.into(), params }
    }
}

/// A notification that a server sends.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerNotification {
    kind: Kind,
    meta: Meta,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
enum Kind {
    Progress {
        progress_token: ProgressToken,
        progress: f64,
        #[serde(skip_serializing_if = "Option::is_none")]
        total: Option<f64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    Message {
        level: LogLevel,
        data: Value,
        #[serde(skip_serializing_if = "Option::is_none")]
        logger: Option<String>,
    },
    Cancelled {
        request_id: RequestId,
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    ToolsListChanged {},
    PromptsListChanged {},
    ResourcesListChanged {},
    ResourceUpdated {
        uri: String,
    },
    Acknowledged {
        notifications: SubscriptionFilter,
    },
    TaskStatus {
        task_id: String,
        #[serde(flatten)]
        task: Map<String, Value>,
    },
    Custom {
        #[serde(skip)]
        method: String,
        #[serde(flatten)]
        params: Map<String, Value>,
    },
}

impl ServerNotification {
    fn of(kind: Kind) -> Self {
        Self { kind, meta: Meta::new() }
    }

    pub(crate) fn progress(
        progress_token: ProgressToken,
        progress: f64,
        total: Option<f64>,
        message: Option<String>,
    ) -> Self {
        Self::of(Kind::Progress { progress_token, progress, total, message })
    }

    pub(crate) fn message(level: LogLevel, data: Value, logger: Option<String>) -> Self {
        Self::of(Kind::Message { level, data, logger })
    }

    pub(crate) fn cancelled(request_id: RequestId, reason: Option<String>) -> Self {
        Self::of(Kind::Cancelled { request_id, reason })
    }

    pub(crate) fn acknowledged(notifications: SubscriptionFilter) -> Self {
        Self::of(Kind::Acknowledged { notifications })
    }

    /// The list of tools changed.
    pub fn tools_list_changed() -> Self {
        Self::of(Kind::ToolsListChanged {})
    }

    /// The list of prompts changed.
    pub fn prompts_list_changed() -> Self {
        Self::of(Kind::PromptsListChanged {})
    }

    /// The list of resources changed.
    pub fn resources_list_changed() -> Self {
        Self::of(Kind::ResourcesListChanged {})
    }

    /// A resource changed.
    pub fn resource_updated(uri: impl Into<String>) -> Self {
        Self::of(Kind::ResourceUpdated { uri: uri.into() })
    }

    /// The newest state of a task, with the members that `tasks/get` would answer now (TASK-29). An id and a `_meta` among
    /// them are left out.
    pub fn task_status(task_id: impl Into<String>, mut task: Map<String, Value>) -> Self {
        task.shift_remove("taskId");
        task.shift_remove("_meta");
        Self::of(Kind::TaskStatus { task_id: task_id.into(), task })
    }

    /// A notification outside the specification. A `_meta` among the parameters is left out.
    pub fn custom(method: impl Into<String>, mut params: Map<String, Value>) -> Self {
        params.shift_remove("_meta");
        Self::of(Kind::Custom { method: method.into(), params })
    }

    /// The method as on the wire.
    pub fn method(&self) -> &str {
        match &self.kind {
            Kind::Progress { .. } => "notifications/progress",
            Kind::Message { .. } => "notifications/message",
            Kind::Cancelled { .. } => "notifications/cancelled",
            Kind::ToolsListChanged {} => "notifications/tools/list_changed",
            Kind::PromptsListChanged {} => "notifications/prompts/list_changed",
            Kind::ResourcesListChanged {} => "notifications/resources/list_changed",
            Kind::ResourceUpdated { .. } => "notifications/resources/updated",
            Kind::Acknowledged { .. } => "notifications/subscriptions/acknowledged",
            Kind::TaskStatus { .. } => "notifications/tasks",
            Kind::Custom { method, .. } => method,
        }
    }

    /// The resource that changed, of `notifications/resources/updated`.
    pub(crate) fn updated_resource(&self) -> Option<&str> {
        match &self.kind {
            Kind::ResourceUpdated { uri } => Some(uri),
            Kind::Custom { method, params } if method == "notifications/resources/updated" => {
                params.get("uri")?.as_str()
            }
            _ => None,
        }
    }

    /// The task that changed, of `notifications/tasks`.
    pub(crate) fn changed_task(&self) -> Option<&str> {
        match &self.kind {
            Kind::TaskStatus { task_id, .. } => Some(task_id),
            Kind::Custom { method, params } if method == "notifications/tasks" => {
                params.get("taskId")?.as_str()
            }
            _ => None,
        }
    }

    /// Whether it says no more than its kind does: no `_meta`, and no members of the application's own.
    pub(crate) fn is_plain(&self) -> bool {
        self.meta.is_empty() && !matches!(self.kind, Kind::Custom { .. } | Kind::TaskStatus { .. })
    }

    /// Sets an entry of its `_meta`.
    #[must_use]
    pub fn with_meta(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.meta.insert(key, value);
        self
    }

    pub(crate) fn stamp_subscription(&mut self, id: &RequestId) {
        self.meta.stamp_subscription(id);
    }

    pub(super) fn params(&self) -> Params<'_> {
        Params { kind: &self.kind, meta: &self.meta }
    }
}

#[derive(Serialize)]
pub(super) struct Params<'a> {
    #[serde(flatten)]
    kind: &'a Kind,
    #[serde(rename = "_meta", skip_serializing_if = "Meta::is_empty")]
    meta: &'a Meta,
}
