//! Monitors: the news of an end comes once, behind what the process sent before, or at once for a dead one.

use ractor_otp::{
    Address, Child, Down, ExitReason, Me, Next, Parent, Pid, Process, SpawnOptions, Tag, spawn,
};
use tokio::sync::oneshot;

use crate::common::{Do, Log, Probe, book};

/// Watches one process.
struct Watcher {
    target: Pid,
    log: Log,
    monitor: Option<ractor_otp::MonitorRef>,
}

enum Seen {
    Word(&'static str),
    Down(Down),
    Wait(oneshot::Receiver<()>),
    Demonitor,
}

impl Process for Watcher {
    type Message = Seen;

    async fn init(&mut self, me: &Me<Seen>) -> Result<(), ractor_otp::Crash> {
        self.monitor = Some(me.monitor(&self.target, Seen::Down));
        Ok(())
    }

    async fn handle(&mut self, message: Seen, _: &Me<Seen>) -> Next {
        let line = match message {
            Seen::Word(word) => word.to_owned(),
            Seen::Down(down) => format!("down {}: {}", down.pid.label(), down.reason),
            Seen::Wait(signal) => {
                let _ = signal.await;
                return Next::Receive;
            }
            Seen::Demonitor => {
                if let Some(monitor) = self.monitor.take() {
                    monitor.demonitor();
                }
                "demonitored".to_owned()
            }
        };
        let _ = self.log.send(line);
        Next::Receive
    }
}

async fn target(log: &Log) -> Child<Do> {
    spawn(Parent::none(), "target", Probe::new("t", log), SpawnOptions::default()).await.unwrap()
}

async fn watcher(target: &Pid, log: &Log) -> Child<Seen> {
    let process = Watcher { target: target.clone(), log: log.clone(), monitor: None };
    let child = spawn(Parent::none(), "watcher", process, SpawnOptions::default()).await.unwrap();
    child.pid.started().await.unwrap();
    child
}

/// The target sends a last word in the very callback that ends it.
fn last_word(to: Address<Seen>) -> Do {
    Do::run(move |me| {
        to.try_send(Seen::Word("the last word")).unwrap();
        me.pid().exit(Tag::REPLY.into());
    })
}

#[tokio::test(start_paused = true)]
async fn a_down_never_overtakes_the_last_message() {
    let (target_log, _target_book) = book();
    let (log, mut book) = book();
    let target = target(&target_log).await;
    let watcher = watcher(&target.pid, &log).await;
    let (release, wait) = oneshot::channel();
    watcher.address.send(Seen::Wait(wait)).await.unwrap();
    target.address.send(last_word(watcher.address.clone())).await.unwrap();
    target.pid.join().await;
    release.send(()).unwrap();
    book.expect(&["the last word", "down target: shutdown: reply"]).await;
}

#[tokio::test(start_paused = true)]
async fn the_down_of_a_killed_process_does_not_overtake_either() {
    let (target_log, _target_book) = book();
    let (log, mut book) = book();
    let target = target(&target_log).await;
    let watcher = watcher(&target.pid, &log).await;
    let (release, wait) = oneshot::channel();
    watcher.address.send(Seen::Wait(wait)).await.unwrap();
    let to = watcher.address.clone();
    let word = Do::run(move |_| to.try_send(Seen::Word("the last word")).unwrap());
    target.address.send(word).await.unwrap();
    target.address.send(Do::Hang).await.unwrap();
    tokio::task::yield_now().await;
    target.pid.kill();
    target.pid.join().await;
    release.send(()).unwrap();
    book.expect(&["the last word", "down target: killed"]).await;
}

#[tokio::test(start_paused = true)]
async fn a_dead_process_is_down_at_once_with_its_reason() {
    let (log, mut book) = book();
    let (target_log, _target_book) = crate::common::book();
    let target = target(&target_log).await;
    target.address.send(Do::Panic("boom")).await.unwrap();
    target.pid.join().await;
    let _watcher = watcher(&target.pid, &log).await;
    book.expect(&["down target: crash: boom"]).await;
}

#[tokio::test(start_paused = true)]
async fn after_demonitor_nothing_comes() {
    let (log, mut book) = book();
    let (target_log, _target_book) = crate::common::book();
    let target = target(&target_log).await;
    let watcher = watcher(&target.pid, &log).await;
    watcher.address.send(Seen::Demonitor).await.unwrap();
    book.expect(&["demonitored"]).await;
    target.pid.kill();
    target.pid.join().await;
    watcher.address.send(Seen::Word("later")).await.unwrap();
    book.expect(&["later"]).await;
}

#[tokio::test(start_paused = true)]
async fn a_dead_watcher_hears_nothing_and_hurts_nobody() {
    let (log, mut book) = book();
    let (target_log, _target_book) = crate::common::book();
    let target = target(&target_log).await;
    let watcher = watcher(&target.pid, &log).await;
    watcher.pid.kill();
    watcher.pid.join().await;
    target.pid.exit(ExitReason::Normal);
    assert_eq!(target.pid.join().await, ExitReason::Normal);
    assert_eq!(book.rest(), [""; 0]);
}
