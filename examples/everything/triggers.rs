//! Tools that tell listen streams of changes.

use std::sync::{Arc, OnceLock};

use ractor_mcp::prelude::*;
use ractor_mcp::suite::ToolSpec;

use super::resources::WATCHED;

/// Where the tools find the running server.
#[derive(Clone, Default)]
pub struct Triggers(Arc<OnceLock<McpSupervisor>>);

impl Triggers {
    pub fn attach(&self, mcp: &McpSupervisor) {
        let _ = self.0.set(mcp.clone());
    }

    pub fn add_to(&self, suite: Suite) -> Suite {
        suite
            .list_changes()
            .resource_updates()
            .tool(
                "test_trigger_tool_change",
                self.trigger("the list of tools", McpSupervisor::notify_tools_changed),
            )
            .tool(
                "test_trigger_prompt_change",
                self.trigger("the list of prompts", McpSupervisor::notify_prompts_changed),
            )
            .tool(
                "test_trigger_resource_update",
                self.trigger(WATCHED, |mcp| mcp.notify_resource_updated(WATCHED)),
            )
    }

    fn trigger(&self, what: &str, notify: fn(&McpSupervisor) -> usize) -> ToolSpec {
        let mcp = Arc::clone(&self.0);
        let tell = move || {
            let told = mcp.get().map_or(0, notify);
            async move { format!("told {told} streams") }
        };
        tool(tell).description(format!("Tells streams that {what} changed."))
    }
}
