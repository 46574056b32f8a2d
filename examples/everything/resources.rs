//! Resources: a text, some bytes, one to watch, and a family under a template.

use ractor_mcp::prelude::*;
use ractor_mcp::suite::ResourceSpec;
use ractor_mcp::wire::ResourceTemplate;
use serde::{Deserialize, Serialize};

use super::content::PNG;

pub fn text() -> ResourceSpec {
    async fn text() -> &'static str {
        "This is the content of the static text resource."
    }
    resource(text).description("A fixed text.").mime_type("text/plain")
}

pub fn binary() -> ResourceSpec {
    async fn binary() -> Vec<u8> {
        PNG.to_vec()
    }
    resource(binary).description("A picture of one pixel.").mime_type("image/png")
}

pub const WATCHED: &str = "test://watched-resource";

pub fn watched() -> ResourceSpec {
    async fn watched() -> &'static str {
        "Watch me."
    }
    resource(watched).description("A text that can be watched.").mime_type("text/plain")
}

/// `test://template/{id}/data`
pub struct Data;

#[derive(Deserialize)]
pub struct Key {
    id: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Found {
    id: String,
    template_test: bool,
    data: String,
}

impl ResourceRepo for Data {
    type Key = Key;
    type Cursor = ();
    type Output = Json<Found>;

    fn template(&self) -> ResourceTemplate {
        ResourceTemplate::new("test://template/{id}/data", "template")
            .description("Data by id.")
            .mime_type("application/json")
    }

    async fn read(&self, Key { id }: Key, _: &Call) -> Result<Json<Found>, ToolError> {
        let data = format!("Data for ID: {id}");
        let template_test = true;
        Ok(Json(Found { id, template_test, data }))
    }

    async fn complete(&self, completing: Completing, _: &Call) -> Result<Vec<String>, ToolError> {
        Ok(completing.among(["123", "124", "200"]))
    }
}
