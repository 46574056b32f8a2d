//! The actor of one request or notification. It lives from admission to the answer, or until its client leaves.
//!
//! Parent: the connection that the request came on (or another supervisor that the transport names). It owns the
//! handler's state and, through [`Due`], the duty to answer exactly once, which holds even if it is killed.

use std::sync::Arc;

use ractor_otp::{Crash, ExitReason, Me, Next, Process, Tag};
use tracing::Instrument;

use crate::handler::{Channel, Handler, Reply, RpcError};
use crate::handler::{Exchange, RequestContext};
use crate::rules::errors::{self, code};
use crate::wire::{DiscoverResult, Request};

use super::{Message, Slot};

pub(super) struct RequestProcess<H: Handler> {
    handler: Arc<H>,
    message: Option<Message>,
    state: Option<H::State>,
    channel: Option<Channel<H::Message>>,
    /// The handler ended the request itself: its own reply, error or stop.
    concluded: bool,
    due: Due,
    span: tracing::Span,
    _slot: Slot,
}

/// The duty to answer (BASE-04). Dropped with the actor, so that a kill, which runs no code of the actor, still
/// answers.
struct Due(Arc<Exchange>);

impl Drop for Due {
    fn drop(&mut self) {
        self.0.shut();
        if !self.0.is_answered() {
            self.0.answer_object(&errors::internal());
        }
    }
}

impl<H: Handler> RequestProcess<H> {
    pub(super) fn new(handler: Arc<H>, message: Message, exchange: Arc<Exchange>, slot: Slot) -> Self {
        let span = span(&exchange.context);
        Self {
            handler,
            message: Some(message),
            state: None,
            channel: None,
            concluded: false,
            due: Due(exchange),
            span,
            _slot: slot,
        }
    }

    fn exchange(&self) -> &Arc<Exchange> {
        &self.due.0
    }

    /// What the actor does after a callback returned.
    fn conclude(&mut self, outcome: Result<Reply, RpcError>, method: Method) -> Next {
        self.concluded = true;
        let replied = ExitReason::ShutdownWith(Tag::REPLY);
        match outcome {
            Ok(Reply::Result(result)) => self.answer(|exchange| exchange.answer(*result), replied),
            Ok(Reply::ResultThen(result, reason)) => self.answer(|exchange| exchange.answer(*result), reason),
            Ok(Reply::Stream) => {
                self.concluded = false;
                self.exchange().open();
                Next::Receive
            }
            Ok(Reply::Stop(reason)) if matches!(method, Method::HandleMessage) => Next::Stop(reason),
            Ok(Reply::Stop(_)) => self.bug("`Reply::Stop` is for `handle_message` only"),
            Ok(Reply::Subscribe(_)) => self.bug("`Reply::Subscribe` answers `subscriptions/listen` only"),
            Err(error) => self.answer(|exchange| exchange.answer_error(&error), replied),
        }
    }

    fn answer(&mut self, give: impl FnOnce(&Exchange) -> bool, reason: ExitReason) -> Next {
        let answered_before = self.exchange().is_answered();
        if !give(self.exchange()) && answered_before {
            tracing::warn!(parent: &self.span, "the handler replied to a request that it had answered before");
        }
        Next::Stop(reason)
    }

    fn bug(&mut self, what: &str) -> Next {
        tracing::error!(parent: &self.span, "bug of the handler: {what}");
        self.answer(
            |exchange| exchange.answer_object(&errors::internal()),
            ExitReason::ShutdownWith(Tag::REPLY),
        )
    }

    /// A handler may leave `server/discover` to the framework.
    fn discover(&self) -> Reply {
        DiscoverResult::new(self.handler.capabilities()).into()
    }
}

/// Which callback an outcome came from.
#[derive(Clone, Copy)]
enum Method {
    HandleRequest,
    HandleMessage,
}

impl<H: Handler> Process for RequestProcess<H> {
    type Message = H::Message;

    async fn init(&mut self, me: &Me<H::Message>) -> Result<(), Crash> {
        let channel = self
            .channel
            .insert(Channel::new(me.clone(), Arc::clone(&self.due.0)));
        match self.handler.init(channel).instrument(self.span.clone()).await {
            Ok(state) => self.state = Some(state),
            Err(error) => {
                self.concluded = true;
                self.due.0.answer_error(&error);
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
                let handling = self.handler.handle_request(*request, channel, state);
                let mut outcome = handling.instrument(self.span.clone()).await;
                if discover
                    && outcome
                        .as_ref()
                        .is_err_and(|error| error.code() == code::METHOD_NOT_FOUND)
                {
                    outcome = Ok(self.discover());
                }
                self.conclude(outcome, Method::HandleRequest)
            }
            Message::Notification(notification) => {
                let handling = self.handler.handle_notification(notification, channel, state);
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
        let outcome = self
            .handler
            .handle_message(message, channel, state)
            .instrument(self.span.clone())
            .await;
        self.conclude(outcome, Method::HandleMessage)
    }

    async fn terminate(&mut self, reason: &ExitReason, _: &Me<H::Message>) {
        self.exchange().shut();
        // The answer first: `handle_close` may take its time, and the client of a drained request need not wait for it.
        if !self.exchange().is_answered() {
            self.exchange().answer_object(&errors::internal());
        }
        let elapsed = self.exchange().context.received.elapsed();
        tracing::debug!(parent: &self.span, %reason, ?elapsed, "the request ended");
        // After a crash the state is not to be trusted; after the request's own end there is nothing to close.
        if self.concluded || matches!(reason, ExitReason::Crash(_)) {
            return;
        }
        if let (Some(channel), Some(state)) = (self.channel.as_ref(), self.state.as_mut()) {
            self.handler
                .handle_close(channel, state)
                .instrument(self.span.clone())
                .await;
        }
    }
}

fn span(context: &RequestContext) -> tracing::Span {
    tracing::info_span!(
        target: "ractor_mcp",
        "request",
        method = %context.method,
        name = context.name.as_deref(),
        id = context.id.as_ref().map(tracing::field::display),
    )
}
