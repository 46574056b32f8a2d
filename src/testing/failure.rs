//! How the kit fails a test: what was expected, what was found, where it was asked for, and the tree at that moment.

use std::fmt::{self, Display};
use std::panic::Location;

use ractor_otp::testing::{LIMIT, within};

use crate::tree::McpSupervisor;

/// Who asked for what, to say so when it does not come.
#[derive(Clone)]
pub(super) struct Asked {
    mcp: McpSupervisor,
    what: String,
    at: &'static Location<'static>,
}

impl Asked {
    pub(super) fn new(mcp: McpSupervisor, what: String, at: &'static Location<'static>) -> Self {
        Self { mcp, what, at }
    }

    #[track_caller]
    pub(super) fn fail(&self, expected: impl Display, found: impl Display) -> ! {
        panic!("{self}\n  expected: {expected}\n  found:    {found}\n{}", self.mcp.tree())
    }

    /// Waits for something that the server has to do.
    pub(super) async fn within<T>(&self, expected: &str, future: impl Future<Output = T>) -> T {
        match within(LIMIT, future).await {
            Some(output) => output,
            None => self.fail(expected, format_args!("nothing within {LIMIT:?}")),
        }
    }
}

impl Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, made at {}", self.what, self.at)
    }
}
