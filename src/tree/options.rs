//! What can be set of a server, with the defaults.

use std::time::Duration;

use std::future::Future;

use http::uri::PathAndQuery;
use tokio::sync::Semaphore;

use crate::handler::{
    Clock, Connect, ConnectRequest, Denied, Disconnect, Misconfigured, Principal, RequestEnd, Terms,
};
use crate::http::{Gate, Limits, ProtectedResource};
use crate::request::{StreamCaps, StreamLimits};
use crate::rules::{host::HostPolicy, origin::OriginPolicy};

/// About thirty years, as far ahead as tokio's timers go.
const FAR: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

/// The largest number of bytes that HTTP/2 has a setting for.
const LARGEST_HEAD: usize = u32::MAX as usize;

/// The options of an [`McpSupervisor`](super::McpSupervisor). Each has a default that is safe to run with; the last call of
/// one counts. They do not change after the start.
///
/// What one tool, resource or prompt may take, how long pages are, and how long sealed tokens last, is set of a
/// [`Suite`](crate::Suite). These limits are fixed:
///
/// | of | at most | beyond it |
/// |---|---|---|
/// | JSON values in one message | 200,000 | 400 |
/// | nesting, whatever [`max_depth`](Options::max_depth) says | 126 levels | 400 |
/// | a sealed token, a client's question and answers in it included | 16 KiB | `-32602` |
/// | members of `tracestate`; `baggage` | 32; 8 KiB | left out |
/// | restarts of one supervisor's children | 3 in 5 s | the supervisor ends |
///
/// ```
/// use std::time::Duration;
/// use ractor_mcp::Options;
///
/// let options = Options::new().max_body(64 * 1024).keep_alive(Duration::from_secs(5));
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    pub(super) path: String,
    pub(super) limits: Limits,
    pub(super) hosts: Option<HostPolicy>,
    pub(super) origins: OriginPolicy,
    pub(super) gate: Gate,
    pub(super) disconnect: Option<Disconnect>,
    pub(super) terms: Terms,
    pub(super) max_connections: usize,
    pub(super) max_in_flight: usize,
    pub(super) body_budget: usize,
    pub(super) drain: Duration,
    pub(super) stream_caps: StreamCaps,
    pub(super) stream_limits: StreamLimits,
    /// What is wrong with the last value of an option, with its name.
    faults: Vec<(&'static str, String)>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            path: "/mcp".to_owned(),
            limits: Limits::default(),
            hosts: None,
            origins: OriginPolicy::default(),
            gate: Gate { time: Duration::from_secs(10), ..Gate::default() },
            disconnect: None,
            terms: Terms::default(),
            max_connections: 10_000,
            max_in_flight: 1000,
            body_budget: 256 * 1024 * 1024,
            drain: Duration::from_secs(30),
            stream_caps: StreamCaps { server: 10_000, principal: 4, anonymous: false },
            stream_limits: StreamLimits { lifetime: Duration::from_secs(60 * 60), idle: None, queue: 1000 },
            faults: Vec::new(),
        }
    }
}

impl Options {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// The path of the endpoint, `/mcp` by default. It is served with and without a trailing slash.
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        let path = path.into();
        let is_path = path.starts_with('/') && !path.contains(['?', '#']);
        // What no request line can carry would never be asked for.
        let is_carried = path.parse::<PathAndQuery>().is_ok();
        path.trim_end_matches('/').clone_into(&mut self.path);
        let fault = (!is_path || !is_carried).then(|| {
            let path = path.escape_debug();
            format!("path `{path}`: a path starts with `/`, has neither `?` nor `#`, and percent-encodes what a URL cannot hold")
        });
        self.judged("path", fault)
    }

    /// The largest request body in bytes, 4 MiB by default; a larger one answers 413.
    #[must_use]
    pub fn max_body(mut self, bytes: usize) -> Self {
        self.limits.body = bytes;
        self.at_least("max_body", bytes, 1)
    }

    /// How many bytes of requests, heads and bodies, the whole server holds at once, those of running requests and open
    /// streams included: 256 MiB by default. Beyond, a request answers 503 with `Retry-After`. Each JSON value in a body counts as
    /// 256 bytes more, since that is about what it takes once it is read; the first 16 KiB of each request are not counted,
    /// so that small requests go on.
    ///
    /// Answers count too, beyond their first 16 KiB, until their clients have taken them. They are not refused: what they take
    /// beyond the limit keeps large requests out for as long.
    #[must_use]
    pub fn body_budget(mut self, bytes: usize) -> Self {
        self.body_budget = bytes;
        self.at_least("body_budget", bytes, 1)
    }

    /// How long a request body may take to arrive, 30 s by default; a slower one answers 408.
    #[must_use]
    pub fn body_time(mut self, time: Duration) -> Self {
        self.limits.body_time = within_reach(time);
        self.above_zero("body_time", time)
    }

    /// How long a request head may take to arrive, counted from the response before it: so also how long a kept connection
    /// may stay idle. 30 s by default; a slower connection is closed.
    #[must_use]
    pub fn head_time(mut self, time: Duration) -> Self {
        self.limits.head_time = within_reach(time);
        self.above_zero("head_time", time)
    }

    /// How long a connection may send nothing at first, 10 s by default; then it is closed.
    #[must_use]
    pub fn first_byte_time(mut self, time: Duration) -> Self {
        self.limits.first_byte = within_reach(time);
        self.above_zero("first_byte_time", time)
    }

    /// The largest request head in bytes, 64 KiB by default and at least 8 KiB; a larger one answers 431.
    #[must_use]
    pub fn max_head(mut self, bytes: usize) -> Self {
        self.limits.head = bytes.min(LARGEST_HEAD);
        self.at_least("max_head", bytes, 8 * 1024)
    }

    /// How long a client may read nothing that is written to it, 30 s by default; then its connection is closed and its
    /// requests end with `shutdown: stalled`. On HTTP/2 a stream of which its client takes nothing in that time is reset alone.
    /// Over TCP less than about 100 KiB in that time may look like nothing: the system tells of no smaller steps. A client that
    /// vanished without a word, while little is written to it, is noticed after four times as long.
    #[must_use]
    pub fn write_stall(mut self, time: Duration) -> Self {
        self.limits.write_stall = within_reach(time);
        self.limits.outbox.patience = within_reach(time);
        self.limits.stream_outbox.patience = within_reach(time);
        self.above_zero("write_stall", time)
    }

    /// The nesting depth of JSON in a request, 64 by default and 126 at most; deeper JSON answers 400.
    #[must_use]
    pub fn max_depth(mut self, depth: usize) -> Self {
        self.limits.message.depth = depth;
        self.at_least("max_depth", depth, 8)
    }

    /// The longest id of a request, as it is written in JSON: 256 bytes by default and at least 64. A longer one answers
    /// 400, since each answer repeats it.
    #[must_use]
    pub fn max_id(mut self, bytes: usize) -> Self {
        self.limits.message.id = bytes;
        self.at_least("max_id", bytes, 64)
    }

    /// The longest progress token or cursor of a client, 8 KiB by default and at least, since the cursors of a
    /// [`Suite`](crate::Suite) may take as much; a longer one answers `-32602`.
    #[must_use]
    pub fn max_token(mut self, bytes: usize) -> Self {
        self.limits.message.token = bytes;
        self.at_least("max_token", bytes, 8 * 1024)
    }

    /// The silence after which an open stream gets a keep-alive comment, and after which a JSON response becomes a
    /// stream if the client's `Accept` allows: 15 s by default.
    #[must_use]
    pub fn keep_alive(mut self, time: Duration) -> Self {
        self.limits.keep_alive = within_reach(time);
        self.above_zero("keep_alive", time)
    }

    /// What may wait for a slow client on one response, 64 messages and 1 MiB by default; then its handler waits.
    #[must_use]
    pub fn outbox(mut self, messages: usize, bytes: usize) -> Self {
        self.limits.outbox.messages = messages;
        self.limits.outbox.bytes = bytes;
        self.at_least("outbox messages", messages, 1).at_least("outbox bytes", bytes, 1)
    }

    /// How many progress notifications one request may send in a second, 1,000 by default; what comes sooner is dropped,
    /// except the one that reaches the total. A second's worth may come at once.
    #[must_use]
    pub fn progress_rate(mut self, per_second: u32) -> Self {
        self.terms.pace.progress = per_second;
        self.at_least("progress_rate", per_second as usize, 1)
    }

    /// How many log records one request may send in a second, 1,000 by default; what comes sooner is dropped. A second's
    /// worth may come at once.
    #[must_use]
    pub fn log_rate(mut self, per_second: u32) -> Self {
        self.terms.pace.logs = per_second;
        self.at_least("log_rate", per_second as usize, 1)
    }

    /// How many connections one listener holds, 10,000 by default. At the limit it accepts no more until one ends.
    #[must_use]
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.max_connections = connections.min(Semaphore::MAX_PERMITS);
        self.at_least("max_connections", connections, 1)
    }

    /// How many requests run at once on the whole server, 1,000 by default, and on one connection, 100 by default.
    /// Beyond, a request answers 503 with `Retry-After`. On the server, discovery, lists and completion are counted apart
    /// from calls and reads, each up to the limit: a server full of calls still says what it offers.
    ///
    /// On HTTP/2 a connection has no more streams than that at once, counted from the head on.
    #[must_use]
    pub fn max_in_flight(mut self, server: usize, connection: usize) -> Self {
        self.max_in_flight = server;
        self.limits.in_flight_per_connection = connection;
        self.at_least("max_in_flight of the server", server, 1).at_least(
            "max_in_flight of a connection",
            connection,
            1,
        )
    }

    /// How long a request or a notification may take from its first callback on; none by default. Then the client reads
    /// `-32603`, or of a tool of a [`Suite`](crate::Suite) a result with `isError`; the handler is interrupted at its next `.await`,
    /// [`handle_close`](crate::Handler::handle_close) runs, and the request ends with `shutdown: expired`. An answer that
    /// streams counts as one request. A `subscriptions/listen` has it until it is
    /// accepted, and then its [lifetime](Options::stream_lifetime); a tool, resource or prompt with a
    /// [timeout](crate::suite::ToolSpec::timeout) of its own, shorter or longer, has that instead. A handler does the same with
    /// [`Channel::take_request_time`](crate::Channel::take_request_time).
    #[must_use]
    pub fn request_time(mut self, time: Duration) -> Self {
        self.terms.request_time = Some(within_reach(time));
        self.above_zero("request_time", time)
    }

    /// How long a handler's `handle_close` may take, 5 s by default; then the request is killed.
    #[must_use]
    pub fn close_time(mut self, time: Duration) -> Self {
        self.limits.close_time = within_reach(time);
        self.above_zero("close_time", time)
    }

    /// How long a handler may hold its thread from one `.await` to the next, 500 ms by default; if it was longer, a warning
    /// names the request when it gives the thread back. What computes for long or blocks is a [`blocking`](crate::suite::ToolSpec::blocking) tool.
    #[must_use]
    pub fn long_schedule(mut self, time: Duration) -> Self {
        self.limits.long_schedule = within_reach(time);
        self.above_zero("long_schedule", time)
    }

    /// How many messages may wait for one request, 1,000 by default; then their senders wait.
    #[must_use]
    pub fn mailbox(mut self, messages: usize) -> Self {
        self.limits.mailbox = messages;
        self.at_least("mailbox", messages, 1)
    }

    /// How many streams are open on the whole server, 10,000 by default, and how many of one principal, 4 by default.
    /// Beyond the first a `subscriptions/listen` request answers 503; beyond the second the principal's oldest stream
    /// ends with `shutdown: superseded`.
    #[must_use]
    pub fn max_streams(mut self, server: usize, principal: usize) -> Self {
        self.stream_caps.server = server;
        self.stream_caps.principal = principal;
        self.at_least("max_streams of the server", server, 1).at_least(
            "max_streams of a principal",
            principal,
            1,
        )
    }

    /// Counts all anonymous callers as one principal for [`max_streams`](Options::max_streams). By default they have no
    /// cap but the server's, since any of them could otherwise end the streams of all others.
    #[must_use]
    pub fn cap_anonymous_streams(mut self, capped: bool) -> Self {
        self.stream_caps.anonymous = capped;
        self
    }

    /// How long a stream may live, 1 hour by default; then it ends with `shutdown: expired`, and its client listens again.
    #[must_use]
    pub fn stream_lifetime(mut self, time: Duration) -> Self {
        self.stream_limits.lifetime = within_reach(time);
        self.above_zero("stream_lifetime", time)
    }

    /// How long a stream may be told nothing before it ends with `shutdown: idle`. By default there is no such limit.
    #[must_use]
    pub fn stream_idle(mut self, time: Duration) -> Self {
        self.stream_limits.idle = Some(within_reach(time));
        self.above_zero("stream_idle", time)
    }

    /// How long the application may take to say of which resources or tasks a stream may be told, when it is opened and
    /// again before each batch of notifications: 5 s by default; then of none.
    #[must_use]
    pub fn authorize_time(mut self, time: Duration) -> Self {
        self.terms.authorize_time = within_reach(time);
        self.above_zero("authorize_time", time)
    }

    /// How many resources and tasks one filter may name, 1,000 by default; more answer `-32602`.
    #[must_use]
    pub fn max_filter(mut self, named: usize) -> Self {
        self.limits.filter = named;
        self.at_least("max_filter", named, 1)
    }

    /// How many notifications that do not coalesce may wait on one stream, 1,000 by default; then it misses them. As many
    /// changes of parts of the resources that it named may wait beside them, and all changes that it named itself.
    #[must_use]
    pub fn stream_queue(mut self, messages: usize) -> Self {
        self.limits.stream_outbox.messages = messages;
        self.stream_limits.queue = messages;
        self.at_least("stream_queue", messages, 1)
    }

    /// How long [`run_until`](super::McpSupervisor::run_until) lets running requests finish, 30 s by default.
    #[must_use]
    pub fn drain(mut self, time: Duration) -> Self {
        self.drain = within_reach(time);
        self
    }

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

    /// What time of day it is: a caller whose authorization has ended by it
    /// ([`expiring_at`](Principal::expiring_at)) is refused with 401 and loses its streams, and the tokens that a
    /// [`Suite`](crate::Suite) seals, cursors and states, expire by it. The system's clock by default; tests give a
    /// [`ManualClock`](crate::ManualClock).
    #[must_use]
    pub fn clock(mut self, clock: impl Into<Clock>) -> Self {
        self.gate.clock = clock.into();
        self
    }

    /// How long the `connect` hook may take, 10 s by default; then the request answers 503.
    #[must_use]
    pub fn connect_time(mut self, time: Duration) -> Self {
        self.gate.time = within_reach(time);
        self.above_zero("connect_time", time)
    }

    /// Is told the end of each request and notification, with its reason and its duration, however it ended. It runs in
    /// the request's own task and must not block.
    #[must_use]
    pub fn disconnect(mut self, hook: impl Fn(RequestEnd) + Send + Sync + 'static) -> Self {
        self.disconnect = Some(Disconnect::new(hook));
        self
    }

    /// Serves the protected resource metadata document (RFC 9728) at both well-known places, without a token and to pages
    /// of any origin, and names it in challenges. By default there is none. What is wrong with it is told when the server
    /// starts.
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

    /// What is wrong with the options, for a handler that needs these scopes.
    pub(super) fn check(&self, scopes: &[String]) -> Result<(), Misconfigured> {
        let own = self.faults.iter().map(|(_, fault)| fault.clone());
        Misconfigured::unless_empty(own.chain(self.scopes_fault(scopes)).collect())
    }

    /// Without the hook every caller is anonymous, whichever way it comes.
    fn scopes_fault(&self, scopes: &[String]) -> Option<String> {
        let asked = scopes.iter().map(|scope| format!("`{}`", scope.escape_debug())).collect::<Vec<_>>();
        (!asked.is_empty() && self.gate.connect.is_none()).then(|| {
            format!(
                "connect: there is no hook, so that nobody has a scope, and these are asked for: {}; a hook that returns \
                 principals with their scopes would do",
                asked.join(", ")
            )
        })
    }

    /// Notes what is wrong with an option. What was wrong with it before its last call does not count.
    fn judged(mut self, option: &'static str, faults: impl IntoIterator<Item = String>) -> Self {
        self.faults.retain(|(judged, _)| *judged != option);
        self.faults.extend(faults.into_iter().map(|fault| (option, fault)));
        self
    }

    fn at_least(self, option: &'static str, value: usize, least: usize) -> Self {
        let fault = (value < least).then(|| format!("{option}: {value} is too small; at least {least}"));
        self.judged(option, fault)
    }

    fn above_zero(self, option: &'static str, time: Duration) -> Self {
        let fault = time.is_zero().then(|| format!("{option}: the time is zero; at least a millisecond"));
        self.judged(option, fault)
    }
}

/// `Duration::MAX` means no limit, and is no time that can be added to another.
fn within_reach(time: Duration) -> Duration {
    time.min(FAR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_faults_are_told_at_once() {
        let options = Options::new().path("mcp").max_body(0).keep_alive(Duration::ZERO);
        assert_eq!(options.check(&[]).unwrap_err().faults().len(), 3);
        assert!(Options::new().check(&[]).is_ok());
    }

    #[test]
    fn each_entry_of_a_list_that_is_wrong_is_told() {
        let options =
            Options::new().allowed_origins(["x", "null", "https://h"]).allowed_hosts(["a b", "*", "h"]);
        assert_eq!(options.check(&[]).unwrap_err().faults().len(), 4);
    }

    #[test]
    fn a_path_that_no_request_can_carry_is_refused() {
        for path in ["/a b", "/a\n", "/a\0"] {
            let faults = Options::new().path(path).check(&[]).unwrap_err();
            assert!(faults.to_string().contains("percent-encodes"), "{faults}");
        }
        assert!(Options::new().path("/a%20b/mcp").check(&[]).is_ok());
    }

    #[test]
    fn the_last_value_of_an_option_counts() {
        let hosts = ["app.example.com"];
        let mended = Options::new()
            .path("mcp")
            .path("/mcp")
            .outbox(0, 0)
            .outbox(1, 1)
            .write_stall(Duration::ZERO)
            .write_stall(Duration::from_secs(1))
            .allowed_hosts(Vec::<String>::new())
            .allowed_hosts(hosts)
            .allowed_origins(["not an origin"])
            .allowed_origins(["https://app.example.com"])
            .protected_resource(&ProtectedResource::new("no url", "nor this"))
            .protected_resource(&ProtectedResource::new("https://h/mcp", "https://issuer.example.com"));
        assert_eq!(mended.check(&[]).map_err(|faults| faults.to_string()), Ok(()));
        assert!(Options::new().allowed_hosts(Vec::<String>::new()).any_host().check(&[]).is_ok());
        let spoilt = mended.outbox(1, 0).allowed_hosts(hosts).path("/mcp?").any_host();
        let faults = spoilt.check(&[]).unwrap_err();
        assert_eq!(faults.faults().len(), 2, "{faults}");
        assert!(faults.faults()[0].starts_with("outbox bytes"), "{faults}");
    }
}
