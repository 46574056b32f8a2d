//! Who the server says it is, and how it says that it is to be used: the same for all, or for each caller its own.

use crate::handler::{Channel, Handler};
use crate::wire::{DiscoverResult, Implementation};

use super::{Call, Suite, SuiteMessage, cache};

/// What the author says for each caller.
type PerCaller<T> = Box<dyn Fn(&Call) -> T + Send + Sync>;

/// What `server/discover` tells of the server itself.
pub(super) struct Identity {
    pub(super) info: Implementation,
    instructions: Option<String>,
    info_for: Option<PerCaller<Implementation>>,
    instructions_for: Option<PerCaller<Option<String>>>,
    pub(super) in_results: bool,
}

impl Identity {
    pub(super) fn new(info: Implementation) -> Self {
        Self { info, instructions: None, info_for: None, instructions_for: None, in_results: true }
    }

    /// Whether results name a server that is another to each caller: no cache may keep those for all (CACHE-10).
    pub(super) fn marks_results(&self) -> bool {
        self.in_results && self.info_for.is_some()
    }

    /// What is wrong with it.
    pub(super) fn faults(&self) -> impl Iterator<Item = String> {
        let parts = [("name", &self.info.name, "calculator"), ("version", &self.info.version, "1.0.0")];
        parts.into_iter().filter(|(_, text, _)| text.trim().is_empty()).map(|(part, _, example)| {
            format!("suite: its {part} is empty; any text would do, such as `{example}`")
        })
    }
}

impl Suite {
    /// Sets the whole identity: title, description, icons, website. Default: the name and the version given to
    /// [`new`](Suite::new).
    #[must_use]
    pub fn info(mut self, info: Implementation) -> Self {
        self.identity.info = info;
        self
    }

    /// Tells each caller an identity of its own, in place of [`info`](Suite::info): in `server/discover`, whose answer is
    /// `private` to caches then, and in every other result. It runs for each request, so it should be quick; a panic
    /// answers the request with `-32603`.
    #[must_use]
    pub fn info_for<F>(mut self, info: F) -> Self
    where
        F: Fn(&Call) -> Implementation + Send + Sync + 'static,
    {
        self.identity.info_for = Some(Box::new(info));
        self
    }

    /// Sets whether every result names the server (META-12). Default: it does. `server/discover` does in any case
    /// (DISC-03).
    #[must_use]
    pub fn server_info_in_results(mut self, on: bool) -> Self {
        self.identity.in_results = on;
        self
    }

    /// Tells clients how to use the server; part of `server/discover`. Default: nothing.
    #[must_use]
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.identity.instructions = Some(text.into());
        self
    }

    /// Tells each caller how to use the server, in place of [`instructions`](Suite::instructions). The answer to
    /// `server/discover` is `private` to caches then. A panic answers it with `-32603`.
    #[must_use]
    pub fn instructions_for<F>(mut self, instructions: F) -> Self
    where
        F: Fn(&Call) -> Option<String> + Send + Sync + 'static,
    {
        self.identity.instructions_for = Some(Box::new(instructions));
        self
    }

    /// Names the server in the results of a request, where that is not the same for all requests.
    pub(super) fn identify(&self, is_discover: bool, channel: &Channel<SuiteMessage>) {
        let identity = &self.identity;
        match &identity.info_for {
            Some(info_for) if is_discover || identity.in_results => {
                channel.set_server_info(&info_for(&self.call_of(channel, channel.method())));
            }
            None if is_discover && !identity.in_results => channel.set_server_info(&identity.info),
            _ => {}
        }
    }

    pub(super) fn discover(&self, channel: &Channel<SuiteMessage>) -> DiscoverResult {
        let identity = &self.identity;
        let instructions = match &identity.instructions_for {
            Some(instructions_for) => instructions_for(&self.call_of(channel, channel.method())),
            None => identity.instructions.clone(),
        };
        let is_for_all = identity.info_for.is_none() && identity.instructions_for.is_none();
        let hints = if is_for_all { self.cache } else { cache::private(self.cache) };
        let mut result = DiscoverResult::new(self.capabilities()).cache(hints);
        result.instructions = instructions;
        result
    }
}
