//! What tells the open streams of a server that something changed.

use std::sync::Arc;

use ractor_otp::Pid;

use crate::handler::Change;
use crate::request::Topic;
use crate::wire::ServerNotification;

use super::McpSupervisor;

impl McpSupervisor {
    /// Tells every stream that asked for it that the list of tools changed. Returns how many streams took it. Like all
    /// publishing it writes into the streams' queues and never waits for a client; on several nodes, call it on each.
    ///
    /// A stream is granted only what the capabilities promise: it reaches nobody, and returns 0, unless the suite has tools
    /// (or [promises](crate::Suite::promises) them) and says [`list_changes`](crate::Suite::list_changes) or has a
    /// [handle](crate::Suite::handle). Neither are there streams to reach under a
    /// [`SubscriptionHandler`](crate::suite::SubscriptionHandler), which replaces the registry.
    ///
    /// ```
    /// use ractor_mcp::prelude::*;
    ///
    /// async fn ping() -> &'static str { "pong" }
    ///
    /// # async fn run() -> Result<(), ractor_mcp::Error> {
    /// let suite = Suite::new("changing", "1.0.0").list_changes().tool("ping", ping);
    /// let mcp = McpSupervisor::start(suite).await?;
    /// assert_eq!(mcp.notify_tools_changed(), 0, "no client listens yet");
    /// # Ok(())
    /// # }
    /// # tokio::runtime::Runtime::new().unwrap().block_on(run()).unwrap();
    /// ```
    pub fn notify_tools_changed(&self) -> usize {
        self.0.streams.registry.notify(&Topic::Tools, &Change::Tools)
    }

    /// Tells every stream that asked for it that the list of prompts changed. Returns how many streams took it: none
    /// without the promise that [`notify_tools_changed`](McpSupervisor::notify_tools_changed) names.
    pub fn notify_prompts_changed(&self) -> usize {
        self.0.streams.registry.notify(&Topic::Prompts, &Change::Prompts)
    }

    /// Tells every stream that asked for it that the list of resources changed. Returns how many streams took it: none
    /// without the promise that [`notify_tools_changed`](McpSupervisor::notify_tools_changed) names.
    pub fn notify_resources_changed(&self) -> usize {
        self.0.streams.registry.notify(&Topic::Resources, &Change::Resources)
    }

    /// Tells every stream that named this URI exactly that the resource changed. Returns how many streams took it.
    ///
    /// It reaches nobody, and returns 0, unless the suite has resources and says
    /// [`resource_updates`](crate::Suite::resource_updates), and under a
    /// [`SubscriptionHandler`](crate::suite::SubscriptionHandler), which replaces the registry.
    pub fn notify_resource_updated(&self, uri: impl AsRef<str>) -> usize {
        self.notify_resources_updated([uri])
    }

    /// Tells changes of several resources at once, with one authorization for each stream. Returns how many streams took
    /// any of them.
    pub fn notify_resources_updated<U: AsRef<str>>(&self, uris: impl IntoIterator<Item = U>) -> usize {
        self.0.streams.registry.notify_resources(uris.into_iter().map(|uri| Arc::from(uri.as_ref())))
    }

    /// Sends any notification to the streams of a topic, within what each was granted. Returns how many streams took it.
    ///
    /// One that tells a change of a resource or the state of a task is authorized first where the application
    /// [asks for that](crate::Grant::authorized_by), and the newest of those that wait is told. What is no change does not
    /// coalesce: a stream whose queue is full misses it.
    ///
    /// ```
    /// # use ractor_mcp::{McpSupervisor, Principal, Topic, wire::ServerNotification};
    /// fn tell(mcp: &McpSupervisor, owner: &Principal, id: &str) -> usize {
    ///     let task = serde_json::json!({"status": "working"}).as_object().cloned().unwrap_or_default();
    ///     mcp.publish(&Topic::task(owner, id), &ServerNotification::task_status(id, task))
    /// }
    /// ```
    pub fn publish(&self, topic: &Topic, notification: &ServerNotification) -> usize {
        self.0.streams.registry.publish(topic, notification)
    }

    /// The streams of a topic, in no order.
    pub fn subscribers(&self, topic: &Topic) -> Vec<Pid> {
        self.0.streams.registry.subscribers(topic)
    }
}
