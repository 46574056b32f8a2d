//! The arguments are taken by reference.

use ractor_mcp::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Echo {
    text: String,
}

async fn echo(echo: &Echo) -> String {
    echo.text.clone()
}

fn main() {
    let _ = Suite::new("echo", "1.0.0").tool("echo", echo);
}
