//! Step 2 of a request: who calls. The application's `connect` hook runs here, before the body is read, caught and timed.

use std::time::Duration;

use http::request::Parts;
use http::{HeaderValue, StatusCode};
use tokio::time::timeout;

use crate::handler::{Challenge, Clock, Connect, ConnectRequest, Denied, Principal, contained};
use crate::rules::challenge::Bearer;
use crate::rules::errors::Refusal;

use super::metadata::Metadata;

/// Who may call, and what those are told who may not.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gate {
    pub(crate) connect: Option<Connect>,
    pub(crate) metadata: Option<Metadata>,
    pub(crate) time: Duration,
    /// By which the callers' authorization ends.
    pub(crate) clock: Clock,
}

impl Gate {
    /// The caller of a request; anonymous without a hook.
    pub(crate) async fn principal(
        &self,
        head: &Parts,
        peer: Option<std::net::SocketAddr>,
    ) -> Result<Principal, Refusal> {
        match &self.connect {
            // In a box, so that servers without a hook need no room for it.
            Some(connect) => Box::pin(self.ask(connect, head, peer)).await,
            None => Ok(Principal::anonymous()),
        }
    }

    async fn ask(
        &self,
        connect: &Connect,
        head: &Parts,
        peer: Option<std::net::SocketAddr>,
    ) -> Result<Principal, Refusal> {
        let request = ConnectRequest::new(head.headers.clone(), head.extensions.clone(), peer);
        let asking = contained(async { connect.call(request).await });
        let denied = match timeout(self.time, asking).await {
            Ok(Ok(Ok(principal))) if principal.expires_at().is_some_and(|at| at <= self.clock.now()) => {
                Denied::invalid_token("the token has expired")
            }
            Ok(Ok(Ok(principal))) => return Ok(principal),
            Ok(Ok(Err(denied))) => denied,
            Ok(Err(crash)) => {
                tracing::error!(target: "ractor_mcp", %crash, "the connect hook panicked");
                return Err(Refusal::hook_failed());
            }
            Err(_) => {
                tracing::error!(target: "ractor_mcp", limit = ?self.time, "the connect hook took too long");
                Denied::Unavailable(
                    "the caller cannot be identified now; send the request again later".to_owned(),
                )
            }
        };
        Err(self.refusal(denied))
    }

    fn refusal(&self, denied: Denied) -> Refusal {
        match denied {
            Denied::Unauthorized(challenge) => {
                Refusal::unauthorized().with_challenge(self.challenge(&challenge))
            }
            Denied::InsufficientScope(scopes) => {
                Refusal::forbidden("the token does not have the scopes that this needs")
                    .with_challenge(self.needs_scopes(StatusCode::FORBIDDEN, &scopes))
            }
            Denied::Forbidden(message) => Refusal::forbidden(message),
            Denied::NotFound(message) => Refusal::not_found(message),
            Denied::Unavailable(message) => Refusal::unavailable(message),
            Denied::Status { status, message } => self.refusal_with(status, message),
        }
    }

    /// A refusal with a status of the hook's own; a 401 has a challenge whoever says it (RFC 9110, section 15.5.2).
    fn refusal_with(&self, status: u16, message: String) -> Refusal {
        match Refusal::denied(status, message) {
            Some(refusal) if refusal.status == StatusCode::UNAUTHORIZED => {
                refusal.with_challenge(self.challenge(&Challenge::default()))
            }
            Some(refusal) => refusal,
            None => {
                tracing::error!(target: "ractor_mcp", status, "the connect hook refuses with a status that is no error");
                Refusal::hook_failed()
            }
        }
    }

    fn challenge(&self, challenge: &Challenge) -> HeaderValue {
        if let Some(raw) = challenge.raw.as_deref().and_then(|raw| HeaderValue::from_str(raw).ok()) {
            return raw;
        }
        let bearer = Bearer {
            resource_metadata: self.metadata_url(),
            scopes: &challenge.scopes,
            error: challenge.error.as_deref(),
            error_description: challenge.description.as_deref(),
        };
        bearer.to_value()
    }

    /// The challenge of a request whose caller lacks scopes. A caller without a token is told of no error (RFC 6750, section 3).
    pub(crate) fn needs_scopes(&self, status: StatusCode, scopes: &[String]) -> HeaderValue {
        let error = (status == StatusCode::FORBIDDEN).then_some("insufficient_scope");
        Bearer { resource_metadata: self.metadata_url(), scopes, error, error_description: None }.to_value()
    }

    fn metadata_url(&self) -> Option<&str> {
        self.metadata.as_ref().map(|metadata| &*metadata.url)
    }
}
