//! Static supervisors: a list of children, started in order, restarted by a strategy, ended in reverse order.

mod actor;
mod intensity;
mod team;

use std::fmt;

use ractor::Actor;
use tokio::sync::oneshot;

use crate::block::{Block, Kind, NoInbox};
use crate::child_spec::ChildSpec;
use crate::label::Label;
use crate::parent::{Parent, StartError};
use crate::pid::Pid;
use crate::shutdown::Ended;
use actor::{Order, SupervisorActor};

pub use intensity::Intensity;

/// Which children are started again when one of them has to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// That one.
    #[default]
    OneForOne,
    /// All.
    OneForAll,
    /// That one and those started after it.
    RestForOne,
}

/// How a supervisor works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SupervisorOptions {
    /// Which children are restarted together. Default one for one.
    pub strategy: Strategy,
    /// How many restarts are too many. Default 3 in 5 s; one more ends the supervisor.
    pub intensity: Intensity,
}

/// A handle on a supervisor: cheap to clone; the supervisor does not end with it.
///
/// When the restarts become too many, the supervisor ends its children in reverse order and itself with a crash that
/// says which child was to blame, so that its own supervisor restarts it, or its [`Pid::join`] tells.
///
/// ```
/// use ractor_otp::{
///     ChildSpec, Ended, ExitReason, Me, Next, Parent, Process, Restart, Shutdown, Supervisor, SupervisorOptions,
/// };
///
/// struct Worker;
///
/// impl Process for Worker {
///     type Message = String;
///
///     async fn handle(&mut self, _: String, _: &Me<String>) -> Next {
///         Next::Receive
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), ractor_otp::StartError> {
/// let children = vec![
///     ChildSpec::process("first", || Worker),
///     ChildSpec::process("second", || Worker).restart(Restart::Transient),
/// ];
/// let root = Supervisor::start(Parent::none(), "root", SupervisorOptions::default(), children).await?;
/// root.start_child(ChildSpec::process("third", || Worker)).await?;
/// assert_eq!(root.pid().tree().to_string(), "root\n├─ first\n├─ second\n└─ third");
/// let ended = root.pid().shutdown(Shutdown::Infinity).await;
/// assert_eq!(ended, Ended::Exited(ExitReason::Shutdown));
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Supervisor {
    pid: Pid,
}

impl Supervisor {
    /// Starts a supervisor and its children, in order; returns when all are up.
    ///
    /// # Errors
    ///
    /// When the parent takes no children, an id appears twice, or a child does not start; those that did are ended
    /// then, in reverse order.
    pub async fn start(
        parent: impl Into<Parent>,
        label: impl Into<Label>,
        options: SupervisorOptions,
        children: Vec<ChildSpec>,
    ) -> Result<Self, StartError> {
        let (parent, cell) = parent.into().resolve()?;
        let pid = Pid::new(Block::new(Kind::Supervisor, label.into(), parent, NoInbox));
        if let Some(parent) = &pid.block().parent {
            parent.block().adopt(pid.clone())?;
        }
        let actor = SupervisorActor::new(pid.clone(), options);
        let spawned = match cell {
            Some(cell) => cell.spawn_linked(None, actor, children).await,
            None => Actor::spawn(None, actor, children).await,
        };
        spawned.map(|_| Self { pid }).map_err(StartError::from_ractor)
    }

    /// The supervisor's process.
    pub fn pid(&self) -> &Pid {
        &self.pid
    }

    /// Adds a child at the end of the list and starts it. Never call this from the start of a child of the same
    /// supervisor: each would wait for the other.
    ///
    /// # Errors
    ///
    /// When the id is taken, the child does not start, or the supervisor ends.
    pub async fn start_child(&self, spec: ChildSpec) -> Result<Pid, StartError> {
        let (reply, answer) = oneshot::channel();
        self.order(Order::Start(spec, reply))?;
        answer.await.map_err(|_| StartError::NoProc)?
    }

    /// Ends a child the way its specification says and removes it from the list; `None` if there is no such child, it
    /// has no process, or the supervisor has ended.
    pub async fn terminate_child(&self, id: impl Into<Label>) -> Option<Ended> {
        let (reply, answer) = oneshot::channel();
        self.order(Order::Terminate(id.into(), reply)).ok()?;
        answer.await.ok().flatten()
    }

    fn order(&self, order: Order) -> Result<(), StartError> {
        let cell = self.pid.cell().ok_or(StartError::NoProc)?;
        cell.send_message(order).map_err(|_| StartError::NoProc)
    }
}

impl From<&Supervisor> for Parent {
    fn from(supervisor: &Supervisor) -> Self {
        (&supervisor.pid).into()
    }
}

impl fmt::Debug for Supervisor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Supervisor({})", self.pid)
    }
}
