//! Notes as resources: one repository with a template, a list in pages, and completion of names.
//!
//! ```text
//! cargo run --example notes
//! ```
#![allow(
    clippy::print_stdout,
    unreachable_pub,
    reason = "an example talks to its terminal, and its modules to each other"
)]

mod notes;
mod repo;

use ractor_mcp::prelude::*;

use notes::Notes;
use repo::NoteRepo;

/// Asks the model to summarise a note.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Summarise {
    /// The title of the note.
    title: String,
}

async fn summarise(Summarise { title }: Summarise) -> String {
    format!("Read the resource notes://{title} and summarise it in one sentence.")
}

async fn about() -> &'static str {
    "Notes, one a resource: notes://{title}"
}

#[tokio::main]
async fn main() -> Result<(), ractor_mcp::Error> {
    let address = std::env::var("ADDR").unwrap_or_else(|_| "127.0.0.1:3000".into());
    let suite = Suite::new("notes", "1.0.0")
        // Small, so that a few notes are more than a page.
        .page_size(2)
        .resource("about://notes", resource(about).mime_type("text/plain"))
        .resource_repo(NoteRepo::new(Notes::some()))
        .prompt("summarise", summarise);
    let mcp = McpSupervisor::start(suite).await?;
    println!("listening on {}", mcp.listen(address).await?.addr());
    mcp.run_until(shutdown_signal()).await
}
