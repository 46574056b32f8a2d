//! Dynamic supervisors: the cap, the drain, the common deadline.

use std::time::Duration;

use ractor_otp::testing::await_exit;
use ractor_otp::{
    Child, DynamicOptions, DynamicSupervisor, Ended, ExitReason, Parent, Shutdown, SpawnOptions, StartError,
};
use tokio::time::Instant;

use crate::common::{Do, Log, Probe, Way, book};

async fn start(options: DynamicOptions) -> DynamicSupervisor {
    DynamicSupervisor::start(Parent::none(), "dynamic", options).await.unwrap()
}

async fn add(supervisor: &DynamicSupervisor, name: &'static str, log: &Log) -> Result<Child<Do>, StartError> {
    supervisor.start_child(name, Probe::new(name, log), SpawnOptions::default())
}

#[tokio::test(start_paused = true)]
async fn the_cap_holds_and_an_end_makes_room() {
    let (log, _book) = book();
    let supervisor = start(DynamicOptions { max_children: Some(2), ..Default::default() }).await;
    let one = add(&supervisor, "one", &log).await.unwrap();
    add(&supervisor, "two", &log).await.unwrap();
    assert_eq!(add(&supervisor, "three", &log).await.unwrap_err(), StartError::Full { max: 2 });
    let below = supervisor.start_supervisor("below", DynamicOptions::default()).await;
    assert_eq!(below.unwrap_err(), StartError::Full { max: 2 });
    assert_eq!(supervisor.count(), 2);
    one.pid.kill();
    one.pid.join().await;
    assert_eq!(supervisor.count(), 1);
    add(&supervisor, "three", &log).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_cap_holds_against_many_at_once() {
    let (log, _book) = book();
    let supervisor = start(DynamicOptions { max_children: Some(10), ..Default::default() }).await;
    let tries = (0..100).map(|_| {
        let (supervisor, log) = (supervisor.clone(), log.clone());
        tokio::spawn(async move { add(&supervisor, "p", &log).await.is_ok() })
    });
    let mut started = 0;
    for one in tries.collect::<Vec<_>>() {
        started += usize::from(one.await.unwrap());
    }
    assert_eq!((started, supervisor.count()), (10, 10));
    supervisor.pid().shutdown(Shutdown::Infinity).await;
    assert_eq!(supervisor.count(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_drained_supervisor_refuses_and_is_empty_in_the_end() {
    let (log, _book) = book();
    let supervisor = start(DynamicOptions::default()).await;
    supervisor.empty().await;
    let child = add(&supervisor, "p", &log).await.unwrap();
    supervisor.drain();
    assert_eq!(add(&supervisor, "q", &log).await.unwrap_err(), StartError::Draining);
    let waiting = supervisor.clone();
    let empty = tokio::spawn(async move { waiting.empty().await });
    tokio::task::yield_now().await;
    assert!(!empty.is_finished());
    child.address.send(Do::Stop(ExitReason::Normal)).await.unwrap();
    empty.await.unwrap();
    assert!(supervisor.pid().is_alive());
}

#[tokio::test(start_paused = true)]
async fn children_end_together_within_one_deadline_and_then_are_killed() {
    let (log, mut book) = book();
    let supervisor = start(DynamicOptions { shutdown: Duration::from_secs(3), ..Default::default() }).await;
    for name in ["slow", "slower"] {
        let probe = Probe { terminate: Way::Hang, ..Probe::new(name, &log) };
        supervisor.start_child(name, probe, SpawnOptions::default()).unwrap().pid.started().await.unwrap();
    }
    add(&supervisor, "quick", &log).await.unwrap().pid.started().await.unwrap();
    book.rest();
    let begin = Instant::now();
    supervisor.pid().exit(ExitReason::Shutdown);
    assert_eq!(supervisor.pid().join().await, ExitReason::Shutdown);
    assert_eq!(begin.elapsed().as_secs(), 3);
    let mut lines = book.rest();
    let (asked, killed) = lines.split_at_mut(4);
    asked.sort();
    let wanted =
        ["quick dropped", "quick terminate shutdown", "slow terminate shutdown", "slower terminate shutdown"];
    assert_eq!(asked, wanted);
    killed.sort();
    assert_eq!(killed, ["slow dropped", "slower dropped"]);
}

#[tokio::test(start_paused = true)]
async fn a_dead_or_ending_supervisor_takes_nobody() {
    let (log, mut book) = book();
    let supervisor = start(DynamicOptions::default()).await;
    let probe = Probe { terminate: Way::Hang, ..Probe::new("slow", &log) };
    supervisor.start_child("slow", probe, SpawnOptions::default()).unwrap();
    book.expect(&["slow init"]).await;
    supervisor.pid().exit(ExitReason::Shutdown);
    book.expect(&["slow terminate shutdown"]).await;
    assert_eq!(add(&supervisor, "late", &log).await.unwrap_err(), StartError::Draining);
    supervisor.pid().join().await;
    assert_eq!(add(&supervisor, "late", &log).await.unwrap_err(), StartError::NoProc);
    assert_eq!(book.rest(), ["late dropped", "slow dropped", "late dropped"]);
}

#[tokio::test(start_paused = true)]
async fn the_first_exit_reason_is_the_supervisors_and_its_children_are_told_shutdown() {
    let (log, _book) = book();
    let supervisor = start(DynamicOptions::default()).await;
    let child = add(&supervisor, "p", &log).await.unwrap();
    supervisor.pid().exit(ractor_otp::Tag::IDLE.into());
    assert_eq!(await_exit(supervisor.pid()).await.unwrap().to_string(), "shutdown: idle");
    assert_eq!(child.pid.exit_reason(), Some(ExitReason::Shutdown));
}

#[tokio::test(start_paused = true)]
async fn an_end_reaches_through_supervisors_below() {
    let (log, mut book) = book();
    let top = start(DynamicOptions::default()).await;
    let below = top.start_supervisor("below", DynamicOptions::default()).await.unwrap();
    add(&below, "deep", &log).await.unwrap().pid.started().await.unwrap();
    assert_eq!(top.pid().shutdown(Shutdown::Infinity).await, Ended::Exited(ExitReason::Shutdown));
    assert_eq!(below.pid().exit_reason(), Some(ExitReason::Shutdown));
    book.expect(&["deep init", "deep terminate shutdown", "deep dropped"]).await;
}

#[tokio::test(start_paused = true)]
async fn a_thousand_children_come_and_go() {
    let (log, _book) = book();
    let supervisor = start(DynamicOptions::default()).await;
    for _ in 0..1000 {
        let child = add(&supervisor, "p", &log).await.unwrap();
        child.address.send(Do::Stop(ExitReason::Normal)).await.unwrap();
    }
    supervisor.empty().await;
    assert!(supervisor.pid().is_alive());
}
