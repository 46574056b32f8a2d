//! A prompt has arguments without `Deserialize`, and another one an output that is no message.

use ractor_mcp::prelude::*;

#[derive(schemars::JsonSchema)]
struct Review {
    language: String,
}

async fn review(Review { language }: Review) -> String {
    format!("Review this {language} code.")
}

async fn count() -> u64 {
    7
}

fn main() {
    let _ = Suite::new("reviews", "1.0.0").prompt("review", review).prompt("count", count);
}
