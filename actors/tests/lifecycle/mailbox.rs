//! The bound of a mailbox, its visible length, and what comes back from a closed one.

use std::cell::Cell;

use ractor_otp::{Address, Child, ExitReason, Parent, Queue, SendError, SpawnOptions, TrySendError, spawn};
use tokio::sync::oneshot;

use crate::common::{Book, Do, Log, Probe, book};

/// A process with a mailbox of two places that waits for a signal.
async fn held_up(log: &Log, book: &mut Book) -> (Child<Do>, oneshot::Sender<()>) {
    let options = SpawnOptions { mailbox: 2, ..SpawnOptions::default() };
    let child = spawn(Parent::none(), "probe", Probe::new("p", log), options).await.unwrap();
    let (release, wait) = oneshot::channel();
    child.address.send(Do::Wait(wait)).await.unwrap();
    book.expect(&["p init", "p waits"]).await;
    (child, release)
}

fn length(queue: Queue) -> (usize, usize) {
    (queue.len, queue.capacity)
}

#[tokio::test(start_paused = true)]
async fn a_full_mailbox_refuses_or_makes_wait_in_order() {
    let (log, mut book) = book();
    let (child, release) = held_up(&log, &mut book).await;
    child.address.try_send(Do::Note("one")).unwrap();
    child.address.send(Do::Note("two")).await.unwrap();
    assert_eq!(length(child.address.queue()), (2, 2));
    assert_eq!(length(child.pid.queue().unwrap()), (2, 2));
    assert!(matches!(child.address.try_send(Do::Note("no")), Err(TrySendError::Full(Do::Note("no")))));
    let address = child.address.clone();
    let waiting = tokio::spawn(async move { address.send(Do::Note("three")).await });
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished());
    release.send(()).unwrap();
    waiting.await.unwrap().unwrap();
    book.expect(&["p one", "p two", "p three"]).await;
    assert_eq!(length(child.address.queue()), (0, 2));
}

#[tokio::test(start_paused = true)]
async fn results_timers_and_downs_are_exempt_from_the_bound() {
    let (log, mut book) = book();
    let options = SpawnOptions { mailbox: 1, ..SpawnOptions::default() };
    let child = spawn(Parent::none(), "probe", Probe::new("p", &log), options).await.unwrap();
    let (release, wait) = oneshot::channel();
    let dead = spawn(Parent::none(), "dead", Probe::new("dead", &log), options).await.unwrap();
    dead.pid.kill();
    dead.pid.join().await;
    let work = move |me: &ractor_otp::Me<Do>| {
        me.send_after(std::time::Duration::ZERO, Do::Note("timer"));
        me.spawn(async {}, |_| Do::Note("result"));
        drop(me.monitor(&dead.pid, |_| Do::Note("down")));
    };
    child.address.send(Do::run(work)).await.unwrap();
    child.pid.started().await.unwrap();
    child.address.send(Do::Wait(wait)).await.unwrap();
    book.expect(&["p init", "dead dropped"]).await;
    child.address.send(Do::Note("user")).await.unwrap();
    assert!(matches!(child.address.try_send(Do::Note("no")), Err(TrySendError::Full(_))));
    release.send(()).unwrap();
    let mut lines = Vec::new();
    for _ in 0..5 {
        lines.push(book.next().await);
    }
    lines.sort();
    assert_eq!(lines, ["p down", "p result", "p timer", "p user", "p waits"]);
}

#[tokio::test(start_paused = true)]
async fn a_dead_process_gives_messages_back_and_wakes_who_waits_for_room() {
    let (log, mut book) = book();
    let (child, _release) = held_up(&log, &mut book).await;
    child.address.send(Do::Note("one")).await.unwrap();
    child.address.send(Do::Note("two")).await.unwrap();
    let address = child.address.clone();
    let waiting = tokio::spawn(async move { address.send(Do::Note("three")).await });
    tokio::task::yield_now().await;
    assert!(!child.address.is_closed());
    child.pid.exit(ExitReason::Shutdown);
    assert!(matches!(waiting.await.unwrap(), Err(SendError(Do::Note("three")))));
    child.pid.join().await;
    assert!(child.address.is_closed());
    assert!(matches!(child.address.send(Do::Note("four")).await, Err(SendError(Do::Note("four")))));
    assert!(matches!(child.address.try_send(Do::Note("five")), Err(TrySendError::Closed(Do::Note("five")))));
    assert_eq!(length(child.address.queue()), (0, 2));
    book.expect(&["p terminate shutdown", "p dropped"]).await;
    assert_eq!(book.rest(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_send_leaves_nothing_behind() {
    let (log, mut book) = book();
    let (child, release) = held_up(&log, &mut book).await;
    child.address.send(Do::Note("one")).await.unwrap();
    child.address.send(Do::Note("two")).await.unwrap();
    tokio::select! {
        biased;
        _ = child.address.send(Do::Note("never")) => panic!("there was no room"),
        () = std::future::ready(()) => {}
    }
    release.send(()).unwrap();
    child.address.send(Do::Note("three")).await.unwrap();
    book.expect(&["p one", "p two", "p three"]).await;
}

#[test]
fn an_address_is_sync_even_if_the_message_is_not() {
    fn is_sync<T: Send + Sync>() {}
    is_sync::<Address<Cell<u8>>>();
}
