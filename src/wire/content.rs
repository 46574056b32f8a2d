//! Content blocks of tool results and prompts, and the contents of resources.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;

use super::{Annotations, Icon, Meta};

/// A content block (TOOL-21).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Content {
    /// Text.
    Text(TextContent),
    /// A picture.
    Image(ImageContent),
    /// Sound.
    Audio(AudioContent),
    /// A resource by reference.
    ResourceLink(ResourceLink),
    /// A resource with its contents.
    Resource(EmbeddedResource),
}

impl Content {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextContent { text: text.into(), annotations: None, meta: Meta::new() })
    }

    /// A picture from its bytes, such as `image/png`.
    pub fn image(bytes: impl AsRef<[u8]>, mime_type: impl Into<String>) -> Self {
        let (data, mime_type) = (STANDARD.encode(bytes), mime_type.into());
        Self::Image(ImageContent { data, mime_type, annotations: None, meta: Meta::new() })
    }

    /// Sound from its bytes, such as `audio/wav`.
    pub fn audio(bytes: impl AsRef<[u8]>, mime_type: impl Into<String>) -> Self {
        let (data, mime_type) = (STANDARD.encode(bytes), mime_type.into());
        Self::Audio(AudioContent { data, mime_type, annotations: None, meta: Meta::new() })
    }

    /// A resource with its contents.
    pub fn resource(contents: ResourceContents) -> Self {
        Self::Resource(EmbeddedResource { resource: contents, annotations: None, meta: Meta::new() })
    }

    /// A resource by reference.
    pub fn link(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self::ResourceLink(ResourceLink::new(uri, name))
    }

    /// Sets hints on the block.
    #[must_use]
    pub fn annotated(mut self, annotations: Annotations) -> Self {
        let place = match &mut self {
            Self::Text(block) => &mut block.annotations,
            Self::Image(block) => &mut block.annotations,
            Self::Audio(block) => &mut block.annotations,
            Self::ResourceLink(block) => &mut block.annotations,
            Self::Resource(block) => &mut block.annotations,
        };
        *place = Some(annotations);
        self
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

/// Text.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TextContent {
    /// The text.
    pub text: String,
    /// Hints.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// `_meta`.
    #[serde(rename = "_meta", skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

/// A picture.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ImageContent {
    /// The bytes in Base64.
    pub data: String,
    /// The media type.
    pub mime_type: String,
    /// Hints.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// `_meta`.
    #[serde(rename = "_meta", skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

/// Sound.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AudioContent {
    /// The bytes in Base64.
    pub data: String,
    /// The media type.
    pub mime_type: String,
    /// Hints.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// `_meta`.
    #[serde(rename = "_meta", skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

/// A resource with its contents.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EmbeddedResource {
    /// The contents.
    pub resource: ResourceContents,
    /// Hints.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// `_meta`.
    #[serde(rename = "_meta", skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

/// A resource by reference.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourceLink {
    /// Where it is.
    pub uri: String,
    /// Its name for programs.
    pub name: String,
    /// Its name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its media type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Its size in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Pictures of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<Icon>,
    /// Hints.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// `_meta`.
    #[serde(rename = "_meta", skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl ResourceLink {
    /// A resource by URI and name.
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            name: name.into(),
            title: None,
            description: None,
            mime_type: None,
            size: None,
            icons: Vec::new(),
            annotations: None,
            meta: Meta::new(),
        }
    }
}

described!(ResourceLink);

optional!(ResourceLink {
    /// Sets its name for people.
    title: String,
    /// Sets what it is.
    description: String,
    /// Sets its media type.
    mime_type: String,
    /// Sets its size in bytes.
    size: u64,
    /// Sets hints on it.
    annotations: Annotations,
});

impl From<ResourceLink> for Content {
    fn from(link: ResourceLink) -> Self {
        Self::ResourceLink(link)
    }
}

/// What a resource holds: text, or bytes in Base64 (RES-06).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourceContents {
    /// Where it is.
    pub uri: String,
    /// Its media type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The text, for text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The bytes in Base64, for everything else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blob: Option<String>,
    /// `_meta`.
    #[serde(rename = "_meta", skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl ResourceContents {
    /// Text.
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self { uri: uri.into(), mime_type: None, text: Some(text.into()), blob: None, meta: Meta::new() }
    }

    /// Bytes.
    pub fn blob(uri: impl Into<String>, bytes: impl AsRef<[u8]>) -> Self {
        let blob = Some(STANDARD.encode(bytes));
        Self { uri: uri.into(), mime_type: None, text: None, blob, meta: Meta::new() }
    }
}

optional!(ResourceContents {
    /// Sets its media type.
    mime_type: String,
});
