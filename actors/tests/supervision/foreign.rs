//! A tree under a ractor actor that is not of this crate.

use ractor::{Actor, ActorProcessingErr, ActorRef, SupervisionEvent};
use ractor_otp::{ExitReason, Pid, Shutdown, Supervisor, SupervisorOptions};
use tokio::sync::oneshot;

use crate::common::{Do, Log, Probe, book};
use crate::{child, probe};

/// The user's own actor. With `in_order` it ends the tree the right way.
struct Foreign {
    in_order: bool,
}

enum Tell {
    Start(Log, oneshot::Sender<Pid>),
    Wait(oneshot::Receiver<()>),
}

#[cfg(feature = "ractor-cluster")]
impl ractor::Message for Tell {}

#[cfg_attr(feature = "ractor-async-trait", ractor::async_trait)]
impl Actor for Foreign {
    type Msg = Tell;
    type State = Option<Pid>;
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<Tell>, (): ()) -> Result<Option<Pid>, ActorProcessingErr> {
        Ok(None)
    }

    async fn handle(
        &self,
        myself: ActorRef<Tell>,
        message: Tell,
        state: &mut Option<Pid>,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            Tell::Start(log, reply) => {
                let children = vec![probe("a", &log), probe("b", &log)];
                let options = SupervisorOptions::default();
                let root = Supervisor::start(myself.get_cell(), "root", options, children).await?;
                *state = Some(root.pid().clone());
                let _ = reply.send(root.pid().clone());
            }
            Tell::Wait(signal) => drop(signal.await),
        }
        Ok(())
    }

    async fn post_stop(&self, _: ActorRef<Tell>, state: &mut Option<Pid>) -> Result<(), ActorProcessingErr> {
        if let Some(root) = state.as_ref().filter(|_| self.in_order) {
            root.shutdown(Shutdown::Infinity).await;
        }
        Ok(())
    }

    async fn handle_supervisor_evt(
        &self,
        _: ActorRef<Tell>,
        _: SupervisionEvent,
        _: &mut Option<Pid>,
    ) -> Result<(), ActorProcessingErr> {
        Ok(())
    }
}

async fn tree(in_order: bool, log: &Log) -> (ActorRef<Tell>, Pid) {
    let (parent, _) = Actor::spawn(None, Foreign { in_order }, ()).await.unwrap();
    let (reply, started) = oneshot::channel();
    parent.send_message(Tell::Start(log.clone(), reply)).unwrap();
    (parent, started.await.unwrap())
}

#[tokio::test(start_paused = true)]
async fn a_foreign_parent_that_stops_kills_the_tree() {
    let (log, mut book) = book();
    let (parent, root) = tree(false, &log).await;
    assert_eq!(root.parent(), None);
    let children = root.children();
    parent.stop(None);
    assert_eq!(root.join().await, ExitReason::Killed);
    for child in children {
        assert_eq!(child.join().await, ExitReason::Killed);
    }
    let mut lines = book.rest();
    lines.sort();
    assert_eq!(lines, ["a dropped", "a init", "b dropped", "b init"]);
}

#[tokio::test(start_paused = true)]
async fn a_foreign_parent_that_shuts_the_tree_down_in_post_stop_ends_it_in_order() {
    let (log, mut book) = book();
    let (parent, root) = tree(true, &log).await;
    parent.stop(None);
    assert_eq!(root.join().await, ExitReason::Shutdown);
    let wanted =
        ["a init", "b init", "b terminate shutdown", "b dropped", "a terminate shutdown", "a dropped"];
    assert_eq!(book.rest(), wanted);
}

#[tokio::test(start_paused = true)]
async fn a_killed_leaf_drops_its_state_at_once_though_its_parent_is_busy() {
    let (log, mut book) = book();
    let (parent, _) = Actor::spawn(None, Foreign { in_order: false }, ()).await.unwrap();
    let probe = Probe::new("p", &log);
    let leaf = ractor_otp::spawn(parent.get_cell(), "leaf", probe, Default::default()).await.unwrap();
    leaf.address.send(Do::Hang).await.unwrap();
    book.expect(&["p init", "p hangs"]).await;
    let (release, wait) = oneshot::channel();
    parent.send_message(Tell::Wait(wait)).unwrap();
    tokio::task::yield_now().await;
    leaf.pid.kill();
    book.expect(&["interrupted", "p dropped"]).await;
    assert_eq!(leaf.pid.join().await, ExitReason::Killed);
    // The parent has not moved.
    release.send(()).unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_killed_supervisor_lets_its_specifications_go_though_its_parent_is_busy() {
    let (log, mut book) = book();
    let (parent, _) = Actor::spawn(None, Foreign { in_order: false }, ()).await.unwrap();
    let held = crate::common::OnDrop("specification dropped", log);
    let spec = ractor_otp::ChildSpec::new("below", move |parent| {
        let _held = &held;
        async move {
            let options = ractor_otp::DynamicOptions::default();
            Ok(ractor_otp::DynamicSupervisor::start(parent, "below", options).await?.pid().clone())
        }
    });
    let options = SupervisorOptions::default();
    let root = Supervisor::start(parent.get_cell(), "root", options, vec![spec]).await.unwrap();
    let (release, wait) = oneshot::channel();
    parent.send_message(Tell::Wait(wait)).unwrap();
    tokio::task::yield_now().await;
    let below = child(root.pid(), "below");
    root.pid().kill();
    book.expect(&["specification dropped"]).await;
    assert_eq!(below.join().await, ExitReason::Killed);
    release.send(()).unwrap();
}
