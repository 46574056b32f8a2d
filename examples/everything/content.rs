//! Tools that answer each kind of content.

use ractor_mcp::wire::{Content, ResourceContents};
use schemars::JsonSchema;
use serde::Deserialize;

/// A picture of one pixel.
pub const PNG: &[u8] = &[
    0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, b'I', b'H', b'D', b'R', 0, 0, 0, 1, 0, 0,
    0, 1, 8, 6, 0, 0, 0, 0x1f, 0x15, 0xc4, 0x89, 0, 0, 0, 0x0d, b'I', b'D', b'A', b'T', 0x78, 0x9c, 0x63,
    0xf8, 0xcf, 0xc0, 0xf0, 0x1f, 0, 5, 0, 1, 0xff, 0x89, 0x99, 0x3d, 0x1d, 0, 0, 0, 0, b'I', b'E', b'N',
    b'D', 0xae, 0x42, 0x60, 0x82,
];

/// A sound of no samples.
const WAV: &[u8] =
    b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data\0\0\0\0";

/// Answers a fixed text.
#[derive(Deserialize, JsonSchema)]
pub struct SimpleText {}

pub async fn simple_text(_: SimpleText) -> &'static str {
    "This is a simple text response for testing."
}

/// Answers a picture.
#[derive(Deserialize, JsonSchema)]
pub struct Image {}

pub async fn image(_: Image) -> Content {
    Content::image(PNG, "image/png")
}

/// Answers a sound.
#[derive(Deserialize, JsonSchema)]
pub struct Audio {}

pub async fn audio(_: Audio) -> Content {
    Content::audio(WAV, "audio/wav")
}

/// Answers a resource with its contents.
#[derive(Deserialize, JsonSchema)]
pub struct Embedded {}

pub async fn embedded_resource(_: Embedded) -> Content {
    let text = "This is an embedded resource content.";
    Content::resource(ResourceContents::text("test://embedded-resource", text).mime_type("text/plain"))
}

/// Answers a text, a picture and a resource.
#[derive(Deserialize, JsonSchema)]
pub struct Mixed {}

pub async fn mixed(_: Mixed) -> Vec<Content> {
    let json = r#"{"test":"data","value":123}"#;
    let resource =
        ResourceContents::text("test://mixed-content-resource", json).mime_type("application/json");
    vec![
        Content::text("Multiple content types test:"),
        Content::image(PNG, "image/png"),
        Content::resource(resource),
    ]
}

/// Answers what it is given.
#[derive(Deserialize, JsonSchema)]
pub struct Echo {
    text: String,
}

pub async fn echo(Echo { text }: Echo) -> String {
    text
}
