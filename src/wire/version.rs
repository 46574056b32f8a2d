//! The revisions of the protocol that this crate speaks.

/// The revision of this crate's own types and rules.
pub const PROTOCOL_VERSION: &str = "2026-07-28";

/// All revisions that a server answers, newest first.
pub const SUPPORTED_VERSIONS: &[&str] = &[PROTOCOL_VERSION];
