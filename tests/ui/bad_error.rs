//! The error has no text.

use ractor_mcp::prelude::*;

struct Broken;

async fn fail() -> Result<String, Broken> {
    Err(Broken)
}

fn main() {
    let _ = Suite::new("fails", "1.0.0").tool("fail", fail);
}
