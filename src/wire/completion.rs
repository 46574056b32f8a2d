//! `completion/complete`.

use serde::Serialize;
use serde_json::{Map, Value};

use super::{Complete, Meta};

/// What is being completed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CompletionRef {
    /// An argument of the prompt of this name.
    Prompt(String),
    /// A variable of this URI template.
    Resource(String),
}

/// The parameters of `completion/complete` (CMP-02).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CompleteRequest {
    /// What is being completed.
    pub reference: CompletionRef,
    /// The argument or variable.
    pub argument: String,
    /// What was typed so far.
    pub value: String,
    /// Arguments that are known already; their values are strings.
    pub context: Map<String, Value>,
}

impl CompleteRequest {
    /// A completion without context.
    pub fn new(reference: CompletionRef, argument: impl Into<String>, value: impl Into<String>) -> Self {
        Self { reference, argument: argument.into(), value: value.into(), context: Map::new() }
    }
}

/// The result of a completion (CMP-03).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CompleteResult {
    result_type: Complete,
    /// The proposals.
    pub completion: Completion,
    /// `_meta`; the framework adds who the server is.
    #[serde(rename = "_meta", skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

/// Proposals, the best first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Completion {
    /// At most 100 of them.
    pub values: Vec<String>,
    /// How many there are in all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// Whether there are more than these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub has_more: Option<bool>,
}

impl CompleteResult {
    /// The most proposals that one result may hold.
    pub const MOST: usize = 100;

    /// All proposals; those beyond the first 100 are only counted.
    pub fn new<V: Into<String>>(values: impl IntoIterator<Item = V>) -> Self {
        let mut values: Vec<String> = values.into_iter().map(Into::into).collect();
        let total = values.len();
        values.truncate(Self::MOST);
        let has_more = Some(total > values.len());
        let completion = Completion { values, total: u64::try_from(total).ok(), has_more };
        Self { result_type: Complete, completion, meta: Meta::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cmp_03_at_most_a_hundred_values() {
        let result = CompleteResult::new((0..150).map(|n| n.to_string()));
        assert_eq!(result.completion.values.len(), 100);
        assert_eq!((result.completion.total, result.completion.has_more), (Some(150), Some(true)));
    }
}
