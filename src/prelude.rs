//! What nearly every server needs: `use ractor_mcp::prelude::*;`.

pub use crate::handler::{Channel, ConnectRequest, Denied, Handler, Principal, Reply, RpcError, Sent};
#[cfg(feature = "suite")]
pub use crate::suite::{
    Call, Completing, Elicited, Json, NoArguments, Page, PromptRepo, ResourceRepo, Suite, Tool, ToolError,
    ToolOutput, ToolReply, ToolSpec, blocking, prompt, resource, tool,
};
pub use crate::tree::{McpSupervisor, Options, shutdown_signal};
