//! How long a list may be kept that several providers fill (CACHE-04, CACHE-07, CACHE-10).

use crate::wire::{CacheHints, CacheScope};

/// The hints of a list, the same on all of its pages: public only if all that fills it is, and fresh as long as the
/// shortest-lived part. `None` if nothing fills it.
pub(super) fn combined(parts: impl IntoIterator<Item = CacheHints>) -> Option<CacheHints> {
    parts.into_iter().reduce(|one, other| {
        let is_public = one.scope == CacheScope::Public && other.scope == CacheScope::Public;
        CacheHints {
            ttl_ms: one.ttl_ms.min(other.ttl_ms),
            scope: if is_public { CacheScope::Public } else { CacheScope::Private },
        }
    })
}

/// The same for one caller only.
pub(super) fn private(hints: CacheHints) -> CacheHints {
    CacheHints { scope: CacheScope::Private, ..hints }
}

/// What is wrong with the hints of a repository (O6).
pub(super) fn fault(hints: CacheHints, depends_on_caller: bool) -> Option<String> {
    let leaks = hints.scope == CacheScope::Public && depends_on_caller;
    leaks.then(|| {
        "its cache hints are public although what it gives may depend on the caller, so that caches would serve it to \
         others; private hints would do, or `depends_on_caller` that returns false"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn cache_04_a_list_is_as_public_and_as_fresh_as_its_least_part() {
        let public = CacheHints::public(Duration::from_secs(60));
        let private = CacheHints::private(Duration::from_secs(5));
        assert_eq!(combined([public, public]), Some(public));
        assert_eq!(combined([public, private]), Some(private));
        assert_eq!(combined([public, CacheHints::NONE]), Some(CacheHints::NONE));
        assert_eq!(combined([]), None);
    }

    #[test]
    fn o6_public_is_for_what_does_not_depend_on_the_caller() {
        let public = CacheHints::public(Duration::from_secs(60));
        assert!(fault(public, true).is_some());
        assert!(fault(public, false).is_none());
        assert!(fault(CacheHints::private(Duration::MAX), true).is_none());
    }
}
