//! What a tool function may return, and what the client reads of it.

use serde::Serialize;
use serde_json::Value;

use schemars::JsonSchema;

use crate::wire::{CallToolResult, Content};

use super::ToolError;
use super::schema;

/// What a tool returns: text, a number, [`Json`], content blocks, a whole [`CallToolResult`], or a `Result` of those.
///
/// An error that a tool returns, of any type that can be shown, becomes a result with `isError: true` whose text the
/// model reads (TOOL-13). An [`RpcError`](crate::RpcError) becomes the JSON-RPC error that it names.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the output of a tool",
    label = "a tool cannot return this",
    note = "a tool returns text (`String`, `&'static str`), a number, `bool`, `()`, `Json<T>` where `T: Serialize + JsonSchema`,",
    note = "`Content`, `Vec<Content>`, `CallToolResult`, or a `Result` of one of those whose error implements `Display`"
)]
pub trait ToolOutput: Send {
    /// The result that the client gets.
    ///
    /// # Errors
    ///
    /// A [`ToolError`]: either text for the model or a protocol error.
    fn into_result(self) -> Result<CallToolResult, ToolError>;

    /// The `outputSchema` that the tool advertises; `None` for unstructured output.
    fn output_schema() -> Option<Value> {
        None
    }
}

/// Structured output: fills `structuredContent`, advertises `T`'s schema as `outputSchema`, and mirrors the value as
/// JSON text for clients that read only `content` (TOOL-16, TOOL-17).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Json<T>(pub T);

impl<T: Serialize + JsonSchema + Send> ToolOutput for Json<T> {
    fn into_result(self) -> Result<CallToolResult, ToolError> {
        let value = serde_json::to_value(&self.0).map_err(ToolError::internal)?;
        let text = serde_json::to_string(&self.0).map_err(ToolError::internal)?;
        Ok(CallToolResult::text(text).structured(value))
    }

    fn output_schema() -> Option<Value> {
        Some(schema::output::<T>())
    }
}

impl ToolOutput for CallToolResult {
    fn into_result(self) -> Result<CallToolResult, ToolError> {
        Ok(self)
    }
}

impl ToolOutput for Content {
    fn into_result(self) -> Result<CallToolResult, ToolError> {
        Ok(CallToolResult::new(vec![self]))
    }
}

impl ToolOutput for Vec<Content> {
    fn into_result(self) -> Result<CallToolResult, ToolError> {
        Ok(CallToolResult::new(self))
    }
}

impl ToolOutput for () {
    fn into_result(self) -> Result<CallToolResult, ToolError> {
        Ok(CallToolResult::new(Vec::new()))
    }
}

impl<T: ToolOutput, E: std::fmt::Display + Send + 'static> ToolOutput for Result<T, E> {
    fn into_result(self) -> Result<CallToolResult, ToolError> {
        self.map_err(ToolError::from_any)?.into_result()
    }

    fn output_schema() -> Option<Value> {
        T::output_schema()
    }
}

macro_rules! text {
    ($($type:ty)*) => {
        $(impl ToolOutput for $type {
            fn into_result(self) -> Result<CallToolResult, ToolError> {
                Ok(CallToolResult::text(self.to_string()))
            }
        })*
    };
}

text!(&'static str i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64 bool char);

impl ToolOutput for String {
    fn into_result(self) -> Result<CallToolResult, ToolError> {
        Ok(CallToolResult::text(self))
    }
}
