//! The catalog of a suite as it is now, shared with the handles that change it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use crate::handler::{Misconfigured, Notifier};
use crate::wire::ServerCapabilities;

use super::addition::Addition;
use super::catalog::{Catalog, Kind};

#[derive(Default)]
pub(super) struct Current {
    catalog: RwLock<Arc<Catalog>>,
    /// What the server offers since it was started; it does not change any more.
    capabilities: OnceLock<ServerCapabilities>,
    /// Those of the servers that serve this suite.
    notifiers: Mutex<Vec<Notifier>>,
    has_handle: AtomicBool,
    quiet: AtomicBool,
}

impl Current {
    /// The catalog as it is now. Who holds it sees no later change.
    pub(super) fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.catalog.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes the catalog. The author's code runs neither in here nor, by the drop of what is returned, under the lock.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut Catalog) -> T) -> T {
        let mut catalog = self.catalog.write().unwrap_or_else(PoisonError::into_inner);
        change(Arc::make_mut(&mut catalog))
    }

    /// Adds something while the server may run, and tells it.
    pub(super) fn add(&self, addition: Result<Addition, Vec<String>>) -> Result<(), Misconfigured> {
        let mut addition = match addition {
            Ok(addition) => addition,
            Err(faults) => return Misconfigured::unless_empty(faults),
        };
        // What is refused is dropped out here.
        let (kind, _kept) = (addition.kind(), addition.new.clone());
        self.check(kind).map_err(|fault| Misconfigured::new(format!("{}: {fault}", addition.what)))?;
        let warnings = std::mem::take(&mut addition.warnings);
        self.change(|catalog| catalog.add(addition)).map_err(Misconfigured::new)?;
        if self.warns() {
            for warning in warnings {
                tracing::warn!(target: "ractor_mcp", "{warning}");
            }
        }
        self.tell(kind);
        Ok(())
    }

    /// Removes something while the server may run, and tells it if it was there.
    pub(super) fn remove<T>(&self, kind: Kind, remove: impl FnOnce(&mut Catalog) -> Option<T>) -> bool {
        let removed = self.change(remove).is_some();
        if removed {
            self.tell(kind);
        }
        removed
    }

    /// A kind that the server does not offer cannot be added: its methods are refused before any handler is asked.
    fn check(&self, kind: Kind) -> Result<(), String> {
        match self.capabilities.get() {
            Some(capabilities) if !kind.is_in(capabilities) => Err(format!(
                "the server was started without {kind}, and what it offers does not change while it runs; one of them at \
                 the start, or `Suite::promises` with {kind}, would do",
                kind = kind.name()
            )),
            _ => Ok(()),
        }
    }

    /// Tells the open streams of every server that serves this suite that a list changed.
    fn tell(&self, kind: Kind) {
        let mut notifiers = self.notifiers.lock().unwrap_or_else(PoisonError::into_inner);
        notifiers.retain(|notifier| !notifier.is_closed());
        for notifier in &*notifiers {
            match kind {
                Kind::Tools => notifier.tools_changed(),
                Kind::Resources => notifier.resources_changed(),
                Kind::Prompts => notifier.prompts_changed(),
            };
        }
    }

    pub(super) fn started(&self, notifier: Notifier) {
        self.notifiers.lock().unwrap_or_else(PoisonError::into_inner).push(notifier);
    }

    /// What the server offers from now on; the first start decides.
    pub(super) fn settle(&self, capabilities: impl FnOnce() -> ServerCapabilities) {
        self.capabilities.get_or_init(capabilities);
    }

    /// What the server offers, once it was started.
    pub(super) fn settled(&self) -> Option<&ServerCapabilities> {
        self.capabilities.get()
    }

    pub(super) fn hand_out(&self) {
        self.has_handle.store(true, Ordering::Relaxed);
    }

    /// Whether someone can change it.
    pub(super) fn has_handle(&self) -> bool {
        self.has_handle.load(Ordering::Relaxed)
    }

    pub(super) fn set_warns(&self, on: bool) {
        self.quiet.store(!on, Ordering::Relaxed);
    }

    pub(super) fn warns(&self) -> bool {
        !self.quiet.load(Ordering::Relaxed)
    }
}
