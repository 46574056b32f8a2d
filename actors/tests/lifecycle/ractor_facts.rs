//! What this crate rests on in ractor. A version that changes one of these fails here first.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ractor::{Actor, ActorCell, ActorProcessingErr, ActorRef, ActorStatus, SpawnErr, SupervisionEvent};
use ractor_otp::ExitReason;
use tokio::sync::oneshot;

use crate::common::{Book, Log, OnDrop, book};

/// A ractor actor that writes down what happens to it.
struct Raw {
    log: Log,
    /// Held up by this in `post_stop`.
    post_stop: Mutex<Option<oneshot::Receiver<()>>>,
    /// Held up by this in `post_start`; an error sent ends the actor with it.
    post_start: Mutex<Option<oneshot::Receiver<Result<(), ExitReason>>>>,
    _value: OnDrop,
}

enum Tell {
    Note(&'static str),
    Wait(oneshot::Receiver<()>),
    Hang,
    Fail,
    Panic,
    /// Report to this actor, then stop.
    LastWord(ActorRef<Tell>),
}

#[cfg(feature = "ractor-cluster")]
impl ractor::Message for Tell {}

impl Raw {
    fn new(log: &Log) -> Self {
        Self {
            log: log.clone(),
            post_stop: Mutex::default(),
            post_start: Mutex::default(),
            _value: OnDrop("value dropped", log.clone()),
        }
    }

    fn with_post_stop(log: &Log) -> (Self, oneshot::Sender<()>) {
        let (go, wait) = oneshot::channel();
        let raw = Self { post_stop: Mutex::new(Some(wait)), ..Self::new(log) };
        (raw, go)
    }

    fn with_post_start(log: &Log) -> (Self, oneshot::Sender<Result<(), ExitReason>>) {
        let (go, wait) = oneshot::channel();
        let raw = Self { post_start: Mutex::new(Some(wait)), ..Self::new(log) };
        (raw, go)
    }

    fn write(&self, line: impl Into<String>) {
        let _ = self.log.send(line.into());
    }
}

#[cfg_attr(feature = "ractor-async-trait", ractor::async_trait)]
impl Actor for Raw {
    type Msg = Tell;
    type State = OnDrop;
    type Arguments = ();

    async fn pre_start(&self, myself: ActorRef<Tell>, (): ()) -> Result<OnDrop, ActorProcessingErr> {
        myself.send_message(Tell::Note("sent in pre_start"))?;
        Ok(OnDrop("state dropped", self.log.clone()))
    }

    async fn post_start(&self, _: ActorRef<Tell>, _: &mut OnDrop) -> Result<(), ActorProcessingErr> {
        let wait = self.post_start.lock().unwrap().take();
        if let Some(wait) = wait {
            self.write("post_start");
            let _cut = OnDrop("post_start over", self.log.clone());
            wait.await.unwrap()?;
        }
        Ok(())
    }

    async fn post_stop(&self, _: ActorRef<Tell>, _: &mut OnDrop) -> Result<(), ActorProcessingErr> {
        self.write("post_stop");
        let wait = self.post_stop.lock().unwrap().take();
        if let Some(wait) = wait {
            let _ = wait.await;
            self.write("post_stop done");
        }
        Ok(())
    }

    async fn handle(
        &self,
        myself: ActorRef<Tell>,
        message: Tell,
        _: &mut OnDrop,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            Tell::Note(text) => self.write(text),
            Tell::Wait(signal) => {
                self.write("waits");
                let _ = signal.await;
            }
            Tell::Hang => {
                self.write("hangs");
                let _cut = OnDrop("interrupted", self.log.clone());
                std::future::pending().await
            }
            Tell::Fail => return Err(Box::new(ExitReason::Killed)),
            Tell::Panic => panic!("raw panic"),
            Tell::LastWord(to) => {
                to.send_message(Tell::Note("the last word"))?;
                myself.stop(None);
            }
        }
        Ok(())
    }

    async fn handle_supervisor_evt(
        &self,
        _: ActorRef<Tell>,
        event: SupervisionEvent,
        _: &mut OnDrop,
    ) -> Result<(), ActorProcessingErr> {
        match event {
            SupervisionEvent::ActorStarted(_) => self.write("started"),
            SupervisionEvent::ActorTerminated(_, state, reason) => {
                self.write(format!("terminated {reason:?}, state: {}", state.is_some()));
            }
            SupervisionEvent::ActorFailed(_, error) => {
                let typed = error.downcast_ref::<ExitReason>().is_some();
                self.write(format!("failed {error}, typed: {typed}"));
            }
            _ => {}
        }
        Ok(())
    }
}

/// A parent and a child of it, each with a book of its own.
async fn family() -> (ActorRef<Tell>, Book, ActorRef<Tell>, Book) {
    let (log, mut parent_book) = book();
    let (parent, _) = Actor::spawn(None, Raw::new(&log), ()).await.unwrap();
    parent_book.expect(&["sent in pre_start"]).await;
    let (log, mut child_book) = book();
    let (child, _) = parent.spawn_linked(None, Raw::new(&log), ()).await.unwrap();
    child_book.expect(&["sent in pre_start"]).await;
    parent_book.expect(&["started"]).await;
    (parent, parent_book, child, child_book)
}

async fn keep_busy(actor: &ActorRef<Tell>, book: &mut Book) -> oneshot::Sender<()> {
    let (release, wait) = oneshot::channel();
    actor.send_message(Tell::Wait(wait)).unwrap();
    book.expect(&["waits"]).await;
    release
}

async fn ended(cell: &ActorCell) {
    cell.wait(Some(Duration::from_secs(30))).await.unwrap();
}

#[tokio::test]
async fn the_supervisor_is_told_every_end_with_these_reasons() {
    type End = fn(&ActorRef<Tell>);
    let ends: [(End, &str); 6] = [
        (|child| child.stop(None), "terminated None, state: true"),
        (|child| child.stop(Some("shutdown".into())), "terminated Some(\"shutdown\"), state: true"),
        (|child| drop(child.drain()), "terminated Some(\"Drained\"), state: true"),
        (|child| child.kill(), "terminated Some(\"killed\"), state: true"),
        (|child| child.send_message(Tell::Fail).unwrap(), "failed killed, typed: true"),
        (|child| child.send_message(Tell::Panic).unwrap(), "failed raw panic, typed: false"),
    ];
    for (end, event) in ends {
        let (_parent, mut parent_book, child, _) = family().await;
        end(&child);
        parent_book.expect(&[event]).await;
    }
}

#[tokio::test]
async fn an_aborted_task_is_reported_as_cancelled_and_the_actor_value_is_dropped() {
    let (parent, mut parent_book, _, _) = family().await;
    let (log, mut child_book) = book();
    let (_child, task) = parent.spawn_linked(None, Raw::new(&log), ()).await.unwrap();
    child_book.expect(&["sent in pre_start"]).await;
    parent_book.expect(&["started"]).await;
    task.abort();
    parent_book.expect(&["terminated Some(\"actor_task_cancelled\"), state: false"]).await;
    let mut dropped = [child_book.next().await, child_book.next().await];
    dropped.sort();
    assert_eq!(dropped, ["state dropped", "value dropped"]);
}

#[tokio::test]
async fn the_first_stop_wins() {
    let (_parent, mut parent_book, child, _) = family().await;
    child.stop(Some("one".into()));
    child.stop(Some("two".into()));
    parent_book.expect(&["terminated Some(\"one\"), state: true"]).await;
}

#[tokio::test]
async fn a_stop_waits_for_the_handler_and_drops_what_is_queued() {
    let (_parent, _, child, mut child_book) = family().await;
    let release = keep_busy(&child, &mut child_book).await;
    child.send_message(Tell::Note("queued")).unwrap();
    child.stop(None);
    tokio::task::yield_now().await;
    assert_eq!(child.get_status(), ActorStatus::Running);
    release.send(()).unwrap();
    child_book.expect(&["post_stop"]).await;
    ended(&child).await;
    assert!(!child_book.rest().contains(&"queued".to_owned()));
}

#[tokio::test]
async fn a_kill_interrupts_the_handler_without_post_stop() {
    let (_parent, _, child, mut child_book) = family().await;
    child.send_message(Tell::Hang).unwrap();
    child_book.expect(&["hangs"]).await;
    child.kill();
    child_book.expect(&["interrupted"]).await;
    ended(&child).await;
    assert!(!child_book.rest().contains(&"post_stop".to_owned()));
}

#[tokio::test]
async fn a_kill_comes_before_a_message_that_waits() {
    let (log, mut book) = book();
    let (actor, _) = Actor::spawn(None, Raw::new(&log), ()).await.unwrap();
    // The message of pre_start waits; the actor's task has not run yet on this one thread.
    actor.kill();
    ended(&actor).await;
    tokio::task::yield_now().await;
    assert!(!book.rest().contains(&"sent in pre_start".to_owned()));
}

#[tokio::test]
async fn when_a_supervisor_stops_its_children_are_killed_and_no_longer_linked() {
    let (parent, _, child, mut child_book) = family().await;
    let supervisor = || child.try_get_supervisor().map(|cell| cell.get_id());
    assert_eq!(supervisor(), Some(parent.get_id()));
    parent.stop(None);
    ended(&child).await;
    assert_eq!(supervisor(), None);
    assert!(!child_book.rest().contains(&"post_stop".to_owned()));
}

#[tokio::test]
async fn in_post_stop_children_are_alive_and_new_ones_refused() {
    let (log, mut parent_book) = book();
    let (raw, go) = Raw::with_post_stop(&log);
    let (parent, _) = Actor::spawn(None, raw, ()).await.unwrap();
    let (log, _child_book) = book();
    let (child, _) = parent.spawn_linked(None, Raw::new(&log), ()).await.unwrap();
    parent_book.expect(&["sent in pre_start"]).await;
    parent.stop(None);
    parent_book.expect(&["started", "post_stop"]).await;
    assert_eq!(child.get_status(), ActorStatus::Running);
    assert_eq!(parent.get_children().len(), 1);
    let late = parent.spawn_linked(None, Raw::new(&log), ()).await;
    let Err(SpawnErr::StartupFailed(refusal)) = late else { panic!("a late child was taken") };
    assert_eq!(refusal.to_string(), "Supervisor is shutting down");
    go.send(()).unwrap();
    ended(&child).await;
}

#[tokio::test]
async fn the_exit_event_overtakes_the_last_message() {
    let (parent, mut parent_book, child, _) = family().await;
    let release = keep_busy(&parent, &mut parent_book).await;
    child.send_message(Tell::LastWord(parent.clone())).unwrap();
    ended(&child).await;
    release.send(()).unwrap();
    parent_book.expect(&["terminated None, state: true", "the last word"]).await;
}

#[tokio::test]
async fn the_state_of_a_dead_child_waits_in_the_queue_of_its_busy_parent_but_its_value_does_not() {
    let (parent, mut parent_book, child, mut child_book) = family().await;
    let release = keep_busy(&parent, &mut parent_book).await;
    child.kill();
    ended(&child).await;
    child_book.expect(&["value dropped"]).await;
    assert_eq!(child_book.rest(), [""; 0]);
    release.send(()).unwrap();
    child_book.expect(&["state dropped"]).await;
}

#[tokio::test]
async fn a_child_in_post_stop_outlives_a_killed_parent() {
    let (parent, _, _, _) = family().await;
    let (log, mut child_book) = book();
    let (raw, go) = Raw::with_post_stop(&log);
    let (child, _) = parent.spawn_linked(None, raw, ()).await.unwrap();
    child_book.expect(&["sent in pre_start"]).await;
    child.stop(None);
    child_book.expect(&["post_stop"]).await;
    parent.kill();
    ended(&parent).await;
    assert_eq!(child.get_status(), ActorStatus::Stopping);
    go.send(()).unwrap();
    child_book.expect(&["post_stop done"]).await;
}

#[tokio::test]
async fn stop_and_wait_after_a_stop_does_not_wait() {
    let (_parent, _, child, mut child_book) = family().await;
    let _release = keep_busy(&child, &mut child_book).await;
    child.stop(None);
    assert!(child.stop_and_wait(None, None).await.is_err());
    assert_eq!(child.get_status(), ActorStatus::Running);
}

#[tokio::test]
async fn the_default_supervision_stops_a_parent_when_a_child_stops() {
    struct Default;
    #[cfg_attr(feature = "ractor-async-trait", ractor::async_trait)]
    impl Actor for Default {
        type Msg = Tell;
        type State = ();
        type Arguments = ();
        async fn pre_start(&self, _: ActorRef<Tell>, (): ()) -> Result<(), ActorProcessingErr> {
            Ok(())
        }
    }
    let (parent, _) = Actor::spawn(None, Default, ()).await.unwrap();
    let (child, _) = parent.spawn_linked(None, Default, ()).await.unwrap();
    child.stop(None);
    ended(&parent).await;
}

#[tokio::test]
async fn pre_start_runs_in_the_task_of_the_spawner_and_a_failure_is_told_to_it_alone() {
    struct Failing(Arc<AtomicUsize>);
    #[cfg_attr(feature = "ractor-async-trait", ractor::async_trait)]
    impl Actor for Failing {
        type Msg = Tell;
        type State = ();
        type Arguments = tokio::task::Id;
        async fn pre_start(
            &self,
            _: ActorRef<Tell>,
            spawner: tokio::task::Id,
        ) -> Result<(), ActorProcessingErr> {
            self.0.fetch_add(usize::from(tokio::task::id() == spawner), Ordering::SeqCst);
            Err(Box::new(ExitReason::Killed))
        }
    }
    let (parent, mut parent_book, _, _) = family().await;
    let in_spawner = Arc::new(AtomicUsize::new(0));
    let actor = Failing(Arc::clone(&in_spawner));
    let cell = parent.get_cell();
    let spawned =
        tokio::spawn(async move { cell.spawn_linked(None, actor, tokio::task::id()).await.map(drop) });
    let Err(SpawnErr::StartupFailed(error)) = spawned.await.unwrap() else { panic!("it started") };
    assert!(error.downcast_ref::<ExitReason>().is_some());
    assert_eq!(in_spawner.load(Ordering::SeqCst), 1);
    assert_eq!(parent_book.rest(), [""; 0]);
}

/// A parent, and a child that is held up in `post_start`.
async fn starting() -> (ActorRef<Tell>, Book, ActorRef<Tell>, Book, oneshot::Sender<Result<(), ExitReason>>) {
    let (parent, parent_book, _, _) = family().await;
    let (log, mut child_book) = book();
    let (raw, go) = Raw::with_post_start(&log);
    let (child, _) = parent.spawn_linked(None, raw, ()).await.unwrap();
    child_book.expect(&["post_start"]).await;
    (parent, parent_book, child, child_book, go)
}

#[tokio::test]
async fn in_post_start_an_actor_is_linked_and_its_parent_is_not_told_of_the_start() {
    let (parent, mut parent_book, child, _, go) = starting().await;
    assert_eq!(child.try_get_supervisor().map(|cell| cell.get_id()), Some(parent.get_id()));
    assert_eq!(child.get_status(), ActorStatus::Starting);
    tokio::task::yield_now().await;
    assert_eq!(parent_book.rest(), [""; 0]);
    go.send(Ok(())).unwrap();
    parent_book.expect(&["started"]).await;
}

#[tokio::test]
async fn a_stop_waits_for_post_start_and_then_wins_over_messages() {
    let (_parent, mut parent_book, child, mut child_book, go) = starting().await;
    child.stop(Some("shutdown: reply".into()));
    tokio::task::yield_now().await;
    assert_eq!(child_book.rest(), [""; 0]);
    go.send(Ok(())).unwrap();
    child_book.expect(&["post_start over", "post_stop"]).await;
    parent_book.expect(&["started", "terminated Some(\"shutdown: reply\"), state: true"]).await;
}

#[tokio::test]
async fn a_kill_interrupts_post_start_and_no_state_is_kept() {
    let (_parent, mut parent_book, child, mut child_book, _go) = starting().await;
    child.kill();
    child_book.expect(&["post_start over"]).await;
    parent_book.expect(&["terminated Some(\"killed\"), state: false"]).await;
    assert!(!child_book.rest().contains(&"post_stop".to_owned()));
}

#[tokio::test]
async fn an_error_of_post_start_reaches_the_parent_typed() {
    let (_parent, mut parent_book, _child, _child_book, go) = starting().await;
    go.send(Err(ExitReason::Shutdown)).unwrap();
    parent_book.expect(&["failed shutdown, typed: true"]).await;
}

#[tokio::test]
async fn a_parent_that_ends_kills_a_child_in_post_start() {
    for end in [|parent: &ActorRef<Tell>| parent.stop(None), |parent: &ActorRef<Tell>| parent.kill()] {
        let (parent, _, child, mut child_book, _go) = starting().await;
        end(&parent);
        child_book.expect(&["post_start over"]).await;
        ended(&child).await;
    }
}
