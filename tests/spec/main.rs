//! The specification as a client sees it over the wire: one file a page, each test named by its clause.
#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

#[path = "../support/mod.rs"]
mod support;

mod base;
mod cancellation;
mod data;
mod discover;
mod headers;
mod interleaved;
mod logging;
mod meta;
mod order;
mod progress;
mod request_scoped;
mod schema;
mod server;
mod state;
mod streaming;
mod tools;
mod trace;
mod transport;
mod versioning;
