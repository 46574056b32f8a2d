//! The server side of one request: what its handler, and whoever it lends a clone to, sends on the response.

use std::fmt;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use ractor_otp::{Address, Down, ExitReason, Me, MonitorRef, Pid, Tag, TaskHandle, TaskResult, TimerHandle};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::time::{Instant, timeout};

use crate::rules::{
    errors, input_request, progress::Progress, rate::Rate, reply, request_scoped, subscription,
};
use crate::wire::{
    ErrorObject, ErrorResponse, Implementation, ListenResult, LogLevel, MirroredParams, NotificationMessage,
    RequestId, RequestMeta, Response, ResultBody, ServerNotification, SubscriptionFilter,
};

use super::{
    Answer, Change, Clock, Closed, Event, Noted, Principal, Refused, RequestContext, RpcError, Sink, Terms,
};

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

/// Why something was not sent.
enum Unsent {
    Closed,
    /// The client took nothing for the stall time.
    Stalled,
}

/// The part of a channel that does not depend on the message type.
pub(crate) struct Exchange {
    pub(crate) context: Arc<RequestContext>,
    pub(crate) terms: Terms,
    sink: Arc<dyn Sink>,
    server_info: Option<Arc<RawValue>>,
    /// Who this request says the server is, in place of that.
    own_server_info: OnceLock<Arc<RawValue>>,
    progress: Mutex<Progress>,
    logs: Mutex<Rate>,
    /// Whether the server declares that it logs.
    logging: bool,
    closed: AtomicBool,
    /// Whether its time is over.
    expired: AtomicBool,
    /// The handler ends the request in time, not the server.
    time_taken: AtomicBool,
    /// What a listen stream was granted; empty before.
    granted: OnceLock<Arc<SubscriptionFilter>>,
}

impl<M: Send + 'static> Channel<M> {
    pub(crate) fn new(me: Me<M>, exchange: Arc<Exchange>) -> Self {
        Self { me, exchange }
    }

    /// Reports progress. `progress` must grow with each call (PROG-04); `total` is in the same unit.
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
        let Some(token) = &self.exchange.context.meta.progress_token else {
            return self.sent(self.exchange.unless_closed(Sent::NotRequested)).await;
        };
        let total = total.into();
        if self.exchange.context.is_listen() || !self.exchange.progress_is_due(progress, total) {
            return self.sent(self.exchange.unless_closed(Sent::Dropped)).await;
        }
        let notification =
            ServerNotification::progress(token.clone(), progress, total, message.into().map(str::to_owned));
        self.sent(self.exchange.send(&notification).await).await
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
        let Some(wanted) = self.exchange.context.meta.log_level else {
            return self.sent(self.exchange.unless_closed(Sent::NotRequested)).await;
        };
        if level < wanted || self.exchange.context.is_listen() || !self.exchange.log_is_due() {
            return self.sent(self.exchange.unless_closed(Sent::Dropped)).await;
        }
        if !self.exchange.logging {
            self.exchange.bug("notifications/message", "the capability `logging` is not declared (LOG-01)");
            return self.sent(self.exchange.unless_closed(Sent::Dropped)).await;
        }
        let notification = ServerNotification::message(level, data.into(), logger.into().map(str::to_owned));
        self.sent(self.exchange.send(&notification).await).await
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

    /// Answers the request because its time is over, and then interrupts it; false if it has an answer already. The answer
    /// comes before the exit, since the handler may take its time to end; the mark comes before both, so that what the
    /// handler returns in between is known to come too late.
    #[cfg(any(test, feature = "suite"))]
    pub(crate) fn expire(&self, answer: impl FnOnce(&Self) -> Result<(), Closed>) -> bool {
        self.exchange.note_expired();
        let answered = answer(self).is_ok();
        if answered {
            self.me.pid().exit(ExitReason::ShutdownWith(Tag::EXPIRED));
        } else {
            self.exchange.expired.store(false, Ordering::Release);
        }
        answered
    }

    /// Says who the server is in the results of this request (META-12), in place of
    /// [`Handler::server_info`](super::Handler::server_info), for servers that are not the same to every caller. The first
    /// call counts.
    pub fn set_server_info(&self, info: &Implementation) {
        match serde_json::value::to_raw_value(info) {
            // Set already: the first call counts.
            Ok(info) => drop(self.exchange.own_server_info.set(Arc::from(info))),
            Err(error) => {
                tracing::error!(request = %self.exchange.context, %error, "the server info cannot be written as JSON");
            }
        }
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
    /// message.
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
    pub(crate) fn context(&self) -> &Arc<RequestContext> {
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

    /// Takes over the end of this request's time from the server, and returns how long the server would let it run
    /// ([`Options::request_time`](crate::Options::request_time)): from now on only the handler ends it, after that time with
    /// words of its own, or after one that it knows better. `None` where nothing ends it.
    pub fn take_request_time(&self) -> Option<Duration> {
        self.exchange.time_taken.store(true, Ordering::Release);
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

impl Exchange {
    pub(crate) fn new(
        context: Arc<RequestContext>,
        sink: Arc<dyn Sink>,
        server_info: Option<Arc<RawValue>>,
        terms: Terms,
        logging: bool,
    ) -> Arc<Self> {
        let progress = Mutex::new(Progress::new(terms.pace.progress));
        let logs = Mutex::new(Rate::new(terms.pace.logs));
        Arc::new(Self {
            context,
            terms,
            sink,
            server_info,
            own_server_info: OnceLock::new(),
            progress,
            logs,
            logging,
            closed: AtomicBool::new(false),
            expired: AtomicBool::new(false),
            time_taken: AtomicBool::new(false),
            granted: OnceLock::new(),
        })
    }

    fn stamp_server_info(&self, result: &mut ResultBody) {
        if let Some(server_info) = self.own_server_info.get().or(self.server_info.as_ref()) {
            result.meta_mut().stamp_server_info(Arc::clone(server_info));
        }
    }

    /// Closes the channel to the handler; the answer, if none was given, is still due.
    pub(crate) fn shut(&self) {
        self.closed.store(true, Ordering::Release);
    }

    pub(crate) fn time_is_taken(&self) -> bool {
        self.time_taken.load(Ordering::Acquire)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire) || self.sink.is_closed()
    }

    /// Whether no answer is due: it was given, or nobody reads.
    pub(crate) fn is_answered(&self) -> bool {
        self.sink.is_closed()
    }

    /// Whether the answer was given already, by the handler itself.
    pub(crate) fn was_answered(&self) -> bool {
        self.sink.is_answered()
    }

    /// Notes that the time of the request is over. Before the answer: what the handler returns from then on comes too late.
    pub(crate) fn note_expired(&self) {
        self.expired.store(true, Ordering::Release);
    }

    /// Whether the time of the request is over, and it was answered so.
    pub(crate) fn is_expired(&self) -> bool {
        self.expired.load(Ordering::Acquire)
    }

    fn is_open_stream(&self) -> bool {
        self.granted.get().is_some()
    }

    fn unless_closed(&self, sent: Sent) -> Result<Sent, Unsent> {
        if self.is_closed() { Err(Unsent::Closed) } else { Ok(sent) }
    }

    fn progress_is_due(&self, progress: f64, total: Option<f64>) -> bool {
        let mut reported = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        reported.advance(progress, total, Instant::now())
    }

    fn log_is_due(&self) -> bool {
        let mut rate = self.logs.lock().unwrap_or_else(PoisonError::into_inner);
        rate.take(Instant::now())
    }

    async fn send(&self, notification: &ServerNotification) -> Result<Sent, Unsent> {
        if !self.sink.streams() {
            return self.unless_closed(Sent::Dropped);
        }
        match NotificationMessage::new(notification).to_bytes() {
            Ok(bytes) => self.offer(Event::Message(Bytes::from(bytes))).await.map(|()| Sent::Delivered),
            Err(error) => {
                tracing::error!(%error, request = %self.context, "a notification cannot be written as JSON");
                self.unless_closed(Sent::Dropped)
            }
        }
    }

    /// Sends a notification of the handler's own making.
    async fn send_own(&self, notification: ServerNotification) -> Result<Sent, Unsent> {
        if self.is_closed() {
            return Err(Unsent::Closed);
        }
        if !self.admits(&notification) {
            return self.unless_closed(Sent::Dropped);
        }
        if self.context.is_listen() { self.tell(notification).await } else { self.send(&notification).await }
    }

    /// Whether a notification belongs on this response; why not, the trace says.
    fn admits(&self, notification: &ServerNotification) -> bool {
        let method = notification.method();
        if !self.context.is_listen() {
            return request_scoped::check(notification).inspect_err(|why| self.bug(method, why)).is_ok();
        }
        let granted = self.granted.get().is_some_and(|granted| subscription::covers(granted, notification));
        if !granted {
            tracing::warn!(
                target: "ractor_mcp",
                request = %self.context,
                notification = method,
                "not sent: the stream was not granted it"
            );
        }
        granted
    }

    fn bug(&self, notification: &str, why: &str) {
        tracing::error!(
            target: "ractor_mcp",
            request = %self.context,
            notification,
            "bug of the handler: not sent: {why}"
        );
    }

    /// Tells a listen stream: stamped (META-14), changes coalesced.
    async fn tell(&self, mut notification: ServerNotification) -> Result<Sent, Unsent> {
        if let Some(change) = Change::told_by(&notification) {
            return match self.sink.note(change) {
                Noted::Closed => Err(Unsent::Closed),
                Noted::Queued | Noted::Coalesced => Ok(Sent::Delivered),
                Noted::Dropped => Ok(Sent::Dropped),
            };
        }
        if let Some(id) = &self.context.id {
            notification.stamp_subscription(id);
        }
        self.send(&notification).await
    }

    /// Opens a listen stream: what is granted is fixed and acknowledged. What `open` sets up is in place before the
    /// client can know of it. `None` if the request was answered: nobody would read the stream.
    pub(crate) fn acknowledge<T>(
        &self,
        granted: Arc<SubscriptionFilter>,
        open: impl FnOnce(&Arc<dyn Sink>) -> T,
    ) -> Option<T> {
        if self.was_answered() {
            return None;
        }
        let mut acknowledgement = ServerNotification::acknowledged((*granted).clone());
        if let Some(id) = &self.context.id {
            acknowledgement.stamp_subscription(id);
        }
        self.sink.expect(granted.resource_subscriptions.len() + granted.task_ids.len());
        let _ = self.granted.set(granted);
        let opened = open(&self.sink);
        let bytes = NotificationMessage::new(&acknowledgement).to_bytes().unwrap_or_default();
        self.sink.acknowledge(Bytes::from(bytes)).then_some(opened)
    }

    /// Ends the request without a result of its own: a stream that was acknowledged as the protocol asks, any
    /// other request with an internal error.
    pub(crate) fn conclude(&self) -> bool {
        match (&self.context.id, self.granted.get()) {
            (Some(id), Some(_)) => self.tear_down(id),
            _ => self.answer_object(&errors::internal()),
        }
    }

    fn tear_down(&self, id: &RequestId) -> bool {
        let mut cancelled = ServerNotification::cancelled(id.clone(), None);
        cancelled.stamp_subscription(id);
        let mut result = ResultBody::from(ListenResult::new());
        result.meta_mut().stamp_subscription(id);
        self.stamp_server_info(&mut result);
        let farewell = NotificationMessage::new(&cancelled).to_bytes().unwrap_or_default();
        let body = Response::new(id, &result).to_bytes().unwrap_or_default();
        let answer = Answer::new(StatusCode::OK, Bytes::from(body));
        self.sink.answer(Answer { farewell: Some(Bytes::from(farewell)), ..answer })
    }

    async fn offer(&self, mut event: Event) -> Result<(), Unsent> {
        loop {
            let room = self.sink.room();
            if self.is_closed() {
                return Err(Unsent::Closed);
            }
            match self.sink.offer(event) {
                Ok(()) => return Ok(()),
                Err(Refused::Closed) => return Err(Unsent::Closed),
                Err(Refused::Full(back)) => event = back,
            }
            timeout(self.sink.patience(), room).await.map_err(|_| Unsent::Stalled)?;
        }
    }

    /// Opens the stream if there is room to say so; a full queue is open already.
    pub(crate) fn open(&self) {
        // Refused means either that the stream is open or that nobody reads: both need nothing.
        let _ = self.sink.offer(Event::Open);
    }

    /// Gives the request its one result. False if it had an answer, the channel was closed or nobody reads; and for an open
    /// stream, which only [`conclude`](Exchange::conclude) ends.
    pub(crate) fn answer(&self, mut result: ResultBody) -> bool {
        if self.is_open_stream() {
            return false;
        }
        if let Err(why) = reply::fits(&self.context.method, &result) {
            tracing::error!(request = %self.context, %why, "the handler's reply does not fit the method");
            return self.answer_object(&errors::internal());
        }
        if let ResultBody::InputRequired(question) = &result
            && let Some(lacking) = input_request::lacking(question, &self.context.meta.client_capabilities)
        {
            return self.answer_error(&RpcError::missing_capability(&lacking));
        }
        self.stamp_server_info(&mut result);
        let Some(id) = &self.context.id else { return false };
        match Response::new(id, &result).to_bytes() {
            Ok(body) => self.sink.answer(Answer::new(StatusCode::OK, Bytes::from(body))),
            Err(error) => {
                tracing::error!(request = %self.context, %error, "the result cannot be written as JSON");
                self.answer_object(&errors::internal())
            }
        }
    }

    /// Gives the request its one error. False as for [`answer`](Exchange::answer).
    pub(crate) fn answer_error(&self, error: &RpcError) -> bool {
        if let Some(question) = error.asks() {
            return self.answer(question.clone().into());
        }
        if let Some(source) = std::error::Error::source(error) {
            tracing::error!(request = %self.context, code = error.code(), source, "the request failed");
        } else {
            let (code, reason) = (error.code(), &*error.object().message);
            tracing::debug!(request = %self.context, code, reason, "answered with an error");
        }
        if !errors::may_be_sent(error.code()) {
            let (code, reason) = (error.code(), error.message());
            tracing::error!(request = %self.context, code, reason, "bug of the handler: JSON-RPC reserves the code");
            return self.answer_object(&errors::internal());
        }
        self.give_error(error.object(), error.lacks())
    }

    pub(crate) fn answer_object(&self, error: &ErrorObject) -> bool {
        self.give_error(error, &[])
    }

    fn give_error(&self, error: &ErrorObject, lacks: &[String]) -> bool {
        let Some(id) = &self.context.id else { return false };
        let status =
            if lacks.is_empty() { errors::status_from_handler(error.code) } else { StatusCode::FORBIDDEN };
        let body = ErrorResponse::new(Some(id), error).to_bytes().unwrap_or_default();
        let answer = Answer::new(status, Bytes::from(body));
        self.sink.answer(Answer { lacks: lacks.to_vec(), ..answer })
    }
}
