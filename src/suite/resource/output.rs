//! What a resource may be read as, and what the client reads of it.

use bytes::Bytes;
use serde::Serialize;

use crate::handler::RpcError;
use crate::suite::{Json, ToolError};
use crate::wire::{ReadResourceResult, ResourceContents};

/// What a resource holds: text (`String`, `&'static str`), bytes (`Vec<u8>`, `Bytes`), [`Json`], [`ResourceContents`]
/// or several of them, a whole [`ReadResourceResult`]; an `Option` of those, where `None` means that there is no such
/// resource; or a `Result`.
///
/// No contents at all, an empty list of them, say the same as `None`: a client cannot tell them from a resource that does not
/// exist (RES-09). A folder without files says so in a text, which may be empty.
///
/// An error of any type that can be shown is `-32603`: the client reads a neutral sentence, the trace reads the error
/// (RES-11). An [`RpcError`] stays the JSON-RPC error that it is.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be what a resource holds",
    label = "a resource cannot be read as this",
    note = "a resource is text (`String`, `&'static str`), bytes (`Vec<u8>`, `Bytes`), `Json<T>` where `T: Serialize`,",
    note = "`ResourceContents`, `Vec<ResourceContents>`, `ReadResourceResult`, or an `Option` of one of those,",
    note = "or a `Result` whose error implements `Display`"
)]
pub trait ResourceOutput: Send {
    /// Whether the result says itself how long it may be kept, so that no hints of the registration are put on it.
    const HAS_HINTS: bool = false;

    /// The result that the client gets for this URI.
    ///
    /// # Errors
    ///
    /// [`RpcError::resource_not_found`], or whatever failed.
    fn into_result(self, uri: &str) -> Result<ReadResourceResult, ToolError>;
}

impl ResourceOutput for ReadResourceResult {
    const HAS_HINTS: bool = true;

    fn into_result(self, uri: &str) -> Result<ReadResourceResult, ToolError> {
        if self.contents.is_empty() {
            return Err(RpcError::resource_not_found(uri).into());
        }
        Ok(self)
    }
}

impl ResourceOutput for Vec<ResourceContents> {
    fn into_result(self, uri: &str) -> Result<ReadResourceResult, ToolError> {
        ReadResourceResult::new(self).into_result(uri)
    }
}

impl ResourceOutput for ResourceContents {
    fn into_result(self, uri: &str) -> Result<ReadResourceResult, ToolError> {
        ReadResourceResult::new(vec![self]).into_result(uri)
    }
}

impl ResourceOutput for String {
    fn into_result(self, uri: &str) -> Result<ReadResourceResult, ToolError> {
        ResourceContents::text(uri, self).into_result(uri)
    }
}

impl ResourceOutput for &'static str {
    fn into_result(self, uri: &str) -> Result<ReadResourceResult, ToolError> {
        ResourceContents::text(uri, self).into_result(uri)
    }
}

impl ResourceOutput for Vec<u8> {
    fn into_result(self, uri: &str) -> Result<ReadResourceResult, ToolError> {
        ResourceContents::blob(uri, self).into_result(uri)
    }
}

impl ResourceOutput for Bytes {
    fn into_result(self, uri: &str) -> Result<ReadResourceResult, ToolError> {
        ResourceContents::blob(uri, self).into_result(uri)
    }
}

impl<T: Serialize + Send> ResourceOutput for Json<T> {
    fn into_result(self, uri: &str) -> Result<ReadResourceResult, ToolError> {
        let text = serde_json::to_string(&self.0).map_err(ToolError::internal)?;
        ResourceContents::text(uri, text).mime_type("application/json").into_result(uri)
    }
}

impl<T: ResourceOutput> ResourceOutput for Option<T> {
    const HAS_HINTS: bool = T::HAS_HINTS;

    fn into_result(self, uri: &str) -> Result<ReadResourceResult, ToolError> {
        match self {
            Some(output) => output.into_result(uri),
            None => Err(RpcError::resource_not_found(uri).into()),
        }
    }
}

impl<T: ResourceOutput, E: std::fmt::Display + Send + 'static> ResourceOutput for Result<T, E> {
    const HAS_HINTS: bool = T::HAS_HINTS;

    fn into_result(self, uri: &str) -> Result<ReadResourceResult, ToolError> {
        self.map_err(ToolError::from_any)?.into_result(uri)
    }
}
