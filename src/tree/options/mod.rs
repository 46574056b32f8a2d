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
/// | JSON text in the arguments of one call ([`accept_json_text`](crate::suite::ToolSpec::accept_json_text)) | 64 levels, 10,000 values | it stays text | only tools that ask for it read it |
/// | values of one completion | 100 | the others are left out | the specification says so |
/// | resets over HTTP/2 that a client brings about, or that wait | 128, 20 | the connection ends | no client in order comes near |
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
    /// Half of the server's, if it is not set.
    pub(super) max_in_flight_per_principal: Option<usize>,
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
            max_in_flight_per_principal: None,
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
