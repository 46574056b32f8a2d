//! One running stream of a subscription handler, whose types are erased.

use std::any::Any;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::handler::{Channel, Reply, RpcError};
use crate::suite::SuiteMessage;
use crate::wire::SubscriptionFilter;

use super::authorization::Authorization;
use super::{Accept, Subscription, SubscriptionCapabilities, SubscriptionHandler, SubscriptionReply};

type Step<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What a handler accepted; `None` is all that it was asked for.
type Accepted = (Option<SubscriptionFilter>, Box<dyn Streaming>);

/// A subscription handler of any type.
pub(super) trait Subscribe: Send + Sync {
    fn capabilities(&self) -> SubscriptionCapabilities;

    fn subscribe(
        &self,
        filter: SubscriptionFilter,
        channel: Channel<SuiteMessage>,
        authorization: Arc<Authorization>,
    ) -> Step<'_, Result<Accepted, RpcError>>;
}

/// A running stream of a subscription handler of any type.
pub(in crate::suite) trait Streaming: Send {
    fn handle_message(&mut self, message: Box<dyn Any + Send>) -> Step<'_, Result<Reply, RpcError>>;

    fn handle_close(&mut self) -> Step<'_, ()>;
}

pub(super) struct Erased<H> {
    handler: Arc<H>,
    capabilities: SubscriptionCapabilities,
}

impl<H: SubscriptionHandler> Erased<H> {
    pub(super) fn new(handler: H) -> Self {
        let capabilities = handler.subscription_capabilities();
        Self { handler: Arc::new(handler), capabilities }
    }
}

impl<H: SubscriptionHandler> Subscribe for Erased<H> {
    fn capabilities(&self) -> SubscriptionCapabilities {
        self.capabilities
    }

    fn subscribe(
        &self,
        filter: SubscriptionFilter,
        channel: Channel<SuiteMessage>,
        authorization: Arc<Authorization>,
    ) -> Step<'_, Result<Accepted, RpcError>> {
        Box::pin(async move {
            let subscription = Subscription::new(channel, authorization);
            let (granted, state) = match self.handler.subscribe(filter, &subscription).await? {
                Accept::All(state) => (None, state),
                Accept::Only(filter, state) => (Some(filter), state),
            };
            let handler = Arc::clone(&self.handler);
            let stream: Box<dyn Streaming> = Box::new(Active { handler, subscription, state });
            Ok((granted, stream))
        })
    }
}

struct Active<H: SubscriptionHandler> {
    handler: Arc<H>,
    subscription: Subscription<H::Message>,
    state: H::State,
}

impl<H: SubscriptionHandler> Streaming for Active<H> {
    fn handle_message(&mut self, message: Box<dyn Any + Send>) -> Step<'_, Result<Reply, RpcError>> {
        Box::pin(async move {
            // Only this stream's own address makes messages for it, so the type is always right.
            let Ok(message) = message.downcast::<H::Message>() else {
                return Ok(Reply::Stream);
            };
            match self.handler.handle_message(*message, &self.subscription, &mut self.state).await? {
                SubscriptionReply::Stream => Ok(Reply::Stream),
                SubscriptionReply::Stop(reason) => Ok(Reply::Stop(reason)),
            }
        })
    }

    fn handle_close(&mut self) -> Step<'_, ()> {
        Box::pin(self.handler.handle_close(&self.subscription, &mut self.state))
    }
}
