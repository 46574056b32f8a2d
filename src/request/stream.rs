//! What an open `subscriptions/listen` stream holds beside its handler: its place, its topics, its limits.
//!
//! All of it belongs to the state of the stream's actor and goes with it, however it ends.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ractor_otp::{ExitReason, Pid, Tag};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

use crate::handler::{Change, Event, Exchange, Grant, ListenSink, Noted, RequestContext, contained};
use crate::rules::{frame, subscription};
use crate::wire::{RequestId, ServerNotification, SubscriptionFilter};

use super::admission::{Admission, Admitted, StreamCaps};
use super::authorization::Authorization;
use super::registry::{Entry, Registry};
use super::verification::Verification;

/// The limits of one stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StreamLimits {
    /// How long it may live; then it ends, `expired`.
    pub(crate) lifetime: Duration,
    /// How long it may be told nothing; then it ends, `idle`.
    pub(crate) idle: Option<Duration>,
}

/// What the streams of one server share.
#[derive(Clone)]
pub(crate) struct Streams {
    pub(crate) registry: Registry,
    pub(crate) admission: Admission,
    pub(crate) limits: StreamLimits,
    pub(crate) verification: Option<Verification>,
}

impl Streams {
    pub(crate) fn new(caps: StreamCaps, limits: StreamLimits, verification: Option<Verification>) -> Self {
        Self { registry: Registry::default(), admission: Admission::new(caps), limits, verification }
    }
}

/// An open stream.
pub(super) struct Stream {
    _entry: Option<Entry>,
    _admitted: Admitted,
    attendant: JoinHandle<()>,
    subscriber: Arc<Subscriber>,
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.attendant.abort();
        let told = self.subscriber.sink.told();
        tracing::debug!(
            target: "ractor_mcp",
            stream = %self.subscriber.pid,
            told.waiting,
            told.delivered,
            told.coalesced,
            told.dropped,
            "the stream ended"
        );
    }
}

impl Stream {
    /// Opens a stream: in the books of its principal, subscribed to what was granted, attended. `most` is how many changes may
    /// wait for the application to allow them, as many as for the client.
    pub(super) fn open(
        streams: &Streams,
        grant: &Grant,
        filter: Arc<SubscriptionFilter>,
        pid: &Pid,
        exchange: &Exchange,
        sink: &Arc<dyn ListenSink>,
        most: usize,
    ) -> Self {
        let authorization = Authorization::of(grant, exchange.terms.authorize_time, most).map(Box::new);
        let context = &exchange.context;
        let subscriber = Arc::new(Subscriber {
            pid: pid.clone(),
            id: context.id.clone(),
            filter,
            sink: Arc::clone(sink),
            authorization,
            warned: AtomicBool::new(false),
        });
        let principal = &context.principal;
        let admitted = streams.admission.open(pid, principal);
        let entry = grant.registered.then(|| streams.registry.register(&subscriber, principal));
        // In a box, so that its task has room for it once.
        let ends = [expired(context), revoked(context, streams.verification.as_ref())];
        let attending = Box::pin(attend(Arc::clone(&subscriber), streams.limits, ends));
        let stream = pid.clone();
        let attendant = tokio::spawn(async move {
            // A stream that nobody watches over would outlive its limits.
            if let Err(crash) = contained(attending).await {
                stream.exit(ExitReason::Crash(crash));
            }
        });
        Self { _entry: entry, _admitted: admitted, attendant, subscriber }
    }
}

/// A stream as its publishers see it.
pub(crate) struct Subscriber {
    pid: Pid,
    id: Option<RequestId>,
    filter: Arc<SubscriptionFilter>,
    sink: Arc<dyn ListenSink>,
    authorization: Option<Box<Authorization>>,
    warned: AtomicBool,
}

impl Subscriber {
    pub(crate) fn pid(&self) -> &Pid {
        &self.pid
    }

    /// What it was granted.
    pub(super) fn filter(&self) -> &SubscriptionFilter {
        &self.filter
    }

    /// Notes a change to tell; false if the stream has ended or keeps no more of them in mind.
    pub(super) fn note(&self, change: Change) -> bool {
        match self.authorization.as_ref().filter(|authorization| authorization.covers(&change)) {
            Some(authorization) => self.ask(authorization, [change]),
            None => self.was_taken(self.sink.note(change)),
        }
    }

    /// Notes changes of several resources at once; false if none was taken.
    pub(super) fn note_resources(&self, uris: Vec<Arc<str>>) -> bool {
        let changes = uris.into_iter().map(Change::resource);
        match self.authorization.as_ref().filter(|authorization| authorization.asks_for_resources()) {
            Some(authorization) => self.ask(authorization, changes),
            None => changes.filter(|change| self.was_taken(self.sink.note(change.clone()))).count() > 0,
        }
    }

    fn ask(&self, authorization: &Authorization, changes: impl IntoIterator<Item = Change>) -> bool {
        if self.sink.is_closed() {
            return false;
        }
        let asked = authorization.ask(changes);
        let count = |what| asked.iter().filter(|noted| **noted == what).count();
        self.sink.count(count(Noted::Coalesced), count(Noted::Dropped));
        asked.iter().filter(|noted| self.was_taken(**noted)).count() > 0
    }

    fn was_taken(&self, noted: Noted) -> bool {
        if noted == Noted::Dropped {
            self.warn_once();
        }
        matches!(noted, Noted::Queued | Noted::Coalesced)
    }

    /// The first notification that is dropped is worth a word; how many there were is told at the end of the stream.
    fn warn_once(&self) {
        if !self.warned.swap(true, Ordering::Relaxed) {
            tracing::warn!(target: "ractor_mcp", stream = %self.pid, "its queue is full: it misses notifications");
        }
    }

    /// Tells any notification, by way of the change that it is about if there is one, within the granted filter. False if
    /// it is not in there, the stream has ended or its queue is full.
    pub(super) fn publish(&self, notification: &ServerNotification, change: Option<&Change>) -> bool {
        if !subscription::covers(&self.filter, notification) {
            let method = notification.method();
            tracing::warn!(target: "ractor_mcp", stream = %self.pid, method, "not sent: the stream was not granted it");
            return false;
        }
        match change {
            Some(change) => self.note(change.clone()),
            None => self.send(notification.clone()),
        }
    }

    fn send(&self, mut notification: ServerNotification) -> bool {
        if let Some(id) = &self.id {
            notification.stamp_subscription(id);
        }
        let Some(json) = frame::notification(&notification) else { return false };
        let taken = self.sink.offer_or_drop(Event::Message(json));
        if !taken && !self.sink.is_closed() {
            self.warn_once();
        }
        taken
    }
}

/// What a stream waits for. In a box, so that those that have nothing to wait for need no room for it: there are many.
type Waiting<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// The end of the authorization of a stream's caller.
fn expired(context: &RequestContext) -> Waiting<'static> {
    let clock = context.clock.clone();
    match context.principal.expires_at() {
        Some(time) => Box::pin(async move { clock.until(time).await }),
        None => Box::pin(std::future::pending()),
    }
}

/// The news that the application has taken back what it found the caller to be.
fn revoked(context: &Arc<RequestContext>, verification: Option<&Verification>) -> Waiting<'static> {
    match verification {
        Some(verification) => Box::pin(verification.clone().revoked(Arc::clone(context))),
        None => Box::pin(std::future::pending()),
    }
}

/// Watches over a stream: ends it at its limits of time and with its caller, and tells it what was allowed meanwhile.
async fn attend(stream: Arc<Subscriber>, limits: StreamLimits, [expired, revoked]: [Waiting<'static>; 2]) {
    let telling: Waiting<'_> = match &stream.authorization {
        Some(authorization) => Box::pin(stream.tell_allowed(authorization)),
        None => Box::pin(std::future::pending()),
    };
    tokio::select! {
        biased;
        tag = stream.limit(limits) => stream.pid.exit(ExitReason::ShutdownWith(tag)),
        () = expired => stream.pid.exit(ExitReason::ShutdownWith(Tag::EXPIRED)),
        () = revoked => stream.pid.exit(ExitReason::ShutdownWith(Tag::EXPIRED)),
        () = telling => {}
    }
}

impl Subscriber {
    /// The limit of time that the stream reaches first, when it does.
    async fn limit(&self, limits: StreamLimits) -> Tag {
        let end = Instant::now() + limits.lifetime;
        loop {
            let idle_end = limits.idle.map(|idle| self.sink.last_told() + idle);
            tokio::select! {
                biased;
                () = sleep_until(end) => return Tag::EXPIRED,
                () = sleep_until(idle_end.unwrap_or(end)), if idle_end.is_some() => {
                    if self.sink.last_told() + limits.idle.unwrap_or_default() <= Instant::now() {
                        return Tag::IDLE;
                    }
                }
            }
        }
    }

    async fn tell_allowed(&self, authorization: &Authorization) {
        loop {
            for change in authorization.next().await {
                self.sink.note(change);
            }
        }
    }
}

/// What the tree shows of a stream: its filter and what became of its notifications.
pub(super) struct Shown {
    filter: Arc<SubscriptionFilter>,
    sink: Arc<dyn ListenSink>,
}

impl Shown {
    pub(super) fn new(filter: &Arc<SubscriptionFilter>, sink: &Arc<dyn ListenSink>) -> Self {
        Self { filter: Arc::clone(filter), sink: Arc::clone(sink) }
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lists = [
            (self.filter.tools_list_changed, "tools"),
            (self.filter.prompts_list_changed, "prompts"),
            (self.filter.resources_list_changed, "resources"),
        ];
        let mut shown: Vec<String> =
            lists.iter().filter(|(granted, _)| *granted).map(|(_, name)| (*name).to_owned()).collect();
        for (named, kind) in
            [(&self.filter.resource_subscriptions, "resources"), (&self.filter.task_ids, "tasks")]
        {
            match named.as_slice() {
                [] => {}
                [one] => shown.push(one.clone()),
                more => shown.push(format!("{} {kind}", more.len())),
            }
        }
        let told = self.sink.told();
        write!(
            f,
            "[{}] {} waiting, {} delivered, {} coalesced, {} dropped",
            shown.join(", "),
            told.waiting,
            told.delivered,
            told.coalesced,
            told.dropped
        )
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use serde_json::Value;

    use super::*;
    use crate::handler::{Exchange, Terms};
    use crate::request::{Budget, Outbox, OutboxLimits, Outgoing};

    /// Between its entry in the registry and its acknowledgement a stream may be told of changes already.
    #[tokio::test]
    async fn i3_a_change_that_comes_before_the_acknowledgement_is_told_after_it() {
        let limits = OutboxLimits { messages: 0, bytes: 0, patience: Duration::from_secs(1) };
        let outbox = Arc::new(Outbox::listening(limits, Budget::new(1000), RequestId::from(1)));
        let exchange = Exchange::new(
            Arc::new(RequestContext::of("subscriptions/listen")),
            Arc::clone(&outbox) as _,
            None,
            Terms::default(),
            true,
        );
        let granted = Arc::new(SubscriptionFilter::new().resource("x:a"));
        let noted = exchange.acknowledge(granted, |sink, _| sink.note(Change::resource("x:a")));
        assert_eq!(noted, Some(Noted::Queued));
        for method in ["notifications/subscriptions/acknowledged", "notifications/resources/updated"] {
            let Outgoing::Event(Event::Message(told)) = poll_fn(|cx| outbox.poll_next(cx)).await else {
                panic!("an event")
            };
            assert_eq!(serde_json::from_slice::<Value>(&told).unwrap()["method"], method);
        }
    }
}
