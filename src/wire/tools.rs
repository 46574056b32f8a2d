//! `tools/list` and `tools/call`.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::{CacheHints, Complete, Content, Icon, Meta, ToolAnnotations, cache};

/// What a server says of a tool (TOOL-06).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Tool {
    /// The name that calls it.
    pub name: String,
    /// Its name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it does, for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The JSON Schema of its arguments, with an object as root.
    pub input_schema: Value,
    /// The JSON Schema of its structured output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// Hints.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<ToolAnnotations>,
    /// Pictures of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<Icon>,
    /// `_meta`.
    #[serde(rename = "_meta", skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl Tool {
    /// A tool by name and the JSON Schema of its arguments.
    pub fn new(name: impl Into<String>, input_schema: Value) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: None,
            input_schema,
            output_schema: None,
            annotations: None,
            icons: Vec::new(),
            meta: Meta::new(),
        }
    }
}

described!(Tool);

optional!(Tool {
    /// Sets its name for people.
    title: String,
    /// Sets what it does, for the model.
    description: String,
    /// Sets the JSON Schema of its structured output.
    output_schema: Value,
    /// Sets hints on it.
    annotations: ToolAnnotations,
});

/// The parameters of `tools/list`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListToolsRequest {
    /// Where to go on, from the previous page.
    pub cursor: Option<String>,
}

/// The tools of a page, cheap to clone: however often a list is sent, it is written as JSON once.
#[derive(Clone, Debug, Default)]
pub struct ToolList(Arc<Listing>);

#[derive(Clone, Debug, Default)]
struct Listing {
    tools: Vec<Tool>,
    json: OnceLock<Box<RawValue>>,
}

impl ToolList {
    /// Adds a tool behind the others.
    pub fn push(&mut self, tool: Tool) {
        let listing = Arc::make_mut(&mut self.0);
        listing.tools.push(tool);
        listing.json = OnceLock::new();
    }
}

impl From<Vec<Tool>> for ToolList {
    fn from(tools: Vec<Tool>) -> Self {
        let json = OnceLock::new();
        Self(Arc::new(Listing { tools, json }))
    }
}

impl Deref for ToolList {
    type Target = [Tool];

    fn deref(&self) -> &[Tool] {
        &self.0.tools
    }
}

impl PartialEq for ToolList {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Serialize for ToolList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Listing { tools, json } = &*self.0;
        let written = match json.get() {
            Some(written) => written,
            None => {
                let written = serde_json::value::to_raw_value(tools).map_err(serde::ser::Error::custom)?;
                json.get_or_init(|| written)
            }
        };
        written.serialize(serializer)
    }
}

/// One page of the tools.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListToolsResult {
    result_type: Complete,
    /// The tools.
    pub tools: ToolList,
    /// Where the next page starts; `None` ends the list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// How long it may be kept.
    #[serde(flatten, serialize_with = "cache::flat")]
    pub cache: CacheHints,
    /// `_meta`; the framework adds who the server is.
    #[serde(rename = "_meta", skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl ListToolsResult {
    /// One page of tools, the last one.
    pub fn new(tools: impl Into<ToolList>) -> Self {
        Self {
            result_type: Complete,
            tools: tools.into(),
            next_cursor: None,
            cache: CacheHints::NONE,
            meta: Meta::new(),
        }
    }

    /// Sets how long it may be kept.
    #[must_use]
    pub fn cache(mut self, hints: CacheHints) -> Self {
        self.cache = hints;
        self
    }
}

optional!(ListToolsResult {
    /// Sets where the next page starts.
    next_cursor: String,
});

/// The parameters of `tools/call`.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct CallToolRequest {
    /// The tool's name.
    pub name: String,
    /// The arguments; none is the same as `{}` (TOOL-10).
    pub arguments: Map<String, Value>,
    /// Answers to what an earlier round asked, as they came (A-30).
    pub input_responses: Option<Map<String, Value>>,
    /// The state that an earlier round gave. Whoever sent it may have made it up (MRTR-09).
    pub request_state: Option<String>,
}

/// What a tool answered (TOOL-14).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CallToolResult {
    result_type: Complete,
    /// For the model to read.
    pub content: Vec<Content>,
    /// For programs to read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured_content: Option<Value>,
    /// The tool failed, and the content says why.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
    /// `_meta`; the framework adds who the server is.
    #[serde(rename = "_meta", skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl CallToolResult {
    /// A result of content blocks.
    pub fn new(content: Vec<Content>) -> Self {
        Self { result_type: Complete, content, structured_content: None, is_error: false, meta: Meta::new() }
    }

    /// A result of one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(vec![Content::text(text)])
    }

    /// A failure that the model reads (TOOL-13).
    pub fn error(text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::text(text) }
    }

    /// Adds a content block.
    #[must_use]
    pub fn content(mut self, block: impl Into<Content>) -> Self {
        self.content.push(block.into());
        self
    }

    /// Sets what programs read.
    #[must_use]
    pub fn structured(mut self, value: Value) -> Self {
        self.structured_content = Some(value);
        self
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn p3_a_list_is_written_once_for_all_its_clones_and_anew_when_it_grows() {
        let mut list = ToolList::default();
        list.push(Tool::new("a", json!({"type": "object"})));
        let clone = list.clone();
        let written = serde_json::to_string(&clone).unwrap();
        assert_eq!(written, r#"[{"name":"a","inputSchema":{"type":"object"}}]"#);
        assert!(list.0.json.get().is_some(), "written by the clone");
        list.push(Tool::new("b", json!({"type": "object"})));
        assert!(serde_json::to_string(&list).unwrap().contains(r#""name":"b""#));
        assert_eq!(serde_json::to_string(&clone).unwrap(), written);
    }
}
