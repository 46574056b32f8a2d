//! The leaf process: the one trait to implement.

use std::future::Future;
use std::time::Duration;

use crate::address::Address;
use crate::exit::{Crash, ExitReason};
use crate::label::Label;
use crate::leaf;
use crate::me::Me;
use crate::parent::{Parent, StartError};
use crate::pid::Pid;

/// What a process does after a callback.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// It waits for the next message.
    Receive,
    /// It ends with this reason; `terminate` runs.
    Stop(ExitReason),
}

/// A process with a mailbox and no children: a request, a stream, a worker.
///
/// All callbacks run in the task of the process, one at a time. Each of them except `terminate` is raced against the
/// exit request: when an exit is requested, the callback's future is dropped at its await and `terminate` runs with
/// the state as it is then. [`Me::uninterrupted`] holds an exit off. A kill drops everything at once.
///
/// A panic in a callback, or in a destructor, ends this process with a crash and costs nothing else.
///
/// ractor's raw `stop` does nothing to a leaf while it runs, and its raw status stays `Starting`: end a leaf with
/// [`Pid::exit`] or a kill, and ask its pid.
///
/// ```
/// use ractor_otp::{Crash, ExitReason, Me, Next, Parent, Process, SpawnOptions, spawn};
/// use std::time::Duration;
///
/// /// Closes itself when nothing comes for a while.
/// struct Room {
///     greeted: Vec<String>,
/// }
///
/// enum Message {
///     Greet(String),
///     Idle,
/// }
///
/// impl Process for Room {
///     type Message = Message;
///
///     async fn init(&mut self, me: &Me<Message>) -> Result<(), Crash> {
///         me.send_after(Duration::from_millis(1), Message::Idle);
///         Ok(())
///     }
///
///     async fn handle(&mut self, message: Message, _: &Me<Message>) -> Next {
///         match message {
///             Message::Greet(name) => self.greeted.push(name),
///             Message::Idle => return Next::Stop(ractor_otp::Tag::IDLE.into()),
///         }
///         Next::Receive
///     }
///
///     async fn terminate(&mut self, reason: &ExitReason, _: &Me<Message>) {
///         assert_eq!(reason.to_string(), "shutdown: idle");
///         assert_eq!(self.greeted, ["Joe"]);
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), ractor_otp::StartError> {
/// let room = Room { greeted: Vec::new() };
/// let room = spawn(Parent::none(), "room", room, SpawnOptions::default()).await?;
/// assert!(room.address.send(Message::Greet("Joe".to_owned())).await.is_ok());
/// assert!(room.pid.join().await.is_clean());
/// # Ok(()) }
/// ```
pub trait Process: Sized + Send + 'static {
    /// What the process is sent. It need not be `Sync`, nor a `ractor::Message`.
    type Message: Send + 'static;

    /// Runs first. An error ends the process with a crash; if `init` does not finish, `terminate` does not run.
    fn init(&mut self, me: &Me<Self::Message>) -> impl Future<Output = Result<(), Crash>> + Send {
        let _ = me;
        async { Ok(()) }
    }

    /// Runs once, right after `init`, before the first message. Who waits for the start does not wait for this.
    fn handle_continue(&mut self, me: &Me<Self::Message>) -> impl Future<Output = Next> + Send {
        let _ = me;
        async { Next::Receive }
    }

    /// Runs for each message.
    fn handle(&mut self, message: Self::Message, me: &Me<Self::Message>)
    -> impl Future<Output = Next> + Send;

    /// Runs last: after a stop, an exit request or a panic, not after a kill, and within
    /// [`SpawnOptions::terminate_within`].
    fn terminate(&mut self, reason: &ExitReason, me: &Me<Self::Message>) -> impl Future<Output = ()> + Send {
        let _ = (reason, me);
        async {}
    }
}

/// How a leaf is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpawnOptions {
    /// How many messages wait before a sender has to; at least 1. Default 64.
    pub mailbox: usize,
    /// How long `terminate` may take before the process is killed. Default 5 s.
    pub terminate_within: Duration,
    /// How long a callback may hold its thread from one `.await` to the next before a warning names the process, as
    /// `system_monitor` with `long_schedule` does in OTP. Default 500 ms.
    pub long_schedule: Duration,
}

impl Default for SpawnOptions {
    fn default() -> Self {
        Self {
            mailbox: 64,
            terminate_within: Duration::from_secs(5),
            long_schedule: Duration::from_millis(500),
        }
    }
}

/// A leaf that was started.
pub struct Child<M> {
    /// The process.
    pub pid: Pid,
    /// Where to send messages to it.
    pub address: Address<M>,
}

impl<M> Clone for Child<M> {
    fn clone(&self) -> Self {
        Self { pid: self.pid.clone(), address: self.address.clone() }
    }
}

impl<M> std::fmt::Debug for Child<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Child({})", self.pid)
    }
}

/// Starts a leaf under a parent, or under none. It is not restarted; its init runs in its own task, and
/// [`Pid::started`] waits for it.
///
/// # Errors
///
/// When the parent takes no children or has ended.
pub async fn spawn<P: Process>(
    parent: impl Into<Parent>,
    label: impl Into<Label>,
    process: P,
    options: SpawnOptions,
) -> Result<Child<P::Message>, StartError> {
    let (address, leaf) = leaf::prepare(parent.into(), label.into(), |_| process, options)?;
    leaf.start()?;
    Ok(Child { pid: address.pid(), address })
}
