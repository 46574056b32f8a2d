//! Starting in order, ending in reverse order, and what a kill leaves out.

use std::time::Duration;

use ractor_otp::{
    ChildSpec, DynamicOptions, DynamicSupervisor, Ended, ExitReason, Parent, Shutdown, StartError,
    Supervisor, SupervisorOptions,
};
use tokio::time::Instant;

use crate::common::{Probe, Way, book};
use crate::{child, probe, root};

#[tokio::test(start_paused = true)]
async fn children_start_in_order_and_end_in_reverse() {
    let (log, mut book) = book();
    let root = root(vec![probe("a", &log), probe("b", &log), probe("c", &log)]).await;
    assert_eq!(book.rest(), ["a init", "b init", "c init"]);
    let labels = root.pid().children().iter().map(|child| child.label().to_string()).collect::<Vec<_>>();
    assert_eq!(labels, ["a", "b", "c"]);
    assert_eq!(root.pid().shutdown(Shutdown::Infinity).await, Ended::Exited(ExitReason::Shutdown));
    let wanted = [
        "c terminate shutdown",
        "c dropped",
        "b terminate shutdown",
        "b dropped",
        "a terminate shutdown",
        "a dropped",
    ];
    assert_eq!(book.rest(), wanted);
}

#[tokio::test(start_paused = true)]
async fn a_child_that_does_not_end_in_time_is_killed_and_the_next_has_its_turn() {
    let (log, mut book) = book();
    let slow_log = log.clone();
    let slow =
        ChildSpec::process("slow", move || Probe { terminate: Way::Hang, ..Probe::new("slow", &slow_log) })
            .shutdown(Shutdown::After(Duration::from_secs(2)));
    let brutal = probe("brutal", &log).shutdown(Shutdown::BrutalKill);
    let root = root(vec![probe("a", &log), slow, brutal]).await;
    book.rest();
    let begin = Instant::now();
    root.pid().exit(ExitReason::Shutdown);
    book.expect(&["brutal dropped", "slow terminate shutdown", "slow dropped", "a terminate shutdown"]).await;
    assert_eq!(begin.elapsed().as_secs(), 2);
    assert_eq!(root.pid().join().await, ExitReason::Shutdown);
}

#[tokio::test(start_paused = true)]
async fn a_raw_stop_of_a_supervisor_is_an_orderly_shutdown() {
    let (log, mut book) = book();
    let root = root(vec![probe("a", &log)]).await;
    root.pid().cell().unwrap().stop(None);
    assert_eq!(root.pid().join().await, ExitReason::Shutdown);
    assert_eq!(book.rest(), ["a init", "a terminate shutdown", "a dropped"]);
}

#[tokio::test(start_paused = true)]
async fn a_failed_start_names_the_child_and_ends_the_started_ones_in_reverse() {
    let (log, mut book) = book();
    let bad_log = log.clone();
    let bad = ChildSpec::process("bad", move || Probe { init: Way::Error, ..Probe::new("bad", &bad_log) });
    let children = vec![probe("a", &log), probe("b", &log), bad, probe("never", &log)];
    let started = Supervisor::start(Parent::none(), "root", SupervisorOptions::default(), children).await;
    let error = started.unwrap_err();
    assert_eq!(error.to_string(), "`bad` did not start: crash: init failed");
    let wanted = [
        "a init",
        "b init",
        "bad init",
        "bad dropped",
        "b terminate shutdown",
        "b dropped",
        "a terminate shutdown",
        "a dropped",
    ];
    assert_eq!(book.rest(), wanted);
}

#[tokio::test(start_paused = true)]
async fn a_failed_start_deep_down_comes_up_and_leaves_nothing_behind() {
    let (log, mut book) = book();
    let top = DynamicSupervisor::start(Parent::none(), "top", DynamicOptions::default()).await.unwrap();
    let bad_log = log.clone();
    let inner = ChildSpec::new("inner", move |parent| {
        let log = bad_log.clone();
        async move {
            let bad =
                ChildSpec::process("bad", move || Probe { init: Way::Panic, ..Probe::new("bad", &log) });
            let inner = Supervisor::start(parent, "inner", SupervisorOptions::default(), vec![bad]).await?;
            Ok(inner.pid().clone())
        }
    });
    let started = Supervisor::start(&top, "outer", SupervisorOptions::default(), vec![inner]).await;
    assert_eq!(started.unwrap_err().to_string(), "`bad` did not start: crash: init panicked");
    assert_eq!(top.pid().children(), []);
    assert_eq!(book.rest(), ["bad init", "bad dropped"]);
}

#[tokio::test(start_paused = true)]
async fn a_start_function_that_panics_or_returns_a_stranger_fails() {
    let panicking = ChildSpec::new("panicking", |_| async { panic!("no start") });
    let error =
        Supervisor::start(Parent::none(), "root", Default::default(), vec![panicking]).await.unwrap_err();
    assert_eq!(error.to_string(), "`panicking` did not start: crash: no start");

    let stranger = ChildSpec::new("stranger", |_| async {
        let elsewhere = DynamicSupervisor::start(Parent::none(), "elsewhere", Default::default()).await?;
        Ok(elsewhere.pid().clone())
    });
    let error =
        Supervisor::start(Parent::none(), "root", Default::default(), vec![stranger]).await.unwrap_err();
    assert_eq!(error, StartError::NotAChild("stranger".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn an_id_twice_is_refused() {
    let (log, _book) = book();
    let children = vec![probe("a", &log), probe("a", &log)];
    let error = Supervisor::start(Parent::none(), "root", Default::default(), children).await.unwrap_err();
    assert_eq!(error, StartError::AlreadyStarted("a".to_owned()));
    let root = root(vec![probe("a", &log)]).await;
    let error = root.start_child(probe("a", &log)).await.unwrap_err();
    assert_eq!(error, StartError::AlreadyStarted("a".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn children_come_and_go_at_run_time() {
    let (log, mut book) = book();
    let root = root(vec![probe("a", &log)]).await;
    let late = root.start_child(probe("late", &log)).await.unwrap();
    assert_eq!(child(root.pid(), "late"), late);
    assert_eq!(root.terminate_child("late").await, Some(Ended::Exited(ExitReason::Shutdown)));
    assert_eq!(root.terminate_child("late").await, None);
    root.start_child(probe("late", &log)).await.unwrap();
    root.pid().shutdown(Shutdown::Infinity).await;
    let wanted = ["a init", "late init", "late terminate shutdown", "late dropped", "late init"];
    book.expect(&wanted).await;
    assert_eq!(root.start_child(probe("b", &log)).await, Err(StartError::NoProc));
    assert_eq!(root.terminate_child("a").await, None);
}

#[tokio::test(start_paused = true)]
async fn an_exit_does_not_wait_for_a_start() {
    let (log, mut book) = book();
    let root = root(vec![probe("a", &log)]).await;
    let slow_log = log.clone();
    let slow = ChildSpec::process("slow", move || Probe { init: Way::Hang, ..Probe::new("slow", &slow_log) });
    let supervisor = root.clone();
    let starting = tokio::spawn(async move { supervisor.start_child(slow).await });
    book.expect(&["a init", "slow init"]).await;
    root.pid().exit(ExitReason::Shutdown);
    assert_eq!(starting.await.unwrap(), Err(StartError::Draining));
    assert_eq!(root.pid().join().await, ExitReason::Shutdown);
    assert_eq!(book.rest(), ["slow dropped", "a terminate shutdown", "a dropped"]);
}

#[tokio::test(start_paused = true)]
async fn a_start_that_is_given_up_leaves_nothing_behind() {
    let (log, mut book) = book();
    let slow_log = log.clone();
    let slow = ChildSpec::process("slow", move || Probe { init: Way::Hang, ..Probe::new("slow", &slow_log) });
    let children = vec![probe("a", &log), slow];
    let starting = Supervisor::start(Parent::none(), "root", SupervisorOptions::default(), children);
    assert!(tokio::time::timeout(Duration::from_secs(1), starting).await.is_err());
    let mut lines = [book.next().await, book.next().await, book.next().await, book.next().await];
    lines.sort();
    assert_eq!(lines, ["a dropped", "a init", "slow dropped", "slow init"]);
}

#[tokio::test(start_paused = true)]
async fn a_killed_supervisor_leaves_no_orphan() {
    let (log, mut book) = book();
    let slow_log = log.clone();
    let ending = ChildSpec::process("ending", move || Probe {
        terminate: Way::Hang,
        ..Probe::new("ending", &slow_log)
    });
    let inner_log = log.clone();
    let inner = ChildSpec::new("inner", move |parent| {
        let children = vec![probe("deep", &inner_log)];
        async move {
            let inner = Supervisor::start(parent, "inner", SupervisorOptions::default(), children).await?;
            Ok(inner.pid().clone())
        }
    });
    let root = root(vec![probe("idle", &log), ending, inner]).await;
    let pids: Vec<_> =
        root.pid().children().into_iter().flat_map(|pid| [pid.children(), vec![pid]].concat()).collect();
    assert_eq!(pids.len(), 4);
    child(root.pid(), "ending").exit(ExitReason::Shutdown);
    book.expect(&["idle init", "ending init", "deep init", "ending terminate shutdown"]).await;
    root.pid().kill();
    assert_eq!(root.pid().join().await, ExitReason::Killed);
    for pid in pids {
        assert_eq!(pid.join().await, ExitReason::Killed, "{pid}");
    }
    let mut lines = book.rest();
    lines.sort();
    assert_eq!(lines, ["deep dropped", "ending dropped", "idle dropped"]);
}

#[tokio::test(start_paused = true)]
async fn a_kill_during_shutdown_leaves_no_orphan() {
    let (log, mut book) = book();
    let slow_log = log.clone();
    let slow =
        ChildSpec::process("slow", move || Probe { terminate: Way::Hang, ..Probe::new("slow", &slow_log) })
            .shutdown(Shutdown::Infinity);
    let root = root(vec![probe("a", &log), slow]).await;
    root.pid().exit(ExitReason::Shutdown);
    book.expect(&["a init", "slow init", "slow terminate shutdown"]).await;
    let pids = root.pid().children();
    root.pid().kill();
    assert_eq!(root.pid().join().await, ExitReason::Killed);
    for pid in pids {
        assert_eq!(pid.join().await, ExitReason::Killed, "{pid}");
    }
}

#[tokio::test(start_paused = true)]
async fn only_supervisors_have_children() {
    let (log, _book) = book();
    let root = root(vec![probe("leaf", &log)]).await;
    let leaf = child(root.pid(), "leaf");
    let under_leaf = DynamicSupervisor::start(&leaf, "x", DynamicOptions::default()).await;
    assert_eq!(under_leaf.unwrap_err(), StartError::NotASupervisor);
    root.pid().shutdown(Shutdown::Infinity).await;
    let under_dead = DynamicSupervisor::start(&root, "x", DynamicOptions::default()).await;
    assert_eq!(under_dead.unwrap_err(), StartError::NoProc);
}
