//! A tool whose schema is written by hand and published as it stands.

use ractor_mcp::prelude::*;
use ractor_mcp::suite::ToolSpec;
use serde_json::{Map, Value, json};

pub(crate) fn contact() -> ToolSpec {
    async fn noted(_: Map<String, Value>) -> &'static str {
        "Noted."
    }
    tool(noted)
        .description("Takes a contact by phone or by email.")
        .input_schema(json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": {
                "address": {
                    "$anchor": "addressDef",
                    "type": "object",
                    "properties": {"street": {"type": "string"}, "city": {"type": "string"}}
                }
            },
            "properties": {
                "name": {"type": "string"},
                "address": {"$ref": "#/$defs/address"},
                "contactMethod": {"type": "string", "enum": ["phone", "email"]},
                "phone": {"type": "string"},
                "email": {"type": "string"}
            },
            "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
            "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
            "then": {"required": ["phone"]},
            "else": {"required": ["email"]},
            "additionalProperties": false
        }))
}
