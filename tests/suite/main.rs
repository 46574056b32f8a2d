//! What a suite offers, over the wire: how tools, resources and prompts are checked, limited, listed, and read.

#[path = "../support/mod.rs"]
mod support;

mod arguments;
mod blocking;
mod callers;
mod definition;
mod extensions;
mod identity;
mod limits;
mod mirrored;
mod output;
mod pages;
mod prompts;
mod resources;
mod rounds;
mod rounds_offers;
mod rounds_state;
mod runtime;
mod scope;
mod streaming;
mod subscription_handler;
mod subscriptions;
mod ui;
mod visibility;
