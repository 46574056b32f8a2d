//! Tools over the wire: how they are checked, limited, interrupted, and what their clients read.

#[path = "../support/mod.rs"]
mod support;

mod arguments;
mod blocking;
mod definition;
mod limits;
mod mirrored;
mod output;
mod rounds;
mod rounds_state;
mod streaming;
mod ui;
