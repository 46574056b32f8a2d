//! Asking again whether the caller of an open stream may still listen: what `connect` found may have been taken back (F12).

use std::time::Duration;

use tokio::time::{sleep, timeout};

use crate::handler::{Principal, StillValid, contained};

/// Who is asked, how often, and how long an answer may take.
#[derive(Clone, Debug)]
pub(crate) struct Verification {
    pub(crate) hook: StillValid,
    pub(crate) every: Duration,
    pub(crate) limit: Duration,
}

impl Verification {
    /// Resolves when the caller is valid no more. Whoever does not answer says so too.
    pub(super) async fn revoked(self, caller: Principal) {
        loop {
            sleep(self.every).await;
            if !self.is_valid(&caller).await {
                return;
            }
        }
    }

    async fn is_valid(&self, caller: &Principal) -> bool {
        let asking = contained(async { self.hook.ask(caller.clone()).await });
        match timeout(self.limit, asking).await {
            Ok(Ok(valid)) => {
                if !valid {
                    tracing::debug!(target: "ractor_mcp", principal = caller.id(), "the caller of a stream is valid no more");
                }
                valid
            }
            Ok(Err(crash)) => {
                tracing::error!(target: "ractor_mcp", %crash, "the still_valid hook panicked: the stream ends");
                false
            }
            Err(_) => {
                let limit = self.limit;
                tracing::error!(target: "ractor_mcp", ?limit, "the still_valid hook took too long: the stream ends");
                false
            }
        }
    }
}
