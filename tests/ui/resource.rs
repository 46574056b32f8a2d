//! A resource takes the URI that it has anyway, and another one holds what cannot be read.

use ractor_mcp::prelude::*;

async fn readme(uri: String) -> String {
    uri
}

async fn size() -> u64 {
    7
}

fn main() {
    let _ = Suite::new("docs", "1.0.0").resource("docs://readme.md", readme).resource("docs://size", size);
}
