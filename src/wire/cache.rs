//! How long, and for whom, a result may be kept (CACHE-01 to CACHE-03).

use serde::Serialize;

/// The caching hints of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheHints {
    /// Milliseconds for which the result is fresh; 0 means that it is not kept.
    pub ttl_ms: u64,
    /// Who may be served the kept result.
    pub scope: CacheScope,
}

/// Who may be served a kept result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum CacheScope {
    /// The caller only.
    Private,
    /// Every caller, also through shared caches.
    Public,
}

impl CacheHints {
    /// Kept by nobody: the default of every result.
    pub const NONE: Self = Self { ttl_ms: 0, scope: CacheScope::Private };

    /// For the caller only.
    pub fn private(ttl: std::time::Duration) -> Self {
        Self { ttl_ms: millis(ttl), scope: CacheScope::Private }
    }

    /// For every caller.
    pub fn public(ttl: std::time::Duration) -> Self {
        Self { ttl_ms: millis(ttl), scope: CacheScope::Public }
    }
}

impl Default for CacheHints {
    fn default() -> Self {
        Self::NONE
    }
}

fn millis(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// The members of a cacheable result: flattened into it by hand, since its type is written, never read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CacheMembers {
    ttl_ms: u64,
    cache_scope: CacheScope,
}

impl From<CacheHints> for CacheMembers {
    fn from(hints: CacheHints) -> Self {
        Self { ttl_ms: hints.ttl_ms, cache_scope: hints.scope }
    }
}

/// Serializes hints in place of a field, for `#[serde(flatten, serialize_with)]`.
pub(super) fn flat<S: serde::Serializer>(hints: &CacheHints, serializer: S) -> Result<S::Ok, S::Error> {
    CacheMembers::from(*hints).serialize(serializer)
}
