//! What a supervisor knows about a child: how to start it, when to start it again, how to end it.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use crate::label::Label;
use crate::leaf;
use crate::parent::StartError;
use crate::pid::Pid;
use crate::process::{Process, SpawnOptions};
use crate::shutdown::Shutdown;

/// How a leaf is ended unless its specification says otherwise.
pub(crate) const LEAF_SHUTDOWN: Shutdown = Shutdown::After(Duration::from_secs(5));

/// A boxed future, as start functions return it.
pub type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Starts a child under the supervisor whose pid it gets, and returns once the child is up.
pub type StartFn = Arc<dyn Fn(Pid) -> BoxFuture<Result<Pid, StartError>> + Send + Sync>;

/// When a child that has ended is started again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restart {
    /// Always.
    Permanent,
    /// When it was killed or crashed. After a clean end its specification stays, without a process.
    Transient,
    /// Never. Its end counts for nothing, and its specification goes with it.
    Temporary,
}

/// A child of a [`Supervisor`](crate::Supervisor). Whatever the start function captures, a bound socket for example,
/// outlives the restarts.
#[derive(Clone)]
pub struct ChildSpec {
    /// Unique within the supervisor.
    pub id: Label,
    /// When it is started again. Default [`Restart::Permanent`].
    pub restart: Restart,
    /// How it is ended. Default for a leaf 5 s, for anything else [`Shutdown::Infinity`]: a supervisor needs the time
    /// of all its children, and ends by itself.
    pub shutdown: Shutdown,
    /// Starts it.
    pub start: StartFn,
}

impl ChildSpec {
    /// A child that a function starts: mostly a supervisor. The function must start it under the given pid.
    pub fn new<F, Fut>(id: impl Into<Label>, start: F) -> Self
    where
        F: Fn(Pid) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Pid, StartError>> + Send + 'static,
    {
        Self {
            id: id.into(),
            restart: Restart::Permanent,
            shutdown: Shutdown::Infinity,
            start: Arc::new(move |parent| Box::pin(start(parent))),
        }
    }

    /// A leaf, made anew for each start. It is up when its init is done. Its label is the id.
    pub fn process<P: Process>(id: impl Into<Label>, make: impl Fn() -> P + Send + Sync + 'static) -> Self {
        Self::process_with(id, SpawnOptions::default(), make)
    }

    /// A leaf with options.
    pub fn process_with<P: Process>(
        id: impl Into<Label>,
        options: SpawnOptions,
        make: impl Fn() -> P + Send + Sync + 'static,
    ) -> Self {
        let id = id.into();
        let label = id.clone();
        let start = move |parent: Pid| {
            let process = make();
            let label = label.clone();
            async move {
                let (address, leaf) = leaf::prepare((&parent).into(), label.clone(), |_| process, options)?;
                leaf.start()?;
                let pid = address.pid();
                match pid.started().await {
                    Ok(()) => Ok(pid),
                    Err(reason) => Err(StartError::failed(&label, reason)),
                }
            }
        };
        Self { shutdown: LEAF_SHUTDOWN, ..Self::new(id, start) }
    }

    /// The same child with another restart rule.
    pub fn restart(self, restart: Restart) -> Self {
        Self { restart, ..self }
    }

    /// The same child with another way to end it.
    pub fn shutdown(self, shutdown: Shutdown) -> Self {
        Self { shutdown, ..self }
    }
}

impl fmt::Debug for ChildSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChildSpec")
            .field("id", &self.id)
            .field("restart", &self.restart)
            .field("shutdown", &self.shutdown)
            .finish_non_exhaustive()
    }
}
