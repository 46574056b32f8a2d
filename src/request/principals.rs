//! How many requests of one principal run at once, whichever connections they come over.
//!
//! A principal is known by its id. Anonymous callers share nothing, and are not counted: one of them could otherwise refuse
//! all others.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::handler::Principal;
use crate::rules::errors::Refusal;

/// The bounded counts of requests, by principal. There is one for each principal of which any runs.
#[derive(Clone)]
pub(super) struct Principals(Arc<Counted>);

struct Counted {
    limit: usize,
    running: Mutex<HashMap<Box<str>, usize>>,
}

/// One running request of a principal. Dropping it takes it out of the count, and the count away with the last.
pub(super) struct Running {
    principals: Principals,
    principal: Principal,
}

impl Principals {
    pub(super) fn new(limit: usize) -> Self {
        Self(Arc::new(Counted { limit, running: Mutex::default() }))
    }

    /// Counts one more; `None` of an anonymous caller.
    ///
    /// # Errors
    ///
    /// 503 if as many run as may.
    pub(super) fn take(&self, principal: &Principal) -> Result<Option<Running>, Refusal> {
        let Some(id) = principal.id() else { return Ok(None) };
        let mut running = self.lock();
        match running.get_mut(id) {
            Some(count) if *count >= self.0.limit => return Err(Refusal::principal_full()),
            Some(count) => *count += 1,
            None => drop(running.insert(Box::from(id), 1)),
        }
        Ok(Some(Running { principals: self.clone(), principal: principal.clone() }))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Box<str>, usize>> {
        self.0.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let Some(id) = self.principal.id() else { return };
        let mut running = self.principals.lock();
        if let Some(count) = running.get_mut(id) {
            *count -= 1;
            if *count == 0 {
                running.remove(id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d7_a_count_goes_with_its_last_request_and_anonymous_callers_have_none() {
        let principals = Principals::new(2);
        let counted = || principals.lock().len();
        let (alice, bob) = (Principal::new("alice"), Principal::new("bob"));
        let (one, two) = (principals.take(&alice).unwrap(), principals.take(&alice).unwrap());
        assert!(principals.take(&alice).is_err());
        let other = principals.take(&bob).unwrap();
        assert_eq!(counted(), 2);
        drop(one);
        let again = principals.take(&Principal::new("alice")).unwrap();
        assert!(principals.take(&alice).is_err(), "known by its id");
        for held in [two, other, again] {
            assert!(held.is_some());
        }
        assert_eq!(counted(), 0);
        for _ in 0..3 {
            assert!(principals.take(&Principal::anonymous()).unwrap().is_none());
        }
    }
}
