//! A tool as the suite keeps it: checked and compiled once, at registration.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::handler::{Channel, Late, MirroredSchema, Misconfigured, RpcError};
use crate::rules::x_mcp_header::{self, Mirrored};
use crate::rules::{meta_key, tool_name};
use crate::wire::{self, CallToolRequest, CallToolResult};

use super::access::Access;
use super::arguments::Arguments;
use super::checks::Checked;
use super::page::Keyed;
use super::running::{Active, Running};
use super::{Rounds, SuiteMessage, Tool, ToolSpec, timeout};

/// The code of the JSON-RPC error that refuses a call beyond [`ToolSpec::max_concurrent`]: outside the reserved ranges,
/// and safe to send again, since nothing of the tool has run.
pub const TOOL_BUSY: i64 = 429;

/// A registered tool.
pub(super) struct Entry {
    pub(super) name: Arc<str>,
    /// What is listed of it.
    pub(super) definition: wire::Tool,
    pub(super) access: Access,
    pub(super) arguments: Arguments,
    pub(super) blocking: bool,
    mirrored: MirroredSchema,
    output: Option<Checked>,
    timeout: Option<Duration>,
    places: Option<Places>,
    serve: Box<dyn Serve>,
}

/// How many calls may run at once.
struct Places {
    free: Arc<Semaphore>,
    most: usize,
}

/// The right to run one call, until the last clone is dropped.
pub(super) type Place = Option<Arc<OwnedSemaphorePermit>>;

/// A tool of any type.
pub(super) trait Serve: Send + Sync {
    fn start(
        &self,
        entry: Arc<Entry>,
        channel: Channel<SuiteMessage>,
        rounds: Rounds,
        place: Place,
    ) -> Box<dyn Running>;
}

pub(super) struct Erased<T>(Arc<T>);

impl<T: Tool> Erased<T> {
    pub(super) fn new(tool: T) -> Self {
        Self(Arc::new(tool))
    }
}

impl<T: Tool> Serve for Erased<T> {
    fn start(
        &self,
        entry: Arc<Entry>,
        channel: Channel<SuiteMessage>,
        rounds: Rounds,
        place: Place,
    ) -> Box<dyn Running> {
        Box::new(Active::new(Arc::clone(&self.0), entry, channel, rounds, place))
    }
}

impl Entry {
    /// The tool under a name.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it.
    pub(super) fn register(name: &str, spec: ToolSpec) -> Result<Self, Vec<String>> {
        let mut faults = Vec::new();
        let mut definition = spec.definition;
        name.clone_into(&mut definition.name);
        faults.extend(tool_name::check(name).err());
        faults.extend(definition.meta.keys().filter_map(meta_key::fault));
        faults.extend(spec.access.faults());
        faults.extend(timeout::fault(spec.timeout));
        if spec.max_concurrent == Some(0) {
            faults.push("its max_concurrent is 0; at least 1 would do".to_owned());
        }
        let arguments = Arguments::of(&definition.input_schema, &spec.arguments, spec.json_text);
        let mirrored = MirroredSchema::of(&definition.input_schema);
        let output = definition.output_schema.as_ref().map(Checked::output).transpose();
        match (arguments, mirrored, output) {
            (Ok(arguments), Ok(mirrored), Ok(output)) if faults.is_empty() => Ok(Self {
                name: Arc::from(name),
                definition,
                access: spec.access,
                arguments,
                blocking: spec.blocking,
                mirrored,
                output,
                timeout: spec.timeout,
                places: spec.max_concurrent.map(Places::new),
                serve: spec.serve,
            }),
            (arguments, mirrored, output) => {
                faults.extend(arguments.err());
                faults.extend(mirrored.err().iter().flat_map(Misconfigured::faults).cloned());
                faults.extend(output.err());
                Err(faults)
            }
        }
    }

    /// Whether nothing says what it does.
    pub(super) fn is_undescribed(&self) -> bool {
        self.definition.description.as_ref().is_none_or(|text| text.trim().is_empty())
    }

    /// Checks the headers of a call against its arguments.
    ///
    /// # Errors
    ///
    /// `-32020` (XHDR-13 to XHDR-17).
    pub(super) fn check_headers(
        &self,
        request: &CallToolRequest,
        channel: &Channel<SuiteMessage>,
    ) -> Result<(), RpcError> {
        self.mirrored.check(channel.mirrored_params(), &request.arguments)
    }

    /// Begins one call, if there is a place for it.
    ///
    /// # Errors
    ///
    /// [`TOOL_BUSY`].
    pub(super) fn start(
        self: &Arc<Self>,
        channel: &Channel<SuiteMessage>,
        rounds: Rounds,
        late: &Arc<Late>,
    ) -> Result<Box<dyn Running>, RpcError> {
        let place = match &self.places {
            Some(places) => Some(places.take(&self.name)?),
            None => None,
        };
        if let Some(limit) = timeout::of(self.timeout, channel) {
            self.expire_after(limit, channel, late);
        }
        Ok(self.serve.start(Arc::clone(self), channel.clone(), rounds, place))
    }

    /// Answers the call when its time is over, in words for the model.
    fn expire_after(&self, limit: timeout::Limit, channel: &Channel<SuiteMessage>, late: &Arc<Late>) {
        let name = Arc::clone(&self.name);
        // A model that reads this may call again.
        let end = if self.blocking { "; its work may go on" } else { " and was interrupted" };
        timeout::expire_after(limit, channel, late, move |channel| {
            let text = format!("the tool `{name}` did not finish within {:?}{end}", limit.set);
            channel.send_result(CallToolResult::error(text))
        });
    }

    /// Holds a result against the advertised output schema (TOOL-15). A result with `isError` has no structured content
    /// that a client would check and refuse (G9).
    ///
    /// # Errors
    ///
    /// The tool's own bug: `-32603`, with what is wrong for the trace.
    pub(super) fn conform(&self, mut result: CallToolResult) -> Result<CallToolResult, RpcError> {
        let Some(schema) = &self.output else {
            return Ok(result);
        };
        if result.is_error {
            result.structured_content = None;
            return Ok(result);
        }
        let fault = match &result.structured_content {
            Some(structured) => schema.fault(structured),
            None => Some("no structured content, which an output schema asks for".to_owned()),
        };
        match fault {
            None => Ok(result),
            Some(fault) => Err(RpcError::internal(format!(
                "bug of the tool `{}`: its output does not fit its output schema: {fault}",
                self.name
            ))),
        }
    }
}

impl Keyed for Entry {
    fn key(&self) -> &str {
        &self.name
    }
}

impl Places {
    fn new(most: usize) -> Self {
        let free = Arc::new(Semaphore::new(most.min(Semaphore::MAX_PERMITS)));
        Self { free, most }
    }

    fn take(&self, tool: &str) -> Result<Arc<OwnedSemaphorePermit>, RpcError> {
        let place = Arc::clone(&self.free).try_acquire_owned();
        place.map(Arc::new).map_err(|_| {
            let calls = if self.most == 1 { "1 call".to_owned() } else { format!("{} calls", self.most) };
            let message =
                format!("the tool `{tool}` runs {calls}, as many as it may; send the call again later");
            RpcError::new(TOOL_BUSY, message).with_data(json!({ "maxConcurrent": self.most }))
        })
    }
}

/// What clients in use may stumble over in a definition that is in order (G1, G6, G12).
pub(super) fn warnings(definition: &wire::Tool) -> Vec<String> {
    let mut found: Vec<String> = tool_name::warning(&definition.name).into_iter().collect();
    for keyword in ["anyOf", "oneOf"] {
        if definition.input_schema.get(keyword).is_some() {
            found.push(format!(
                "the root of the input schema has `{keyword}`, for which several clients refuse all tools of a server; \
                 fields that are optional would do"
            ));
        }
    }
    for secret in mirrored_secrets(&definition.input_schema) {
        found.push(format!(
            "`{secret}` looks like a secret and is mirrored as a header, which gateways log (XHDR-11); leave `x-mcp-header` out"
        ));
    }
    if let Some(output) = &definition.output_schema {
        wide_ids(output, &mut found);
    }
    found
}

/// Parameters whose names say that no gateway should read them.
fn mirrored_secrets(schema: &Value) -> Vec<String> {
    const SECRET: [&str; 6] = ["password", "passwd", "secret", "token", "api_key", "apikey"];
    let mirrored = x_mcp_header::read(schema).unwrap_or_default();
    let paths = mirrored.iter().map(Mirrored::path);
    let is_secret = |path: &String| {
        let path = path.to_ascii_lowercase();
        SECRET.iter().any(|word| path.contains(word))
    };
    paths.filter(is_secret).collect()
}

/// 64-bit integers named as ids, whose last digits clients lose above 2^53.
fn wide_ids(schema: &Value, found: &mut Vec<String>) {
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let is_id = name == "id" || name.ends_with("_id") || name.ends_with("Id");
        let is_wide = property.get("format").is_some_and(|format| format == "int64" || format == "uint64");
        if is_id && is_wide {
            found.push(format!(
                "`{name}` in the output is a 64-bit integer, which clients round above 2^53; text would do"
            ));
        }
    }
    for inner in super::schema::subschemas(schema) {
        wide_ids(inner, found);
    }
}
