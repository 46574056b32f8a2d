//! What a subscription handler knows of one stream, and what it sends on it.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use ractor_otp::{Down, MonitorRef, Pid, TaskHandle, TaskResult, TimerHandle};

use crate::handler::{Channel, Closed, Principal, Sent};
use crate::suite::{SuiteMessage, ToolAddress};
use crate::wire::{RequestId, RequestMeta, ServerNotification};

use super::authorization::Authorization;

/// Where application code sends messages to an open stream of a [`SubscriptionHandler`](super::SubscriptionHandler).
pub type SubscriptionAddress<M> = ToolAddress<M>;

/// One stream of a [`SubscriptionHandler`](super::SubscriptionHandler) whose messages are of a type `M`. Cheap to clone; all
/// clones are one stream.
///
/// Everything that is sent is stamped with the subscription id and kept within what was granted. A change that waits for a
/// slow client absorbs the next of its kind, so that telling changes does not wait for it.
pub struct Subscription<M> {
    channel: Channel<SuiteMessage>,
    authorization: Arc<Authorization>,
    messages: PhantomData<fn(M)>,
}

impl<M: Send + 'static> Subscription<M> {
    pub(super) fn new(channel: Channel<SuiteMessage>, authorization: Arc<Authorization>) -> Self {
        Self { channel, authorization, messages: PhantomData }
    }

    /// Tells that the list of tools changed.
    ///
    /// # Errors
    ///
    /// [`Closed`] once the stream has ended.
    pub async fn tools_changed(&self) -> Result<Sent, Closed> {
        self.channel.send_notification(ServerNotification::tools_list_changed()).await
    }

    /// Tells that the list of prompts changed.
    ///
    /// # Errors
    ///
    /// [`Closed`] once the stream has ended.
    pub async fn prompts_changed(&self) -> Result<Sent, Closed> {
        self.channel.send_notification(ServerNotification::prompts_list_changed()).await
    }

    /// Tells that the list of resources changed.
    ///
    /// # Errors
    ///
    /// [`Closed`] once the stream has ended.
    pub async fn resources_changed(&self) -> Result<Sent, Closed> {
        self.channel.send_notification(ServerNotification::resources_list_changed()).await
    }

    /// Tells that a resource changed, one that the client named or a part of it (SUB-12), if the suite's
    /// [authorization](crate::Suite::authorize_resource_subscriptions) allows it now.
    ///
    /// # Errors
    ///
    /// [`Closed`] once the stream has ended.
    pub async fn resource_updated(&self, uri: impl Into<String>) -> Result<Sent, Closed> {
        self.notify(ServerNotification::resource_updated(uri)).await
    }

    /// Tells changes of several resources, with one authorization for all. Returns how many are on their way.
    ///
    /// # Errors
    ///
    /// [`Closed`] once the stream has ended.
    pub async fn resources_updated<U: Into<String>>(
        &self,
        uris: impl IntoIterator<Item = U> + Send,
    ) -> Result<usize, Closed> {
        let uris = uris.into_iter().map(Into::into).collect();
        let mut delivered = 0;
        for uri in self.authorization.resources(uris).await {
            let sent = self.channel.send_notification(ServerNotification::resource_updated(uri)).await?;
            delivered += usize::from(sent == Sent::Delivered);
        }
        Ok(delivered)
    }

    /// Sends any notification on the stream. A change of a resource, and the state of a task, are authorized first where the
    /// suite asks for that.
    ///
    /// # Errors
    ///
    /// [`Closed`] once the stream has ended.
    pub async fn notify(&self, notification: impl Into<ServerNotification>) -> Result<Sent, Closed> {
        let notification = notification.into();
        let allowed = match (notification.updated_resource(), notification.changed_task()) {
            (Some(uri), _) => self.authorization.resources(vec![uri.to_owned()]).await,
            (_, Some(id)) => self.authorization.tasks(vec![id.to_owned()]).await,
            (None, None) => return self.channel.send_notification(notification).await,
        };
        match allowed.is_empty() {
            false => self.channel.send_notification(notification).await,
            true if self.is_closed() => Err(Closed),
            true => Ok(Sent::Dropped),
        }
    }

    /// What application code uses to message the stream: typed, clonable, bounded.
    pub fn address(&self) -> SubscriptionAddress<M> {
        ToolAddress::new(self.channel.address())
    }

    /// The actor of the stream.
    pub fn pid(&self) -> Pid {
        self.channel.pid()
    }

    /// Runs a task that belongs to the stream and ends with it; its output, or its panic, arrives as a message. A
    /// panic of which the stream reads no more is traced.
    pub fn spawn_to<T: Send + 'static>(
        &self,
        task: impl Future<Output = T> + Send + 'static,
        to_message: impl FnOnce(TaskResult<T>) -> M + Send + 'static,
    ) -> TaskHandle {
        self.channel.spawn(task, |output| SuiteMessage::new(to_message(output)))
    }

    /// Sends the stream a message after a delay, unless it ends before.
    pub fn send_after(&self, delay: Duration, message: M) -> TimerHandle {
        self.channel.send_after(delay, SuiteMessage::new(message))
    }

    /// Tells the stream when another process ends, behind everything that process sent before.
    pub fn monitor(&self, pid: &Pid, to_message: impl FnOnce(Down) -> M + Send + 'static) -> MonitorRef {
        self.channel.monitor(pid, |down| SuiteMessage::new(to_message(down)))
    }

    /// Runs a future that neither a client that leaves nor a drain cuts: the end of the stream waits for it.
    pub fn uninterrupted<'a, T, F>(&'a self, future: F) -> impl Future<Output = T> + Send + 'a
    where
        T: Send + 'a,
        F: Future<Output = T> + Send + 'a,
    {
        self.channel.uninterrupted(future)
    }

    /// Whether the stream has ended.
    pub fn is_closed(&self) -> bool {
        self.channel.is_closed()
    }

    /// The id of the listen request, which is the subscription id, as the client sent it.
    pub fn id(&self) -> Option<&RequestId> {
        self.channel.request_id()
    }

    /// What the `_meta` of the listen request says.
    pub fn meta(&self) -> &RequestMeta {
        self.channel.meta()
    }

    /// Who listens.
    pub fn principal(&self) -> &Principal {
        self.channel.principal()
    }

    /// The address of the client's end of the connection, if the transport has one.
    pub fn peer(&self) -> Option<SocketAddr> {
        self.channel.peer()
    }

    /// Typed values that layers in front of the server attached to the HTTP request.
    pub fn extensions(&self) -> &http::Extensions {
        self.channel.extensions()
    }
}

impl<M> Clone for Subscription<M> {
    fn clone(&self) -> Self {
        let authorization = Arc::clone(&self.authorization);
        Self { channel: self.channel.clone(), authorization, messages: PhantomData }
    }
}

impl<M> fmt::Debug for Subscription<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Subscription({:?})", self.channel)
    }
}
