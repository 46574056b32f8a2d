//! How a tool fails: in words for the model, or as a protocol error asked for by name.

use std::any::Any;
use std::error::Error as StdError;
use std::fmt;

use crate::handler::{Closed, RpcError};
use crate::wire::CallToolResult;

/// The error of a tool. `?` turns any error into one: its text, with the texts of its sources, is what the model
/// reads in a result with `isError: true`. An [`RpcError`] stays the JSON-RPC error that it is.
///
/// ```
/// use ractor_mcp::suite::ToolError;
///
/// async fn parse(text: String) -> Result<i64, ToolError> {
///     Ok(text.trim().parse::<i64>()?)
/// }
/// ```
pub struct ToolError(Kind);

enum Kind {
    Shown(String),
    Protocol(RpcError),
}

impl ToolError {
    /// Text for the model.
    pub fn new(text: impl Into<String>) -> Self {
        Self(Kind::Shown(text.into()))
    }

    /// A JSON-RPC error instead of a result.
    pub fn protocol(error: RpcError) -> Self {
        Self(Kind::Protocol(error))
    }

    /// Something failed inside: the client reads a neutral sentence, the trace reads the source.
    pub fn internal(source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::protocol(RpcError::internal(source))
    }

    /// The error of a function whose error type may be anything that can be shown: the types that mean more than their
    /// text are recognised.
    pub(super) fn from_any<E: fmt::Display + 'static>(error: E) -> Self {
        let mut error = Some(error);
        let error: &mut dyn Any = &mut error;
        if let Some(own) = error.downcast_mut::<Option<Self>>().and_then(Option::take) {
            return own;
        }
        if let Some(protocol) = error.downcast_mut::<Option<RpcError>>().and_then(Option::take) {
            return Self::protocol(protocol);
        }
        let shown = error.downcast_mut::<Option<E>>().and_then(Option::take);
        shown.map_or_else(
            || Self::new("the tool failed"),
            |error| Self::new(error.to_string()),
        )
    }

    /// What a request is answered with that has no result for the model to read an error in: text is for the trace.
    pub(super) fn into_protocol(self) -> RpcError {
        match self.0 {
            Kind::Shown(text) => RpcError::internal(text),
            Kind::Protocol(error) => error,
        }
    }

    /// What the request is answered with.
    pub(super) fn into_answer(self) -> Result<CallToolResult, RpcError> {
        match self.0 {
            Kind::Shown(text) => Ok(CallToolResult::error(text)),
            Kind::Protocol(error) => Err(error),
        }
    }
}

impl<E: StdError + Send + Sync + 'static> From<E> for ToolError {
    fn from(error: E) -> Self {
        let mut error = Some(error);
        if let Some(protocol) = (&mut error as &mut dyn Any)
            .downcast_mut::<Option<RpcError>>()
            .and_then(Option::take)
        {
            return Self::protocol(protocol);
        }
        let Some(error) = error else {
            return Self::new("the tool failed");
        };
        if (&error as &dyn Any).is::<Closed>() {
            return Self::protocol(RpcError::from(Closed));
        }
        let mut text = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            text.push_str(": ");
            text.push_str(&cause.to_string());
            source = cause.source();
        }
        Self::new(text)
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Shown(text) => f.write_str(text),
            Kind::Protocol(error) => error.fmt(f),
        }
    }
}

impl fmt::Debug for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Shown(text) => write!(f, "ToolError({text:?})"),
            Kind::Protocol(error) => error.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(error: ToolError) -> Option<String> {
        error
            .into_answer()
            .ok()
            .map(|result| serde_json::to_string(&result).unwrap())
    }

    #[test]
    fn an_ordinary_error_is_read_by_the_model_with_its_sources() {
        #[derive(Debug, thiserror::Error)]
        #[error("cannot read the report")]
        struct Outer(#[source] std::num::ParseIntError);
        let error = Outer("x".parse::<i64>().unwrap_err());
        let text = text(ToolError::from(error)).unwrap();
        assert!(
            text.contains("cannot read the report: invalid digit found in string"),
            "{text}"
        );
        assert!(text.contains(r#""isError":true"#), "{text}");
    }

    #[test]
    fn a_protocol_error_stays_one_through_the_question_mark_and_as_error_type() {
        let by_question_mark: ToolError = RpcError::invalid_params("no").into();
        assert_eq!(by_question_mark.into_answer().unwrap_err().code(), -32602);
        assert_eq!(
            ToolError::from_any(RpcError::invalid_params("no"))
                .into_answer()
                .unwrap_err()
                .code(),
            -32602
        );
        let nested = ToolError::from_any(ToolError::protocol(RpcError::invalid_params("no")));
        assert_eq!(nested.into_answer().unwrap_err().code(), -32602);
    }

    #[test]
    fn any_type_that_can_be_shown_is_an_error_type() {
        assert!(text(ToolError::from_any("plain")).unwrap().contains("plain"));
        assert!(
            text(ToolError::from_any(String::from("owned")))
                .unwrap()
                .contains("owned")
        );
        let boxed: Box<dyn StdError + Send + Sync> = "boxed".into();
        assert!(text(ToolError::from_any(boxed)).unwrap().contains("boxed"));
    }
}
