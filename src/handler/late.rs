//! The warning of requests whose time is over.

use std::time::Duration;

use ractor_otp::Pid;

use crate::rules::rate::Warnings;

/// What requests wait for may be slow for all clients at once: one a second is a warning then, the others are for debugging.
#[derive(Debug)]
pub(crate) struct Late(Warnings);

impl Late {
    pub(crate) fn new() -> Self {
        Self(Warnings::new())
    }

    pub(crate) fn tell(&self, request: &Pid, limit: Duration) {
        let told = "the request did not finish in time";
        let request = format_args!("{:#}", request.label());
        match self.0.take() {
            Some(untold) => tracing::warn!(target: "ractor_mcp", %request, ?limit, untold, "{told}"),
            None => tracing::debug!(target: "ractor_mcp", %request, ?limit, "{told}"),
        }
    }
}
