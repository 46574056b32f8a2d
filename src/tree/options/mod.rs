//! What can be set of a server, with the defaults.
//!
//! | file | holds |
//! |---|---|
//! | `mod.rs` | [`Options`], its defaults, and how faults are kept until the start |
//! | `intake.rs` | what a client may send |
//! | `running.rs` | what requests may take while they run |
//! | `streams.rs` | what streams may take |
//! | `callers.rs` | who may call, and from where |

mod callers;
mod intake;
mod running;
mod streams;

use std::time::Duration;

use crate::handler::{Disconnect, Misconfigured, StillValid, Terms};
use crate::http::{Gate, Limits};
use crate::request::{StreamCaps, StreamLimits};
use crate::rules::{host::HostPolicy, origin::OriginPolicy};

/// About thirty years, as far ahead as tokio's timers go.
const FAR: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

/// The options of an [`McpSupervisor`](crate::McpSupervisor). Each has a default that is safe to run with; the last call of
/// one counts. They do not change after the start.
///
/// What one tool, resource or prompt may take, how long pages are, and how long sealed tokens last, is set of a
/// [`Suite`](crate::Suite). These limits are fixed:
///
/// | of | at most | beyond it | why it is no option |
/// |---|---|---|---|
/// | header lines of one request over HTTP/1.1 | 100 | 431 | the HTTP parser's own bound |
/// | JSON values in one message | 200,000 | 400 | what they take is bounded by [`body_budget`](Options::body_budget) |
/// | nesting, whatever [`max_depth`](Options::max_depth) says | 126 levels | 400 | the JSON reader's own bound |
/// | a sealed token, a client's question and answers in it included | 16 KiB | `-32602` | other nodes have to take what one seals |
/// | a cursor | 8 KiB | `-32603` | clients send it back under [`max_token`](Options::max_token), which is at least that |
/// | pages that one list asks repositories for | 100 | a short page | the client asks on |
/// | members of `tracestate`; `baggage` | 32; 8 KiB | left out | the specifications of both say so |
/// | restarts of one supervisor's children | 3 in 5 s | the supervisor ends | no actor that is restarted runs code of the application |
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
    still_valid: Option<StillValid>,
    pub(super) disconnect: Option<Disconnect>,
    pub(super) terms: Terms,
    pub(super) max_connections: usize,
    pub(super) max_in_flight: usize,
    pub(super) max_in_flight_per_principal: usize,
    pub(super) body_budget: usize,
    pub(super) drain: Duration,
    pub(super) drain_delay: Duration,
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
            still_valid: None,
            disconnect: None,
            terms: Terms::default(),
            max_connections: 10_000,
            max_in_flight: 1000,
            max_in_flight_per_principal: 500,
            body_budget: 256 * 1024 * 1024,
            drain: Duration::from_secs(30),
            drain_delay: Duration::ZERO,
            stream_caps: StreamCaps { server: 10_000, principal: 4, anonymous: false },
            stream_limits: StreamLimits { lifetime: Duration::from_secs(60 * 60), idle: None },
            faults: Vec::new(),
        }
    }
}

impl Options {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// What is wrong with the options, for a handler that needs these scopes.
    pub(super) fn check(&self, scopes: &[String]) -> Result<(), Misconfigured> {
        let own = self.faults.iter().map(|(_, fault)| fault.clone());
        let together = [self.scopes_fault(scopes), self.resource_fault(), self.budget_fault()];
        Misconfigured::unless_empty(own.chain(together.into_iter().flatten()).collect())
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
    use crate::handler::Principal;
    use crate::http::ProtectedResource;

    #[test]
    fn all_faults_are_told_at_once() {
        let options = Options::new().path("mcp").max_body(0).keep_alive(Duration::ZERO);
        assert_eq!(options.check(&[]).unwrap_err().faults().len(), 3);
        assert!(Options::new().check(&[]).is_ok());
    }

    fn the_fault(options: &Options) -> String {
        match options.check(&[]).map_err(|faults| faults.to_string()) {
            Err(fault) => fault,
            Ok(()) => panic!("no fault in {options:?}"),
        }
    }

    #[test]
    fn a_document_that_asks_for_tokens_needs_somebody_who_looks_at_them() {
        let resource = ProtectedResource::new("https://h/mcp", "https://issuer.example.com");
        let open = Options::new().protected_resource(&resource);
        assert!(the_fault(&open).contains("`connect`"), "{}", the_fault(&open));
        assert!(open.connect(|_| async { Ok(Principal::anonymous()) }).check(&[]).is_ok());
    }

    #[test]
    fn a_budget_that_no_largest_body_fits_would_refuse_it_for_ever() {
        let small = Options::new().body_budget(1024 * 1024);
        assert!(the_fault(&small).contains("max_body"), "{}", the_fault(&small));
        assert!(small.max_body(1024 * 1024).check(&[]).is_ok());
        assert!(Options::new().max_body(usize::MAX).body_budget(usize::MAX).check(&[]).is_ok());
    }

    #[test]
    fn a_path_that_no_client_asks_for_is_a_fault() {
        for path in ["/é", "/a/../mcp", "/./mcp", "/a/..", "/a b", "mcp", "/mcp?", "/mcp#"] {
            assert!(Options::new().path(path).check(&[]).is_err(), "{path}");
        }
        for path in ["/", "/mcp", "/a/b/", "/%C3%A9", "/...", "/a.b"] {
            assert!(Options::new().path(path).check(&[]).is_ok(), "{path}");
        }
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
            .protected_resource(&ProtectedResource::new("https://h/mcp", "https://issuer.example.com"))
            .connect(|_| async { Ok(Principal::anonymous()) });
        assert_eq!(mended.check(&[]).map_err(|faults| faults.to_string()), Ok(()));
        assert!(Options::new().allowed_hosts(Vec::<String>::new()).any_host().check(&[]).is_ok());
        let spoilt = mended.outbox(1, 0).allowed_hosts(hosts).path("/mcp?").any_host();
        let faults = spoilt.check(&[]).unwrap_err();
        assert_eq!(faults.faults().len(), 2, "{faults}");
        assert!(faults.faults()[0].starts_with("outbox bytes"), "{faults}");
    }
}
