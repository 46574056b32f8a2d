//! Asking again whether the caller of an open stream may still listen: what `connect` found may have been taken back (F12).

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{sleep, timeout};

use crate::handler::{RequestContext, StillValid, contained};
use crate::rules::rate::Warnings;

/// Who is asked, how often, and how long an answer may take.
#[derive(Clone, Debug)]
pub(crate) struct Verification {
    pub(crate) hook: StillValid,
    pub(crate) every: Duration,
    pub(crate) limit: Duration,
    /// Of a hook that fails: it is asked about every stream.
    pub(crate) failures: Warnings,
}

impl Verification {
    /// Resolves when the caller is valid no more. Whoever does not answer says so too.
    pub(super) async fn revoked(self, context: Arc<RequestContext>) {
        loop {
            sleep(self.every).await;
            if !self.is_valid(&context).await {
                return;
            }
        }
    }

    async fn is_valid(&self, context: &RequestContext) -> bool {
        let (hook, caller) = (&self.hook, &context.principal);
        let asking = contained(async { hook.ask(caller.clone()).await });
        let failure = match timeout(self.limit, asking).await {
            Ok(Ok(true)) => return true,
            Ok(Ok(false)) => {
                tracing::debug!(target: "ractor_mcp", request = %context, principal = caller.id(),
                    "the caller of the stream is valid no more");
                return false;
            }
            Ok(Err(crash)) => format!("it panicked: {crash}"),
            Err(_) => format!("it took longer than {:?}", self.limit),
        };
        if let Some(untold) = self.failures.take() {
            tracing::error!(target: "ractor_mcp", request = %context, principal = caller.id(), untold, failure,
                "the still_valid hook did not answer: the stream ends");
        }
        false
    }
}
