//! Floor 5: the assembled system, as a tree of supervisors.
//!
//! ```text
//! mcp                                 supervisor, one_for_one               server.rs
//! ├─ listeners                        supervisor, children at run time      listeners.rs
//! │  └─ listener 127.0.0.1:3000       supervisor, rest_for_one              listener.rs
//! │     ├─ connections                dynamic supervisor                    listener.rs
//! │     │  └─ connection 127.0.0.1:51234   dynamic supervisor + driver      connection.rs
//! │     │     └─ request tools/call slow #7                                 ../request/
//! │     └─ acceptor                   leaf                                  acceptor.rs
//! └─ embedded                         supervisor                            embedded.rs
//! ```
//!
//! `supervisor.rs` is the handle on it that applications hold, `notify.rs` the part of it that tells streams of changes,
//! `status.rs` the part that a health route tells. `options/` holds what can be set, `shutdown.rs` the drain, phase by phase,
//! `signal.rs` what asks for it, `error.rs` why a start failed.

mod acceptor;
mod connection;
mod embedded;
mod error;
mod listener;
mod listeners;
mod notify;
mod options;
mod server;
mod shutdown;
mod signal;
mod status;
mod supervisor;

pub use embedded::{McpService, WellKnown};
pub use error::Error;
pub use listener::Listener;
pub use options::Options;
pub use shutdown::Summary;
pub use signal::shutdown_signal;
pub use status::{LimitUsage, ServerPhase, Status};
pub use supervisor::McpSupervisor;
