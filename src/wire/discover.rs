//! `server/discover`: what the server is and offers.

use serde::Serialize;

use super::{CacheHints, Complete, Meta, SUPPORTED_VERSIONS, ServerCapabilities, cache};

/// The result of `server/discover` (DISC-01 to DISC-03).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DiscoverResult {
    result_type: Complete,
    /// The revisions that the server answers, newest first.
    pub supported_versions: Vec<String>,
    /// What the server offers to this caller.
    pub capabilities: ServerCapabilities,
    /// How to use the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// How long it may be kept.
    #[serde(flatten, serialize_with = "cache::flat")]
    pub cache: CacheHints,
    /// `_meta`; the framework adds who the server is.
    #[serde(rename = "_meta", skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl DiscoverResult {
    /// A server with these capabilities, in the revisions of this crate.
    pub fn new(capabilities: ServerCapabilities) -> Self {
        Self {
            result_type: Complete,
            supported_versions: SUPPORTED_VERSIONS.iter().map(|version| (*version).to_owned()).collect(),
            capabilities,
            instructions: None,
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

optional!(DiscoverResult {
    /// Sets how to use the server.
    instructions: String,
});
