//! Who sees and who may use what a suite offers: scopes, predicates, and the one place where both are asked.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use ractor_otp::Crash;

use crate::handler::{Principal, RpcError};
use crate::rules::challenge::is_scope;

/// Something that a suite offers, as [`Suite::visible`](super::Suite::visible) is asked about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Item<'a> {
    /// A tool, by its name.
    Tool(&'a str),
    /// A prompt, by its name; those of repositories too.
    Prompt(&'a str),
    /// A resource, by its URI; those of repositories too.
    Resource(&'a str),
    /// A family of resources, by its URI template. Where it is hidden, so are all its resources.
    ResourceTemplate(&'a str),
}

/// The predicate of a whole suite.
pub(super) type Visible = dyn Fn(&Principal, Item<'_>) -> bool + Send + Sync;

/// The predicate of one thing.
type VisibleTo = dyn Fn(&Principal) -> bool + Send + Sync;

/// What a registration says of who sees a thing and what its use needs.
#[derive(Clone, Default)]
pub(super) struct Access {
    scopes: Vec<String>,
    visible: Option<Arc<VisibleTo>>,
}

impl Access {
    /// What a repository says: visible to all, for callers with its scope.
    pub(super) fn of_repo(scope: Option<String>) -> Self {
        Self { scopes: scope.into_iter().collect(), visible: None }
    }

    pub(super) fn need(&mut self, scope: String) {
        if !self.scopes.contains(&scope) {
            self.scopes.push(scope);
        }
    }

    pub(super) fn show_to(&mut self, visible: impl Fn(&Principal) -> bool + Send + Sync + 'static) {
        self.visible = Some(Arc::new(visible));
    }

    pub(super) fn scopes(&self) -> impl Iterator<Item = &str> {
        self.scopes.iter().map(String::as_str)
    }

    /// Whether not everyone sees it.
    pub(super) fn hides(&self) -> bool {
        self.visible.is_some()
    }

    /// Whether not everyone may use it.
    pub(super) fn restricts(&self) -> bool {
        self.hides() || !self.scopes.is_empty()
    }

    pub(super) fn allows(&self, principal: &Principal) -> bool {
        self.scopes.iter().all(|scope| principal.has_scope(scope))
    }

    /// Refuses a caller that lacks a scope (AUTH-17). Comes before anything of the thing itself runs.
    ///
    /// # Errors
    ///
    /// [`RpcError::insufficient_scope`] with all scopes that are needed.
    pub(super) fn check(&self, principal: &Principal) -> Result<(), RpcError> {
        if self.allows(principal) { Ok(()) } else { Err(RpcError::insufficient_scope(&self.scopes)) }
    }

    /// What is wrong with the scopes: a challenge could not name them (RFC 6749, section 3.3).
    pub(super) fn faults(&self) -> impl Iterator<Item = String> {
        self.scopes.iter().filter(|scope| !is_scope(scope)).map(|scope| {
            format!(
                "its scope `{}` is not one word of visible ASCII; `notes:read` would do",
                scope.escape_debug()
            )
        })
    }
}

/// The eyes of one caller.
#[derive(Clone, Copy)]
pub(super) struct Sight<'a> {
    pub(super) principal: &'a Principal,
    pub(super) visible: Option<&'a Visible>,
}

impl Sight<'_> {
    /// Whether the caller sees a thing. A predicate that panics hides it: who must not see it does not.
    pub(super) fn sees(self, item: Item<'_>, access: &Access) -> bool {
        let asked = |predicate: &dyn Fn() -> bool| {
            catch_unwind(AssertUnwindSafe(predicate)).unwrap_or_else(|payload| {
                let crash = Crash::from_panic(payload);
                tracing::error!(target: "ractor_mcp", ?item, %crash, "a predicate of visibility panicked: it hides");
                false
            })
        };
        access.visible.as_ref().is_none_or(|visible| asked(&|| visible(self.principal)))
            && self.visible.is_none_or(|visible| asked(&|| visible(self.principal, item)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_scopes_are_needed_and_nobody_has_none() {
        let mut access = Access::of_repo(Some("a".into()));
        assert!(!access.allows(&Principal::anonymous()));
        assert!(access.allows(&Principal::new("x").with_scopes(["a"])));
        access.need("b".into());
        access.need("a".into());
        let lacks = access.check(&Principal::new("x").with_scopes(["a"])).unwrap_err();
        assert_eq!(lacks.lacks(), ["a", "b"], "all that are needed, once");
        assert!(Access::default().allows(&Principal::anonymous()));
    }

    #[test]
    fn a_scope_that_no_challenge_could_name_is_a_fault() {
        for scope in ["", "two words", "quo\"te", "back\\slash", "é", "\n"] {
            assert_eq!(Access::of_repo(Some(scope.into())).faults().count(), 1, "{scope:?}");
        }
        assert_eq!(Access::of_repo(Some("notes:read/own".into())).faults().count(), 0);
    }

    #[test]
    fn both_predicates_must_agree_and_a_panic_hides() {
        let alice = Principal::new("alice");
        let mut access = Access::default();
        access.show_to(|caller| caller.id() == Some("alice"));
        let sees = |visible: &Visible| {
            Sight { principal: &alice, visible: Some(visible) }.sees(Item::Tool("a"), &access)
        };
        assert!(sees(&|_, item| item == Item::Tool("a")));
        assert!(!sees(&|_, item| item == Item::Prompt("a")));
        assert!(!sees(&|_, _| panic!("in a predicate")));
        let bob = Principal::new("bob");
        assert!(!Sight { principal: &bob, visible: None }.sees(Item::Tool("a"), &access));
    }
}
