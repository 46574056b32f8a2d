//! The driver: the task that a dynamic supervisor lives for.

use std::future::pending;
use std::time::Duration;

use ractor_otp::testing::await_exit;
use ractor_otp::{
    Child, DynamicOptions, DynamicSupervisor, ExitReason, Parent, SpawnOptions, StartError, Tag,
};
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::common::{Do, Log, OnDrop, Probe, Way, book};

async fn connection(linger: Duration) -> DynamicSupervisor {
    let options = DynamicOptions { linger, shutdown: Duration::from_secs(3), ..DynamicOptions::default() };
    DynamicSupervisor::start(Parent::none(), "connection", options).await.unwrap()
}

async fn request(connection: &DynamicSupervisor, probe: Probe) -> Child<Do> {
    let child = connection.start_child("request", probe, SpawnOptions::default()).unwrap();
    child.pid.started().await.unwrap();
    child
}

fn gone() -> ExitReason {
    Tag::CLIENT_DISCONNECTED.into()
}

/// A driver that never ends and says when it is dropped.
async fn endless(log: Log) {
    let _dropped = OnDrop("driver dropped", log);
    pending().await
}

#[tokio::test(start_paused = true)]
async fn the_end_of_the_driver_ends_the_children_and_then_the_supervisor() {
    let (log, mut book) = book();
    let connection = connection(Duration::ZERO).await;
    let (end, wait) = oneshot::channel::<()>();
    connection.drive(async { drop(wait.await) }, gone()).unwrap();
    let slow = Probe { terminate: Way::Hang, ..Probe::new("slow", &log) };
    request(&connection, Probe::new("p", &log)).await;
    let slow = request(&connection, slow).await;
    let begin = Instant::now();
    end.send(()).unwrap();
    assert_eq!(await_exit(connection.pid()).await.unwrap(), ExitReason::Normal);
    assert_eq!(begin.elapsed().as_secs(), 3);
    assert_eq!(slow.pid.exit_reason(), Some(ExitReason::Killed));
    let lines = book.rest();
    assert!(lines.contains(&"p terminate shutdown: client_disconnected".to_owned()), "{lines:?}");
    assert_eq!(lines.last().unwrap(), "slow dropped");
}

#[tokio::test(start_paused = true)]
async fn the_panic_of_the_driver_is_a_crash_and_the_children_are_still_asked() {
    let (log, mut book) = book();
    let connection = connection(Duration::ZERO).await;
    request(&connection, Probe::new("p", &log)).await;
    connection.drive(async { panic!("driver broke") }, gone()).unwrap();
    assert_eq!(await_exit(connection.pid()).await.unwrap().to_string(), "crash: driver broke");
    book.expect(&["p init", "p terminate shutdown: client_disconnected", "p dropped"]).await;
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_drops_the_driver_after_the_children() {
    let (log, mut book) = book();
    let connection = connection(Duration::ZERO).await;
    connection.drive(endless(log.clone()), gone()).unwrap();
    request(&connection, Probe::new("p", &log)).await;
    connection.pid().exit(ExitReason::Shutdown);
    assert_eq!(await_exit(connection.pid()).await.unwrap(), ExitReason::Shutdown);
    assert_eq!(book.rest(), ["p init", "p terminate shutdown", "p dropped", "driver dropped"]);
}

#[tokio::test(start_paused = true)]
async fn a_driver_may_linger_to_bring_out_what_the_children_left() {
    let (log, mut book) = book();
    let connection = connection(Duration::from_secs(1)).await;
    let (supervisor, driver_log) = (connection.clone(), log.clone());
    let work = async move {
        supervisor.pid().exiting().await;
        supervisor.empty().await;
        tokio::time::sleep(Duration::from_millis(500)).await;
        let _ = driver_log.send("the rest is written".to_owned());
    };
    connection.drive(work, gone()).unwrap();
    request(&connection, Probe::new("p", &log)).await;
    connection.pid().exit(ExitReason::Shutdown);
    assert_eq!(await_exit(connection.pid()).await.unwrap(), ExitReason::Shutdown);
    assert_eq!(book.rest(), ["p init", "p terminate shutdown", "p dropped", "the rest is written"]);
}

#[tokio::test(start_paused = true)]
async fn a_driver_that_lingers_too_long_is_dropped() {
    let (log, mut book) = book();
    let connection = connection(Duration::from_secs(1)).await;
    connection.drive(endless(log), gone()).unwrap();
    tokio::task::yield_now().await;
    let begin = Instant::now();
    connection.pid().exit(ExitReason::Shutdown);
    await_exit(connection.pid()).await.unwrap();
    assert_eq!(begin.elapsed().as_secs(), 1);
    assert_eq!(book.rest(), ["driver dropped"]);
}

#[tokio::test(start_paused = true)]
async fn a_kill_drops_the_driver_too() {
    let (log, mut book) = book();
    let connection = connection(Duration::from_secs(1)).await;
    connection.drive(endless(log.clone()), gone()).unwrap();
    let child = request(&connection, Probe::new("p", &log)).await;
    connection.pid().kill();
    assert_eq!(connection.pid().join().await, ExitReason::Killed);
    assert_eq!(child.pid.join().await, ExitReason::Killed);
    let mut lines = [book.next().await, book.next().await, book.next().await];
    lines.sort();
    assert_eq!(lines, ["driver dropped", "p dropped", "p init"]);
}

#[tokio::test(start_paused = true)]
async fn a_driver_that_is_done_at_once_ends_the_supervisor() {
    let connection = connection(Duration::ZERO).await;
    connection.drive(async {}, gone()).unwrap();
    assert_eq!(await_exit(connection.pid()).await.unwrap(), ExitReason::Normal);
    assert_eq!(connection.drive(async {}, gone()), Err(StartError::AlreadyStarted("a driver".to_owned())));
}

#[tokio::test(start_paused = true)]
async fn a_dead_supervisor_takes_no_driver() {
    let (log, mut book) = book();
    let connection = connection(Duration::ZERO).await;
    connection.pid().kill();
    connection.pid().join().await;
    let guard = OnDrop("never ran", log);
    let work = async move {
        let _guard = guard;
        pending().await
    };
    assert_eq!(connection.drive(work, gone()), Err(StartError::NoProc));
    assert_eq!(book.rest(), ["never ran"]);
}
