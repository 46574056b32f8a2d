//! Under whom a process starts, and why it may not start.

use ractor::{ActorCell, SpawnErr};

use crate::block::{Kind, lock};
use crate::exit::ExitReason;
use crate::pid::Pid;

/// Under whom a process starts.
#[derive(Clone, Debug)]
pub struct Parent(Under);

#[derive(Clone, Debug)]
enum Under {
    Nobody,
    Pid(Pid),
    Cell(ActorCell),
}

impl Parent {
    /// Nobody: the process is the root of a tree and ends only by itself, by a request or with the runtime.
    pub const fn none() -> Self {
        Self(Under::Nobody)
    }

    /// The parent's pid, if it is one of ours, and the ractor cell to link under.
    pub(crate) fn resolve(self) -> Result<(Option<Pid>, Option<ActorCell>), StartError> {
        match self.0 {
            Under::Nobody => Ok((None, None)),
            Under::Cell(cell) => Ok((None, Some(cell))),
            Under::Pid(pid) if pid.block().kind == Kind::Leaf => Err(StartError::NotASupervisor),
            Under::Pid(pid) => {
                let cell = lock(&pid.block().cell).clone().ok_or(StartError::NoProc)?;
                Ok((Some(pid), Some(cell)))
            }
        }
    }
}

impl From<Pid> for Parent {
    fn from(pid: Pid) -> Self {
        Self(Under::Pid(pid))
    }
}

impl From<&Pid> for Parent {
    fn from(pid: &Pid) -> Self {
        Self(Under::Pid(pid.clone()))
    }
}

/// A ractor actor that is not of this crate. When it stops, for whatever reason, ractor kills everything under it; to
/// end a tree in order, await [`Pid::shutdown`] in that actor's `post_stop`. It must also override
/// `handle_supervisor_evt`: ractor's default stops an actor when a child of it ends.
impl From<ActorCell> for Parent {
    fn from(cell: ActorCell) -> Self {
        Self(Under::Cell(cell))
    }
}

/// Why a process did not start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The supervisor has as many children as it may have.
    #[error(
        "the supervisor is full: it has {max} children, its limit; wait until one ends or raise `max_children`"
    )]
    Full {
        /// The limit.
        max: usize,
    },
    /// The supervisor takes no new children: it drains or shuts down.
    #[error("the supervisor takes no new children: it is draining or shutting down")]
    Draining,
    /// There is no such process any more.
    #[error("the process has ended; start another one and use its pid")]
    NoProc,
    /// The parent is a leaf, and only supervisors have children.
    #[error("the parent is a leaf process, and only supervisors have children; start a supervisor beside it")]
    NotASupervisor,
    /// The supervisor has a child with this id, or a driver.
    #[error("the supervisor already has `{0}`; end it first or choose another id")]
    AlreadyStarted(String),
    /// A start function returned a process that is not a child of the supervisor it was called for.
    #[error("the start function of `{0}` returned a process of another parent; start it under the given pid")]
    NotAChild(String),
    /// The process ended before its init was done.
    #[error("`{label}` did not start: {reason}")]
    Failed {
        /// What was to start.
        label: String,
        /// Why its start ended.
        reason: ExitReason,
    },
}

impl StartError {
    pub(crate) fn failed(label: &impl ToString, reason: impl Into<ExitReason>) -> Self {
        Self::Failed { label: label.to_string(), reason: reason.into() }
    }

    /// ractor wraps our own errors; what it adds itself says that the parent is on its way out.
    pub(crate) fn from_ractor(error: SpawnErr) -> Self {
        match error {
            SpawnErr::StartupFailed(inner) => match inner.downcast::<StartError>() {
                Ok(ours) => *ours,
                Err(_) => Self::Draining,
            },
            _ => Self::Draining,
        }
    }
}
