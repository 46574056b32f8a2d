//! The threads that blocking calls work on. Nobody can end one, so that it may outlive its request and hold up the end of the
//! process.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The blocking calls of one server whose threads work.
#[derive(Clone, Default)]
pub(crate) struct Threads(Arc<Mutex<BTreeMap<u64, String>>>);

/// One of them, until it is dropped.
#[cfg(feature = "suite")]
pub(crate) struct Working {
    threads: Threads,
    request: u64,
}

impl Threads {
    #[cfg(feature = "suite")]
    pub(super) fn work(&self, request: &ractor_otp::Pid) -> Working {
        self.lock().insert(request.id(), request.label().to_string());
        Working { threads: self.clone(), request: request.id() }
    }

    /// The labels of their requests.
    pub(crate) fn labels(&self) -> Vec<String> {
        self.lock().values().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(feature = "suite")]
impl Drop for Working {
    fn drop(&mut self) {
        self.threads.lock().remove(&self.request);
    }
}

impl fmt::Debug for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Threads").field(&self.lock().len()).finish()
    }
}
