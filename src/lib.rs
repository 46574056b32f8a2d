//! MCP servers the OTP way: every request is a supervised actor.
//!
//! A server is an [`McpSupervisor`] in an application, and a handler: plain async functions in a [`Suite`], or a type
//! that implements [`Handler`]. Each request runs in an actor of its own, a child of its connection's actor: a panic
//! costs one answer, a disconnect stops the work at its next `.await`, and a shutdown ends everything in order.
//!
//! ```no_run
//! use ractor_mcp::prelude::*;
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//!
//! /// Adds two integers.
//! #[derive(Deserialize, JsonSchema)]
//! struct Add { a: i64, b: i64 }
//!
//! async fn add(Add { a, b }: Add) -> i64 { a + b }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), ractor_mcp::Error> {
//!     let suite = Suite::new("calculator", "1.0.0").tool("add", add);
//!     let mcp = McpSupervisor::start(suite).await?;
//!     let listener = mcp.listen("127.0.0.1:3000").await?;
//!     println!("listening on {}", listener.addr());
//!     mcp.run_until(shutdown_signal()).await
//! }
//! ```
//!
//! # Map
//!
//! A module uses only those above it.
//!
//! | floor | module | holds |
//! |---|---|---|
//! | 0 | [`wire`] | the JSON as the specification spells it |
//! | 1 | `rules` | one rule of the protocol a file: pure functions, the clause on the first line |
//! | 2 | `handler` | [`Handler`], [`Reply`], [`Channel`], [`RpcError`], [`Principal`] |
//! | 3 | `request`, [`suite`] | running one request; the ready-made handler |
//! | 4 | `http` | Streamable HTTP |
//! | 5 | `tree` | [`McpSupervisor`], [`Listener`], [`Options`], the drain |
//! | 6 | `testing` | the test kit: a client in memory, waits, assertions on the tree |
//!
//! [`otp`] is the actor layer below all of them: exit reasons, addresses, monitors, the tree.
//!
//! # Features
//!
//! `http2` (default): HTTP/2 with prior knowledge. `suite` (default): functions as tools. `json-schema` (default):
//! arguments and structured output are checked against the advertised schemas; without it only serde refuses what does
//! not fit. `testing`: the test kit, for dev-dependencies. `ractor-async-trait` and `ractor-cluster` mirror ractor's
//! features of those
//! names, which change its traits for a whole build: whoever turns one on turns ours on too.
// What a library must not do; its tests, examples and benches may.
#![warn(unreachable_pub)]
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr
)]

#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod handler;
mod http;
pub mod prelude;
mod request;
mod rules;
#[cfg(feature = "suite")]
pub mod suite;
#[cfg(feature = "testing")]
pub mod testing;
mod tree;
pub mod wire;

pub use ractor_otp as otp;

pub use handler::{
    Challenge, Channel, Clock, Closed, ConnectRequest, Denied, Grant, Handler, ManualClock, MirroredSchema,
    Misconfigured, Notifier, Principal, Reply, RequestEnd, RpcError, Sent,
};
pub use http::{ProtectedResource, ResponseBody};
pub use request::Topic;
#[cfg(feature = "suite")]
pub use suite::Suite;
pub use tree::{
    Error, LimitUsage, Listener, McpService, McpSupervisor, Options, ServerPhase, Status, Summary, WellKnown,
    shutdown_signal,
};
pub use wire::{PROTOCOL_VERSION, SUPPORTED_VERSIONS};

/// The examples of the README, so that they compile and run with the others.
#[cfg(all(doctest, feature = "testing", feature = "json-schema"))]
#[doc = include_str!("../README.md")]
struct Readme;
