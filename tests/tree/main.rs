//! The actor tree as its users see it: who is whose child, and what an end does to the neighbours.

#[path = "../support/mod.rs"]
mod support;

mod caller;
mod crash;
mod destructors;
mod disconnect;
mod embed;
mod kit;
#[cfg(feature = "http2")]
mod http2;
mod linked;
mod requests;
mod restart;
mod shutdown;
mod streams;
