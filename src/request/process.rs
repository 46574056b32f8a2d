//! The actor of one request or notification. It lives from admission to the answer, or until its client leaves.
//!
//! Parent: the connection that the request came on (or another supervisor that the transport names). It owns the
//! handler's state and, through [`Due`], the duty to answer exactly once, which holds even if it is killed.

use std::sync::Arc;

use ractor_otp::{Crash, ExitReason, Me, Next, Pid, Process, Tag};
use tracing::Instrument;

use crate::handler::{
    Channel, Disconnect, Exchange, Grant, Handler, Reply, RequestContext, RequestEnd, RpcError,
};
use crate::rules::errors::{self, code};
use crate::rules::subscription;
use crate::wire::{DiscoverResult, Request, SubscriptionFilter};

use super::deadline::Deadline;
use super::spawn::Served;
use super::stream::{Shown, Stream};
use super::{Held, Message};

pub(super) struct RequestProcess<H: Handler> {
    served: Arc<Served<H>>,
    message: Option<Message>,
    state: Option<H::State>,
    channel: Option<Channel<H::Message>>,
    deadline: Option<Deadline>,
    /// The handler ended the request itself: its own reply, error or stop.
    concluded: bool,
    /// What a listen request asks for, until it is accepted.
    asked: Option<SubscriptionFilter>,
    /// Dropped before the duty to answer is: a stream that is torn down is out of all books.
    stream: Option<Stream>,
    /// Dropped before the duty to answer is: what the client does next finds it free.
    held: Held,
    due: Due,
    end: End,
    span: tracing::Span,
}

/// The duty to answer (BASE-04). Dropped with the actor, so that a kill, which runs no code of the actor, still
/// answers.
struct Due(Arc<Exchange>);

impl Drop for Due {
    fn drop(&mut self) {
        self.0.shut();
        if !self.0.is_answered() {
            self.0.conclude();
        }
    }
}

/// What the `disconnect` hook is told, when everything else of the actor is gone.
struct End {
    hook: Option<Disconnect>,
    exchange: Arc<Exchange>,
    pid: Pid,
    reason: Option<ExitReason>,
}

impl Drop for End {
    fn drop(&mut self) {
        let Some(hook) = &self.hook else { return };
        // Without `terminate`, it was a kill, or an exit that came before `init` was done.
        let reason = self.reason.take().or_else(|| self.pid.exit_requested());
        let context = &self.exchange.context;
        hook.call(RequestEnd {
            method: context.method.to_string(),
            name: context.name.as_deref().map(str::to_owned),
            principal: context.principal.clone(),
            reason: reason.unwrap_or(ExitReason::Killed),
            error: self.exchange.error(),
            duration: context.received.elapsed(),
        });
    }
}

impl<H: Handler> RequestProcess<H> {
    pub(super) fn new(
        served: Arc<Served<H>>,
        message: Message,
        exchange: Arc<Exchange>,
        held: Held,
        pid: Pid,
    ) -> Self {
        let span = span(&exchange.context);
        let hook = served.disconnect.clone();
        let end = End { hook, exchange: Arc::clone(&exchange), pid, reason: None };
        Self {
            served,
            asked: message.asked(),
            message: Some(message),
            state: None,
            channel: None,
            deadline: None,
            concluded: false,
            stream: None,
            held,
            due: Due(exchange),
            end,
            span,
        }
    }

    fn exchange(&self) -> &Arc<Exchange> {
        &self.due.0
    }

    /// What the actor does after a callback returned.
    fn conclude(&mut self, outcome: Result<Reply, RpcError>, callback: Callback) -> Next {
        self.concluded = true;
        let replied = ExitReason::ShutdownWith(Tag::REPLY);
        match outcome {
            Ok(Reply::Result(result)) => self.answer(|exchange| exchange.answer(*result), replied),
            Ok(Reply::ResultThen(result, reason)) => self.answer(|exchange| exchange.answer(*result), reason),
            Ok(Reply::Stream) if self.stream.is_some() || !self.exchange().context.is_listen() => {
                self.concluded = false;
                self.exchange().open();
                Next::Receive
            }
            Ok(Reply::Stream) => self.bug("`subscriptions/listen` is accepted with `Reply::Subscribe`"),
            Ok(Reply::Stop(reason)) if callback == Callback::Message => Next::Stop(reason),
            Ok(Reply::Stop(_)) => self.bug("`Reply::Stop` is for `handle_message` only"),
            Ok(Reply::Subscribe(grant)) => match self.asked.take() {
                Some(asked) => self.subscribe(&asked, grant),
                None => self.bug("`Reply::Subscribe` answers `subscriptions/listen`, once"),
            },
            Err(error) => self.answer(|exchange| exchange.answer_error(&error), replied),
        }
    }

    /// Gives the answer. A stream takes none, since it has but one end whatever its handler says.
    fn answer(&mut self, give: impl FnOnce(&Exchange) -> bool, reason: ExitReason) -> Next {
        let answered_before = self.exchange().was_answered();
        self.held.give_slot_back();
        if self.span.in_scope(|| give(self.exchange())) || self.stream.is_some() {
            return Next::Stop(reason);
        }
        // Nobody took the answer, so it is not the reply that ended the request (H9).
        let expired = self.exchange().is_expired().then_some(ExitReason::ShutdownWith(Tag::EXPIRED));
        let asked = self.end.pid.exit_requested().or(expired);
        if answered_before && asked.is_none() {
            tracing::warn!(parent: &self.span, "the handler replied to a request that it had answered before");
        }
        Next::Stop(asked.unwrap_or(reason))
    }

    fn bug(&mut self, what: &str) -> Next {
        tracing::error!(parent: &self.span, "bug of the handler: {what}");
        let reason = ExitReason::ShutdownWith(Tag::REPLY);
        self.answer(|exchange| exchange.answer_object(&errors::internal()), reason)
    }

    /// Opens the stream: with what was granted, cut to what was asked for and is offered.
    fn subscribe(&mut self, asked: &SubscriptionFilter, grant: Grant) -> Next {
        let Some(channel) = &self.channel else {
            return Next::Stop(ExitReason::Normal);
        };
        let (filter, widened) = subscription::narrowed(asked, &grant.filter);
        if widened {
            tracing::error!(parent: &self.span, "bug of the handler: it granted more than was asked for; clipped");
        }
        let filter = Arc::new(subscription::offered(&filter, &self.served.capabilities));
        if *filter != *asked {
            tracing::debug!(parent: &self.span, ?asked, granted = ?filter, "the stream is granted less than it asked for");
        } else if *filter == SubscriptionFilter::default() {
            tracing::debug!(parent: &self.span, "the stream asks for nothing that is known, and will be told nothing");
        }
        let (pid, exchange) = (channel.pid(), &self.due.0);
        let stream = exchange.acknowledge(Arc::clone(&filter), |sink, most| {
            channel.describe(Arc::new(Shown::new(&filter, sink)));
            Stream::open(&self.served.streams, &grant, filter, &pid, exchange, sink, most)
        });
        if stream.is_none() {
            return self.answer(|_| false, ExitReason::ShutdownWith(Tag::REPLY));
        }
        self.stream = stream;
        // From here on it has a lifetime.
        self.deadline = None;
        self.concluded = false;
        Next::Receive
    }

    /// A handler may leave `server/discover` to the framework.
    fn discover(&self) -> Reply {
        DiscoverResult::new(self.served.capabilities.clone()).into()
    }
}

/// Which callback an outcome came from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Callback {
    Request,
    Message,
}

impl<H: Handler> Process for RequestProcess<H> {
    type Message = H::Message;

    async fn init(&mut self, me: &Me<H::Message>) -> Result<(), Crash> {
        self.deadline = Deadline::of(&self.due.0, &self.end.pid, &self.served.late);
        let channel = self.channel.insert(Channel::new(me.clone(), Arc::clone(&self.due.0)));
        match self.served.handler.init(channel).instrument(self.span.clone()).await {
            Ok(state) => self.state = Some(state),
            Err(error) => {
                self.concluded = true;
                self.held.give_slot_back();
                self.span.in_scope(|| self.due.0.answer_error(&error));
            }
        }
        Ok(())
    }

    async fn handle_continue(&mut self, _: &Me<H::Message>) -> Next {
        let (Some(channel), Some(state), Some(message)) =
            (self.channel.as_ref(), self.state.as_mut(), self.message.take())
        else {
            return Next::Stop(ExitReason::ShutdownWith(Tag::REPLY));
        };
        match message {
            Message::Request(request) => {
                let discover = matches!(*request, Request::Discover);
                let handling = self.served.handler.handle_request(*request, channel, state);
                let mut outcome = handling.instrument(self.span.clone()).await;
                if discover && outcome.as_ref().is_err_and(|error| error.code() == code::METHOD_NOT_FOUND) {
                    outcome = Ok(self.discover());
                }
                self.conclude(outcome, Callback::Request)
            }
            Message::Notification(notification) => {
                let handling = self.served.handler.handle_notification(notification, channel, state);
                handling.instrument(self.span.clone()).await;
                self.concluded = true;
                Next::Stop(ExitReason::Normal)
            }
        }
    }

    async fn handle(&mut self, message: H::Message, _: &Me<H::Message>) -> Next {
        let (Some(channel), Some(state)) = (self.channel.as_ref(), self.state.as_mut()) else {
            return Next::Stop(ExitReason::Normal);
        };
        let handling = self.served.handler.handle_message(message, channel, state);
        let outcome = handling.instrument(self.span.clone()).await;
        self.conclude(outcome, Callback::Message)
    }

    async fn terminate(&mut self, reason: &ExitReason, _: &Me<H::Message>) {
        self.deadline = None;
        self.end.reason = Some(reason.clone());
        self.exchange().shut();
        let elapsed = self.exchange().context.received.elapsed();
        tracing::debug!(parent: &self.span, %reason, ?elapsed, "the request ended");
        // A stream is torn down after its handler has closed; the client of any other request need not wait for that.
        if self.stream.is_none() && !self.exchange().is_answered() {
            self.held.give_slot_back();
            self.exchange().conclude();
        }
        // After a crash the state is not to be trusted; after the request's own end there is nothing to close.
        if self.concluded || matches!(reason, ExitReason::Crash(_)) {
            return;
        }
        if let (Some(channel), Some(state)) = (self.channel.as_ref(), self.state.as_mut()) {
            self.served.handler.handle_close(channel, state).instrument(self.span.clone()).await;
        }
    }
}

/// The span that everything runs in which the request does. The trace that the client is in stands in fields (META-15): a
/// subscriber that exports traces decides whether it is the parent or a link, since nobody here may know that trace (M1).
fn span(context: &RequestContext) -> tracing::Span {
    tracing::info_span!(
        target: "ractor_mcp",
        "request",
        method = %context.method,
        name = context.name.as_deref(),
        id = context.id.as_ref().map(tracing::field::display),
        peer = context.peer.map(tracing::field::display),
        principal = context.principal.id(),
        traceparent = context.meta.traceparent.as_deref(),
        tracestate = context.meta.tracestate.as_deref(),
        baggage = context.meta.baggage.as_deref(),
    )
}
