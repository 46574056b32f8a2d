//! All results that a server may answer.

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::{
    CallToolResult, CompleteResult, DiscoverResult, GetPromptResult, InputRequiredResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, ListenResult, Meta,
    ReadResourceResult,
};

/// `"complete"`, the constant `resultType` of a result that ends the request (BASE-10, BASE-11).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Complete;

impl Serialize for Complete {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str("complete")
    }
}

/// Any result.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum ResultBody {
    /// Of `server/discover`.
    Discover(DiscoverResult),
    /// Of `tools/list`.
    ListTools(ListToolsResult),
    /// Of `tools/call`.
    CallTool(CallToolResult),
    /// Of `resources/list`.
    ListResources(ListResourcesResult),
    /// Of `resources/templates/list`.
    ListResourceTemplates(ListResourceTemplatesResult),
    /// Of `resources/read`.
    ReadResource(ReadResourceResult),
    /// Of `prompts/list`.
    ListPrompts(ListPromptsResult),
    /// Of `prompts/get`.
    GetPrompt(GetPromptResult),
    /// Of `completion/complete`.
    Complete(CompleteResult),
    /// Of `subscriptions/listen`.
    Listen(ListenResult),
    /// Of a request that asks the client for input.
    InputRequired(InputRequiredResult),
    /// Of a method outside the specification.
    Custom(CustomResult),
}

/// The result of a method outside the specification: any members beside `resultType` and `_meta`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CustomResult {
    result_type: Complete,
    #[serde(flatten)]
    members: Map<String, Value>,
    /// `_meta`; the framework adds who the server is.
    #[serde(rename = "_meta", skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl CustomResult {
    /// A result of these members. `resultType` and `_meta` among them are left out.
    pub fn new(mut members: Map<String, Value>) -> Self {
        members.shift_remove("resultType");
        members.shift_remove("_meta");
        Self { result_type: Complete, members, meta: Meta::new() }
    }
}

impl ResultBody {
    /// The `_meta` of the result.
    pub fn meta_mut(&mut self) -> &mut Meta {
        match self {
            Self::Discover(result) => &mut result.meta,
            Self::ListTools(result) => &mut result.meta,
            Self::CallTool(result) => &mut result.meta,
            Self::ListResources(result) => &mut result.meta,
            Self::ListResourceTemplates(result) => &mut result.meta,
            Self::ReadResource(result) => &mut result.meta,
            Self::ListPrompts(result) => &mut result.meta,
            Self::GetPrompt(result) => &mut result.meta,
            Self::Complete(result) => &mut result.meta,
            Self::Listen(result) => &mut result.meta,
            Self::InputRequired(result) => &mut result.meta,
            Self::Custom(result) => &mut result.meta,
        }
    }
}

macro_rules! from {
    ($($variant:ident($result:ty)),* $(,)?) => {
        $(impl From<$result> for ResultBody {
            fn from(result: $result) -> Self {
                Self::$variant(result)
            }
        })*
    };
}

from! {
    Discover(DiscoverResult),
    ListTools(ListToolsResult),
    CallTool(CallToolResult),
    ListResources(ListResourcesResult),
    ListResourceTemplates(ListResourceTemplatesResult),
    ReadResource(ReadResourceResult),
    ListPrompts(ListPromptsResult),
    GetPrompt(GetPromptResult),
    Complete(CompleteResult),
    Listen(ListenResult),
    InputRequired(InputRequiredResult),
    Custom(CustomResult),
}
