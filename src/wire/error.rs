//! The error object of JSON-RPC (BASE-13 to BASE-15).

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

/// Code, one sentence, and data of any type.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ErrorObject {
    /// The code.
    pub code: i64,
    /// One concise sentence.
    pub message: Cow<'static, str>,
    /// What programs may read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl ErrorObject {
    /// An error without data.
    pub fn new(code: i64, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code, message: message.into(), data: None }
    }
}
