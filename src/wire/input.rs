//! What a server may ask of the client in the middle of a request (multi round-trip requests).

use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Content, Meta, Role};

/// A result that asks the client for input and lets it repeat the request with the answers (MRTR-02 to MRTR-08).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct InputRequiredResult {
    result_type: InputRequired,
    /// The questions, by keys that the answers come back under.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub input_requests: Map<String, Value>,
    /// State for the repeated request. The client may change it: protect what matters (MRTR-10).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_state: Option<String>,
    /// `_meta`; the framework adds who the server is.
    #[serde(rename = "_meta", skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl InputRequiredResult {
    /// Asks nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks one question under a key.
    #[must_use]
    pub fn ask(mut self, key: impl Into<String>, request: InputRequest) -> Self {
        self.input_requests.insert(key.into(), serde_json::to_value(request).unwrap_or_default());
        self
    }
}

optional!(InputRequiredResult {
    /// Sets the state for the repeated request.
    request_state: String,
});

/// `"input_required"`, the constant `resultType` of a result that asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct InputRequired;

impl Serialize for InputRequired {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str("input_required")
    }
}

/// One question to the client (MRTR-06).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "method", content = "params")]
#[non_exhaustive]
pub enum InputRequest {
    /// Asks the person, by form or by URL.
    #[serde(rename = "elicitation/create")]
    Elicit(ElicitRequest),
    /// Asks the client's model.
    #[serde(rename = "sampling/createMessage")]
    CreateMessage(CreateMessageRequest),
    /// Asks for the client's roots.
    #[serde(rename = "roots/list")]
    ListRoots(Map<String, Value>),
}

impl InputRequest {
    /// A form: a message, and the flat schema of what to fill in (INP-02, INP-04).
    pub fn form(message: impl Into<String>, requested_schema: Value) -> Self {
        let (message, requested_schema) = (message.into(), Some(requested_schema));
        Self::Elicit(ElicitRequest { mode: None, message, requested_schema, url: None })
    }

    /// A page that the person opens, for what no client should see (INP-03, INP-06).
    pub fn url(message: impl Into<String>, url: impl Into<String>) -> Self {
        let (message, url) = (message.into(), Some(url.into()));
        Self::Elicit(ElicitRequest { mode: Some("url"), message, requested_schema: None, url })
    }

    /// The client's roots.
    pub fn roots() -> Self {
        Self::ListRoots(Map::new())
    }
}

impl From<CreateMessageRequest> for InputRequest {
    fn from(request: CreateMessageRequest) -> Self {
        Self::CreateMessage(request)
    }
}

/// The parameters of `elicitation/create`; built with [`InputRequest::form`] or [`InputRequest::url`].
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ElicitRequest {
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<&'static str>,
    /// What the person reads.
    pub message: String,
    /// What to fill in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested_schema: Option<Value>,
    /// What to open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// The parameters of `sampling/createMessage` (INP-19).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CreateMessageRequest {
    /// The conversation.
    pub messages: Vec<SamplingMessage>,
    /// The most tokens to produce.
    pub max_tokens: u64,
    /// What the model is told first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    /// Randomness.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Texts that end the answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stop_sequences: Vec<String>,
}

impl CreateMessageRequest {
    /// A conversation to go on with.
    pub fn new(messages: Vec<SamplingMessage>, max_tokens: u64) -> Self {
        Self { messages, max_tokens, system_prompt: None, temperature: None, stop_sequences: Vec::new() }
    }
}

optional!(CreateMessageRequest {
    /// Sets what the model is told first.
    system_prompt: String,
    /// Sets the randomness.
    temperature: f64,
});

/// One message of a conversation with the client's model.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SamplingMessage {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub content: Content,
}

impl SamplingMessage {
    /// What the person says.
    pub fn user(content: impl Into<Content>) -> Self {
        Self { role: Role::User, content: content.into() }
    }

    /// What the model says.
    pub fn assistant(content: impl Into<Content>) -> Self {
        Self { role: Role::Assistant, content: content.into() }
    }
}

/// What the client's model said.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CreateMessageResult {
    /// Who says it.
    pub role: Role,
    /// The content blocks, as they came; a single one is a list of one.
    #[serde(deserialize_with = "blocks")]
    pub content: Vec<Value>,
    /// The name of the model.
    pub model: String,
    /// Why it stopped, such as `endTurn` or `maxTokens`, if that is known.
    #[serde(default)]
    pub stop_reason: Option<String>,
}

impl CreateMessageResult {
    /// All text blocks as one text.
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter(|block| block["type"] == "text");
        texts.filter_map(|block| block["text"].as_str()).collect()
    }
}

/// One content block or a list of them, each with its type.
fn blocks<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Value>, D::Error> {
    let blocks = match Value::deserialize(deserializer)? {
        Value::Array(blocks) => blocks,
        block => vec![block],
    };
    if blocks.iter().all(|block| block["type"].is_string()) {
        Ok(blocks)
    } else {
        Err(D::Error::custom("each content block is an object with a `type`"))
    }
}

/// The client's roots.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct ListRootsResult {
    /// Where the client lets servers work.
    pub roots: Vec<Root>,
}

/// A place where the client lets servers work (INP-22).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Root {
    /// A `file://` URI. Whoever sent it may have made it up: check what it leads to.
    pub uri: String,
    /// Its name for people.
    #[serde(default)]
    pub name: Option<String>,
}

/// The answer to an elicitation (INP-07).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ElicitResult {
    /// What the person did.
    pub action: ElicitAction,
    /// What was filled in, with `accept` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Map<String, Value>>,
}

/// What the person did with a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ElicitAction {
    /// Answered it.
    Accept,
    /// Refused it.
    Decline,
    /// Closed it without a choice.
    Cancel,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn sampled_content_is_one_block_or_several() {
        let said = |content: Value| {
            let result = json!({"role": "assistant", "model": "m", "content": content});
            serde_json::from_value::<CreateMessageResult>(result).map(|result| result.text())
        };
        assert_eq!(said(json!({"type": "text", "text": "a"})).unwrap(), "a");
        let several = json!([
            {"type": "text", "text": "a"},
            {"type": "image", "data": "", "mimeType": "image/png"},
            {"type": "text", "text": "b", "annotations": {"priority": 0.5}}
        ]);
        assert_eq!(said(several).unwrap(), "ab");
        assert!(said(json!("a")).is_err());
        assert!(said(json!([{"text": "a"}])).is_err());
    }
}
