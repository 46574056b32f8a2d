//! The actor tree as its users see it: who is whose child, and what an end does to the neighbours.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by a panic, in its helper functions too"
)]

#[path = "../support/mod.rs"]
mod support;

mod alone;
mod caller;
mod crash;
mod crowds;
mod defaults;
mod destructors;
mod disconnect;
mod embed;
#[cfg(feature = "http2")]
mod http2;
#[cfg(feature = "http2")]
mod http2_drain;
#[cfg(feature = "http2")]
mod http2_flood;
mod kit;
mod limits;
mod linked;
mod listeners;
mod load;
mod refusals;
mod request_time;
mod requests;
mod restart;
mod shutdown;
mod signal;
mod sigterm;
mod status;
mod stream_ends;
mod stream_limits;
mod streams;
mod stubborn;
mod topics;
mod unopened;
mod unread;
