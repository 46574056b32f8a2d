//! Dynamic supervisors: any number of temporary children, started from anywhere, never restarted.
//!
//! A child is started in the task of whoever asks, linked under the supervisor and written into its block; the
//! supervisor's own mailbox is not involved, so that nothing queues up behind a slow start. The supervisor itself only
//! takes note of ends, and shuts its children down.

use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ractor::{Actor, ActorProcessingErr, ActorRef, SupervisionEvent};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout, timeout_at};

use crate::block::{Block, Kind, Mark, NoInbox, lock, next_id};
use crate::contain::contained;
use crate::exit::ExitReason;
use crate::label::Label;
use crate::leaf;
use crate::me::Me;
use crate::parent::{Parent, StartError};
use crate::pid::{Finish, Pid};
use crate::process::{Child, Process, SpawnOptions};
use crate::shutdown::KILL_WAIT;
use crate::tasks::Belonging;

/// How a dynamic supervisor works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DynamicOptions {
    /// How many children it may have at a time. Default: no limit.
    pub max_children: Option<usize>,
    /// How long all its children together may take to end when it shuts down; then they are killed. Default 5 s.
    pub shutdown: Duration,
    /// How long its driver may go on after the last child has ended, to bring out what they left. Default: not at all.
    pub linger: Duration,
}

impl Default for DynamicOptions {
    fn default() -> Self {
        Self { max_children: None, shutdown: Duration::from_secs(5), linger: Duration::ZERO }
    }
}

/// A handle on a dynamic supervisor: cheap to clone; the supervisor does not end with it.
///
/// ```
/// use ractor_otp::{DynamicOptions, DynamicSupervisor, ExitReason, Me, Next, Parent, Process, SpawnOptions, Tag};
///
/// /// Answers one request and is done.
/// struct Request;
///
/// impl Process for Request {
///     type Message = tokio::sync::oneshot::Sender<&'static str>;
///
///     async fn handle(&mut self, reply: Self::Message, _: &Me<Self::Message>) -> Next {
///         let _ = reply.send("pong");
///         Next::Stop(Tag::REPLY.into())
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let options = DynamicOptions { max_children: Some(100), ..DynamicOptions::default() };
/// let requests = DynamicSupervisor::start(Parent::none(), "requests", options).await?;
/// let request = requests.start_child("request", Request, SpawnOptions::default())?;
/// let (reply, answer) = tokio::sync::oneshot::channel();
/// request.address.send(reply).await?;
/// assert_eq!(answer.await?, "pong");
/// assert_eq!(request.pid.join().await, ExitReason::ShutdownWith(Tag::REPLY));
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct DynamicSupervisor {
    pid: Pid,
    driver: Arc<Mutex<Driver>>,
}

impl DynamicSupervisor {
    /// Starts a dynamic supervisor.
    ///
    /// # Errors
    ///
    /// When the parent takes no children or has ended.
    pub async fn start(
        parent: impl Into<Parent>,
        label: impl Into<Label>,
        options: DynamicOptions,
    ) -> Result<Self, StartError> {
        launch(parent.into(), label.into(), options).await
    }

    /// Starts a leaf under this supervisor. Its init runs in its own task; [`Pid::started`] waits for it.
    ///
    /// # Errors
    ///
    /// When the supervisor is full, draining or has ended.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn start_child<P: Process>(
        &self,
        label: impl Into<Label>,
        process: P,
        options: SpawnOptions,
    ) -> Result<Child<P::Message>, StartError> {
        self.start_child_with(label, |_| process, options)
    }

    /// As [`start_child`](Self::start_child), for a process that holds its own handle, or its pid, from the beginning: an exit
    /// may be requested before its init runs, which then never does.
    ///
    /// # Errors
    ///
    /// When the supervisor is full, draining or has ended.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime, and when `make` does.
    pub fn start_child_with<P: Process>(
        &self,
        label: impl Into<Label>,
        make: impl FnOnce(&Me<P::Message>) -> P,
        options: SpawnOptions,
    ) -> Result<Child<P::Message>, StartError> {
        let (address, leaf) = leaf::prepare((&self.pid).into(), label.into(), make, options)?;
        leaf.start()?;
        Ok(Child { pid: address.pid(), address })
    }

    /// Starts a dynamic supervisor under this one.
    ///
    /// # Errors
    ///
    /// When this supervisor is full, draining or has ended.
    pub async fn start_supervisor(
        &self,
        label: impl Into<Label>,
        options: DynamicOptions,
    ) -> Result<DynamicSupervisor, StartError> {
        launch((&self.pid).into(), label.into(), options).await
    }

    /// The supervisor's process.
    pub fn pid(&self) -> &Pid {
        &self.pid
    }

    /// How many children it has.
    pub fn count(&self) -> usize {
        lock(&self.pid.block().children).list.len()
    }

    /// Refuses new children from now on; those there go on.
    pub fn drain(&self) {
        self.pid.block().close_to_children();
    }

    /// Waits until it has no child. Without [`drain`](Self::drain) there may be one again a moment later.
    pub async fn empty(&self) {
        let block = self.pid.block();
        block.child_news.until(|| lock(&block.children).list.is_empty().then_some(())).await;
    }

    /// Sets what trees show behind the label.
    pub fn describe(&self, detail: impl Into<Label>) {
        *lock(&self.pid.block().detail) = Some(detail.into());
    }

    /// Gives the supervisor its reason to live: a future that runs in a task of its own.
    ///
    /// When the future ends, the supervisor asks all children to exit with `on_end`, gives them the time of
    /// [`DynamicOptions::shutdown`], kills the rest and ends: normally, or with a crash if the future panicked. When
    /// the supervisor is shut down otherwise, the future is dropped after the last child; when it is killed, at once.
    ///
    /// # Errors
    ///
    /// When the supervisor has ended or has a driver.
    pub fn drive(
        &self,
        future: impl Future<Output = ()> + Send + 'static,
        on_end: ExitReason,
    ) -> Result<(), StartError> {
        let mut driver = lock(&self.driver);
        if driver.on_end.is_some() {
            return Err(StartError::AlreadyStarted("a driver".to_owned()));
        }
        if self.pid.block().is(Mark::Ending) || !self.pid.is_alive() {
            return Err(StartError::NoProc);
        }
        driver.on_end = Some(on_end);
        drop(driver);
        let pid = self.pid.clone();
        let state = Arc::clone(&self.driver);
        let task = tokio::spawn(async move {
            let end = contained(pin!(future)).await;
            lock(&state).ended = true;
            pid.exit(end.map_or_else(ExitReason::Crash, |()| ExitReason::Normal));
        });
        // The block aborts the task at the supervisor's end, however that comes.
        let owned = Belonging::Task(task.abort_handle());
        if !lock(&self.pid.block().owned).insert(next_id(), owned) {
            task.abort();
        }
        lock(&self.driver).task = Some(task);
        Ok(())
    }
}

impl From<&DynamicSupervisor> for Parent {
    fn from(supervisor: &DynamicSupervisor) -> Self {
        (&supervisor.pid).into()
    }
}

impl fmt::Debug for DynamicSupervisor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DynamicSupervisor({})", self.pid)
    }
}

/// The task that the supervisor lives for.
#[derive(Default)]
struct Driver {
    task: Option<JoinHandle<()>>,
    on_end: Option<ExitReason>,
    ended: bool,
}

impl Driver {
    /// What the children are told: why the driver's end ends them, or that the supervisor was ordered to end.
    fn farewell(&self) -> ExitReason {
        self.on_end.clone().filter(|_| self.ended).unwrap_or(ExitReason::Shutdown)
    }
}

async fn launch(
    parent: Parent,
    label: Label,
    options: DynamicOptions,
) -> Result<DynamicSupervisor, StartError> {
    let (parent, cell) = parent.resolve()?;
    let pid = Pid::new(Block::new(Kind::Supervisor, label, parent, NoInbox));
    lock(&pid.block().children).max = options.max_children;
    if let Some(parent) = &pid.block().parent {
        parent.block().adopt(pid.clone())?;
    }
    let driver = Arc::new(Mutex::new(Driver::default()));
    let handle = DynamicSupervisor { pid: pid.clone(), driver: Arc::clone(&driver) };
    let actor = DynamicActor { options, driver, finish: Finish(pid) };
    let spawned = match cell {
        Some(cell) => cell.spawn_linked(None, actor, ()).await,
        None => Actor::spawn(None, actor, ()).await,
    };
    spawned.map(|_| handle).map_err(StartError::from_ractor)
}

/// The ractor actor of a dynamic supervisor.
struct DynamicActor {
    options: DynamicOptions,
    driver: Arc<Mutex<Driver>>,
    finish: Finish,
}

/// Nobody sends a dynamic supervisor anything.
enum Nothing {}

#[cfg(feature = "ractor-cluster")]
impl ractor::Message for Nothing {}

#[cfg_attr(feature = "ractor-async-trait", ractor::async_trait)]
impl Actor for DynamicActor {
    type Msg = Nothing;
    type State = ();
    type Arguments = ();

    async fn pre_start(&self, myself: ActorRef<Nothing>, (): ()) -> Result<(), ActorProcessingErr> {
        let pid = &self.finish.0;
        pid.block().attach(myself.get_cell());
        if pid.block().request.get().is_some() {
            // Asked before the cell was there: nobody has stopped the actor yet.
            pid.stop_actor();
        }
        pid.block().mark(Mark::Started);
        Ok(())
    }

    async fn post_stop(&self, _: ActorRef<Nothing>, (): &mut ()) -> Result<(), ActorProcessingErr> {
        let pid = &self.finish.0;
        pid.block().mark(Mark::Ending);
        pid.block().close_to_children();
        let farewell = lock(&self.driver).farewell();
        self.end_children(&farewell).await;
        self.end_driver().await;
        let reason = pid.exit_requested().unwrap_or(ExitReason::Shutdown);
        pid.finish(reason.clone());
        if reason.is_clean() { Ok(()) } else { Err(Box::new(reason)) }
    }

    /// The children keep the list themselves, and their ends never count.
    async fn handle_supervisor_evt(
        &self,
        _: ActorRef<Nothing>,
        _: SupervisionEvent,
        (): &mut (),
    ) -> Result<(), ActorProcessingErr> {
        Ok(())
    }
}

impl DynamicActor {
    /// Asks all children to exit, gives them one deadline, kills the rest, and waits for those a little.
    async fn end_children(&self, reason: &ExitReason) {
        let pid = &self.finish.0;
        let deadline = Instant::now() + self.options.shutdown;
        let children = pid.children();
        for child in &children {
            child.exit(reason.clone());
        }
        let overdue = timeout_at(deadline, join_all(&children)).await.is_err();
        if !overdue {
            return;
        }
        let left: Vec<Pid> = children.into_iter().filter(Pid::is_alive).collect();
        let (id, label, limit) = (pid.id(), pid.label(), self.options.shutdown);
        tracing::error!(target: "ractor_otp", id, %label, children = left.len(), ?limit,
            "children did not end in time and are killed");
        left.iter().for_each(Pid::kill);
        let _ = timeout(KILL_WAIT, join_all(&left)).await;
        for child in left.iter().filter(|child| child.is_alive()) {
            child.leave_as_zombie();
        }
    }

    async fn end_driver(&self) {
        let task = lock(&self.driver).task.take();
        let Some(mut task) = task else { return };
        if timeout(self.options.linger, &mut task).await.is_ok() {
            return;
        }
        task.abort();
        // Its future is the supervisor's state: it is dropped before the supervisor has ended, unless it is stuck.
        let _ = timeout(KILL_WAIT, task).await;
    }
}

async fn join_all(children: &[Pid]) {
    for child in children {
        child.join().await;
    }
}
