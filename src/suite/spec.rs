//! What a registration says of a tool.

use std::time::Duration;

use schemars::JsonSchema;
use serde_json::Value;

use crate::handler::Principal;
use crate::wire::{self, Icon, Meta, ToolAnnotations};

use super::access::Access;
use super::entry::{Erased, Serve};
use super::{IntoTool, Signature, Tool, ToolOutput, schema};

/// A tool with everything that a registration says of it but its name. [`tool`] makes one of whatever is a tool.
pub struct ToolSpec {
    pub(super) definition: wire::Tool,
    /// The name of the type that the arguments have.
    pub(super) arguments: String,
    pub(super) timeout: Option<Duration>,
    pub(super) max_concurrent: Option<usize>,
    pub(super) blocking: bool,
    pub(super) json_text: bool,
    pub(super) access: Access,
    pub(super) serve: Box<dyn Serve>,
}

/// A tool with options: how it is shown, and how it may run.
///
/// ```
/// use std::time::Duration;
///
/// use ractor_mcp::prelude::*;
/// use ractor_mcp::wire::ToolAnnotations;
///
/// async fn slow() -> &'static str { "done" }
///
/// let slow = tool(slow)
///     .title("Slow")
///     .description("Takes its time.")
///     .annotations(ToolAnnotations::new().read_only_hint(true))
///     .timeout(Duration::from_secs(30))
///     .max_concurrent(4);
/// let suite = Suite::new("example", "1.0.0").tool("slow", slow);
/// ```
pub fn tool<Kind>(tool: impl Signature<Kind> + IntoTool<Kind>) -> ToolSpec {
    tool.into_tool()
}

impl ToolSpec {
    pub(super) fn new<T: Tool>(tool: T) -> Self {
        let (input, doc) = schema::input::<T::Args>();
        let mut definition = wire::Tool::new("", input);
        definition.title = tool.title();
        definition.description = tool.description().or(doc);
        definition.output_schema = T::Output::output_schema();
        definition.annotations = tool.annotations();
        definition.icons = tool.icons();
        definition.meta = tool.meta();
        Self {
            definition,
            arguments: T::Args::schema_name().into_owned(),
            timeout: None,
            max_concurrent: None,
            blocking: false,
            json_text: false,
            access: Access::default(),
            serve: Box::new(Erased::new(tool)),
        }
    }

    /// Sets its name for people. Default: none.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.definition.title = Some(title.into());
        self
    }

    /// Sets what it does, for the model, in place of the doc comment of its arguments.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.definition.description = Some(description.into());
        self
    }

    /// Sets hints on it. Default: none.
    #[must_use]
    pub fn annotations(mut self, annotations: ToolAnnotations) -> Self {
        self.definition.annotations = Some(annotations);
        self
    }

    /// Adds a picture. Default: none.
    #[must_use]
    pub fn icon(mut self, icon: Icon) -> Self {
        self.definition.icons.push(icon);
        self
    }

    /// Sets its `_meta`. Default: empty.
    #[must_use]
    pub fn meta(mut self, meta: Meta) -> Self {
        self.definition.meta = meta;
        self
    }

    /// Sets the JSON Schema of its arguments in place of the one that follows from their type. It is published as it
    /// stands (JSCH-13), and checked as every other; the arguments must still fit the type.
    #[must_use]
    pub fn input_schema(mut self, schema: Value) -> Self {
        self.definition.input_schema = schema;
        "the given schema".clone_into(&mut self.arguments);
        self
    }

    /// Sets the JSON Schema of its structured output, for tools that build their
    /// [`CallToolResult`](wire::CallToolResult) themselves. It is published as it stands.
    #[must_use]
    pub fn output_schema(mut self, schema: Value) -> Self {
        self.definition.output_schema = Some(schema);
        self
    }

    /// Leaves the output schema out of the listing, where it may cost more tokens than it is worth. The output is then
    /// not checked.
    #[must_use]
    pub fn without_output_schema(mut self) -> Self {
        self.definition.output_schema = None;
        self
    }

    /// Asks for a scope: a caller without it is refused with
    /// [`RpcError::insufficient_scope`](crate::RpcError::insufficient_scope) before anything of the tool runs, HTTP status
    /// 403 and a challenge that names the scope (AUTH-17). Called again, it asks for one more. The tool is still listed,
    /// so that a client knows what to get a token for. Anonymous callers have no scopes and read 401; a server without
    /// [`Options::connect`](crate::Options::connect) does not start with a suite that has such a tool.
    #[must_use]
    pub fn scope(mut self, scope: impl Into<String>) -> Self {
        self.access.need(scope.into());
        self
    }

    /// Shows it to some callers only. To all others it does not exist: it is not listed, and whoever names it reads what
    /// they would read of any other name. A predicate that panics hides. The list is then `private` to caches.
    #[must_use]
    pub fn visible_to<F>(mut self, visible: F) -> Self
    where
        F: Fn(&Principal) -> bool + Send + Sync + 'static,
    {
        self.access.show_to(visible);
        self
    }

    /// Limits how long one call may take, from its first step to its answer, a stream included; by default it has as long
    /// as any request ([`Options::request_time`](crate::Options::request_time)). When the time is over the client reads a result with `isError`, the tool is interrupted at its next
    /// `.await`, [`Tool::handle_close`] runs, and the call's actor ends with `shutdown: expired`. What runs in
    /// [`Call::uninterrupted`](super::Call::uninterrupted) is finished first. A function that holds its thread without an
    /// `.await` cannot be interrupted and may delay that answer, too: what computes or blocks belongs in
    /// [`blocking`](super::blocking).
    #[must_use]
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(limit);
        self
    }

    /// Limits how many calls of this tool run at once, for all clients together; by default only the limits of the server
    /// do. One more is not queued: it is refused at once with the JSON-RPC error [`TOOL_BUSY`](super::TOOL_BUSY), and
    /// nothing of the tool has run. Blocking work whose call has ended holds its place until it returns.
    #[must_use]
    pub fn max_concurrent(mut self, calls: usize) -> Self {
        self.max_concurrent = Some(calls);
        self
    }

    /// Runs each call on a thread of tokio's blocking pool, for an async tool that computes for long or blocks its
    /// thread. An interrupted call ends at once and its future is dropped at the next `.await` that it reaches; between
    /// two of them nothing can stop it, and [`Call::is_closed`](super::Call::is_closed) is what it can look at. A
    /// function that is not async at all becomes a tool with [`blocking`](super::blocking).
    ///
    /// Of a [`Tool`] only [`call`](Tool::call) runs there. If it is interrupted, the state stays with the thread, and
    /// [`handle_close`](Tool::handle_close) sees a fresh one.
    #[must_use]
    pub fn blocking(mut self) -> Self {
        self.blocking = true;
        self
    }

    /// Takes objects and lists also as JSON text in a string, as some clients send them, wherever the schema asks for an
    /// object or a list and for no text. By default that is a fault which says so.
    ///
    /// Such text is read as strictly as the body is (no member twice), with at most 64 levels of nesting in the arguments and
    /// 10,000 values in all texts of a call; what holds more stays the text that it is, which the schema refuses.
    #[must_use]
    pub fn accept_json_text(mut self) -> Self {
        self.json_text = true;
        self
    }
}

impl std::fmt::Debug for ToolSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolSpec")
            .field("definition", &self.definition)
            .field("timeout", &self.timeout)
            .field("max_concurrent", &self.max_concurrent)
            .field("blocking", &self.blocking)
            .finish_non_exhaustive()
    }
}
