//! Tools whose schemas are the point: written by hand, and mirrored as headers.

use ractor_mcp::prelude::*;
use ractor_mcp::suite::ToolSpec;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// Reads its region from the arguments, where a gateway reads it from the header `Mcp-Param-Region`.
#[derive(Deserialize, JsonSchema)]
pub struct Mirrored {
    /// Where to run.
    #[schemars(extend("x-mcp-header" = "Region"))]
    region: String,
}

pub async fn mirrored(Mirrored { region }: Mirrored) -> String {
    format!("ran in {region}")
}

/// What the schema below describes.
#[derive(Deserialize, JsonSchema)]
pub struct Contact {
    name: Option<String>,
}

async fn contact(Contact { name }: Contact) -> String {
    format!("{} can be reached", name.unwrap_or_default())
}

/// A tool with a schema that no Rust type gives.
pub fn json_schema() -> ToolSpec {
    tool(contact).description("Takes a contact; its schema uses much of JSON Schema 2020-12.").input_schema(
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": {
                "address": {
                    "$anchor": "addressDef",
                    "type": "object",
                    "properties": { "street": { "type": "string" }, "city": { "type": "string" } }
                }
            },
            "properties": {
                "name": { "type": "string" },
                "address": { "$ref": "#/$defs/address" },
                "contactMethod": { "type": "string", "enum": ["phone", "email"] },
                "phone": { "type": "string" },
                "email": { "type": "string" }
            },
            "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
            "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
            "then": { "required": ["phone"] },
            "else": { "required": ["email"] },
            "additionalProperties": false
        }),
    )
}
