//! The life of one process: what ractor gives, which a new version of it must not change, and what we make of it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(missing_docs)]

#[path = "../common/mod.rs"]
mod common;
mod crash;
mod exit;
mod mailbox;
mod monitor;
mod ractor_facts;
mod tasks;
