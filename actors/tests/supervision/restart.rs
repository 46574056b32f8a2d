//! Strategies, restart rules and restart intensity.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ractor_otp::testing::{await_children, await_exit};
use ractor_otp::{
    ChildSpec, Crash, ExitReason, Intensity, Parent, Pid, Restart, Strategy, Supervisor, SupervisorOptions,
    assert_tree,
};

use crate::common::{Book, Log, Probe, Way, book};
use crate::{child, probe, root};

async fn trio(strategy: Strategy, log: &Log) -> Supervisor {
    let options = SupervisorOptions { strategy, ..SupervisorOptions::default() };
    let temporary = probe("t", log).restart(Restart::Temporary);
    let children = vec![probe("a", log), probe("b", log), temporary, probe("c", log)];
    Supervisor::start(Parent::none(), "root", options, children).await.unwrap()
}

/// Kills a child and returns what is written until `last` is.
async fn kill_and_read(supervisor: &Supervisor, victim: &str, book: &mut Book, last: &str) -> Vec<String> {
    book.rest();
    child(supervisor.pid(), victim).kill();
    let mut lines = Vec::new();
    while lines.last().is_none_or(|line| line != last) {
        lines.push(book.next().await);
    }
    lines
}

fn crash() -> ExitReason {
    Crash::error("boom").into()
}

#[tokio::test(start_paused = true)]
async fn one_for_one_restarts_that_one() {
    let (log, mut book) = book();
    let root = trio(Strategy::OneForOne, &log).await;
    let before = root.pid().children();
    let lines = kill_and_read(&root, "b", &mut book, "b init").await;
    assert_eq!(lines, ["b dropped", "b init"]);
    await_children(root.pid(), 4).await.unwrap();
    assert_eq!(root.pid().children()[..3], [before[0].clone(), before[2].clone(), before[3].clone()]);
}

#[tokio::test(start_paused = true)]
async fn one_for_all_ends_the_others_in_reverse_and_starts_all_but_the_temporary() {
    let (log, mut book) = book();
    let root = trio(Strategy::OneForAll, &log).await;
    let lines = kill_and_read(&root, "b", &mut book, "c init").await;
    let wanted = [
        "b dropped",
        "c terminate shutdown",
        "c dropped",
        "t terminate shutdown",
        "t dropped",
        "a terminate shutdown",
        "a dropped",
        "a init",
        "b init",
        "c init",
    ];
    assert_eq!(lines, wanted);
    await_children(root.pid(), 3).await.unwrap();
    assert!(root.pid().is_alive());
}

#[tokio::test(start_paused = true)]
async fn rest_for_one_spares_those_before() {
    let (log, mut book) = book();
    let root = trio(Strategy::RestForOne, &log).await;
    let lines = kill_and_read(&root, "b", &mut book, "c init").await;
    let wanted = [
        "b dropped",
        "c terminate shutdown",
        "c dropped",
        "t terminate shutdown",
        "t dropped",
        "b init",
        "c init",
    ];
    assert_eq!(lines, wanted);
    await_children(root.pid(), 3).await.unwrap();
    let lines = kill_and_read(&root, "c", &mut book, "c init").await;
    assert_eq!(lines, ["c dropped", "c init"]);
}

#[tokio::test(start_paused = true)]
async fn the_restart_rule_decides_by_the_reason() {
    use Restart::{Permanent, Temporary, Transient};
    let clean = [ExitReason::Normal, ExitReason::Shutdown, ExitReason::ShutdownWith(ractor_otp::Tag::REPLY)];
    let broken = [ExitReason::Killed, crash()];
    let cases = clean
        .iter()
        .map(|reason| (Permanent, reason, true))
        .chain(broken.iter().map(|reason| (Permanent, reason, true)))
        .chain(clean.iter().map(|reason| (Transient, reason, false)))
        .chain(broken.iter().map(|reason| (Transient, reason, true)))
        .chain(clean.iter().chain(&broken).map(|reason| (Temporary, reason, false)));
    for (rule, reason, restarted) in cases {
        let (log, _book) = book();
        let root = root(vec![probe("p", &log).restart(rule), probe("marker", &log)]).await;
        let old = child(root.pid(), "p");
        old.exit(reason.clone());
        await_exit(&old).await.unwrap();
        // The supervisor takes the end before the order that follows it: events have priority.
        root.start_child(probe("later", &log)).await.unwrap();
        let now = root.pid().children().into_iter().filter(|pid| pid.label().to_string() == "p").count();
        assert_eq!(now == 1, restarted, "{rule:?} after {reason}");
        let id_is_free = root.start_child(probe("p", &log)).await.is_ok();
        assert_eq!(id_is_free, rule == Temporary, "{rule:?} after {reason}");
    }
}

#[tokio::test(start_paused = true)]
async fn temporary_ends_never_count() {
    let (log, mut book) = book();
    let root = root(vec![probe("permanent", &log)]).await;
    for _ in 0..20 {
        let temporary = root.start_child(probe("t", &log).restart(Restart::Temporary)).await.unwrap();
        temporary.exit(crash());
        await_exit(&temporary).await.unwrap();
    }
    await_children(root.pid(), 1).await.unwrap();
    let lines = kill_and_read(&root, "permanent", &mut book, "permanent init").await;
    assert_eq!(lines, ["permanent dropped", "permanent init"]);
    assert!(root.pid().is_alive());
}

async fn restarted(supervisor: &Pid, label: &'static str) {
    let old = child(supervisor, label);
    old.exit(crash());
    await_exit(&old).await.unwrap();
    await_children(supervisor, 2).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn too_many_restarts_end_the_supervisor_in_order_with_a_reason() {
    let (log, mut book) = book();
    let root = root(vec![probe("a", &log), probe("b", &log)]).await;
    for _ in 0..3 {
        restarted(root.pid(), "a").await;
    }
    assert_tree!(root.pid(), "root\n├─ b\n└─ a (restarts: 3)");
    book.rest();
    child(root.pid(), "a").exit(crash());
    let reason = await_exit(root.pid()).await.unwrap();
    assert_eq!(reason.to_string(), "crash: restart intensity 3 in 5 s exceeded by a: crash: boom");
    let wanted = ["a terminate crash: boom", "a dropped", "b terminate shutdown", "b dropped"];
    assert_eq!(book.rest(), wanted);
}

#[tokio::test(start_paused = true)]
async fn restarts_that_are_far_apart_are_borne() {
    let (log, _book) = book();
    let root = root(vec![probe("a", &log), probe("b", &log)]).await;
    for _ in 0..10 {
        restarted(root.pid(), "a").await;
        tokio::time::advance(Duration::from_secs(2)).await;
    }
    assert!(root.pid().is_alive());
    assert_eq!(child(root.pid(), "a").restarts(), 10);
}

#[tokio::test(start_paused = true)]
async fn a_supervisor_that_gives_up_is_restarted_by_its_own_until_that_gives_up_too() {
    let (log, _book) = book();
    let none = Intensity { restarts: 0, period: Duration::from_secs(5) };
    let inner = ChildSpec::new("inner", move |parent| {
        let children = vec![probe("a", &log)];
        async move {
            let options = SupervisorOptions { intensity: none, ..SupervisorOptions::default() };
            Ok(Supervisor::start(parent, "inner", options, children).await?.pid().clone())
        }
    });
    let root = root(vec![inner]).await;
    for round in 0..4 {
        await_children(root.pid(), 1).await.unwrap();
        let inner = child(root.pid(), "inner");
        assert_eq!(inner.restarts(), round);
        child(&inner, "a").exit(crash());
        await_exit(&inner).await.unwrap();
    }
    let reason = await_exit(root.pid()).await.unwrap().to_string();
    let why = "restart intensity 0 in 5 s exceeded by a: crash: boom";
    assert_eq!(reason, format!("crash: restart intensity 3 in 5 s exceeded by inner: crash: {why}"));
}

/// Starts at first, then fails so many times, then starts again.
fn shaky(failures: usize, log: &Log) -> ChildSpec {
    let log = log.clone();
    let starts = Arc::new(AtomicUsize::new(0));
    ChildSpec::process("shaky", move || {
        let start = starts.fetch_add(1, Ordering::SeqCst);
        let init = if (1..=failures).contains(&start) { Way::Error } else { Way::Well };
        Probe { init, ..Probe::new("shaky", &log) }
    })
}

#[tokio::test(start_paused = true)]
async fn a_failed_restart_is_tried_again_and_counts_again() {
    let (log, _book) = book();
    let root = root(vec![shaky(2, &log), probe("b", &log)]).await;
    restarted(root.pid(), "shaky").await;
    await_children(root.pid(), 2).await.unwrap();
    child(root.pid(), "shaky").started().await.unwrap();
    assert_eq!(child(root.pid(), "shaky").restarts(), 3);
    child(root.pid(), "shaky").exit(crash());
    let reason = await_exit(root.pid()).await.unwrap();
    assert_eq!(reason.to_string(), "crash: restart intensity 3 in 5 s exceeded by shaky: crash: boom");
}

#[tokio::test(start_paused = true)]
async fn a_child_that_cannot_be_restarted_ends_the_supervisor() {
    for strategy in [Strategy::OneForOne, Strategy::OneForAll, Strategy::RestForOne] {
        let (log, _book) = book();
        let options = SupervisorOptions { strategy, ..SupervisorOptions::default() };
        let children = vec![probe("a", &log), shaky(usize::MAX, &log), probe("c", &log)];
        let root = Supervisor::start(Parent::none(), "root", options, children).await.unwrap();
        child(root.pid(), "shaky").kill();
        let reason = await_exit(root.pid()).await.unwrap().to_string();
        let why = "exceeded by shaky: crash: `shaky` did not start: crash: init failed";
        assert_eq!(reason, format!("crash: restart intensity 3 in 5 s {why}"), "{strategy:?}");
        assert_eq!(root.pid().children(), []);
    }
}

#[tokio::test(start_paused = true)]
async fn a_failed_restart_under_each_strategy_comes_back_whole() {
    for strategy in [Strategy::OneForOne, Strategy::OneForAll, Strategy::RestForOne] {
        let (log, _book) = book();
        let options = SupervisorOptions { strategy, ..SupervisorOptions::default() };
        let children = vec![probe("a", &log), shaky(1, &log), probe("c", &log)];
        let root = Supervisor::start(Parent::none(), "root", options, children).await.unwrap();
        let old = child(root.pid(), "shaky");
        old.kill();
        await_exit(&old).await.unwrap();
        // An order behind the retry: what is there afterwards is there to stay.
        while root.pid().children().len() < 3 || child(root.pid(), "shaky").started().await.is_err() {
            tokio::task::yield_now().await;
        }
        root.start_child(probe("d", &log)).await.unwrap();
        await_children(root.pid(), 4).await.unwrap();
        assert!(root.pid().is_alive(), "{strategy:?}");
    }
}
