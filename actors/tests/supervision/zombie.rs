//! A leaf that blocks its thread cannot be killed: the rest goes on, and the tree shows it.

use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use ractor_otp::{
    ChildSpec, DynamicOptions, DynamicSupervisor, Ended, ExitReason, Parent, Pid, Shutdown, SpawnOptions,
    Supervisor, SupervisorOptions, assert_tree,
};

use crate::common::{Book, Do, Log, Probe, book};
use crate::{child, probe};

/// A dynamic supervisor with a child that blocks its thread until the sender speaks.
async fn with_stuck_child(parent: impl Into<Parent>, log: &Log, book: &mut Book) -> (Pid, Pid, Sender<()>) {
    let options = DynamicOptions { shutdown: Duration::from_millis(10), ..DynamicOptions::default() };
    let supervisor = DynamicSupervisor::start(parent, "dynamic", options).await.unwrap();
    let probe = Probe::new("stuck", log);
    let stuck = supervisor.start_child("stuck", probe, SpawnOptions::default()).unwrap();
    let (release, signal) = channel();
    stuck.address.send(Do::Block(signal)).await.unwrap();
    book.expect(&["stuck init", "stuck blocks"]).await;
    (supervisor.pid().clone(), stuck.pid, release)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_shutdown_goes_on_without_it_and_the_tree_shows_it_until_it_ends() {
    let (log, mut book) = book();
    let top =
        Supervisor::start(Parent::none(), "top", SupervisorOptions::default(), Vec::new()).await.unwrap();
    let (supervisor, stuck, release) = with_stuck_child(&top, &log, &mut book).await;
    assert_eq!(supervisor.shutdown(Shutdown::Infinity).await, Ended::Exited(ExitReason::Shutdown));
    assert!(stuck.is_alive());
    assert_tree!(top.pid(), "top\n└─ stuck (zombie)");
    release.send(()).unwrap();
    assert_eq!(stuck.join().await, ExitReason::Shutdown);
    assert_tree!(top.pid(), "top");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn the_root_that_leaves_one_behind_still_shows_it() {
    let (log, mut book) = book();
    let (supervisor, stuck, release) = with_stuck_child(Parent::none(), &log, &mut book).await;
    supervisor.exit(ExitReason::Shutdown);
    assert_eq!(supervisor.join().await, ExitReason::Shutdown);
    assert_tree!(supervisor, "dynamic (ended)\n└─ stuck (zombie)");
    release.send(()).unwrap();
    stuck.join().await;
    assert_tree!(supervisor, "dynamic (ended)");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_static_supervisor_goes_on_to_the_next_child() {
    let (log, mut book) = book();
    let (release, signal) = channel();
    let signal = std::sync::Mutex::new(Some(signal));
    let stuck_log = log.clone();
    let stuck = ChildSpec::new("stuck", move |parent| {
        let (probe, signal) = (Probe::new("stuck", &stuck_log), signal.lock().unwrap().take().unwrap());
        async move {
            let child = ractor_otp::spawn(&parent, "stuck", probe, SpawnOptions::default()).await?;
            child.address.send(Do::Block(signal)).await.unwrap();
            Ok(child.pid)
        }
    });
    let stuck = stuck.shutdown(Shutdown::After(Duration::from_millis(10)));
    let children = vec![probe("a", &log), stuck];
    let root =
        Supervisor::start(Parent::none(), "root", SupervisorOptions::default(), children).await.unwrap();
    book.expect(&["a init", "stuck init", "stuck blocks"]).await;
    let stuck = child(root.pid(), "stuck");
    root.pid().exit(ExitReason::Shutdown);
    book.expect(&["a terminate shutdown", "a dropped"]).await;
    assert_eq!(root.pid().join().await, ExitReason::Shutdown);
    assert_tree!(root.pid(), "root (ended)\n└─ stuck (zombie)");
    release.send(()).unwrap();
    stuck.join().await;
}
