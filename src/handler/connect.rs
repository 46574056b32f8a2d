//! The hooks around a request: who calls, before anything is read; whether they still may, while a stream is open; and what
//! became of it, at its end.

use std::fmt;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use http::header::AUTHORIZATION;
use http::{Extensions, HeaderMap};
use ractor_otp::{Crash, ExitReason};

use super::Principal;

/// What the `connect` hook sees: the head of one HTTP request.
#[derive(Clone, Debug)]
pub struct ConnectRequest {
    headers: HeaderMap,
    extensions: Extensions,
    peer: Option<SocketAddr>,
}

impl ConnectRequest {
    pub(crate) fn new(headers: HeaderMap, extensions: Extensions, peer: Option<SocketAddr>) -> Self {
        Self { headers, extensions, peer }
    }

    /// All headers.
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// The token of `Authorization: Bearer` (AUTH-20), if there is exactly one such header.
    pub fn bearer_token(&self) -> Option<&str> {
        let mut lines = self.headers.get_all(AUTHORIZATION).iter();
        let line = lines.next().filter(|_| lines.next().is_none())?.to_str().ok()?;
        let (scheme, token) = line.split_once(' ')?;
        Some(token.trim()).filter(|token| scheme.eq_ignore_ascii_case("bearer") && !token.is_empty())
    }

    /// The address of the client's end of the connection, if the transport has one.
    pub fn peer(&self) -> Option<SocketAddr> {
        self.peer
    }

    /// Typed values that layers in front of the server attached to the request.
    pub fn extensions(&self) -> &Extensions {
        &self.extensions
    }
}

/// Why a caller is turned away.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Denied {
    /// 401: no token, or one that is not valid. The challenge tells the client how to get one.
    Unauthorized(Challenge),
    /// 403: the caller is known and may not. The client reads the message.
    Forbidden(String),
    /// 403 with `insufficient_scope`: the token lacks scopes, all of which are named (AUTH-16, AUTH-17).
    InsufficientScope(Vec<String>),
    /// 404: nothing is there for this caller. The client reads the message.
    NotFound(String),
    /// 503: the caller cannot be judged now, for example because the key server is down.
    Unavailable(String),
    /// Any other status of an error, from 400 to 599, such as 400 for credentials that are malformed (AUTH-15) or 429. A
    /// status that is none is a bug of the hook, answered with 500. The client reads the message.
    Status {
        /// The HTTP status.
        status: u16,
        /// What the client reads.
        message: String,
    },
}

impl Denied {
    /// 401 without more to say: no token was sent.
    pub fn unauthorized() -> Self {
        Self::Unauthorized(Challenge::default())
    }

    /// Any other status of an error, such as 400 or 429; see [`Denied::Status`].
    pub fn status(status: u16, message: impl Into<String>) -> Self {
        Self::Status { status, message: message.into() }
    }

    /// 401 for a token that was sent and is not valid, with `error="invalid_token"`.
    pub fn invalid_token(description: impl Into<String>) -> Self {
        Self::Unauthorized(Challenge {
            error: Some("invalid_token".to_owned()),
            description: Some(description.into()),
            ..Challenge::default()
        })
    }
}

/// What the `WWW-Authenticate` header of a 401 says beside where the protected resource metadata is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Challenge {
    /// The scopes to ask for (AUTH-07).
    pub scopes: Vec<String>,
    /// Such as `invalid_token`; none if no token was sent.
    pub error: Option<String>,
    /// What was wrong, for people.
    pub description: Option<String>,
    /// A whole header value of your own, for schemes other than `Bearer`; the rest is ignored then.
    pub raw: Option<String>,
}

impl Challenge {
    /// A challenge that names the scopes to ask for.
    pub fn scopes<S: Into<String>>(scopes: impl IntoIterator<Item = S>) -> Self {
        Self { scopes: scopes.into_iter().map(Into::into).collect(), ..Self::default() }
    }
}

type Connecting = Pin<Box<dyn Future<Output = Result<Principal, Denied>> + Send>>;

/// The `connect` hook, its type erased.
#[derive(Clone)]
pub(crate) struct Connect(Arc<dyn Fn(ConnectRequest) -> Connecting + Send + Sync>);

impl Connect {
    pub(crate) fn new<F, Fut>(hook: F) -> Self
    where
        F: Fn(ConnectRequest) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Principal, Denied>> + Send + 'static,
    {
        Self(Arc::new(move |request| Box::pin(hook(request))))
    }

    pub(crate) fn call(&self, request: ConnectRequest) -> Connecting {
        (self.0)(request)
    }
}

impl fmt::Debug for Connect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Connect")
    }
}

type Asking = Pin<Box<dyn Future<Output = bool> + Send>>;

/// The `still_valid` hook, its type erased.
#[derive(Clone)]
pub(crate) struct StillValid(Arc<dyn Fn(Principal) -> Asking + Send + Sync>);

impl StillValid {
    pub(crate) fn new<F, Fut>(hook: F) -> Self
    where
        F: Fn(Principal) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = bool> + Send + 'static,
    {
        Self(Arc::new(move |caller| Box::pin(hook(caller))))
    }

    pub(crate) fn ask(&self, caller: Principal) -> Asking {
        (self.0)(caller)
    }
}

impl fmt::Debug for StillValid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StillValid")
    }
}

/// What the `disconnect` hook is told: the end of one request or notification.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RequestEnd {
    /// The JSON-RPC method.
    pub method: String,
    /// The tool, prompt or resource that was named.
    pub name: Option<String>,
    /// Who called.
    pub principal: Principal,
    /// Why the request's actor ended. `shutdown: reply` is the end of a handler that answered, with a result or with an error.
    pub reason: ExitReason,
    /// The code of the JSON-RPC error that the request was answered with; none after a result, that of a tool with `isError`
    /// included, and none where nobody was left to answer.
    pub error: Option<i64>,
    /// How long it took, from the end of the checks to the end of the actor.
    pub duration: Duration,
}

/// The `disconnect` hook, its type erased.
#[derive(Clone)]
pub(crate) struct Disconnect(Arc<dyn Fn(RequestEnd) + Send + Sync>);

impl Disconnect {
    pub(crate) fn new(hook: impl Fn(RequestEnd) + Send + Sync + 'static) -> Self {
        Self(Arc::new(hook))
    }

    /// Runs the hook; a panic in it is traced and goes no further.
    pub(crate) fn call(&self, end: RequestEnd) {
        let hook = std::panic::AssertUnwindSafe(|| (self.0)(end));
        if let Err(payload) = std::panic::catch_unwind(hook) {
            let crash = Crash::from_panic(payload);
            tracing::error!(target: "ractor_mcp", %crash, "the disconnect hook panicked");
        }
    }
}

impl fmt::Debug for Disconnect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Disconnect")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(lines: &[&str]) -> Option<String> {
        let headers = lines.iter().map(|line| (AUTHORIZATION, line.parse().unwrap())).collect();
        ConnectRequest::new(headers, Extensions::new(), None).bearer_token().map(str::to_owned)
    }

    #[test]
    fn auth_20_the_token_is_in_one_bearer_header() {
        assert_eq!(token(&["Bearer abc"]).as_deref(), Some("abc"));
        assert_eq!(token(&["bearer abc"]).as_deref(), Some("abc"));
        for none in [&[][..], &["Basic abc"], &["Bearer "], &["Bearer a", "Bearer b"]] {
            assert_eq!(token(none), None, "{none:?}");
        }
    }
}
