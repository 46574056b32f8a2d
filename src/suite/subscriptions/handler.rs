//! A source of changes of the application's own, in place of the registry.

use std::future::{Future, ready};

use ractor_otp::ExitReason;

use crate::handler::RpcError;
use crate::wire::{Listed, ServerCapabilities, SubscriptionFilter};

use super::Subscription;

/// Serves the `subscriptions/listen` streams of a suite, each in an actor of its own.
///
/// [`subscribe`](SubscriptionHandler::subscribe) runs first and accepts the stream or refuses it. The framework acknowledges
/// what was accepted, and nothing is sent before that; then
/// [`handle_message`](SubscriptionHandler::handle_message) runs for each message that the application sends to the
/// stream's [`address`](Subscription::address), and tells the client of changes. What the client did not ask for, or was not
/// granted, is not sent, whatever the handler does.
///
/// However the stream ends, its client reads the same: `notifications/cancelled`, the result, the end of the body.
///
/// ```
/// use std::sync::Mutex;
///
/// use ractor_mcp::prelude::*;
/// use ractor_mcp::suite::{
///     Accept, Subscription, SubscriptionAddress, SubscriptionCapabilities, SubscriptionHandler, SubscriptionReply,
/// };
/// use ractor_mcp::wire::SubscriptionFilter;
///
/// /// Tells of pages that are written.
/// #[derive(Default)]
/// struct Wiki { readers: Mutex<Vec<SubscriptionAddress<String>>> }
///
/// impl SubscriptionHandler for Wiki {
///     type State = ();
///     type Message = String;
///
///     async fn subscribe(
///         &self,
///         _: SubscriptionFilter,
///         subscription: &Subscription<String>,
///     ) -> Result<Accept<()>, RpcError> {
///         self.readers.lock().map_err(|_| RpcError::internal("out of order"))?.push(subscription.address());
///         Ok(Accept::All(()))
///     }
///
///     async fn handle_message(
///         &self,
///         page: String,
///         subscription: &Subscription<String>,
///         (): &mut (),
///     ) -> Result<SubscriptionReply, RpcError> {
///         subscription.resource_updated(page).await?;
///         Ok(SubscriptionReply::Stream)
///     }
///
///     fn subscription_capabilities(&self) -> SubscriptionCapabilities {
///         SubscriptionCapabilities::new().resource_updates()
///     }
/// }
///
/// let suite = Suite::new("wiki", "1.0.0").subscription_handler(Wiki::default());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` serves no subscriptions",
    label = "not a subscription handler",
    note = "a struct becomes one with `impl SubscriptionHandler for {Self}`"
)]
pub trait SubscriptionHandler: Send + Sync + 'static {
    /// What one stream remembers between its messages. Dropped in the stream's own actor, however it ends.
    type State: Send + 'static;

    /// What the application may send to an open stream.
    type Message: Send + 'static;

    /// Accepts a stream, or refuses it. `filter` is what the client asks for, cut to what the suite's authorizations allow.
    /// Here the stream is joined to the source of changes; what is sent is dropped, since the acknowledgement comes first.
    /// A stream that has something to tell at once sends itself a message.
    ///
    /// # Errors
    ///
    /// The JSON-RPC error that answers the request; then there is no stream and no acknowledgement.
    fn subscribe(
        &self,
        filter: SubscriptionFilter,
        subscription: &Subscription<Self::Message>,
    ) -> impl Future<Output = Result<Accept<Self::State>, RpcError>> + Send;

    /// Handles one message sent to an open stream. The default drops it.
    ///
    /// # Errors
    ///
    /// The stream ends with `shutdown: reply`. Its client reads the graceful end: there is no other (SUB-13).
    fn handle_message(
        &self,
        message: Self::Message,
        subscription: &Subscription<Self::Message>,
        state: &mut Self::State,
    ) -> impl Future<Output = Result<SubscriptionReply, RpcError>> + Send {
        let _ = (message, subscription, state);
        ready(Ok(SubscriptionReply::Stream))
    }

    /// Cleans up when the stream ends from outside: the client left, the server drains, a limit was reached. Nothing can be
    /// sent any more, and 5 s are left ([`Options::close_time`](crate::Options::close_time)). It does not run after a stop or
    /// an error of the handler, a panic or a kill; what must happen in every case belongs into the `Drop` of the state.
    fn handle_close(
        &self,
        subscription: &Subscription<Self::Message>,
        state: &mut Self::State,
    ) -> impl Future<Output = ()> + Send {
        let _ = (subscription, state);
        ready(())
    }

    /// What the handler tells streams of: part of `server/discover`, and nothing else can be subscribed to. Read once, when
    /// the handler is registered.
    fn subscription_capabilities(&self) -> SubscriptionCapabilities;
}

/// The acceptance of a stream, with the state that it begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Accept<S> {
    /// All that the client may ask for.
    All(S),
    /// This filter only. What it has more than the client may ask for is clipped, and traced as a bug of the handler.
    Only(SubscriptionFilter, S),
}

/// What a [`SubscriptionHandler`] does after a message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SubscriptionReply {
    /// Keeps the stream open.
    Stream,
    /// Ends the stream. Its actor ends with this reason; the client does not read it.
    Stop(ExitReason),
}

/// What a [`SubscriptionHandler`] tells streams of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SubscriptionCapabilities {
    /// Changes of the list of tools: `tools.listChanged`.
    pub tools_list_changed: bool,
    /// Changes of the list of prompts: `prompts.listChanged`.
    pub prompts_list_changed: bool,
    /// Changes of the list of resources: `resources.listChanged`.
    pub resources_list_changed: bool,
    /// Changes of resources: `resources.subscribe`.
    pub resources_updated: bool,
}

impl SubscriptionCapabilities {
    /// Nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds changes of the list of tools.
    #[must_use]
    pub fn tools(mut self) -> Self {
        self.tools_list_changed = true;
        self
    }

    /// Adds changes of the list of prompts.
    #[must_use]
    pub fn prompts(mut self) -> Self {
        self.prompts_list_changed = true;
        self
    }

    /// Adds changes of the list of resources.
    #[must_use]
    pub fn resources(mut self) -> Self {
        self.resources_list_changed = true;
        self
    }

    /// Adds changes of resources.
    #[must_use]
    pub fn resource_updates(mut self) -> Self {
        self.resources_updated = true;
        self
    }

    /// Folds them into what a server offers: a feature that is told of is offered.
    pub(super) fn added_to(self, mut offered: ServerCapabilities) -> ServerCapabilities {
        let listed = |list: &mut Option<Listed>, told| {
            if told {
                list.get_or_insert_default().list_changed = true;
            }
        };
        listed(&mut offered.tools, self.tools_list_changed);
        listed(&mut offered.prompts, self.prompts_list_changed);
        if self.resources_list_changed || self.resources_updated {
            let resources = offered.resources.get_or_insert_default();
            resources.list_changed |= self.resources_list_changed;
            resources.subscribe |= self.resources_updated;
        }
        offered
    }
}
