//! The exchange of one request: what its channel, its actor and its response share, whatever messages the handler takes. It
//! judges what may be sent, and gives the one answer.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use http::StatusCode;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::time::{Instant, timeout};

use crate::rules::{
    errors, frame, input_request, progress::Progress, rate::Rate, reply, request_scoped, subscription,
};
use crate::wire::{
    ErrorObject, Implementation, ListenResult, LogLevel, RequestId, ResultBody, ServerNotification,
    SubscriptionFilter,
};

use super::{Answer, Change, Event, ListenSink, Noted, Refused, RequestContext, RpcError, Sent, Sink, Terms};

/// Why something was not sent.
pub(super) enum Unsent {
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
    /// The code of the error that it was answered with.
    error: OnceLock<i64>,
    /// Whether its time is over.
    expired: AtomicBool,
    /// When its time is over, if it has one.
    until: OnceLock<Instant>,
    /// The handler ends the request in time, not the server.
    time_taken: AtomicBool,
    /// The listen stream, once it is open.
    stream: OnceLock<Stream>,
}

/// An open listen stream: what it was granted, and where it is told.
struct Stream {
    granted: Arc<SubscriptionFilter>,
    sink: Arc<dyn ListenSink>,
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
            error: OnceLock::new(),
            expired: AtomicBool::new(false),
            until: OnceLock::new(),
            time_taken: AtomicBool::new(false),
            stream: OnceLock::new(),
        })
    }

    /// Says who the server is in the results of this request. The first call counts.
    pub(super) fn set_server_info(&self, info: &Implementation) {
        match serde_json::value::to_raw_value(info) {
            // Set already: the first call counts.
            Ok(info) => drop(self.own_server_info.set(Arc::from(info))),
            Err(error) => {
                tracing::error!(request = %self.context, %error, "the server info cannot be written as JSON");
            }
        }
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

    /// Begins the time of the request, if it has one.
    pub(crate) fn begin_time(&self) -> Option<Duration> {
        let limit = self.terms.request_time?;
        let _ = self.until.set(Instant::now() + limit);
        Some(limit)
    }

    /// The handler ends the request from now on, and not the server after what is left of its time.
    pub(super) fn take_time(&self) -> Option<Duration> {
        self.time_taken.store(true, Ordering::Release);
        let until = self.until.get()?;
        Some(until.saturating_duration_since(Instant::now()))
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

    /// The code of the error that it was answered with, if it was one.
    pub(crate) fn error(&self) -> Option<i64> {
        self.error.get().copied()
    }

    /// Notes that the time of the request is over, or that it is not after all. Before the answer: what the handler returns from
    /// then on comes too late.
    pub(super) fn set_expired(&self, expired: bool) {
        self.expired.store(expired, Ordering::Release);
    }

    /// Whether the time of the request is over, and it was answered so.
    pub(crate) fn is_expired(&self) -> bool {
        self.expired.load(Ordering::Acquire)
    }

    pub(super) fn is_open_stream(&self) -> bool {
        self.stream.get().is_some()
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

    pub(super) async fn send_progress(
        &self,
        progress: f64,
        total: Option<f64>,
        message: Option<&str>,
    ) -> Result<Sent, Unsent> {
        let Some(token) = &self.context.meta.progress_token else {
            return self.unless_closed(Sent::NotRequested);
        };
        if self.context.is_listen() || !self.progress_is_due(progress, total) {
            return self.unless_closed(Sent::Dropped);
        }
        let message = message.map(str::to_owned);
        // JSON has no number for another total (PROG-05).
        let total = total.filter(|total| total.is_finite());
        self.send(&ServerNotification::progress(token.clone(), progress, total, message)).await
    }

    pub(super) async fn send_log(
        &self,
        level: LogLevel,
        data: Value,
        logger: Option<&str>,
    ) -> Result<Sent, Unsent> {
        let Some(wanted) = self.context.meta.log_level else {
            return self.unless_closed(Sent::NotRequested);
        };
        if level < wanted || self.context.is_listen() || !self.log_is_due() {
            return self.unless_closed(Sent::Dropped);
        }
        if !self.logging {
            self.bug("notifications/message", "the capability `logging` is not declared (LOG-01)");
            return self.unless_closed(Sent::Dropped);
        }
        self.send(&ServerNotification::message(level, data, logger.map(str::to_owned))).await
    }

    async fn send(&self, notification: &ServerNotification) -> Result<Sent, Unsent> {
        if !self.sink.streams() {
            return self.unless_closed(Sent::Dropped);
        }
        match frame::notification(notification) {
            Some(json) => self.offer(Event::Message(json)).await.map(|()| Sent::Delivered),
            None => self.unless_closed(Sent::Dropped),
        }
    }

    /// Sends a notification of the handler's own making.
    pub(super) async fn send_own(&self, notification: ServerNotification) -> Result<Sent, Unsent> {
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
        let stream = self.stream.get();
        let granted = stream.is_some_and(|stream| subscription::covers(&stream.granted, notification));
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
        if let (Some(stream), Some(change)) = (self.stream.get(), Change::told_by(&notification)) {
            return match stream.sink.note(change) {
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
    /// client can know of it; it is told how many changes of resources and tasks may wait. `None` if the request was answered,
    /// since nobody would read the stream, or if its sink carries none.
    pub(crate) fn acknowledge<T>(
        &self,
        granted: Arc<SubscriptionFilter>,
        open: impl FnOnce(&Arc<dyn ListenSink>, usize) -> T,
    ) -> Option<T> {
        if self.was_answered() {
            return None;
        }
        let sink = Arc::clone(&self.sink).listening()?;
        let mut acknowledgement = ServerNotification::acknowledged((*granted).clone());
        if let Some(id) = &self.context.id {
            acknowledgement.stamp_subscription(id);
        }
        let acknowledgement = frame::notification(&acknowledgement)?;
        let most = sink.expect(granted.resource_subscriptions.len() + granted.task_ids.len());
        let _ = self.stream.set(Stream { granted, sink: Arc::clone(&sink) });
        let opened = open(&sink, most);
        sink.acknowledge(acknowledgement).then_some(opened)
    }

    /// Ends the request without a result of its own: a stream that was acknowledged as the protocol asks, any
    /// other request with an internal error.
    pub(crate) fn conclude(&self) -> bool {
        match (&self.context.id, self.stream.get()) {
            (Some(id), Some(stream)) => self.tear_down(id, &*stream.sink),
            _ => self.answer_object(&errors::internal()),
        }
    }

    fn tear_down(&self, id: &RequestId, sink: &dyn ListenSink) -> bool {
        let mut cancelled = ServerNotification::cancelled(id.clone(), None);
        cancelled.stamp_subscription(id);
        let mut result = ResultBody::from(ListenResult::new());
        result.meta_mut().stamp_subscription(id);
        self.stamp_server_info(&mut result);
        let result = frame::result(id, &result);
        let result = result.unwrap_or_else(|| frame::error(Some(id), &errors::internal()));
        sink.tear_down(frame::notification(&cancelled), result)
    }

    pub(super) async fn offer(&self, mut event: Event) -> Result<(), Unsent> {
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
        match frame::result(id, &result) {
            Some(body) => self.sink.answer(Answer::new(StatusCode::OK, body)),
            None => self.answer_object(&errors::internal()),
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
        let status = match lacks {
            [] => errors::status_from_handler(error.code),
            _ => errors::status_of_lacking_scopes(self.context.principal.is_anonymous()),
        };
        let answer = Answer::new(status, frame::error(Some(id), error));
        let given = self.sink.answer(Answer { lacks: lacks.to_vec(), ..answer });
        if given {
            // There is but one answer.
            let _ = self.error.set(error.code);
        }
        given
    }
}
