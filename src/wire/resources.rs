//! `resources/list`, `resources/templates/list` and `resources/read`.

use serde::Serialize;
use serde_json::{Map, Value};

use super::{Annotations, CacheHints, Complete, Icon, Meta, ResourceContents, cache};

/// What a server says of a resource (RES-05).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Resource {
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
    /// Hints.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Pictures of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<Icon>,
    /// `_meta`.
    #[serde(rename = "_meta", skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl Resource {
    /// A resource by URI and name.
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            name: name.into(),
            title: None,
            description: None,
            mime_type: None,
            size: None,
            annotations: None,
            icons: Vec::new(),
            meta: Meta::new(),
        }
    }
}

described!(Resource);

optional!(Resource {
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

/// A family of resources, by RFC 6570 URI template.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourceTemplate {
    /// The template.
    pub uri_template: String,
    /// Its name for programs.
    pub name: String,
    /// Its name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What its resources are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The media type of all its resources.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Hints.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Pictures of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<Icon>,
    /// `_meta`.
    #[serde(rename = "_meta", skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl ResourceTemplate {
    /// A family by template and name.
    pub fn new(uri_template: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri_template: uri_template.into(),
            name: name.into(),
            title: None,
            description: None,
            mime_type: None,
            annotations: None,
            icons: Vec::new(),
            meta: Meta::new(),
        }
    }
}

described!(ResourceTemplate);

optional!(ResourceTemplate {
    /// Sets its name for people.
    title: String,
    /// Sets what its resources are.
    description: String,
    /// Sets the media type of all its resources.
    mime_type: String,
    /// Sets hints on it.
    annotations: Annotations,
});

/// The parameters of `resources/list`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListResourcesRequest {
    /// Where to go on, from the previous page.
    pub cursor: Option<String>,
}

/// The parameters of `resources/templates/list`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListResourceTemplatesRequest {
    /// Where to go on, from the previous page.
    pub cursor: Option<String>,
}

/// The parameters of `resources/read`.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ReadResourceRequest {
    /// The resource.
    pub uri: String,
    /// Answers to what an earlier round asked, as they came.
    pub input_responses: Option<Map<String, Value>>,
    /// The state that an earlier round gave. Whoever sent it may have made it up (MRTR-09).
    pub request_state: Option<String>,
}

/// One page of the resources.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListResourcesResult {
    result_type: Complete,
    /// The resources.
    pub resources: Vec<Resource>,
    /// Where the next page starts; `None` ends the list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// How long it may be kept.
    #[serde(flatten, serialize_with = "cache::flat")]
    pub cache: CacheHints,
    /// `_meta`; the framework adds who the server is.
    #[serde(rename = "_meta", skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

/// One page of the templates.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListResourceTemplatesResult {
    result_type: Complete,
    /// The templates.
    pub resource_templates: Vec<ResourceTemplate>,
    /// Where the next page starts; `None` ends the list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// How long it may be kept.
    #[serde(flatten, serialize_with = "cache::flat")]
    pub cache: CacheHints,
    /// `_meta`; the framework adds who the server is.
    #[serde(rename = "_meta", skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

/// What a resource holds now.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ReadResourceResult {
    result_type: Complete,
    /// One or more contents (RES-07).
    pub contents: Vec<ResourceContents>,
    /// How long it may be kept.
    #[serde(flatten, serialize_with = "cache::flat")]
    pub cache: CacheHints,
    /// `_meta`; the framework adds who the server is.
    #[serde(rename = "_meta", skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl ListResourcesResult {
    /// One page of resources, the last one.
    pub fn new(resources: Vec<Resource>) -> Self {
        Self {
            result_type: Complete,
            resources,
            next_cursor: None,
            cache: CacheHints::NONE,
            meta: Meta::new(),
        }
    }

    /// Sets how long it may be kept.
    #[must_use]
    pub fn cache(mut self, hints: CacheHints) -> Self {
        self.cache = hints;
        self
    }
}

impl ListResourceTemplatesResult {
    /// One page of templates, the last one.
    pub fn new(resource_templates: Vec<ResourceTemplate>) -> Self {
        let cache = CacheHints::NONE;
        Self { result_type: Complete, resource_templates, next_cursor: None, cache, meta: Meta::new() }
    }

    /// Sets how long it may be kept.
    #[must_use]
    pub fn cache(mut self, hints: CacheHints) -> Self {
        self.cache = hints;
        self
    }
}

impl ReadResourceResult {
    /// What a resource holds.
    pub fn new(contents: Vec<ResourceContents>) -> Self {
        Self { result_type: Complete, contents, cache: CacheHints::NONE, meta: Meta::new() }
    }

    /// Sets how long it may be kept.
    #[must_use]
    pub fn cache(mut self, hints: CacheHints) -> Self {
        self.cache = hints;
        self
    }
}

optional!(ListResourcesResult {
    /// Sets where the next page starts.
    next_cursor: String,
});

optional!(ListResourceTemplatesResult {
    /// Sets where the next page starts.
    next_cursor: String,
});
