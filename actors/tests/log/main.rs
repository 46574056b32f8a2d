//! What is logged: what broke, once; not what merely died with its parent, and not the orderly.
//!
//! A binary of its own, with one subscriber for all of it: `tracing` remembers for the whole process which call sites
//! nobody listens to, so that subscribers that come and go miss events now and then.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(missing_docs)]

#[path = "../common/mod.rs"]
mod common;

use std::sync::{Mutex, Once};
use std::time::Duration;

use ractor_otp::{
    Child, DynamicOptions, DynamicSupervisor, ExitReason, Parent, Pid, Shutdown, SpawnOptions, spawn,
};
use tokio::sync::oneshot;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use common::{Do, Probe, Way, book};

/// The labels of everything that was logged as an error.
static ERRORS: Mutex<Vec<String>> = Mutex::new(Vec::new());

struct Errors;

impl Subscriber for Errors {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "ractor_otp" && *metadata.level() == Level::ERROR
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut Label);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

struct Label;

impl Visit for Label {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        if field.name() == "label" {
            ERRORS.lock().unwrap().push(format!("{value:?}"));
        }
    }
}

/// The labels with this prefix that were logged as errors while this ran. Every test has a prefix of its own.
fn errors_of(prefix: &str, work: impl Future<Output = ()>) -> Vec<String> {
    static LISTEN: Once = Once::new();
    LISTEN.call_once(|| tracing::subscriber::set_global_default(Errors).unwrap());
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(work);
    let all = ERRORS.lock().unwrap();
    all.iter().filter(|label| label.starts_with(prefix)).cloned().collect()
}

/// A supervisor with one below it and ten leaves.
async fn tree(root: &'static str, others: &'static str) -> (Pid, Vec<Pid>) {
    let (log, _) = book();
    let root = DynamicSupervisor::start(Parent::none(), root, DynamicOptions::default()).await.unwrap();
    let below = root.start_supervisor(others, DynamicOptions::default()).await.unwrap();
    let mut all = vec![below.pid().clone()];
    for _ in 0..10 {
        let leaf = below.start_child(others, Probe::new("p", &log), SpawnOptions::default()).unwrap();
        leaf.pid.started().await.unwrap();
        all.push(leaf.pid);
    }
    (root.pid().clone(), all)
}

async fn leaf(label: &'static str, terminate: Way) -> Child<Do> {
    let (log, _) = book();
    let probe = Probe { terminate, ..Probe::new("p", &log) };
    let leaf = spawn(Parent::none(), label, probe, SpawnOptions::default()).await.unwrap();
    leaf.pid.started().await.unwrap();
    leaf
}

#[test]
fn a_crash_and_a_kill_are_logged_once() {
    let errors = errors_of("one", async {
        let broken = leaf("one broken", Way::Well).await;
        broken.address.send(Do::Panic("boom")).await.unwrap();
        broken.pid.join().await;
        let killed = leaf("one killed", Way::Well).await;
        killed.pid.kill();
        killed.pid.join().await;
    });
    assert_eq!(errors, ["one broken", "one killed"]);
}

#[test]
fn an_orderly_shutdown_logs_no_error() {
    let errors = errors_of("two", async {
        let (root, _) = tree("two root", "two below").await;
        root.shutdown(Shutdown::Infinity).await;
    });
    assert_eq!(errors, [""; 0]);
}

#[test]
fn those_who_die_with_their_parent_are_not_logged() {
    let errors = errors_of("three", async {
        let (root, all) = tree("three root", "three below").await;
        root.kill();
        for pid in all {
            assert_eq!(pid.join().await, ExitReason::Killed);
        }
    });
    assert_eq!(errors, ["three root"]);
}

#[test]
fn the_panic_of_a_task_is_logged_only_if_its_process_does_not_read_of_it() {
    let errors = errors_of("six", async {
        let reads = leaf("six reads", Way::Well).await;
        let (read, reading) = oneshot::channel();
        let spawn = Do::run(|me| {
            me.spawn(async { panic!("a task") }, |result: Result<(), _>| {
                assert!(result.is_err());
                Do::run(|_| read.send(()).unwrap())
            });
        });
        reads.address.send(spawn).await.unwrap();
        reading.await.unwrap();
        let leaves = leaf("six leaves", Way::Well).await;
        let (running, ended) = oneshot::channel::<()>();
        let task = async move {
            let _running = running;
            panic!("a task")
        };
        let spawn = Do::run(|me| drop(me.spawn(task, |_: Result<(), _>| Do::Note("never"))));
        leaves.address.send(spawn).await.unwrap();
        let (_release, held) = oneshot::channel();
        leaves.address.send(Do::Wait(held)).await.unwrap();
        ended.await.unwrap_err();
        leaves.pid.exit(ExitReason::Shutdown);
        leaves.pid.join().await;
    });
    assert_eq!(errors, ["six leaves"]);
}

#[test]
fn a_process_that_is_killed_for_being_late_is_logged_once() {
    let errors = errors_of("four", async {
        let late = leaf("four late", Way::Hang).await;
        late.pid.shutdown(Shutdown::After(Duration::from_secs(1))).await;
    });
    assert_eq!(errors, ["four late"]);
}

#[test]
fn a_thousand_late_children_are_one_line() {
    let errors = errors_of("five", async {
        let options = DynamicOptions { shutdown: Duration::from_secs(1), ..DynamicOptions::default() };
        let root = DynamicSupervisor::start(Parent::none(), "five root", options).await.unwrap();
        for _ in 0..1000 {
            let (log, _) = book();
            let late = Probe { terminate: Way::Hang, ..Probe::new("p", &log) };
            root.start_child("five late", late, SpawnOptions::default())
                .unwrap()
                .pid
                .started()
                .await
                .unwrap();
        }
        root.pid().shutdown(Shutdown::Infinity).await;
    });
    assert_eq!(errors, ["five root"]);
}
