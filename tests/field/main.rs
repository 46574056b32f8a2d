//! What went wrong with MCP servers in use, as tests: one file a group, each test named by its case.
#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

#[path = "../support/mod.rs"]
mod support;

mod callers;
mod crashes;
mod drain;
mod extensions;
mod fuzz;
mod fuzz_targets;
mod hosts;
mod input;
mod intake;
mod leaving;
mod mutation;
mod pressure;
mod progress;
mod schemas;
mod streams;
mod subscriptions;
