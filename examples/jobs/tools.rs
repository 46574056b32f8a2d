//! What is listed of the tools, and what is read of their arguments.

use std::time::Duration;

use ractor_mcp::wire::{CallToolRequest, Tool};
use serde_json::{Value, json};

/// The arguments of `render`, if they are what its schema says.
pub fn frames_and_delay(call: &CallToolRequest) -> Option<(u64, Duration)> {
    let argument = |name| call.arguments.get(name).and_then(Value::as_u64);
    let (frames, delay) = (argument("frames")?, argument("delay_ms")?);
    (frames > 0).then_some((frames, Duration::from_millis(delay)))
}

pub fn list() -> Vec<Tool> {
    let render = json!({
        "type": "object",
        "properties": { "frames": { "type": "integer", "minimum": 1 }, "delay_ms": { "type": "integer" } },
        "required": ["frames", "delay_ms"]
    });
    let nothing = json!({ "type": "object", "additionalProperties": false });
    vec![
        Tool::new("render", render).description("Renders frames, one after another, and reports each."),
        Tool::new("running", nothing.clone()).description("How many jobs run."),
        Tool::new("tree", nothing).description("The actor tree of the server."),
    ]
}
