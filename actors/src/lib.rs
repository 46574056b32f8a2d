//! OTP on ractor: exit reasons, bounded mailboxes, supervisors, monitors and the process tree.
//!
//! ractor gives a task, a mailbox, a parent, panic capture and kill. This crate makes processes of that:
//!
//! | file | OTP notion |
//! |---|---|
//! | `process.rs` | `gen_server`: the [`Process`] trait, the only one to implement |
//! | `me.rs` | `self()` and what a process does with it: [`Me`] |
//! | `address.rs`, `mailbox.rs` | sending; here mailboxes are bounded and their length is visible |
//! | `pid.rs`, `block.rs` | pid and `process_info`: [`Pid`], readable without asking the process |
//! | `exit.rs` | exit reasons: [`ExitReason`], spelled in one place |
//! | `leaf.rs`, `contain.rs` | how a process lives, is interrupted, and keeps its panics to itself |
//! | `shutdown.rs` | `exit(Pid, shutdown)`, wait, `kill`: [`Pid::shutdown`] |
//! | `monitor.rs` | `monitor`, `DOWN`: [`Me::monitor`] |
//! | `tasks.rs` | `start_timer`, and a process linked to its owner: [`Me::send_after`], [`Me::spawn`] |
//! | `child_spec.rs` | child specifications: [`ChildSpec`] |
//! | `supervisor/` | `supervisor`: [`Supervisor`], strategies, restart intensity |
//! | `dynamic.rs` | `DynamicSupervisor`, `simple_one_for_one`: [`DynamicSupervisor`] |
//! | `parent.rs` | the first argument of `start_link`: [`Parent`], [`StartError`] |
//! | `tree.rs`, `feed.rs` | what `observer` shows: [`Tree`], [`ExitFeed`] |
//! | `testing.rs` | a test kit: [`testing`], [`assert_tree!`] |
//!
//! A smallest process:
//!
//! ```
//! use ractor_otp::{ExitReason, Me, Next, Parent, Process, SpawnOptions, spawn};
//!
//! struct Counter(u32);
//!
//! impl Process for Counter {
//!     type Message = u32;
//!
//!     async fn handle(&mut self, step: u32, me: &Me<u32>) -> Next {
//!         self.0 += step;
//!         me.describe(format!("at {}", self.0));
//!         if self.0 < 10 { Next::Receive } else { Next::Stop(ExitReason::Normal) }
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let counter = spawn(Parent::none(), "counter", Counter(0), SpawnOptions::default()).await?;
//! counter.address.send(4).await?;
//! counter.address.send(6).await?;
//! assert_eq!(counter.pid.join().await, ExitReason::Normal);
//! # Ok(()) }
//! ```
//!
//! # What differs from OTP
//!
//! * **No links and no `trap_exit`.** A child's fate reaches its supervisor, a supervisor's fate its children; everybody
//!   else uses monitors.
//! * **An exit request interrupts.** It goes past the mailbox and drops the running callback at its next await; OTP waits
//!   for the callback of a process that traps exits. [`Me::uninterrupted`] waits. News of *another* process's end comes
//!   through the mailbox, behind what that process sent before.
//! * **`terminate` runs after every end but a kill**, whether or not the process "traps"; after a panic too. It does not
//!   run when `init` did not finish, and it has a time limit.
//! * **Mailboxes are bounded** for messages of users. There is no selective receive.
//! * **A process that blocks its thread cannot be killed.** It is left behind as a zombie, which the tree shows.
//! * **A foreign ractor parent that stops kills its children**, as ractor does it: OTP's `brutal_kill`. End the tree with
//!   [`Pid::shutdown`] in that actor's `post_stop`.
//! * **ractor's raw `stop` on a leaf does nothing until the leaf ends**; use [`Pid::exit`]. On a supervisor it is an
//!   orderly shutdown. ractor's raw `drain` is for no actor in a tree: ractor lets a draining actor outlive its parent.
//! * **A monitor on a dead process tells its real reason**, not `noproc`.
//! * **`terminate_child` also deletes the specification**, and a supervisor that gives up ends with a crash that names
//!   the child, where OTP says `shutdown`.
//! * **Dynamic supervisors restart nothing**: their children are temporary.
//!
//! Panics must unwind: with `panic = "abort"` a panic ends everything. The default panic hook prints each one; this crate
//! installs none. The runtime is tokio, of any flavour, with its time driver on. ractor's features `async-trait` and
//! `cluster` change its traits for a whole build: whoever turns them on turns on `ractor-async-trait` and
//! `ractor-cluster` here.
// What a library must not do; its tests, examples and benches may.
#![warn(unreachable_pub)]
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr
)]

pub mod testing;

mod address;
mod block;
mod child_spec;
mod contain;
mod dynamic;
mod exit;
mod feed;
mod label;
mod leaf;
mod mailbox;
mod me;
mod monitor;
mod news;
mod parent;
mod pid;
mod process;
mod shutdown;
mod supervisor;
mod tasks;
mod tree;

pub use address::Address;
pub use child_spec::{BoxFuture, ChildSpec, Restart, StartFn};
pub use contain::contained;
pub use dynamic::{DynamicOptions, DynamicSupervisor};
pub use exit::{Crash, CrashKind, ExitReason, Tag};
pub use feed::{ExitEvent, ExitFeed, Lagged};
pub use label::Label;
pub use mailbox::{Queue, SendError, TrySendError};
pub use me::Me;
pub use monitor::{Down, MonitorRef};
pub use parent::{Parent, StartError};
pub use pid::Pid;
pub use process::{Child, Next, Process, SpawnOptions, spawn};
pub use shutdown::{Ended, Shutdown};
pub use supervisor::{Intensity, Strategy, Supervisor, SupervisorOptions};
pub use tasks::{TaskHandle, TaskResult, TimerHandle};
pub use tree::{ProcessState, Tree};
