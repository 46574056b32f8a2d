//! A tool as the suite keeps it, and plain functions as tools.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::handler::RpcError;
use crate::wire::{CallToolResult, Tool};

use super::{Call, NoArguments, ToolError, ToolOutput, arguments, schema};

pub(super) type Calling = Pin<Box<dyn Future<Output = Result<CallToolResult, RpcError>> + Send>>;

/// A registered tool: what `tools/list` says of it, and how it is called.
pub struct RegisteredTool {
    pub(super) definition: Tool,
    pub(super) call: Arc<dyn Fn(Map<String, Value>, Call) -> Calling + Send + Sync>,
}

/// What can be registered as a tool: an async function `Args -> Out`, `(Args, Call) -> Out` or `() -> Out`.
///
/// `Args` is a struct that implements `serde::Deserialize` and `schemars::JsonSchema`; its doc comment is the tool's
/// description. `Out` is a [`ToolOutput`]. The `Kind` tells the three shapes apart and is always inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be served as a tool",
    label = "not a tool",
    note = "a tool is an async function `Args -> Out`, `(Args, Call) -> Out` or `() -> Out`:",
    note = "`Args` is a struct with `#[derive(serde::Deserialize, schemars::JsonSchema)]`,",
    note = "`Out` is text, a number, `Json<T>`, content blocks, or a `Result` of those,",
    note = "and its future is `Send`: nothing like `Rc` or a `MutexGuard` may be held across an `.await`"
)]
pub trait IntoTool<Kind> {
    /// The tool under a name.
    ///
    /// # Errors
    ///
    /// What is wrong with its schemas.
    fn into_tool(self, name: &str) -> Result<RegisteredTool, String>;
}

impl<F, Fut, Args, Out> IntoTool<fn(Args) -> Out> for F
where
    F: Fn(Args) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Out> + Send + 'static,
    Args: DeserializeOwned + JsonSchema + Send + 'static,
    Out: ToolOutput + 'static,
{
    fn into_tool(self, name: &str) -> Result<RegisteredTool, String> {
        register::<Args, Out, _, _>(name, move |args, _| self(args))
    }
}

impl<F, Fut, Args, Out> IntoTool<fn(Args, Call) -> Out> for F
where
    F: Fn(Args, Call) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Out> + Send + 'static,
    Args: DeserializeOwned + JsonSchema + Send + 'static,
    Out: ToolOutput + 'static,
{
    fn into_tool(self, name: &str) -> Result<RegisteredTool, String> {
        register::<Args, Out, _, _>(name, self)
    }
}

impl<F, Fut, Out> IntoTool<fn() -> Out> for F
where
    F: Fn() -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Out> + Send + 'static,
    Out: ToolOutput + 'static,
{
    fn into_tool(self, name: &str) -> Result<RegisteredTool, String> {
        register::<NoArguments, Out, _, _>(name, move |_, _| self())
    }
}

fn register<Args, Out, F, Fut>(name: &str, function: F) -> Result<RegisteredTool, String>
where
    F: Fn(Args, Call) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Out> + Send + 'static,
    Args: DeserializeOwned + JsonSchema + Send + 'static,
    Out: ToolOutput + 'static,
{
    let (input, description) = schema::input::<Args>()?;
    let mut definition = Tool::new(name, input);
    if let Some(description) = description {
        definition = definition.description(description);
    }
    if let Some(output) = Out::output_schema() {
        definition = definition.output_schema(output);
    }
    let function = Arc::new(function);
    let call = Arc::new(move |given: Map<String, Value>, call: Call| -> Calling {
        let function = Arc::clone(&function);
        Box::pin(async move {
            let answer = match arguments::decode::<Args>(given) {
                Ok(args) => function(args, call).await.into_result(),
                Err(fault) => Err(fault),
            };
            answer.or_else(ToolError::into_answer)
        })
    });
    Ok(RegisteredTool { definition, call })
}
