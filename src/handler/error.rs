//! The errors of a handler: what the client may know, and what only the trace may.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;

use serde_json::Value;

use crate::rules::errors::{Refusal, code};
use crate::wire::{ClientCapabilities, ErrorObject, InputRequiredResult};

/// A JSON-RPC error: code, one sentence, optional `data`, and a source that only the trace sees.
///
/// The message and the data reach the client as they are, so they say nothing internal.
pub struct RpcError(Box<Inner>);

struct Inner {
    error: ErrorObject,
    source: Option<Box<dyn StdError + Send + Sync>>,
    lacks: Vec<String>,
    asks: Option<InputRequiredResult>,
}

impl RpcError {
    /// An error with a code of the application. JSON-RPC reserves `-32768..=-32000`; use codes outside (BASE-21). One in
    /// there that the specification does not define is never sent (BASE-17, BASE-18, BASE-20): the client reads `-32603`, and
    /// the trace names the bug of the handler.
    pub fn new(code: i64, message: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Inner {
            error: ErrorObject::new(code, message),
            source: None,
            lacks: Vec::new(),
            asks: None,
        }))
    }

    /// `-32602`: the parameters do not fit, or name something that is not there.
    pub fn invalid_params(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(code::INVALID_PARAMS, message)
    }

    /// `-32602` for a resource that does not exist, with `data: {"uri": ...}` (RES-08, RES-10).
    pub fn resource_not_found(uri: impl Into<String>) -> Self {
        Self::invalid_params("resource not found").with_data(serde_json::json!({ "uri": uri.into() }))
    }

    /// `-32601`: the server does not implement the method. HTTP status 404 (HTTP-12).
    pub fn method_not_found(method: &str) -> Self {
        let shown: String = method.chars().take(100).collect();
        Self::new(code::METHOD_NOT_FOUND, format!("method `{shown}` is not implemented by this server"))
    }

    /// `-32021`: the request needs a capability that the client did not declare on it (META-09). HTTP status 400 as
    /// long as nothing was streamed.
    pub fn missing_capability(required: &ClientCapabilities) -> Self {
        let required = serde_json::to_value(required).unwrap_or_default();
        Self::new(
            code::MISSING_CLIENT_CAPABILITY,
            "the request needs a client capability that it does not declare",
        )
        .with_data(serde_json::json!({ "requiredCapabilities": required }))
    }

    /// `-32603`: something failed inside. The client reads a neutral sentence, the trace reads the source.
    pub fn internal(source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::new(code::INTERNAL_ERROR, "internal error").with_source(source)
    }

    /// The caller lacks these scopes, all that the operation needs (AUTH-17). HTTP status 403 with a challenge that names
    /// them, or 401 for an [anonymous](crate::Principal::is_anonymous) caller, who sent no token that could have them (AUTH-15),
    /// as long as nothing was streamed.
    pub fn insufficient_scope<S: Into<String>>(scopes: impl IntoIterator<Item = S>) -> Self {
        let mut error =
            Self::new(code::INVALID_REQUEST, "the caller does not have the scopes that this needs");
        error.0.lacks = scopes.into_iter().map(Into::into).collect();
        let lacks = serde_json::json!({ "requiredScopes": error.0.lacks });
        error.with_data(lacks)
    }

    /// A question to the client, for `?` to carry out of a handler: the request is answered with this result, and with no
    /// error at all, where the method may ask (MRTR-02).
    pub fn input_required(result: InputRequiredResult) -> Self {
        let mut error = Self::new(code::INTERNAL_ERROR, "the request needs input of the client");
        error.0.asks = Some(result);
        error
    }

    /// Adds `error.data`, which the client sees.
    #[must_use]
    pub fn with_data(mut self, data: Value) -> Self {
        self.0.error.data = Some(data);
        self
    }

    /// Adds the cause, which only the trace sees.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// The JSON-RPC code.
    pub fn code(&self) -> i64 {
        self.0.error.code
    }

    /// The sentence that the client reads.
    pub fn message(&self) -> &str {
        &self.0.error.message
    }

    /// What the client gets beside code and message.
    pub fn data(&self) -> Option<&Value> {
        self.0.error.data.as_ref()
    }

    pub(crate) fn lacks(&self) -> &[String] {
        &self.0.lacks
    }

    /// What is to be asked instead of an error.
    pub(crate) fn asks(&self) -> Option<&InputRequiredResult> {
        self.0.asks.as_ref()
    }

    pub(crate) fn object(&self) -> &ErrorObject {
        &self.0.error
    }
}

impl fmt::Debug for RpcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RpcError").field("error", &self.0.error).field("source", &self.0.source).finish()
    }
}

impl fmt::Display for RpcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.0.error.message, self.0.error.code)
    }
}

impl StdError for RpcError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_ref().map(|source| &**source as &(dyn StdError + 'static))
    }
}

/// What a rule refuses while the request runs already.
impl From<Refusal> for RpcError {
    fn from(refusal: Refusal) -> Self {
        Self(Box::new(Inner { error: *refusal.error, source: None, lacks: Vec::new(), asks: None }))
    }
}

impl From<Closed> for RpcError {
    fn from(closed: Closed) -> Self {
        Self::internal(closed)
    }
}

/// The channel is closed: the client left, the answer was given, or the handler closed it. Nothing was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the channel is closed: the client left, the request was answered, or the handler closed it")]
pub struct Closed;

/// Everything that is wrong with a server's set-up, found when it starts.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Misconfigured {
    faults: Vec<String>,
}

impl Misconfigured {
    /// One fault, said as: where, what was found, what would do.
    pub fn new(fault: impl Into<String>) -> Self {
        Self { faults: vec![fault.into()] }
    }

    /// `Ok` without faults.
    ///
    /// # Errors
    ///
    /// With at least one fault, all of them.
    pub fn unless_empty(faults: Vec<String>) -> Result<(), Self> {
        if faults.is_empty() { Ok(()) } else { Err(Self { faults }) }
    }

    /// What two parts of a server came to: the second, or the faults of both in one.
    pub(crate) fn both<T>(first: Result<(), Self>, second: Result<T, Self>) -> Result<T, Self> {
        match (first, second) {
            (Ok(()), second) => second,
            (Err(first), Ok(_)) => Err(first),
            (Err(mut first), Err(second)) => {
                first.faults.extend(second.faults);
                Err(first)
            }
        }
    }

    /// The faults, in the order in which they were found.
    pub fn faults(&self) -> &[String] {
        &self.faults
    }
}

/// The same as `Display`: a `main` that returns it prints a list that can be read.
impl fmt::Debug for Misconfigured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Misconfigured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the configuration is refused:")?;
        self.faults.iter().try_for_each(|fault| write!(f, "\n  - {fault}"))
    }
}

impl StdError for Misconfigured {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_pointer_wide() {
        assert_eq!(size_of::<RpcError>(), size_of::<usize>());
    }

    #[test]
    fn the_source_stays_out_of_what_the_client_reads() {
        let error = RpcError::internal("password=hunter2");
        assert!(!serde_json::to_string(error.object()).unwrap().contains("hunter2"));
        assert!(format!("{error:?}").contains("hunter2"));
    }

    #[test]
    fn misconfiguration_names_all_faults_in_one_message() {
        let all = Misconfigured::unless_empty(vec!["one".into(), "two".into()]).unwrap_err();
        assert_eq!(all.to_string(), "the configuration is refused:\n  - one\n  - two");
        assert!(Misconfigured::unless_empty(vec![]).is_ok());
    }
}
