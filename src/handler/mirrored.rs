//! The parameters of a tool that clients mirror as headers, for handlers that call tools by themselves.

use serde_json::{Map, Value};

use crate::rules::x_mcp_header::{self, Mirrored};
use crate::wire::MirroredParams;

use super::{Misconfigured, RpcError};

/// The parameters that an input schema marks with `x-mcp-header`: clients mirror them as `Mcp-Param-*` headers, which
/// gateways route by, and a server refuses calls whose headers say something else than their arguments (XHDR-13 to XHDR-19).
///
/// A [`Suite`](crate::Suite) does all of this by itself. A [`Handler`](crate::Handler) reads the schema once and checks each
/// call before anything of its tool runs:
///
/// ```
/// use ractor_mcp::prelude::*;
/// use ractor_mcp::{MirroredSchema, RpcError};
/// use ractor_mcp::wire::CallToolRequest;
/// use serde_json::json;
///
/// # fn main() -> Result<(), ractor_mcp::Misconfigured> {
/// let schema = json!({
///     "type": "object",
///     "properties": { "region": { "type": "string", "x-mcp-header": "Region" } }
/// });
/// let mirrored = MirroredSchema::of(&schema)?;
///
/// let check = |call: &CallToolRequest, channel: &Channel<()>| -> Result<(), RpcError> {
///     mirrored.check(channel.mirrored_params(), &call.arguments)
/// };
/// # let _ = check;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct MirroredSchema(Vec<Mirrored>);

impl MirroredSchema {
    /// The marked parameters of an input schema.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the marks, each with its place. One fault makes clients drop the whole tool (XHDR-10).
    pub fn of(input_schema: &Value) -> Result<Self, Misconfigured> {
        match x_mcp_header::read(input_schema) {
            Ok(mirrored) => Ok(Self(mirrored)),
            Err(faults) => Misconfigured::unless_empty(faults).map(|()| Self(Vec::new())),
        }
    }

    /// Holds the headers of a call against its arguments. On a transport without headers there is nothing to check.
    ///
    /// # Errors
    ///
    /// `-32020`, with HTTP status 400 as long as nothing was streamed.
    pub fn check(&self, sent: &MirroredParams, arguments: &Map<String, Value>) -> Result<(), RpcError> {
        Ok(x_mcp_header::check(&self.0, sent, arguments)?)
    }
}
