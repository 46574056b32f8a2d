//! The server side of one request: what its handler, and whoever it lends a clone to, sends on the response.

use std::fmt;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use ractor_otp::{Address, Down, ExitReason, Me, MonitorRef, Pid, Tag, TaskHandle, TaskResult, TimerHandle};
use serde_json::Value;

use crate::wire::{
    Implementation, LogLevel, MirroredParams, RequestId, RequestMeta, ResultBody, ServerNotification,
};

use super::exchange::{Exchange, Unsent};
#[cfg(any(test, feature = "suite"))]
use super::expiry::Answered;
use super::{Clock, Closed, Event, Principal, RpcError};

/// What became of something that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sent {
    /// It is on its way to the client.
    Delivered,
    /// The client did not ask for it on this request: no progress token, no log level. Nothing was sent.
    NotRequested,
    /// It is not for the client: below its log level, progress that does not grow, more in a second than is useful, a
    /// response that may not stream because of its `Accept`, or one that it does not belong on. Nothing was sent.
    Dropped,
}

/// The server side of one request: sends progress, logs, notifications and early answers, tells who called, and
/// gives the request's actor an [address](Channel::address).
///
/// A channel is cheap to clone, and all clones are one: once the request is answered, closed or left by its client,
/// every send on every clone returns [`Closed`]. A send waits while the client reads slower than the handler writes.
///
/// The response is one JSON object until there is something to stream; it becomes an SSE stream with the first thing
/// sent, with [`start_stream`](Channel::start_stream), or after a while of silence, if the client's `Accept` allows.
pub struct Channel<M> {
    me: Me<M>,
    exchange: Arc<Exchange>,
}

impl<M: Send + 'static> Channel<M> {
    pub(crate) fn new(me: Me<M>, exchange: Arc<Exchange>) -> Self {
        Self { me, exchange }
    }

    /// Reports progress. `progress` must grow with each call (PROG-04); `total` is in the same unit, and left out if it is no
    /// finite number.
    ///
    /// A loop may report each of its steps: beyond so many in a second they are dropped
    /// ([`Options::progress_rate`](crate::Options::progress_rate)), except the one that reaches the total.
    ///
    /// # Errors
    ///
    /// [`Closed`] once the channel is closed.
    pub async fn send_progress(
        &self,
        progress: f64,
        total: impl Into<Option<f64>>,
        message: impl Into<Option<&str>>,
    ) -> Result<Sent, Closed> {
        self.sent(self.exchange.send_progress(progress, total.into(), message.into()).await).await
    }

    /// Sends a log record, if the request asked for logs at or below `level` (LOG-02, LOG-03). The client reads it: no
    /// secrets, nothing internal (LOG-08). Beyond so many in a second they are dropped
    /// ([`Options::log_rate`](crate::Options::log_rate)). A server that sends them declares so with
    /// [`ServerCapabilities::logging`](crate::wire::ServerCapabilities::logging) (LOG-01): without that each is dropped, and
    /// traced as a bug of the handler.
    ///
    /// # Errors
    ///
    /// [`Closed`] once the channel is closed.
    pub async fn send_log(
        &self,
        level: LogLevel,
        data: impl Into<Value>,
        logger: impl Into<Option<&str>>,
    ) -> Result<Sent, Closed> {
        self.sent(self.exchange.send_log(level, data.into(), logger.into()).await).await
    }

    /// Sends a notification on this response.
    ///
    /// One that the specification does not define goes out as it is. Progress and logs have methods of their own, and changes
    /// are told on `subscriptions/listen` streams only (SSE-02): anywhere else they are dropped, and traced as a bug of the
    /// handler.
    ///
    /// On a `subscriptions/listen` stream it is stamped with the subscription id, and what the granted filter does not
    /// cover is dropped. A change that waits to be told absorbs the next of its kind, of the same resource, or of the same
    /// task, of which the newest state is told; so telling changes never waits for the client.
    ///
    /// # Errors
    ///
    /// [`Closed`] once the channel is closed.
    pub async fn send_notification(
        &self,
        notification: impl Into<ServerNotification>,
    ) -> Result<Sent, Closed> {
        self.sent(self.exchange.send_own(notification.into()).await).await
    }

    /// Opens the stream without writing an event, so that keep-alives flow while a slow handler works.
    ///
    /// # Errors
    ///
    /// [`Closed`] once the channel is closed.
    pub async fn start_stream(&self) -> Result<(), Closed> {
        self.sent(self.exchange.offer(Event::Open).await).await
    }

    /// A client that takes nothing for the stall time has its request ended.
    async fn sent<T>(&self, sent: Result<T, Unsent>) -> Result<T, Closed> {
        if let Err(Unsent::Stalled) = sent {
            self.me.pid().exit(ExitReason::ShutdownWith(Tag::STALLED));
            // The exit comes first, not what the handler would reply to the error.
            tokio::task::yield_now().await;
        }
        sent.map_err(|_| Closed)
    }

    /// Answers the request now, and lets the handler go on working. Whatever it returns later is not sent.
    ///
    /// A `subscriptions/listen` stream that is open has but one end: there this is [`close`](Channel::close), and the result
    /// is not sent.
    ///
    /// # Errors
    ///
    /// [`Closed`] once the channel is closed.
    pub fn send_result(&self, result: impl Into<ResultBody>) -> Result<(), Closed> {
        self.give(|exchange| exchange.answer(result.into()))
    }

    /// Answers the request with an error now, and lets the handler go on working.
    ///
    /// A `subscriptions/listen` stream that is open has but one end: there this is [`close`](Channel::close), and the error
    /// is traced.
    ///
    /// # Errors
    ///
    /// [`Closed`] once the channel is closed.
    pub fn send_error(&self, error: RpcError) -> Result<(), Closed> {
        self.give(|exchange| exchange.answer_error(&error))
    }

    fn give(&self, answer: impl FnOnce(&Exchange) -> bool) -> Result<(), Closed> {
        if self.is_closed() {
            return Err(Closed);
        }
        if answer(&self.exchange) {
            return Ok(());
        }
        if !self.exchange.is_open_stream() {
            return Err(Closed);
        }
        self.close();
        Ok(())
    }

    /// Ends the request from the server side: the current callback is interrupted at its next `.await`, the request
    /// answers `-32603` unless it was answered, and [`handle_close`](super::Handler::handle_close) runs. The actor
    /// ends with `shutdown: closed`.
    pub fn close(&self) {
        self.exchange.shut();
        self.me.pid().exit(ExitReason::ShutdownWith(Tag::CLOSED));
    }

    /// Answers the request because its time is over, and then interrupts it; false if it has an answer already.
    #[cfg(any(test, feature = "suite"))]
    pub(crate) fn expire(&self, answer: impl FnOnce(&Self) -> Result<(), Closed>) -> bool {
        self.exchange.expire(&self.me.pid(), Answered::IsLeft, || answer(self).is_ok())
    }

    /// Says who the server is in the results of this request (META-12), in place of
    /// [`Handler::server_info`](super::Handler::server_info), for servers that are not the same to every caller. The first
    /// call counts.
    pub fn set_server_info(&self, info: &Implementation) {
        self.exchange.set_server_info(info);
    }

    /// Whether the request was answered, closed or left by its client.
    pub fn is_closed(&self) -> bool {
        self.exchange.is_closed()
    }

    /// What application code uses to message the running request: typed, clonable, bounded.
    pub fn address(&self) -> Address<M> {
        self.me.address()
    }

    /// The request's actor.
    pub fn pid(&self) -> Pid {
        self.me.pid()
    }

    /// Sets what the tree shows behind the label of the request's actor.
    pub(crate) fn describe(&self, detail: Arc<dyn fmt::Display + Send + Sync>) {
        self.me.describe(detail);
    }

    /// Runs a task that belongs to the request: it dies with its actor, and its output, or its panic, arrives as a
    /// message. It runs in the `tracing` span of whoever spawns it, in a callback that of the request; a panic of which the
    /// request reads no more is traced.
    pub fn spawn<T: Send + 'static>(
        &self,
        task: impl Future<Output = T> + Send + 'static,
        to_message: impl FnOnce(TaskResult<T>) -> M + Send + 'static,
    ) -> TaskHandle {
        self.me.spawn(task, to_message)
    }

    /// Sends a message to this request after a delay, unless its actor ends before.
    pub fn send_after(&self, delay: Duration, message: M) -> TimerHandle {
        self.me.send_after(delay, message)
    }

    /// Tells this request when another process ends, behind everything that process sent before.
    pub fn monitor(&self, pid: &Pid, to_message: impl FnOnce(Down) -> M + Send + 'static) -> MonitorRef {
        self.me.monitor(pid, to_message)
    }

    /// Runs a future that an exit does not cut: the exit waits until it is done. Only a kill ends it.
    pub fn uninterrupted<'a, T, F>(&'a self, future: F) -> impl Future<Output = T> + Send + 'a
    where
        T: Send + 'a,
        F: Future<Output = T> + Send + 'a,
    {
        self.me.uninterrupted(future)
    }

    /// The id of the request as the client sent it; `None` for a notification.
    pub fn request_id(&self) -> Option<&RequestId> {
        self.exchange.context.id.as_ref()
    }

    /// The JSON-RPC method.
    pub fn method(&self) -> &str {
        &self.exchange.context.method
    }

    /// The address of the client's end of the connection, if the transport has one.
    pub fn peer(&self) -> Option<SocketAddr> {
        self.exchange.context.peer
    }

    /// What the request's `_meta` says: protocol version, client, its capabilities, log level, progress token, trace.
    pub fn meta(&self) -> &RequestMeta {
        &self.exchange.context.meta
    }

    /// The `Mcp-Param-*` headers of the request; none on transports without headers.
    pub fn mirrored_params(&self) -> &MirroredParams {
        &self.exchange.context.mirrored_params
    }

    /// What is known of the request, for what outlives a borrow of the channel.
    #[cfg(feature = "suite")]
    pub(crate) fn context(&self) -> &Arc<super::RequestContext> {
        &self.exchange.context
    }

    /// Who calls.
    pub fn principal(&self) -> &Principal {
        &self.exchange.context.principal
    }

    /// By which clock the server's callers and tokens expire; see [`Options::clock`](crate::Options::clock).
    pub fn clock(&self) -> &Clock {
        &self.exchange.context.clock
    }

    /// Takes over the end of this request's time from the server, and returns what is left of it
    /// ([`Options::request_time`](crate::Options::request_time)): from now on only the handler ends it, then with words of its
    /// own, or at a time that it knows better. `None` where nothing ends it.
    pub fn take_request_time(&self) -> Option<Duration> {
        self.exchange.take_time()
    }

    /// Held by the thread of a blocking call as long as it works.
    #[cfg(feature = "suite")]
    pub(crate) fn works(&self) -> super::Working {
        self.exchange.terms.threads.work(&self.me.pid())
    }

    /// How long a request of this server may take in all, if that is limited.
    #[cfg(feature = "suite")]
    pub(crate) fn request_time(&self) -> Option<Duration> {
        self.exchange.terms.request_time
    }

    /// How long the application may take to say what a stream may be told
    /// ([`Options::authorize_time`](crate::Options::authorize_time)), for a handler that asks it before it grants. A
    /// [`Grant`](super::Grant) keeps to it by itself.
    pub fn authorize_time(&self) -> Duration {
        self.exchange.terms.authorize_time
    }

    /// Typed values that layers in front of the server attached to the HTTP request.
    pub fn extensions(&self) -> &http::Extensions {
        &self.exchange.context.extensions
    }
}

impl<M> Clone for Channel<M> {
    fn clone(&self) -> Self {
        Self { me: self.me.clone(), exchange: Arc::clone(&self.exchange) }
    }
}

impl<M> fmt::Debug for Channel<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Channel({})", self.exchange.context)
    }
}
