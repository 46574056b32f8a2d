//! Structs as tools. A plain function is one of these with neither state nor messages.

use std::future::{Future, ready};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::wire::{Icon, Meta, ToolAnnotations};

use super::{Call, ToolError, ToolOutput};

/// A tool with a configuration, or one that stays open and answers messages of the application.
///
/// The name is given at registration: `Suite::new(..).tool("watch", Watch { .. })`. Each call has a state of its own,
/// and runs in an actor of its own: [`call`](Tool::call) first; if that returned [`ToolReply::Stream`], then
/// [`handle_message`](Tool::handle_message) for each message that the application sends to the call's
/// [`address`](Call::address).
///
/// ```
/// use std::sync::Mutex;
///
/// use ractor_mcp::prelude::*;
/// use ractor_mcp::suite::ToolAddress;
///
/// /// Waits for the next parcel.
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Wait { owner: String }
///
/// #[derive(Default)]
/// struct Parcels { waiting: Mutex<Vec<(String, ToolAddress<u32>)>> }
///
/// impl Tool for Parcels {
///     type Args = Wait;
///     type Output = String;
///     type State = ();
///     type Message = u32;
///
///     async fn call(&self, args: Wait, call: &Call<u32>, _: &mut ()) -> Result<ToolReply<String>, ToolError> {
///         self.waiting.lock().map_err(|_| ToolError::new("out of order"))?.push((args.owner, call.address()));
///         Ok(ToolReply::Stream)
///     }
///
///     async fn handle_message(&self, parcel: u32, _: &Call<u32>, _: &mut ()) -> Result<ToolReply<String>, ToolError> {
///         Ok(ToolReply::Answer(format!("parcel {parcel} arrived")))
///     }
/// }
///
/// let suite = Suite::new("post", "1.0.0").tool("wait", Parcels::default());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool",
    label = "not a tool",
    note = "a struct becomes a tool with `impl Tool for {Self}`; a plain async function is one already"
)]
pub trait Tool: Send + Sync + 'static {
    /// What it takes: a struct with `#[derive(Deserialize, JsonSchema)]`, whose doc comment is the description.
    type Args: DeserializeOwned + JsonSchema + Send + 'static;

    /// What it answers with.
    type Output: ToolOutput + 'static;

    /// What one call remembers between its callbacks; `()` for nothing. Dropped in the call's own actor, however it
    /// ends.
    type State: Default + Send + 'static;

    /// What the application may send to a running call; [`Infallible`](std::convert::Infallible) for nothing.
    type Message: Send + 'static;

    /// Answers one call, or keeps it open with [`ToolReply::Stream`].
    ///
    /// # Errors
    ///
    /// Text for the model, or a protocol error asked for by name.
    fn call(
        &self,
        args: Self::Args,
        call: &Call<Self::Message>,
        state: &mut Self::State,
    ) -> impl Future<Output = Result<ToolReply<Self::Output>, ToolError>> + Send;

    /// Handles one message sent to a call that streams. The default drops it and keeps streaming.
    ///
    /// # Errors
    ///
    /// As for [`call`](Tool::call); the call is answered.
    fn handle_message(
        &self,
        message: Self::Message,
        call: &Call<Self::Message>,
        state: &mut Self::State,
    ) -> impl Future<Output = Result<ToolReply<Self::Output>, ToolError>> + Send {
        let _ = (message, call, state);
        ready(Ok(ToolReply::Stream))
    }

    /// Cleans up when the call ends from outside: the client left, the server drains, or the tool's time is over. The
    /// call is closed already, and 5 s are left ([`Options::close_time`](crate::Options::close_time)). It does not run after
    /// an answer, an error, a panic or a kill; what must happen in every case belongs into the `Drop` of the state.
    fn handle_close(
        &self,
        call: &Call<Self::Message>,
        state: &mut Self::State,
    ) -> impl Future<Output = ()> + Send {
        let _ = (call, state);
        ready(())
    }

    /// Its name for people. Default: none.
    fn title(&self) -> Option<String> {
        None
    }

    /// What it does, for the model. Default: the doc comment of [`Args`](Tool::Args).
    fn description(&self) -> Option<String> {
        None
    }

    /// Hints on it. Default: none.
    fn annotations(&self) -> Option<ToolAnnotations> {
        None
    }

    /// Pictures of it. Default: none.
    fn icons(&self) -> Vec<Icon> {
        Vec::new()
    }

    /// Its `_meta`. Default: empty.
    fn meta(&self) -> Meta {
        Meta::new()
    }
}

/// What a [`Tool`] does with a call or a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolReply<Out> {
    /// Answers the call.
    Answer(Out),
    /// Keeps the call open and waits for messages.
    Stream,
}
