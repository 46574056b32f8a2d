//! What a prompt function may return, and what the client reads of it.

use crate::handler::RpcError;
use crate::suite::ToolError;
use crate::wire::{Content, GetPromptResult, PromptMessage};

/// What a prompt returns: text or content blocks, each of which is one message of the user; [`PromptMessage`]s; a whole
/// [`GetPromptResult`]; an `Option` of those, where `None` means that there is no such prompt; or a `Result`.
///
/// An error of any type that can be shown is `-32603`: the client reads a neutral sentence, the trace reads the error
/// (PRM-05). An [`RpcError`] stays the JSON-RPC error that it is.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the output of a prompt",
    label = "a prompt cannot return this",
    note = "a prompt returns text (`String`, `&'static str`), `Content`, `PromptMessage`, a `Vec` of one of the latter two,",
    note = "`GetPromptResult`, or an `Option` of one of those, or a `Result` whose error implements `Display`"
)]
pub trait PromptOutput: Send {
    /// The result that the client gets for the prompt of this name.
    ///
    /// # Errors
    ///
    /// `-32602` for a prompt that is not there, or whatever failed.
    fn into_result(self, name: &str) -> Result<GetPromptResult, ToolError>;
}

/// `-32602` for a prompt that is not there.
pub(in crate::suite) fn unknown_prompt() -> RpcError {
    RpcError::invalid_params("unknown prompt; prompts/list names those that exist")
}

impl PromptOutput for GetPromptResult {
    fn into_result(self, _: &str) -> Result<GetPromptResult, ToolError> {
        Ok(self)
    }
}

impl PromptOutput for Vec<PromptMessage> {
    fn into_result(self, _: &str) -> Result<GetPromptResult, ToolError> {
        Ok(GetPromptResult::new(self))
    }
}

impl PromptOutput for PromptMessage {
    fn into_result(self, name: &str) -> Result<GetPromptResult, ToolError> {
        vec![self].into_result(name)
    }
}

impl PromptOutput for Vec<Content> {
    fn into_result(self, name: &str) -> Result<GetPromptResult, ToolError> {
        let messages: Vec<_> = self.into_iter().map(PromptMessage::user).collect();
        messages.into_result(name)
    }
}

impl PromptOutput for Content {
    fn into_result(self, name: &str) -> Result<GetPromptResult, ToolError> {
        PromptMessage::user(self).into_result(name)
    }
}

impl PromptOutput for String {
    fn into_result(self, name: &str) -> Result<GetPromptResult, ToolError> {
        Content::text(self).into_result(name)
    }
}

impl PromptOutput for &'static str {
    fn into_result(self, name: &str) -> Result<GetPromptResult, ToolError> {
        Content::text(self).into_result(name)
    }
}

impl<T: PromptOutput> PromptOutput for Option<T> {
    fn into_result(self, name: &str) -> Result<GetPromptResult, ToolError> {
        match self {
            Some(output) => output.into_result(name),
            None => Err(unknown_prompt().into()),
        }
    }
}

impl<T: PromptOutput, E: std::fmt::Display + Send + 'static> PromptOutput for Result<T, E> {
    fn into_result(self, name: &str) -> Result<GetPromptResult, ToolError> {
        self.map_err(ToolError::from_any)?.into_result(name)
    }
}
