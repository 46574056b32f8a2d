//! The one place where the handler's type is erased: transports and supervisors see [`Spawn`].
//!
//! Whoever spawns names the parent and the sink. A connection spawns under itself and hands over the response; what
//! outlives a connection names another supervisor and another sink.

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use ractor_otp::{Crash, DynamicSupervisor, Label, Me, Pid, SpawnOptions, StartError};
use serde_json::value::RawValue;

use crate::handler::{
    Disconnect, Exchange, Handler, Late, Misconfigured, Notifier, Publish, RequestContext, Sink, Terms,
};
use crate::rules::meta_key;
use crate::wire::{Notification, Request, ServerCapabilities, SubscriptionFilter};

use super::process::RequestProcess;
use super::{Place, Share, Slot, Streams};

/// What one actor is spawned for.
pub(crate) enum Message {
    Request(Box<Request>),
    Notification(Notification),
}

impl Message {
    /// What a listen request asks for.
    pub(super) fn asked(&self) -> Option<SubscriptionFilter> {
        match self {
            Self::Request(request) => match &**request {
                Request::Listen(listen) => Some(listen.notifications.clone()),
                _ => None,
            },
            Self::Notification(_) => None,
        }
    }
}

/// A message with all that is known of it and where its output goes.
pub(crate) struct Call {
    pub(crate) message: Message,
    pub(crate) context: Arc<RequestContext>,
    pub(crate) sink: Arc<dyn Sink>,
    /// Held until the actor's state is dropped, whatever ended it.
    pub(crate) held: Held,
}

/// What a running request takes from the server's limits.
pub(crate) enum Held {
    /// One of the requests that run at once, with the bytes of its body.
    Slot { slot: Option<Slot>, _share: Share },
    /// One of the streams that are open, with the same.
    Place { _place: Place, _share: Share },
}

impl Held {
    pub(crate) fn slot(slot: Slot, share: Share) -> Self {
        Self::Slot { slot: Some(slot), _share: share }
    }

    /// Gives the slot back before the client has its answer: whoever asks again at once finds it. From here on the actor
    /// does nothing but end.
    pub(super) fn give_slot_back(&mut self) {
        if let Self::Slot { slot, .. } = self {
            slot.take();
        }
    }
}

/// A handler of any type.
pub(crate) trait Spawn: Send + Sync {
    /// Starts the actor of one request under `parent`.
    fn spawn(&self, parent: &DynamicSupervisor, call: Call, options: SpawnOptions)
    -> Result<Pid, StartError>;

    fn capabilities(&self) -> &ServerCapabilities;

    /// Whether the handler serves a method of its own.
    ///
    /// # Errors
    ///
    /// It panicked.
    fn serves(&self, method: &str) -> Result<bool, Crash>;
}

/// A handler with what all its requests share.
pub(super) struct Served<H> {
    pub(super) handler: H,
    pub(super) capabilities: ServerCapabilities,
    pub(super) server_info: Option<Arc<RawValue>>,
    pub(super) streams: Streams,
    pub(super) disconnect: Option<Disconnect>,
    pub(super) terms: Terms,
    pub(super) late: Arc<Late>,
}

struct Erased<H> {
    served: Arc<Served<H>>,
    /// What the handler publishes by; it lives as long as the server does.
    _publish: Arc<dyn Publish>,
}

/// Erases a handler's type, once it, and all else of which this is told, was found to be in order. From then on the handler
/// counts as started, and what it offers is read: so nothing that it still has to fix then can change in between.
pub(crate) fn erase<H: Handler>(
    handler: H,
    others: Result<(), Misconfigured>,
    streams: Streams,
    disconnect: Option<Disconnect>,
    terms: Terms,
) -> Result<Arc<dyn Spawn>, Misconfigured> {
    let checked = Misconfigured::both(handler.check(), extension_ids(&handler.capabilities()));
    let found = Misconfigured::both(Misconfigured::both(others, checked), server_info(&handler));
    let server_info = found?;
    let publish: Arc<dyn Publish> = Arc::new(streams.registry.clone());
    handler.started(Notifier::new(&publish));
    let capabilities = handler.capabilities();
    let late = Arc::new(Late::new());
    let served = Arc::new(Served { handler, capabilities, server_info, streams, disconnect, terms, late });
    Ok(Arc::new(Erased { served, _publish: publish }))
}

fn extension_ids(capabilities: &ServerCapabilities) -> Result<(), Misconfigured> {
    let unprefixed = capabilities.extensions.keys().filter(|id| !meta_key::is_extension(id));
    let faults = unprefixed.map(|id| {
        format!(
            "extension `{id}`: an identifier has a prefix and a name, such as `com.example/thing` (VER-11)"
        )
    });
    Misconfigured::unless_empty(faults.collect())
}

fn server_info(handler: &impl Handler) -> Result<Option<Arc<RawValue>>, Misconfigured> {
    let written = handler.server_info().map(|info| serde_json::value::to_raw_value(&info)).transpose();
    let written = written
        .map_err(|error| Misconfigured::new(format!("server_info: cannot be written as JSON: {error}")))?;
    Ok(written.map(Arc::from))
}

impl<H: Handler> Spawn for Erased<H> {
    fn spawn(
        &self,
        parent: &DynamicSupervisor,
        call: Call,
        options: SpawnOptions,
    ) -> Result<Pid, StartError> {
        let label = Label::from(Arc::clone(&call.context) as Arc<dyn Display + Send + Sync>);
        let (server_info, terms) = (self.served.server_info.clone(), self.served.terms.clone());
        let logging = self.served.capabilities.logging.is_some();
        let exchange = Exchange::new(call.context, call.sink, server_info, terms, logging);
        let served = Arc::clone(&self.served);
        let request = |me: &Me<_>| RequestProcess::new(served, call.message, exchange, call.held, me.pid());
        Ok(parent.start_child_with(label, request, options)?.pid)
    }

    fn capabilities(&self) -> &ServerCapabilities {
        &self.served.capabilities
    }

    fn serves(&self, method: &str) -> Result<bool, Crash> {
        catch_unwind(AssertUnwindSafe(|| self.served.handler.serves(method))).map_err(Crash::from_panic)
    }
}
