//! The ready-made handler: plain functions as tools, without a word of protocol.
//!
//! | file | holds |
//! |---|---|
//! | `mod.rs` | [`Suite`]: registration and dispatch |
//! | `tool.rs` | functions as tools |
//! | `arguments.rs` | from JSON to the type that a tool takes |
//! | `output.rs` | from what a tool returns to JSON |
//! | `schema.rs` | the schemas that a tool advertises |
//! | `call.rs` | [`Call`], what a running tool knows and sends |
//! | `error.rs` | [`ToolError`] |

mod arguments;
mod call;
mod error;
mod output;
mod schema;
mod tool;

use std::collections::HashMap;
use std::sync::Arc;

use crate::handler::{Channel, Handler, Misconfigured, Reply, RpcError};
use crate::rules::tool_name;
use crate::wire::{DiscoverResult, Implementation, ListToolsResult, Request, ServerCapabilities, Tool};

pub use arguments::NoArguments;
pub use call::{Amount, Call, IntoTotal};
pub use error::ToolError;
pub use output::{Json, ToolOutput};
pub use tool::{IntoTool, RegisteredTool};

/// A server made of functions.
///
/// ```
/// use ractor_mcp::prelude::*;
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// /// Adds two integers.
/// #[derive(Deserialize, JsonSchema)]
/// struct Add { a: i64, b: i64 }
///
/// async fn add(Add { a, b }: Add) -> i64 { a + b }
///
/// let suite = Suite::new("calculator", "1.0.0").tool("add", add);
/// ```
///
/// What is wrong with a registration is told when the supervisor starts, all of it in one message.
pub struct Suite {
    info: Implementation,
    instructions: Option<String>,
    definitions: Vec<Tool>,
    tools: HashMap<Arc<str>, RegisteredTool>,
    faults: Vec<String>,
}

impl Suite {
    /// A suite that offers nothing yet. Name and version are the server's identity.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            info: Implementation::new(name, version),
            instructions: None,
            definitions: Vec::new(),
            tools: HashMap::new(),
            faults: Vec::new(),
        }
    }

    /// Sets the whole identity: title, description, icons, website.
    #[must_use]
    pub fn info(mut self, info: Implementation) -> Self {
        self.info = info;
        self
    }

    /// Tells clients how to use the server; part of `server/discover`.
    #[must_use]
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.instructions = Some(text.into());
        self
    }

    /// Registers a tool: an async function `Args -> Out`, `(Args, Call) -> Out` or `() -> Out`. Tools are listed in the
    /// order of registration.
    #[must_use]
    pub fn tool<Kind>(mut self, name: &str, tool: impl IntoTool<Kind>) -> Self {
        match tool.into_tool(name) {
            Ok(tool) => self.register(tool),
            Err(fault) => self.faults.push(format!("tool `{name}`: {fault}")),
        }
        self
    }

    fn register(&mut self, tool: RegisteredTool) {
        let name: Arc<str> = Arc::from(&*tool.definition.name);
        if let Err(fault) = tool_name::check(&name) {
            self.faults.push(format!("tool `{name}`: {fault}"));
        }
        if self.tools.contains_key(&name) {
            self.faults.push(format!(
                "tool `{name}`: registered twice; each name serves one tool"
            ));
            return;
        }
        self.definitions.push(tool.definition.clone());
        self.tools.insert(name, tool);
    }

    fn discover(&self) -> DiscoverResult {
        let result = DiscoverResult::new(self.capabilities());
        match &self.instructions {
            Some(text) => result.instructions(text.clone()),
            None => result,
        }
    }
}

/// What a running request of a suite may be sent.
#[derive(Debug)]
#[non_exhaustive]
pub enum SuiteMessage {
    /// A task that a tool started has ended.
    TaskEnded,
}

impl Handler for Suite {
    type State = ();
    type Message = SuiteMessage;

    async fn init(&self, _: &Channel<SuiteMessage>) -> Result<(), RpcError> {
        Ok(())
    }

    async fn handle_request(
        &self,
        request: Request,
        channel: &Channel<SuiteMessage>,
        (): &mut (),
    ) -> Result<Reply, RpcError> {
        match request {
            Request::Discover => Ok(self.discover().into()),
            Request::ListTools(_) => Ok(ListToolsResult::new(self.definitions.clone()).into()),
            Request::CallTool(call) => {
                let Some((name, tool)) = self.tools.get_key_value(&*call.name) else {
                    return Err(RpcError::invalid_params(
                        "unknown tool; tools/list names those that exist",
                    ));
                };
                let result =
                    (tool.call)(call.arguments, Call::new(channel.clone(), Arc::clone(name))).await?;
                Ok(result.into())
            }
            other => Err(RpcError::method_not_found(other.method())),
        }
    }

    fn capabilities(&self) -> ServerCapabilities {
        let capabilities = ServerCapabilities::new().logging();
        if self.tools.is_empty() {
            capabilities
        } else {
            capabilities.tools(false)
        }
    }

    fn server_info(&self) -> Option<Implementation> {
        Some(self.info.clone())
    }

    fn check(&self) -> Result<(), Misconfigured> {
        Misconfigured::unless_empty(self.faults.clone())
    }
}
