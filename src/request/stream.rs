//! What an open `subscriptions/listen` stream holds beside its handler: its place, its topics, its limits.
//!
//! All of it belongs to the state of the stream's actor and goes with it, however it ends.

use std::fmt;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use ractor_otp::{ExitReason, Pid, Tag};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout};

use crate::handler::{Authorize, Change, Clock, Event, Grant, Noted, Principal, Sink, contained};
use crate::wire::{NotificationMessage, RequestId, ServerNotification, SubscriptionFilter};

use super::admission::{Admission, Admitted, StreamCaps};
use super::registry::{Entry, Registry};

/// The limits of one stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StreamLimits {
    /// How long it may live; then it ends, `expired`.
    pub(crate) lifetime: Duration,
    /// How long it may be told nothing; then it ends, `idle`.
    pub(crate) idle: Option<Duration>,
    /// How long an authorization may take.
    pub(crate) authorize_time: Duration,
}

/// What the streams of one server share.
#[derive(Clone)]
pub(crate) struct Streams {
    pub(crate) registry: Registry,
    pub(crate) admission: Admission,
    pub(crate) limits: StreamLimits,
    pub(crate) clock: Clock,
}

impl Streams {
    pub(crate) fn new(caps: StreamCaps, limits: StreamLimits, clock: Clock) -> Self {
        Self { registry: Registry::default(), admission: Admission::new(caps), limits, clock }
    }
}

/// An open stream.
pub(super) struct Stream {
    _entry: Option<Entry>,
    _admitted: Admitted,
    attendant: JoinHandle<()>,
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.attendant.abort();
    }
}

/// A stream as its publishers see it.
pub(crate) struct Subscriber {
    pid: Pid,
    id: RequestId,
    sink: Arc<dyn Sink>,
    /// Resources that wait for authorization, for streams that ask.
    unasked: Option<(Mutex<Vec<Arc<str>>>, Notify)>,
}

impl Stream {
    /// Opens a stream: in the books of its principal, subscribed to what was granted, attended.
    pub(super) fn open(
        streams: &Streams,
        grant: Grant,
        pid: &Pid,
        id: &RequestId,
        principal: &Principal,
        sink: &Arc<dyn Sink>,
    ) -> Self {
        let unasked = grant.authorize.as_ref().map(|_| Default::default());
        let subscriber =
            Arc::new(Subscriber { pid: pid.clone(), id: id.clone(), sink: Arc::clone(sink), unasked });
        let admitted = streams.admission.open(pid, principal);
        let entry = grant.registered.then(|| streams.registry.register(&grant.filter, &subscriber));
        let expired = expired(streams.clock.clone(), principal.expires_at());
        let attendant = attend(subscriber, grant.authorize, streams.limits, expired);
        Self { _entry: entry, _admitted: admitted, attendant: tokio::spawn(attendant) }
    }
}

impl Subscriber {
    pub(crate) fn pid(&self) -> &Pid {
        &self.pid
    }

    /// Notes a change to tell.
    pub(super) fn note(&self, change: Change) -> Noted {
        match (change, &self.unasked) {
            (Change::Resource(uri), Some(_)) if !self.sink.is_closed() => {
                self.ask([uri]);
                Noted::Queued
            }
            (change, _) => self.sink.note(change),
        }
    }

    /// Notes changes of several resources at once; false if the stream has ended.
    pub(super) fn note_resources(&self, uris: &[Arc<str>]) -> bool {
        if self.sink.is_closed() {
            return false;
        }
        if self.unasked.is_some() {
            self.ask(uris.iter().cloned());
            return true;
        }
        let noted = uris.iter().map(|uri| self.sink.note(Change::Resource(Arc::clone(uri))));
        noted.filter(|noted| *noted != Noted::Closed).count() > 0
    }

    fn ask(&self, uris: impl IntoIterator<Item = Arc<str>>) {
        let Some((waiting, wake)) = &self.unasked else {
            return;
        };
        let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
        for uri in uris {
            if !waiting.contains(&uri) {
                waiting.push(uri);
            }
        }
        drop(waiting);
        wake.notify_one();
    }

    /// Sends any notification, stamped; false if the stream has ended or its queue is full.
    pub(super) fn publish(&self, notification: &ServerNotification) -> bool {
        let mut stamped = notification.clone();
        stamped.stamp_subscription(&self.id);
        match NotificationMessage::new(&stamped).to_bytes() {
            Ok(bytes) => self.sink.offer_or_drop(Event::Message(Bytes::from(bytes))),
            Err(error) => {
                tracing::error!(target: "ractor_mcp", %error, "a notification cannot be written as JSON");
                false
            }
        }
    }
}

/// Resolves when the authorization of a stream's caller ends, if it does.
async fn expired(clock: Clock, expires_at: Option<SystemTime>) {
    match expires_at {
        Some(time) => clock.until(time).await,
        None => std::future::pending().await,
    }
}

/// Watches over a stream: its limits of time, and the resources that wait for authorization.
async fn attend(
    stream: Arc<Subscriber>,
    authorize: Option<Authorize>,
    limits: StreamLimits,
    expired: impl Future<Output = ()>,
) {
    let end = Instant::now() + limits.lifetime;
    let mut expired = pin!(expired);
    loop {
        let idle_end = limits.idle.map(|idle| stream.sink.last_told() + idle);
        tokio::select! {
            biased;
            () = sleep_until(end) => {
                stream.pid.exit(ExitReason::ShutdownWith(Tag::EXPIRED));
                return;
            }
            () = &mut expired => {
                stream.pid.exit(ExitReason::ShutdownWith(Tag::EXPIRED));
                return;
            }
            () = sleep_until(idle_end.unwrap_or(end)), if idle_end.is_some() => {
                if stream.sink.last_told() + limits.idle.unwrap_or_default() <= Instant::now() {
                    stream.pid.exit(ExitReason::ShutdownWith(Tag::IDLE));
                    return;
                }
            }
            uris = stream.waiting(), if authorize.is_some() => {
                if let Some(authorize) = &authorize {
                    stream.authorize(authorize, uris, limits.authorize_time).await;
                }
            }
        }
    }
}

impl Subscriber {
    /// The resources that wait for authorization, as soon as there are any.
    async fn waiting(&self) -> Vec<Arc<str>> {
        let Some((waiting, wake)) = &self.unasked else {
            return std::future::pending().await;
        };
        loop {
            let woken = wake.notified();
            let uris = std::mem::take(&mut *waiting.lock().unwrap_or_else(PoisonError::into_inner));
            if !uris.is_empty() {
                return uris;
            }
            woken.await;
        }
    }

    /// Asks the application, and notes what it allows. Closed on failure: no answer allows nothing.
    async fn authorize(&self, authorize: &Authorize, uris: Vec<Arc<str>>, limit: Duration) {
        let asked = uris.iter().map(|uri| uri.to_string()).collect();
        let asking = contained(async { authorize(asked).await });
        match timeout(limit, asking).await {
            Ok(Ok(allowed)) => {
                for uri in uris.into_iter().filter(|uri| allowed.iter().any(|allowed| **allowed == **uri)) {
                    self.sink.note(Change::Resource(uri));
                }
            }
            Ok(Err(crash)) => {
                tracing::error!(target: "ractor_mcp", %crash, "the authorization of resources panicked: none is told")
            }
            Err(_) => {
                tracing::error!(target: "ractor_mcp", ?limit, "the authorization of resources took too long: none is told");
            }
        }
    }
}

/// What the tree shows of a stream: its filter and what became of its notifications.
pub(super) struct Shown {
    filter: SubscriptionFilter,
    sink: Arc<dyn Sink>,
}

impl Shown {
    pub(super) fn new(filter: &SubscriptionFilter, sink: &Arc<dyn Sink>) -> Self {
        Self { filter: filter.clone(), sink: Arc::clone(sink) }
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
        match self.filter.resource_subscriptions.as_slice() {
            [] => {}
            [one] => shown.push(one.clone()),
            more => shown.push(format!("{} resources", more.len())),
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
