//! What nearly every server needs: `use ractor_mcp::prelude::*;`.

pub use crate::handler::{Channel, Handler, Reply, RpcError, Sent};
#[cfg(feature = "suite")]
pub use crate::suite::{
    Call, Elicited, Json, NoArguments, Suite, Tool, ToolError, ToolOutput, ToolReply, blocking, tool,
};
pub use crate::tree::{McpSupervisor, Options, shutdown_signal};
