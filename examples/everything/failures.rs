//! Tools that fail, each in its way.

use ractor_mcp::prelude::*;
use ractor_mcp::wire::ClientCapabilities;
use schemars::JsonSchema;
use serde::Deserialize;

/// Fails in words that the model reads.
#[derive(Deserialize, JsonSchema)]
pub struct Fail {}

pub async fn error(_: Fail) -> Result<String, &'static str> {
    Err("This tool intentionally returns an error for testing")
}

/// Needs a client that samples.
#[derive(Deserialize, JsonSchema)]
pub struct NeedsSampling {}

pub async fn missing_capability(_: NeedsSampling, call: Call) -> Result<&'static str, RpcError> {
    if call.meta().client_capabilities.sampling() {
        Ok("Success")
    } else {
        Err(RpcError::missing_capability(&ClientCapabilities::only_sampling()))
    }
}

/// Panics.
#[derive(Deserialize, JsonSchema)]
pub struct Boom {}

pub async fn boom(_: Boom) -> String {
    panic!("this tool panics, and only its own call notices");
}
