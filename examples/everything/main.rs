//! The server that the official conformance suite is run against: everything, once.
#![allow(
    clippy::print_stdout,
    unreachable_pub,
    reason = "an example talks to its terminal, and its modules to each other"
)]

mod content;
mod failures;
mod progress;
mod prompts;
mod resources;
mod rounds;
mod schemas;
mod several;
mod triggers;

use ractor_mcp::prelude::*;

#[tokio::main]
async fn main() -> Result<(), ractor_mcp::Error> {
    tracing_subscriber::fmt().with_env_filter("warn").with_writer(std::io::stderr).init();
    let address = std::env::var("ADDR").unwrap_or_else(|_| "127.0.0.1:3000".into());
    let suite = Suite::new("everything", "1.0.0")
        .instructions("A server that offers everything, for tests.")
        .tool("test_simple_text", content::simple_text)
        .tool("test_image_content", content::image)
        .tool("test_audio_content", content::audio)
        .tool("test_embedded_resource", content::embedded_resource)
        .tool("test_multiple_content_types", content::mixed)
        .tool("test_error_handling", failures::error)
        .tool("test_missing_capability", failures::missing_capability)
        .tool("boom", failures::boom)
        .tool("test_tool_with_progress", progress::steps)
        .tool("test_logging_tool", progress::logging)
        .tool("slow", progress::slow)
        .tool("json_schema_2020_12_tool", schemas::json_schema())
        .tool("echo", content::echo)
        .tool("test_x_mcp_header", schemas::mirrored)
        .resource("test://static-text", resources::text())
        .resource("test://static-binary", resources::binary())
        .resource(resources::WATCHED, resources::watched())
        .resource_repo(resources::Data)
        .prompt("test_simple_prompt", prompts::simple())
        .prompt("test_prompt_with_arguments", prompts::with_arguments())
        .prompt("test_prompt_with_embedded_resource", prompts::with_resource)
        .prompt("test_prompt_with_image", prompts::with_image())
        .prompt("test_input_required_result_prompt", prompts::asking());
    let triggers = triggers::Triggers::default();
    let suite = triggers.add_to(rounds::add_to(suite));
    let mcp = McpSupervisor::start(suite).await?;
    triggers.attach(&mcp);
    println!("listening on {}", mcp.listen(address).await?.addr());
    mcp.run_until(shutdown_signal()).await
}
