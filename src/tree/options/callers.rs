//! Who may call, from where, and what time it is for them: the hooks around a request, `Host` and `Origin`.

use std::future::Future;
use std::time::Duration;

use crate::handler::{Clock, Connect, ConnectRequest, Denied, Disconnect, Principal, RequestEnd, StillValid};
use crate::http::ProtectedResource;
use crate::request::Verification;
use crate::rules::host::HostPolicy;
use crate::rules::rate::Warnings;

use super::{Options, within_reach};

impl Options {
    /// Says who calls: from the head of a request to a [`Principal`], or a refusal ([`Denied`]). It runs once for each HTTP request,
    /// before the body is read; it has 10 s (see [`connect_time`](Options::connect_time)), and a panic in it answers 500.
    /// Without it every caller is anonymous, and a server whose handler asks for [scopes](crate::Handler::scopes) does not start.
    ///
    /// ```
    /// use ractor_mcp::{Denied, Options, Principal};
    ///
    /// let options = Options::new().connect(|request| async move {
    ///     match request.bearer_token() {
    ///         Some("let-me-in") => Ok(Principal::new("alice").with_scopes(["notes:read"])),
    ///         Some(_) => Err(Denied::invalid_token("the token is unknown")),
    ///         None => Err(Denied::unauthorized()),
    ///     }
    /// });
    /// ```
    #[must_use]
    pub fn connect<F, Fut>(mut self, hook: F) -> Self
    where
        F: Fn(ConnectRequest) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Principal, Denied>> + Send + 'static,
    {
        self.gate.connect = Some(Connect::new(hook));
        self
    }

    /// How long the `connect` hook may take, 10 s by default; then the request answers 503. The
    /// [`still_valid`](Options::still_valid) hook has as long.
    #[must_use]
    pub fn connect_time(mut self, time: Duration) -> Self {
        self.gate.time = within_reach(time);
        self.above_zero("connect_time", time)
    }

    /// Says whether the caller of an open stream may still listen, for those who may be revoked before their authorization
    /// [ends](Principal::expiring_at) (F12). It is asked about each stream once in each [keep-alive time](Options::keep_alive), counted from
    /// the opening, so it should be quick. `false` ends the stream with `shutdown: expired`, and so do a panic and no answer within
    /// [`connect_time`](Options::connect_time): the client listens again, and `connect` has the word. By default whoever was let in
    /// stays until its authorization or the [lifetime](Options::stream_lifetime) of its stream ends.
    ///
    /// ```
    /// use std::collections::HashSet;
    /// use std::sync::{Arc, RwLock};
    /// use ractor_mcp::Options;
    ///
    /// let revoked = Arc::new(RwLock::new(HashSet::<String>::new()));
    /// let options = Options::new().still_valid(move |caller| {
    ///     let is_revoked = revoked.read().is_ok_and(|revoked| caller.id().is_some_and(|id| revoked.contains(id)));
    ///     async move { !is_revoked }
    /// });
    /// ```
    #[must_use]
    pub fn still_valid<F, Fut>(mut self, hook: F) -> Self
    where
        F: Fn(Principal) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = bool> + Send + 'static,
    {
        self.still_valid = Some(StillValid::new(hook));
        self
    }

    /// Is told the end of each request and notification, with its reason and its duration, however it ended. It runs in
    /// the request's own task and must not block.
    #[must_use]
    pub fn disconnect(mut self, hook: impl Fn(RequestEnd) + Send + Sync + 'static) -> Self {
        self.disconnect = Some(Disconnect::new(hook));
        self
    }

    /// What time of day it is: a caller whose authorization has ended by it
    /// ([`expiring_at`](Principal::expiring_at)) is refused with 401 and loses its streams, and the tokens that a
    /// [`Suite`](crate::Suite) seals, cursors and states, expire by it. The system's clock by default; tests give a
    /// [`ManualClock`](crate::ManualClock).
    #[must_use]
    pub fn clock(mut self, clock: impl Into<Clock>) -> Self {
        self.gate.clock = clock.into();
        self
    }

    /// Serves the protected resource metadata document (RFC 9728) at both well-known places, without a token and to pages
    /// of any origin, and names it in challenges. By default there is none. What is wrong with it is told when the server
    /// starts; so is that there is no [`connect`](Options::connect) hook, which would look at the tokens it asks for.
    #[must_use]
    pub fn protected_resource(mut self, resource: &ProtectedResource) -> Self {
        let (metadata, faults) = match resource.prepare() {
            Ok(metadata) => (Some(metadata), Vec::new()),
            Err(faults) => (None, faults),
        };
        self.gate.metadata = metadata;
        self.judged("protected_resource", faults)
    }

    /// The names under which clients may reach the server, without ports: any other `Host` answers 403. The default
    /// is the loopback names on a loopback bind; any other bind needs this or [`any_host`](Options::any_host).
    #[must_use]
    pub fn allowed_hosts<H: Into<String>>(mut self, hosts: impl IntoIterator<Item = H>) -> Self {
        let listed = HostPolicy::list(hosts.into_iter().map(Into::into));
        let faults = listed.as_ref().err().cloned().unwrap_or_default();
        self.hosts = listed.ok();
        self.judged("allowed_hosts", faults)
    }

    /// Accepts every `Host`. Only behind something else that checks it.
    #[must_use]
    pub fn any_host(mut self) -> Self {
        self.hosts = Some(HostPolicy::Any);
        self.judged("allowed_hosts", None)
    }

    /// The web origins whose pages may call the server, such as `https://app.example.com`; an entry without a port
    /// matches every port. Any other `Origin` answers 403. Loopback origins are allowed on loopback binds.
    #[must_use]
    pub fn allowed_origins<O: Into<String>>(mut self, origins: impl IntoIterator<Item = O>) -> Self {
        let listed = self.origins.clone().with_list(origins.into_iter().map(Into::into));
        let faults = listed.as_ref().err().cloned().unwrap_or_default();
        self.origins = listed.unwrap_or(self.origins);
        self.judged("allowed_origins", faults)
    }

    /// Accepts `Origin: null`, which sandboxed and local pages send and any page can make a browser send. Refused by
    /// default.
    #[must_use]
    pub fn null_origin(mut self, allowed: bool) -> Self {
        self.origins = self.origins.with_null(allowed);
        self
    }

    pub(in crate::tree) fn verification(&self) -> Option<Verification> {
        let hook = self.still_valid.clone()?;
        Some(Verification {
            hook,
            every: self.limits.keep_alive,
            limit: self.gate.time,
            failures: Warnings::new(),
        })
    }

    /// A document that asks for tokens, and nobody who looks at them: everyone would be let in.
    pub(super) fn resource_fault(&self) -> Option<String> {
        (self.gate.metadata.is_some() && self.gate.connect.is_none()).then(|| {
            "protected_resource: it asks for tokens, and there is no `connect` hook to look at them; one that returns \
             `Principal::anonymous()` would let everyone in, as behind a gateway that has checked the token"
                .to_owned()
        })
    }

    /// Without the hook every caller is anonymous, whichever way it comes.
    pub(super) fn scopes_fault(&self, scopes: &[String]) -> Option<String> {
        let asked = scopes.iter().map(|scope| format!("`{}`", scope.escape_debug())).collect::<Vec<_>>();
        (!asked.is_empty() && self.gate.connect.is_none()).then(|| {
            format!(
                "connect: there is no hook, so that nobody has a scope, and these are asked for: {}; a hook that returns \
                 principals with their scopes would do",
                asked.join(", ")
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_entry_of_a_list_that_is_wrong_is_told() {
        let options =
            Options::new().allowed_origins(["x", "null", "https://h"]).allowed_hosts(["a b", "*", "h"]);
        assert_eq!(options.check(&[]).unwrap_err().faults().len(), 4);
    }

    #[test]
    fn a_document_that_asks_for_tokens_needs_somebody_who_looks_at_them() {
        let resource = ProtectedResource::new("https://h/mcp", "https://issuer.example.com");
        let open = Options::new().protected_resource(&resource);
        let fault = open.check(&[]).unwrap_err().to_string();
        assert!(fault.contains("`connect`"), "{fault}");
        assert!(open.connect(|_| async { Ok(Principal::anonymous()) }).check(&[]).is_ok());
    }
}
