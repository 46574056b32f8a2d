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
///
/// So does a question to the client, which is an [`RpcError`] too. Behind an error of another type, such as that of a
/// library for errors, it is found again: a tool that asked and then fails with such an error asks.
pub struct ToolError(Kind);

type BoxError = Box<dyn StdError + Send + Sync>;

enum Kind {
    /// The tool's own words.
    Said(String),
    /// The text of another error, which may have swallowed a question.
    Converted(String),
    Protocol(RpcError),
}

impl ToolError {
    /// Text for the model.
    pub fn new(text: impl Into<String>) -> Self {
        Self(Kind::Said(text.into()))
    }

    fn converted(text: impl Into<String>) -> Self {
        Self(Kind::Converted(text.into()))
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
        if let Some(boxed) = error.downcast_mut::<Option<BoxError>>().and_then(Option::take) {
            return boxed.downcast::<RpcError>().map_or_else(
                |other| Self::converted(other.to_string()),
                |protocol| Self::protocol(*protocol),
            );
        }
        let shown = error.downcast_mut::<Option<E>>().and_then(Option::take);
        Self::converted(shown.map_or_else(|| "the tool failed".to_owned(), |error| error.to_string()))
    }

    /// What the model reads, if it is not a protocol error.
    pub(super) fn text(&self) -> Option<&str> {
        match &self.0 {
            Kind::Said(text) | Kind::Converted(text) => Some(text),
            Kind::Protocol(_) => None,
        }
    }

    /// A tool that asked and then fails with an error of another type fails because of its question.
    pub(super) fn or_question(self, asked: impl FnOnce() -> Option<RpcError>) -> Self {
        match self.0 {
            Kind::Converted(text) => asked().map_or_else(|| Self::converted(text), Self::protocol),
            exact => Self(exact),
        }
    }

    /// What a request is answered with that has no result for the model to read an error in: text is for the trace.
    pub(super) fn into_protocol(self) -> RpcError {
        match self.0 {
            Kind::Said(text) | Kind::Converted(text) => RpcError::internal(text),
            Kind::Protocol(error) => error,
        }
    }

    /// What the request is answered with.
    pub(super) fn into_answer(self) -> Result<CallToolResult, RpcError> {
        match self.0 {
            Kind::Said(text) | Kind::Converted(text) => Ok(CallToolResult::error(text)),
            Kind::Protocol(error) => Err(error),
        }
    }
}

impl<E: StdError + Send + Sync + 'static> From<E> for ToolError {
    fn from(error: E) -> Self {
        let mut error = Some(error);
        if let Some(protocol) =
            (&mut error as &mut dyn Any).downcast_mut::<Option<RpcError>>().and_then(Option::take)
        {
            return Self::protocol(protocol);
        }
        let Some(error) = error else {
            return Self::converted("the tool failed");
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
        Self::converted(text)
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Said(text) | Kind::Converted(text) => f.write_str(text),
            Kind::Protocol(error) => error.fmt(f),
        }
    }
}

impl fmt::Debug for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Said(text) | Kind::Converted(text) => write!(f, "ToolError({text:?})"),
            Kind::Protocol(error) => error.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(error: ToolError) -> Option<String> {
        error.into_answer().ok().map(|result| serde_json::to_string(&result).unwrap())
    }

    #[test]
    fn an_ordinary_error_is_read_by_the_model_with_its_sources() {
        #[derive(Debug, thiserror::Error)]
        #[error("cannot read the report")]
        struct Outer(#[source] std::num::ParseIntError);
        let error = Outer("x".parse::<i64>().unwrap_err());
        let text = text(ToolError::from(error)).unwrap();
        assert!(text.contains("cannot read the report: invalid digit found in string"), "{text}");
        assert!(text.contains(r#""isError":true"#), "{text}");
    }

    #[test]
    fn a_protocol_error_stays_one_through_the_question_mark_and_as_error_type() {
        let by_question_mark: ToolError = RpcError::invalid_params("no").into();
        assert_eq!(by_question_mark.into_answer().unwrap_err().code(), -32602);
        assert_eq!(
            ToolError::from_any(RpcError::invalid_params("no")).into_answer().unwrap_err().code(),
            -32602
        );
        let nested = ToolError::from_any(ToolError::protocol(RpcError::invalid_params("no")));
        assert_eq!(nested.into_answer().unwrap_err().code(), -32602);
    }

    #[test]
    fn any_type_that_can_be_shown_is_an_error_type() {
        assert!(text(ToolError::from_any("plain")).unwrap().contains("plain"));
        assert!(text(ToolError::from_any(String::from("owned"))).unwrap().contains("owned"));
        let boxed: Box<dyn StdError + Send + Sync> = "boxed".into();
        assert!(text(ToolError::from_any(boxed)).unwrap().contains("boxed"));
    }
}
