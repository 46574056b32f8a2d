//! Exit requests, stops and kills: what runs, in which order, and what is known afterwards.

use std::time::Duration;

use ractor_otp::{
    Child, DynamicOptions, DynamicSupervisor, Ended, ExitReason, Parent, Shutdown, SpawnOptions, Tag, spawn,
};
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::common::{Do, Log, Probe, Way, book};

async fn start(probe: Probe) -> Child<Do> {
    spawn(Parent::none(), "probe", probe, SpawnOptions::default()).await.unwrap()
}

async fn busy(log: &Log, book: &mut crate::common::Book, with: Do) -> Child<Do> {
    let child = start(Probe::new("p", log)).await;
    child.address.send(with).await.unwrap();
    book.expect(&["p init"]).await;
    child
}

#[tokio::test(start_paused = true)]
async fn a_stop_runs_terminate_and_drops_the_state_before_join_resolves() {
    let (log, mut book) = book();
    let child = busy(&log, &mut book, Do::Stop(Tag::REPLY.into())).await;
    assert_eq!(child.pid.join().await, ExitReason::ShutdownWith(Tag::REPLY));
    assert_eq!(book.rest(), ["p terminate shutdown: reply", "p dropped"]);
    assert!(!child.pid.is_alive());
    assert!(child.pid.cell().is_none());
    assert_eq!(child.pid.exit_reason().unwrap().to_string(), "shutdown: reply");
}

#[tokio::test(start_paused = true)]
async fn an_exit_request_interrupts_the_callback_and_terminate_has_the_state() {
    let (log, mut book) = book();
    let child = busy(&log, &mut book, Do::Hang).await;
    book.expect(&["p hangs"]).await;
    child.pid.exit(Tag::CLIENT_DISCONNECTED.into());
    child.pid.exit(ExitReason::Normal);
    assert_eq!(child.pid.join().await, ExitReason::ShutdownWith(Tag::CLIENT_DISCONNECTED));
    let wanted = ["interrupted", "p terminate shutdown: client_disconnected", "p dropped"];
    assert_eq!(book.rest(), wanted);
}

#[tokio::test(start_paused = true)]
async fn an_exit_request_reaches_an_idle_process() {
    let (log, mut book) = book();
    let child = start(Probe::new("p", &log)).await;
    child.pid.started().await.unwrap();
    child.pid.exit(ExitReason::Shutdown);
    assert_eq!(child.pid.join().await, ExitReason::Shutdown);
    assert_eq!(book.rest(), ["p init", "p terminate shutdown", "p dropped"]);
}

#[tokio::test(start_paused = true)]
async fn an_exit_requested_before_the_next_callback_wins_over_queued_messages() {
    let (log, mut book) = book();
    let child = start(Probe::new("p", &log)).await;
    let exit = Do::run(|me| me.pid().exit(ExitReason::Shutdown));
    child.address.try_send(exit).unwrap();
    child.address.try_send(Do::Note("too late")).unwrap();
    child.pid.join().await;
    assert_eq!(book.rest(), ["p init", "p terminate shutdown", "p dropped"]);
}

#[tokio::test(start_paused = true)]
async fn an_exit_during_init_drops_it_and_terminate_does_not_run() {
    let (log, mut book) = book();
    let child = start(Probe { init: Way::Hang, ..Probe::new("p", &log) }).await;
    book.expect(&["p init"]).await;
    child.pid.exit(ExitReason::Shutdown);
    assert_eq!(child.pid.join().await, ExitReason::Shutdown);
    assert_eq!(book.rest(), ["p dropped"]);
    assert_eq!(child.pid.started().await, Err(ExitReason::Shutdown));
}

#[tokio::test(start_paused = true)]
async fn an_exit_requested_before_the_first_poll_runs_nothing() {
    let (log, mut book) = book();
    let child = start(Probe::new("p", &log)).await;
    child.pid.exit(ExitReason::Normal);
    assert_eq!(child.pid.join().await, ExitReason::Normal);
    assert_eq!(book.rest(), ["p dropped"]);
}

#[tokio::test(start_paused = true)]
async fn a_kill_drops_everything_without_terminate() {
    let (log, mut book) = book();
    let child = busy(&log, &mut book, Do::Hang).await;
    book.expect(&["p hangs"]).await;
    child.pid.kill();
    assert_eq!(child.pid.join().await, ExitReason::Killed);
    assert_eq!(book.rest(), ["interrupted", "p dropped"]);
}

#[tokio::test(start_paused = true)]
async fn a_raw_kill_is_a_kill() {
    let (log, mut book) = book();
    let child = busy(&log, &mut book, Do::Hang).await;
    book.expect(&["p hangs"]).await;
    child.pid.cell().unwrap().kill();
    assert_eq!(child.pid.join().await, ExitReason::Killed);
    assert_eq!(book.rest(), ["interrupted", "p dropped"]);
}

#[tokio::test(start_paused = true)]
async fn a_process_killed_before_it_ran_is_dropped_and_has_a_reason() {
    let (log, mut book) = book();
    let child = start(Probe::new("p", &log)).await;
    child.pid.cell().unwrap().kill();
    assert_eq!(child.pid.join().await, ExitReason::Killed);
    assert_eq!(book.rest(), ["p dropped"]);
}

#[tokio::test(start_paused = true)]
async fn a_kill_during_terminate_cuts_it() {
    let (log, mut book) = book();
    let child = start(Probe { terminate: Way::Hang, ..Probe::new("p", &log) }).await;
    child.pid.started().await.unwrap();
    child.pid.exit(ExitReason::Shutdown);
    book.expect(&["p init", "p terminate shutdown"]).await;
    child.pid.kill();
    assert_eq!(child.pid.join().await, ExitReason::Killed);
    assert_eq!(book.rest(), ["p dropped"]);
}

#[tokio::test(start_paused = true)]
async fn a_raw_stop_is_ignored_while_a_leaf_lives() {
    let (log, mut book) = book();
    let (release, wait) = oneshot::channel();
    let child = busy(&log, &mut book, Do::Wait(wait)).await;
    book.expect(&["p waits"]).await;
    child.pid.cell().unwrap().stop(Some("raw".to_owned()));
    release.send(()).unwrap();
    child.address.send(Do::Note("still here")).await.unwrap();
    book.expect(&["p still here"]).await;
    child.pid.exit(ExitReason::Shutdown);
    assert_eq!(child.pid.join().await, ExitReason::Shutdown);
}

#[tokio::test(start_paused = true)]
async fn a_killed_flood_of_messages_ends() {
    let (log, _book) = book();
    let child = start(Probe::new("p", &log)).await;
    let again = child.address.clone();
    fn flood(address: ractor_otp::Address<Do>) -> Do {
        Do::run(move |_| {
            let next = flood(address.clone());
            address.try_send(next).unwrap();
        })
    }
    child.address.send(flood(again)).await.unwrap();
    child.pid.started().await.unwrap();
    child.pid.cell().unwrap().kill();
    assert_eq!(child.pid.join().await, ExitReason::Killed);
}

#[tokio::test(start_paused = true)]
async fn uninterrupted_holds_the_exit_off_until_it_is_done() {
    let (log, mut book) = book();
    let (release, wait) = oneshot::channel();
    let child = busy(&log, &mut book, Do::Shielded(wait)).await;
    book.expect(&["p shielded"]).await;
    child.pid.exit(ExitReason::Shutdown);
    assert_eq!(child.pid.exiting().await, ExitReason::Shutdown);
    tokio::task::yield_now().await;
    assert_eq!(book.rest(), [""; 0]);
    release.send(()).unwrap();
    assert_eq!(child.pid.join().await, ExitReason::Shutdown);
    assert_eq!(book.rest(), ["p unshielded", "p terminate shutdown", "p dropped"]);
}

#[tokio::test(start_paused = true)]
async fn a_kill_does_not_wait_for_uninterrupted() {
    let (log, mut book) = book();
    let (_release, wait) = oneshot::channel();
    let child = busy(&log, &mut book, Do::Shielded(wait)).await;
    book.expect(&["p shielded"]).await;
    child.pid.kill();
    assert_eq!(child.pid.join().await, ExitReason::Killed);
    assert_eq!(book.rest(), ["p dropped"]);
}

#[tokio::test(start_paused = true)]
async fn a_shield_in_another_task_holds_the_exit_off_too() {
    let (log, mut book) = book();
    let (release, wait) = oneshot::channel::<()>();
    let (raised, is_raised) = oneshot::channel();
    let child = busy(
        &log,
        &mut book,
        Do::run(move |me| {
            let shield = me.clone();
            let work = async move {
                let _ = raised.send(());
                let _ = shield.uninterrupted(wait).await;
            };
            me.spawn(work, |_| Do::Note("never"));
        }),
    )
    .await;
    is_raised.await.unwrap();
    // One turn for the task to get from the signal into the shield.
    tokio::task::yield_now().await;
    child.pid.exit(ExitReason::Shutdown);
    child.address.send(Do::Note("still at work")).await.unwrap();
    book.expect(&["p still at work"]).await;
    release.send(()).unwrap();
    assert_eq!(child.pid.join().await, ExitReason::Shutdown);
}

#[tokio::test(start_paused = true)]
async fn terminate_has_a_time_limit() {
    let (log, _book) = book();
    let options = SpawnOptions { terminate_within: Duration::from_secs(7), ..Default::default() };
    let probe = Probe { terminate: Way::Hang, ..Probe::new("p", &log) };
    let child = spawn(Parent::none(), "probe", probe, options).await.unwrap();
    child.pid.started().await.unwrap();
    let begin = Instant::now();
    child.pid.exit(ExitReason::Shutdown);
    assert_eq!(child.pid.join().await, ExitReason::Killed);
    assert_eq!(begin.elapsed().as_secs(), 7);
}

#[tokio::test(start_paused = true)]
async fn shutdown_asks_waits_and_kills() {
    let (log, mut book) = book();
    let quick = start(Probe::new("quick", &log)).await;
    quick.pid.started().await.unwrap();
    let after = Shutdown::After(Duration::from_secs(1));
    assert_eq!(quick.pid.shutdown(after).await, Ended::Exited(ExitReason::Shutdown));
    book.expect(&["quick init", "quick terminate shutdown", "quick dropped"]).await;

    let slow = start(Probe { terminate: Way::Hang, ..Probe::new("slow", &log) }).await;
    slow.pid.started().await.unwrap();
    let begin = Instant::now();
    assert_eq!(slow.pid.shutdown(after).await, Ended::Exited(ExitReason::Killed));
    assert_eq!(begin.elapsed().as_secs(), 1);
    book.expect(&["slow init", "slow terminate shutdown", "slow dropped"]).await;

    let brutal = start(Probe::new("brutal", &log)).await;
    brutal.pid.started().await.unwrap();
    assert_eq!(brutal.pid.shutdown(Shutdown::BrutalKill).await, Ended::Exited(ExitReason::Killed));
    book.expect(&["brutal init", "brutal dropped"]).await;
    assert_eq!(brutal.pid.shutdown(Shutdown::Infinity).await, Ended::Exited(ExitReason::Killed));
}

#[tokio::test(start_paused = true)]
async fn join_resolves_when_the_process_is_out_of_its_parents_list() {
    let (log, mut book) = book();
    let parent = DynamicSupervisor::start(Parent::none(), "parent", DynamicOptions::default()).await.unwrap();
    let child = parent.start_child("p", Probe::new("p", &log), SpawnOptions::default()).unwrap();
    assert_eq!(parent.pid().children(), std::slice::from_ref(&child.pid));
    assert_eq!(child.pid.parent().as_ref(), Some(parent.pid()));
    child.address.send(Do::Stop(ExitReason::Normal)).await.unwrap();
    child.pid.join().await;
    assert_eq!(parent.pid().children(), []);
    book.expect(&["p init", "p terminate normal", "p dropped"]).await;
}

#[test]
fn the_end_of_the_runtime_is_a_kill() {
    let (log, mut book) = book();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let child = runtime.block_on(start(Probe::new("p", &log)));
    runtime.block_on(child.pid.started()).unwrap();
    drop(runtime);
    assert_eq!(child.pid.exit_reason(), Some(ExitReason::Killed));
    assert_eq!(book.rest(), ["p init", "p dropped"]);
}
