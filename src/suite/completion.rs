//! What is completed, and with what (CMP-01 to CMP-03).

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;

use serde_json::Value;

use crate::wire::CompleteRequest;

use super::ToolError;

/// An argument of a prompt, or a variable of a URI template, that someone is typing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Completing {
    /// The name of the argument or variable.
    pub name: String,
    /// What was typed so far.
    pub typed: String,
    /// The other arguments that are known already.
    pub known: BTreeMap<String, String>,
}

impl Completing {
    /// Those of some candidates that start with what was typed, capitals or not, in the order given.
    ///
    /// ```
    /// # use ractor_mcp::suite::Completing;
    /// let mut completing = Completing::default();
    /// completing.typed = "r".to_owned();
    /// assert_eq!(completing.among(["Red", "green", "rose"]), ["Red", "rose"]);
    /// ```
    pub fn among<S: Into<String>>(&self, candidates: impl IntoIterator<Item = S>) -> Vec<String> {
        let typed = self.typed.to_lowercase();
        let candidates = candidates.into_iter().map(Into::into);
        candidates.filter(|candidate| candidate.to_lowercase().starts_with(&typed)).collect()
    }
}

impl From<CompleteRequest> for Completing {
    fn from(request: CompleteRequest) -> Self {
        Self { name: request.argument, typed: request.value, known: texts(request.context).collect() }
    }
}

/// The members of an object that are strings; the request was checked to hold no others.
pub(super) fn texts(members: serde_json::Map<String, Value>) -> impl Iterator<Item = (String, String)> {
    members.into_iter().filter_map(|(name, value)| match value {
        Value::String(text) => Some((name, text)),
        _ => None,
    })
}

pub(super) type Proposals<'a> = Pin<Box<dyn Future<Output = Result<Vec<String>, ToolError>> + Send + 'a>>;
