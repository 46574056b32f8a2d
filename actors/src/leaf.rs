//! How a leaf lives: its whole life is one call of its ractor actor, `post_start`.
//!
//! The state of the user's process is in that call's future, so that every end, a kill too, drops it in the leaf's own
//! task, at once. ractor would move an actor state into the queue of the parent, and run nothing after a kill.
//!
//! `post_start` rather than `handle`, because ractor tells the parent of a start only after it: that news wakes the
//! parent's task on this worker thread, where it would be stuck for as long as a callback blocks the thread.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use ractor::{Actor, ActorCell, ActorProcessingErr, ActorRef, SupervisionEvent};
use tokio::task::coop::{consume_budget, unconstrained};
use tokio::time::error::Elapsed;
use tokio::time::timeout;

use crate::address::Address;
use crate::block::{Block, Mark, lock};
use crate::contain::{Contained, contain, contained};
use crate::exit::{Crash, CrashKind, ExitReason};
use crate::label::Label;
use crate::mailbox::{Inbox, Letter};
use crate::me::Me;
use crate::parent::{Parent, StartError};
use crate::pid::{Finish, Pid};
use crate::process::{Next, Process, SpawnOptions};

/// A leaf that is registered under its parent and does not run yet. Dropped, it never does.
pub(crate) struct Unborn {
    leaf: Leaf,
    parent: Option<ActorCell>,
}

/// Makes a leaf. No future holds the process on the way into its box: it may be large, and is moved once.
pub(crate) fn prepare<P: Process>(
    parent: Parent,
    label: Label,
    make: impl FnOnce(&Me<P::Message>) -> P,
    options: SpawnOptions,
) -> Result<(Address<P::Message>, Unborn), StartError> {
    let (parent, cell) = parent.resolve()?;
    let address = Address::new(label, parent, options.mailbox);
    let pid = address.pid();
    if let Some(parent) = &pid.block().parent {
        parent.block().adopt(pid.clone())?;
    }
    // First, so that the parent forgets the child if making the process panics.
    let finish = Finish(pid.clone());
    let me = Me::new(address.clone());
    let mut life = Life { process: Contained::new(make(&me)), me, options, finish };
    let leaf = Leaf { life: Mutex::new(Some(Box::pin(async move { life.live().await }))), pid };
    Ok((address, Unborn { leaf, parent: cell }))
}

impl Unborn {
    /// Starts the leaf. Its init runs later, in its own task.
    ///
    /// ractor's start waits for `pre_start` alone, which here returns at once. So it is done when it is polled once, and takes
    /// no room in the future of whoever starts a leaf.
    pub(crate) fn start(self) -> Result<(), StartError> {
        let starting = pin!(unconstrained(async {
            match self.parent {
                Some(parent) => parent.spawn_linked(None, self.leaf, ()).await,
                None => Actor::spawn(None, self.leaf, ()).await,
            }
        }));
        match starting.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(spawned) => spawned.map(drop).map_err(StartError::from_ractor),
            Poll::Pending => Err(StartError::NoProc),
        }
    }
}

/// The ractor actor of a leaf. It is small, and one type for all processes, because ractor moves it about: the life, which
/// is large, stays where it is.
struct Leaf {
    life: Mutex<Option<Pin<Box<dyn Future<Output = ExitReason> + Send>>>>,
    pid: Pid,
}

/// Nobody sends that actor anything: the mailbox of a leaf is ours.
enum Nothing {}

#[cfg(feature = "ractor-cluster")]
impl ractor::Message for Nothing {}

#[cfg_attr(feature = "ractor-async-trait", ractor::async_trait)]
impl Actor for Leaf {
    type Msg = Nothing;
    type State = ();
    type Arguments = ();

    async fn pre_start(&self, myself: ActorRef<Nothing>, (): ()) -> Result<(), ActorProcessingErr> {
        self.pid.block().attach(myself.get_cell());
        Ok(())
    }

    async fn post_start(&self, myself: ActorRef<Nothing>, (): &mut ()) -> Result<(), ActorProcessingErr> {
        let life = lock(&self.life).take();
        let Some(life) = life else { return Ok(()) };
        match life.await {
            ExitReason::Crash(crash) => return Err(Box::new(ExitReason::Crash(crash))),
            ExitReason::Killed => myself.kill(),
            reason => myself.stop(reason.to_ractor()),
        }
        Ok(())
    }

    /// A leaf has no children. Whoever links one to it by hand gets no say in its life.
    async fn handle_supervisor_evt(
        &self,
        _: ActorRef<Nothing>,
        _: SupervisionEvent,
        (): &mut (),
    ) -> Result<(), ActorProcessingErr> {
        Ok(())
    }
}

/// A process and what its life needs. The order of the fields is the order in which a kill drops them: the process first, then
/// the block is completed.
struct Life<P: Process> {
    process: Contained<P>,
    me: Me<P::Message>,
    options: SpawnOptions,
    finish: Finish,
}

/// How a callback that races the exit request came out.
enum Outcome<T> {
    Done(T),
    Interrupted(ExitReason),
    Crashed(Crash),
}

impl<P: Process> Life<P> {
    async fn live(&mut self) -> ExitReason {
        let mut reason = ExitReason::Killed;
        if let Some(process) = self.process.get_mut() {
            reason = run(process, &self.me, self.options).await;
        }
        if let Err(crash) = self.process.discard() {
            reason = first_crash(reason, crash);
        }
        self.finish.0.finish(reason.clone());
        reason
    }
}

/// All callbacks, first to last.
async fn run<P: Process>(process: &mut P, me: &Me<P::Message>, options: SpawnOptions) -> ExitReason {
    let limit = options.long_schedule;
    match race(me, limit, || process.init(me)).await {
        Outcome::Done(Ok(())) => me.block().mark(Mark::Started),
        Outcome::Done(Err(crash)) => return ExitReason::Crash(crash.into_kind(CrashKind::Init)),
        Outcome::Crashed(crash) => return ExitReason::Crash(crash),
        Outcome::Interrupted(reason) => return reason,
    }
    let reason = receive_loop(process, me, limit).await;
    me.block().mark(Mark::Ending);
    me.block().inbox.close();
    if reason == ExitReason::Killed {
        return reason;
    }
    terminate(process, reason, me, options.terminate_within).await
}

async fn receive_loop<P: Process>(process: &mut P, me: &Me<P::Message>, limit: Duration) -> ExitReason {
    let mut next = race(me, limit, || process.handle_continue(me)).await;
    loop {
        match next {
            Outcome::Done(Next::Receive) => {}
            Outcome::Done(Next::Stop(reason)) | Outcome::Interrupted(reason) => return reason,
            Outcome::Crashed(crash) => return ExitReason::Crash(crash),
        }
        // A process whose mailbox never runs dry must let others, and a kill, have their turn.
        consume_budget().await;
        next = match receive(me).await {
            Ok(letter) => {
                let process = &mut *process;
                race(me, limit, move || async move { process.handle(letter.open(), me).await }).await
            }
            Err(reason) => Outcome::Interrupted(reason),
        };
    }
}

/// The next message, or the exit request.
async fn receive<M: Send + 'static>(me: &Me<M>) -> Result<Letter<M>, ExitReason> {
    let block = me.block();
    poll_fn(|cx| {
        block.signal.register(cx.waker());
        match block.must_exit() {
            Some(reason) => Poll::Ready(Err(reason.clone())),
            None => block.inbox.poll_receive(cx).map(Ok),
        }
    })
    .await
}

/// Runs a callback until it is done, it panics, or an exit is requested.
///
/// Panics are caught twice: around the callback, and around the whole, because an interrupted callback is dropped inside
/// and its destructors may panic too. The callback is made in place, since it may be large.
async fn race<M, F>(me: &Me<M>, limit: Duration, callback: impl FnOnce() -> F) -> Outcome<F::Output>
where
    M: Send + 'static,
    F: Future,
{
    let block = me.block();
    if let Some(reason) = block.must_exit() {
        return Outcome::Interrupted(reason.clone());
    }
    let whole = pin!(async {
        let mut callback = pin!(callback());
        poll_fn(|cx| {
            block.signal.register(cx.waker());
            if let Some(reason) = block.must_exit() {
                return Poll::Ready(Outcome::Interrupted(reason.clone()));
            }
            let began = Instant::now();
            let polled = contain(|| callback.as_mut().poll(cx));
            tell_long_schedule(block, began.elapsed(), limit);
            match polled {
                Ok(Poll::Ready(output)) => return Poll::Ready(Outcome::Done(output)),
                Err(crash) => return Poll::Ready(Outcome::Crashed(crash)),
                Ok(Poll::Pending) => {}
            }
            // Asked again: the callback itself may have asked for the exit, or have left `uninterrupted`.
            match block.must_exit() {
                Some(reason) => Poll::Ready(Outcome::Interrupted(reason.clone())),
                None => Poll::Pending,
            }
        })
        .await
    });
    contained(whole).await.unwrap_or_else(Outcome::Crashed)
}

/// A callback that computes or blocks holds up whatever else its thread would run: other processes, timers, keep-alives.
fn tell_long_schedule<Q: ?Sized>(block: &Block<Q>, held: Duration, limit: Duration) {
    if held > limit {
        tracing::warn!(target: "ractor_otp", id = block.id, label = %block.label, ?held,
            "the process held its thread without an await: what computes or blocks belongs on a thread of its own");
    }
}

async fn terminate<P: Process>(
    process: &mut P,
    reason: ExitReason,
    me: &Me<P::Message>,
    limit: Duration,
) -> ExitReason {
    let last = limited(limit, pin!(contained(pin!(async { process.terminate(&reason, me).await })))).await;
    match last {
        Ok(Ok(())) => reason,
        Ok(Err(crash)) => first_crash(reason, crash),
        Err(_) => {
            tracing::error!(target: "ractor_otp", id = me.block().id, label = %me.block().label, ?limit,
                "`terminate` did not end in time: the process is killed");
            ExitReason::Killed
        }
    }
}

/// Awaits a future for so long. Most are done at once and need no timer.
async fn limited<F: Future>(limit: Duration, mut future: Pin<&mut F>) -> Result<F::Output, Elapsed> {
    match poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await {
        Poll::Ready(output) => Ok(output),
        Poll::Pending => timeout(limit, future).await,
    }
}

/// What broke first says more than what broke on the way out.
fn first_crash(reason: ExitReason, later: Crash) -> ExitReason {
    match reason {
        ExitReason::Crash(first) => ExitReason::Crash(first),
        _ => ExitReason::Crash(later),
    }
}
