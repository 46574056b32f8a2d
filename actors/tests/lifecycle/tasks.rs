//! Owned tasks and timers: their results arrive as messages, and they die with their process.

use std::future::pending;
use std::time::Duration;

use ractor_otp::{Child, ExitReason, Me, Parent, SpawnOptions, TaskHandle, TimerHandle, spawn};
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::common::{Bomb, Do, Log, OnDrop, Probe, book};

async fn start(log: &Log) -> Child<Do> {
    spawn(Parent::none(), "probe", Probe::new("p", log), SpawnOptions::default()).await.unwrap()
}

/// Runs something in the process and returns what it made.
async fn inside<T: Send + 'static>(child: &Child<Do>, work: impl FnOnce(&Me<Do>) -> T + Send + 'static) -> T {
    let (give, made) = oneshot::channel();
    let work = Do::run(move |me| give.send(work(me)).ok().unwrap());
    child.address.send(work).await.unwrap();
    made.await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn the_output_of_a_task_arrives_behind_earlier_messages() {
    let (log, mut book) = book();
    let child = start(&log).await;
    let (finish, wait) = oneshot::channel();
    inside(&child, |me| {
        me.spawn(async { wait.await.unwrap() }, |word: Result<&'static str, _>| Do::Note(word.unwrap()))
    })
    .await;
    let (release, held) = oneshot::channel();
    child.address.send(Do::Wait(held)).await.unwrap();
    child.address.send(Do::Note("earlier")).await.unwrap();
    finish.send("output").unwrap();
    tokio::task::yield_now().await;
    release.send(()).unwrap();
    book.expect(&["p init", "p waits", "p earlier", "p output"]).await;
}

#[tokio::test(start_paused = true)]
async fn the_panic_of_a_task_arrives_as_a_message() {
    let (log, mut book) = book();
    let child = start(&log).await;
    inside(&child, |me| {
        me.spawn(async { panic!("task broke") }, |result: Result<(), _>| {
            assert_eq!(result.unwrap_err().message(), "task broke");
            Do::Note("knows")
        })
    })
    .await;
    book.expect(&["p init", "p knows"]).await;
    assert!(child.pid.is_alive());
}

/// A future that is done, and drops what it holds with itself.
#[tokio::test(start_paused = true)]
async fn the_panic_of_a_task_s_destructor_arrives_as_a_message() {
    let (log, mut book) = book();
    let child = start(&log).await;
    inside(&child, |me| {
        let held = Bomb;
        let done = std::future::poll_fn(move |_| {
            let _ = &held;
            std::task::Poll::Ready(())
        });
        me.spawn(done, |result| {
            assert_eq!(result.unwrap_err().message(), "a bomb went off");
            Do::Note("knows")
        })
    })
    .await;
    book.expect(&["p init", "p knows"]).await;
}

#[tokio::test(start_paused = true)]
async fn tasks_end_with_their_process_however_it_ends() {
    let ends: [fn(&Child<Do>); 3] = [
        |child| child.pid.exit(ExitReason::Shutdown),
        |child| child.pid.kill(),
        |child| child.address.try_send(Do::Panic("boom")).unwrap(),
    ];
    for end in ends {
        let (log, mut book) = book();
        let (probe_log, _probe_book) = crate::common::book();
        let child = start(&probe_log).await;
        let guard = OnDrop("task dropped", log);
        inside(&child, |me| {
            me.spawn(
                async {
                    let _guard = guard;
                    pending::<()>().await
                },
                |_| Do::Note("never"),
            )
        })
        .await;
        end(&child);
        child.pid.join().await;
        book.expect(&["task dropped"]).await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_aborted_task_sends_nothing() {
    let (log, mut book) = book();
    let child = start(&log).await;
    let guard = OnDrop("task dropped", log.clone());
    let task: TaskHandle = inside(&child, |me| {
        me.spawn(
            async {
                let _guard = guard;
                pending::<()>().await
            },
            |_| Do::Note("never"),
        )
    })
    .await;
    task.abort();
    book.expect(&["p init", "task dropped"]).await;
    child.address.send(Do::Note("next")).await.unwrap();
    book.expect(&["p next"]).await;
}

#[tokio::test(start_paused = true)]
async fn a_timer_fires_after_its_time_unless_it_is_cancelled() {
    let (log, mut book) = book();
    let child = start(&log).await;
    let begin = Instant::now();
    let cancelled: TimerHandle = inside(&child, |me| {
        me.send_after(Duration::from_secs(3), Do::Note("three"));
        me.send_after(Duration::from_secs(1), Do::Note("one"));
        me.send_after(Duration::from_secs(2), Do::Note("two"))
    })
    .await;
    cancelled.cancel();
    book.expect(&["p init", "p one", "p three"]).await;
    assert_eq!(begin.elapsed().as_secs(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_timer_of_a_dead_process_lets_its_message_go() {
    let (log, mut book) = book();
    let (probe_log, _probe_book) = crate::common::book();
    let child = start(&probe_log).await;
    let guard = OnDrop("message dropped", log);
    inside(&child, |me| me.send_after(Duration::from_secs(3600), Do::run(move |_| drop(guard)))).await;
    let begin = Instant::now();
    child.pid.kill();
    child.pid.join().await;
    book.expect(&["message dropped"]).await;
    assert_eq!(begin.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_handle_that_outlives_its_process_does_nothing() {
    let (log, mut book) = book();
    let (probe_log, _probe_book) = crate::common::book();
    let child = start(&probe_log).await;
    let me = inside(&child, Me::clone).await;
    child.pid.kill();
    child.pid.join().await;
    let guard = OnDrop("never ran", log.clone());
    me.spawn(
        async move {
            let _ = guard.1.send("ran".to_owned());
        },
        |_| Do::Note("never"),
    );
    book.expect(&["never ran"]).await;
}
