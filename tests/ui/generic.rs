//! Nothing says which type the arguments have.

use ractor_mcp::prelude::*;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

async fn take<T: DeserializeOwned + JsonSchema + Send>(_: T) -> &'static str {
    "taken"
}

fn main() {
    let _ = Suite::new("generic", "1.0.0").tool("take", take);
}
