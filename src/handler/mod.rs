//! Floor 2: what a server author implements, and what the framework hands to it.
//!
//! | file | holds |
//! |---|---|
//! | `mod.rs` | [`Handler`], the behaviour of a request actor |
//! | `reply.rs` | [`Reply`], what a callback returns |
//! | `error.rs` | [`RpcError`], the JSON-RPC error, and [`Closed`] |
//! | `channel.rs` | [`Channel`], the server side of one request |
//! | `exchange.rs` | what a channel, its actor and its response share |
//! | `connect.rs` | the hooks around a request, [`Denied`] |
//! | `expiry.rs` | the end of a request's time |
//! | `grant.rs` | [`Grant`], the acceptance of a stream |
//! | `change.rs` | a change that a stream is told of |
//! | `clock.rs` | [`Clock`], what time of day it is |
//! | `context.rs` | what is known of a request before user code runs |
//! | `late.rs` | the warning of requests whose time is over |
//! | `mirrored.rs` | [`MirroredSchema`], which parameters of a tool come as headers too |
//! | `notifier.rs` | [`Notifier`], how a handler tells streams of changes |
//! | `principal.rs` | [`Principal`], who calls |
//! | `sink.rs` | where a channel's output goes, whatever the transport |
//! | `terms.rs` | what the options grant to each request |
//! | `threads.rs` | the threads that blocking calls work on |

mod change;
mod channel;
mod clock;
mod connect;
mod context;
mod error;
mod exchange;
mod expiry;
mod grant;
mod late;
mod mirrored;
mod notifier;
mod principal;
mod reply;
mod sink;
mod terms;
mod threads;

use std::future::{Future, ready};
use std::sync::Arc;

use crate::wire::{Implementation, Notification, Request, ServerCapabilities};

pub(crate) use change::{Change, Noted};
pub use channel::{Channel, Sent};
pub use clock::{Clock, ManualClock};
pub use connect::{Challenge, ConnectRequest, Denied, RequestEnd};
pub(crate) use connect::{Connect, Disconnect, StillValid};
pub(crate) use context::RequestContext;
pub use error::{Closed, Misconfigured, RpcError};
pub(crate) use exchange::Exchange;
pub(crate) use expiry::Answered;
pub(crate) use grant::Authorize;
pub use grant::Grant;
pub(crate) use late::Late;
pub use mirrored::MirroredSchema;
pub use notifier::Notifier;
pub(crate) use notifier::Publish;
pub use principal::Principal;
/// For code of the application that runs outside of callbacks.
pub(crate) use ractor_otp::contained;
pub use reply::Reply;
pub(crate) use sink::{Answer, Event, ListenSink, Refused, Sink, Told};
pub(crate) use terms::Terms;
pub(crate) use threads::Threads;
#[cfg(feature = "suite")]
pub(crate) use threads::Working;

/// An MCP server: what one request actor runs.
///
/// Every request and every notification gets an actor of its own, and every callback of that request runs in that
/// actor, one after another: [`init`](Handler::init), then [`handle_request`](Handler::handle_request), then, if
/// that returned [`Reply::Stream`] or [`Reply::Subscribe`], [`handle_message`](Handler::handle_message) for each message
/// that the application sends to the request. Waiting in a callback holds up this request alone.
///
/// | callback | runs | returns / effect |
/// |---|---|---|
/// | `init` | first thing in the actor, for each request and notification | `Err` answers that error; nothing else runs |
/// | `handle_request` | once | a result or error ends with `shutdown: reply`; `Stream` and `Subscribe` open a stream |
/// | `handle_message` | per message, while streaming only | as above, and `Stop` |
/// | `handle_close` | when the request ends from outside | nothing; the channel is already closed |
/// | `handle_notification` | in its own actor | nothing; answered `202` whatever it does |
///
/// A client that leaves, a connection that dies or a server that drains **interrupts** a callback at its next
/// `.await`: its future is dropped and `handle_close` runs with the state as it stands, which may be half-changed.
/// What must not be cut goes through [`Channel::uninterrupted`]. A panic in a callback costs this request alone: it
/// answers `-32603` and `handle_close` does not run.
///
/// # Example
///
/// ```
/// use ractor_mcp::prelude::*;
/// use ractor_mcp::wire::{CallToolResult, Request, ServerCapabilities};
///
/// struct Echo;
///
/// impl Handler for Echo {
///     type State = ();
///     type Message = ();
///
///     async fn init(&self, _: &Channel<()>) -> Result<(), RpcError> {
///         Ok(())
///     }
///
///     async fn handle_request(&self, request: Request, _: &Channel<()>, _: &mut ()) -> Result<Reply, RpcError> {
///         match request {
///             Request::CallTool(call) if call.name == "echo" => {
///                 let text = call.arguments.get("text").and_then(|v| v.as_str()).unwrap_or_default();
///                 Ok(CallToolResult::text(text).into())
///             }
///             other => Err(RpcError::method_not_found(other.method())),
///         }
///     }
///
///     fn capabilities(&self) -> ServerCapabilities {
///         ServerCapabilities::new().tools(false)
///     }
/// }
/// ```
pub trait Handler: Send + Sync + 'static {
    /// What one request remembers between its callbacks. Dropped in the request's own actor, however it ends.
    type State: Send + 'static;

    /// What the application may send to a running request through its [`Address`](crate::otp::Address).
    type Message: Send + 'static;

    /// Builds the state of one request or notification. It runs for each of them, so it should be cheap.
    ///
    /// # Errors
    ///
    /// The error answers the request; no other callback runs. For a notification it is traced.
    fn init(
        &self,
        channel: &Channel<Self::Message>,
    ) -> impl Future<Output = Result<Self::State, RpcError>> + Send;

    /// Answers one request, or keeps it open with [`Reply::Stream`], or [`Reply::Subscribe`] for `subscriptions/listen`.
    ///
    /// A handler that does not know `server/discover` answers [`RpcError::method_not_found`] for it as for any
    /// other method: the framework then answers from [`capabilities`](Handler::capabilities) and
    /// [`server_info`](Handler::server_info).
    ///
    /// # Errors
    ///
    /// The error is the JSON-RPC error that answers the request.
    fn handle_request(
        &self,
        request: Request,
        channel: &Channel<Self::Message>,
        state: &mut Self::State,
    ) -> impl Future<Output = Result<Reply, RpcError>> + Send;

    /// Handles one message sent to a request that is streaming. The default keeps streaming.
    ///
    /// # Errors
    ///
    /// The error ends the stream as the JSON-RPC error that answers the request.
    fn handle_message(
        &self,
        message: Self::Message,
        channel: &Channel<Self::Message>,
        state: &mut Self::State,
    ) -> impl Future<Output = Result<Reply, RpcError>> + Send {
        let _ = (message, channel, state);
        ready(Ok(Reply::Stream))
    }

    /// Cleans up when the request ends from outside: the client left, the connection died, the server drains, a limit was
    /// reached, or the handler called [`Channel::close`]. The channel is closed already. It has 5 s
    /// ([`Options::close_time`](crate::Options::close_time)), then it is killed.
    ///
    /// It does not run before `init` is done, after the request's own result, error or stop, after a panic, or after
    /// a kill; what must happen in every case belongs into the `Drop` of the state.
    fn handle_close(
        &self,
        channel: &Channel<Self::Message>,
        state: &mut Self::State,
    ) -> impl Future<Output = ()> + Send {
        let _ = (channel, state);
        ready(())
    }

    /// Observes a notification of the client. The default ignores it.
    fn handle_notification(
        &self,
        notification: Notification,
        channel: &Channel<Self::Message>,
        state: &mut Self::State,
    ) -> impl Future<Output = ()> + Send {
        let _ = (notification, channel, state);
        ready(())
    }

    /// What the server offers: a method whose capability is missing here answers `-32601` before any actor is
    /// spawned (DISC-06). What it says behind [`started`](Handler::started) holds as long as the server does.
    fn capabilities(&self) -> ServerCapabilities;

    /// Who the server is: stamped as `_meta["io.modelcontextprotocol/serverInfo"]` on every result (META-12), unless the
    /// request names another with [`Channel::set_server_info`]. The default stamps nothing.
    fn server_info(&self) -> Option<Implementation> {
        None
    }

    /// Whether the handler serves this method, which the specification does not define. The default serves none:
    /// they answer `-32601`.
    fn serves(&self, method: &str) -> bool {
        let _ = method;
        false
    }

    /// Finds what is wrong with the handler's own set-up, all of it at once, and changes nothing. Called when a supervisor
    /// starts. A handler that passes requests on to another one, such as a [`Suite`](crate::Suite), passes this on too.
    ///
    /// # Errors
    ///
    /// With faults, the supervisor does not start.
    fn check(&self) -> Result<(), Misconfigured> {
        Ok(())
    }

    /// The scopes that callers need for what it offers. No server starts with any of them and without
    /// [`Options::connect`](crate::Options::connect), since nobody could have them. The default needs none. Read once, when
    /// the supervisor starts; a handler that passes requests on to another one passes this on too.
    fn scopes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Called once by each supervisor that starts with this handler, once nothing was found to be wrong and before it serves:
    /// the [`Notifier`] tells its streams what changes here, from whatever thread. Right after it,
    /// [`capabilities`](Handler::capabilities) are read for good, so that a handler whose offers may change fixes them here. The
    /// default drops the notifier. If the supervisor then does not start, since its parent is ending, it was called all the
    /// same. A handler that passes requests on to another one, such as a [`Suite`](crate::Suite), passes this on too.
    fn started(&self, notifier: Notifier) {
        let _ = notifier;
    }
}

macro_rules! delegate {
    ($pointer:ident) => {
        impl<H: Handler> Handler for $pointer<H> {
            type State = H::State;
            type Message = H::Message;

            fn init(
                &self,
                channel: &Channel<H::Message>,
            ) -> impl Future<Output = Result<H::State, RpcError>> + Send {
                (**self).init(channel)
            }

            fn handle_request(
                &self,
                request: Request,
                channel: &Channel<H::Message>,
                state: &mut H::State,
            ) -> impl Future<Output = Result<Reply, RpcError>> + Send {
                (**self).handle_request(request, channel, state)
            }

            fn handle_message(
                &self,
                message: H::Message,
                channel: &Channel<H::Message>,
                state: &mut H::State,
            ) -> impl Future<Output = Result<Reply, RpcError>> + Send {
                (**self).handle_message(message, channel, state)
            }

            fn handle_close(
                &self,
                channel: &Channel<H::Message>,
                state: &mut H::State,
            ) -> impl Future<Output = ()> + Send {
                (**self).handle_close(channel, state)
            }

            fn handle_notification(
                &self,
                notification: Notification,
                channel: &Channel<H::Message>,
                state: &mut H::State,
            ) -> impl Future<Output = ()> + Send {
                (**self).handle_notification(notification, channel, state)
            }

            fn capabilities(&self) -> ServerCapabilities {
                (**self).capabilities()
            }

            fn server_info(&self) -> Option<Implementation> {
                (**self).server_info()
            }

            fn serves(&self, method: &str) -> bool {
                (**self).serves(method)
            }

            fn check(&self) -> Result<(), Misconfigured> {
                (**self).check()
            }

            fn scopes(&self) -> Vec<String> {
                (**self).scopes()
            }

            fn started(&self, notifier: Notifier) {
                (**self).started(notifier);
            }
        }
    };
}

delegate!(Arc);
delegate!(Box);
