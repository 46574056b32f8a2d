//! What the crate writes, against the schema of the specification.
//!
//! The wire types are compiled in, since the frame around them is not public.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may fail by a panic, its helpers too"
)]

#[allow(dead_code, unused_imports, unreachable_pub, missing_docs)]
#[path = "../../src/wire/mod.rs"]
mod wire;

mod messages;
mod requests;
mod results;
mod schema;
