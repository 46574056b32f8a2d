//! Hints on content and on tools.

use serde::{Deserialize, Serialize};

/// Who said or should read something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Role {
    /// The person.
    User,
    /// The model.
    Assistant,
}

/// Hints on content: for whom, how important, how fresh (DATA-03).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Annotations {
    /// Who should read it; empty means everybody.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub audience: Vec<Role>,
    /// How important it is, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<f64>,
    /// When it was last changed, as ISO 8601.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
}

impl Annotations {
    /// No hint yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a reader.
    #[must_use]
    pub fn audience(mut self, role: Role) -> Self {
        self.audience.push(role);
        self
    }
}

optional!(Annotations {
    /// Sets how important it is, from 0 to 1.
    priority: f64,
    /// Sets when it was last changed, as ISO 8601.
    last_modified: String,
});

/// Hints on a tool. Clients must not trust them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolAnnotations {
    /// A title for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// It changes nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// It may destroy something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// Calling it again with the same arguments changes nothing more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// It reaches beyond the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

impl ToolAnnotations {
    /// No hint yet.
    pub fn new() -> Self {
        Self::default()
    }
}

optional!(ToolAnnotations {
    /// Sets a title for people.
    title: String,
    /// Says whether it changes nothing.
    read_only_hint: bool,
    /// Says whether it may destroy something.
    destructive_hint: bool,
    /// Says whether calling it again changes nothing more.
    idempotent_hint: bool,
    /// Says whether it reaches beyond the server.
    open_world_hint: bool,
});
