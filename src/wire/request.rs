//! All requests that a client may send, read and checked.

use serde_json::{Map, Value};

use super::{
    CallToolRequest, CompleteRequest, GetPromptRequest, ListPromptsRequest, ListResourceTemplatesRequest,
    ListResourcesRequest, ListToolsRequest, ListenRequest, ReadResourceRequest,
};

/// A request by method, with its parameters. Its `_meta` is on the channel.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Request {
    /// `server/discover`.
    Discover,
    /// `tools/list`.
    ListTools(ListToolsRequest),
    /// `tools/call`.
    CallTool(CallToolRequest),
    /// `resources/list`.
    ListResources(ListResourcesRequest),
    /// `resources/templates/list`.
    ListResourceTemplates(ListResourceTemplatesRequest),
    /// `resources/read`.
    ReadResource(ReadResourceRequest),
    /// `prompts/list`.
    ListPrompts(ListPromptsRequest),
    /// `prompts/get`.
    GetPrompt(GetPromptRequest),
    /// `completion/complete`.
    Complete(CompleteRequest),
    /// `subscriptions/listen`.
    Listen(ListenRequest),
    /// A method outside the specification that the handler declared with
    /// [`serves`](crate::Handler::serves).
    Custom {
        /// The method.
        method: String,
        /// All parameters, `_meta` included.
        params: Map<String, Value>,
    },
}

impl Request {
    /// The method as on the wire.
    pub fn method(&self) -> &str {
        match self {
            Self::Discover => "server/discover",
            Self::ListTools(_) => "tools/list",
            Self::CallTool(_) => "tools/call",
            Self::ListResources(_) => "resources/list",
            Self::ListResourceTemplates(_) => "resources/templates/list",
            Self::ReadResource(_) => "resources/read",
            Self::ListPrompts(_) => "prompts/list",
            Self::GetPrompt(_) => "prompts/get",
            Self::Complete(_) => "completion/complete",
            Self::Listen(_) => "subscriptions/listen",
            Self::Custom { method, .. } => method,
        }
    }

    /// The tool, prompt or resource that the request names.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::CallTool(call) => Some(&call.name),
            Self::ReadResource(read) => Some(&read.uri),
            Self::GetPrompt(get) => Some(&get.name),
            _ => None,
        }
    }
}
