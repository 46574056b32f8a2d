//! Panics, wherever they come from, are a crash of one process and cost nothing else.

use ractor_otp::{
    Child, CrashKind, DynamicOptions, DynamicSupervisor, ExitReason, Me, Next, Parent, Process, SpawnOptions,
};

use crate::common::{Bomb, Do, Probe, Way, book};

struct Family {
    parent: DynamicSupervisor,
    sibling: Child<Do>,
}

impl Family {
    async fn new(log: &crate::common::Log) -> Self {
        let parent = DynamicSupervisor::start(Parent::none(), "parent", Default::default()).await.unwrap();
        let sibling = Probe::new("sibling", log);
        let sibling = parent.start_child("sibling", sibling, SpawnOptions::default()).unwrap();
        sibling.pid.started().await.unwrap();
        Self { parent, sibling }
    }

    async fn start(&self, probe: Probe) -> Child<Do> {
        self.parent.start_child("probe", probe, SpawnOptions::default()).unwrap()
    }

    async fn is_well(&self, book: &mut crate::common::Book) {
        assert!(self.parent.pid().is_alive());
        self.sibling.address.send(Do::Note("is well")).await.unwrap();
        book.expect(&["sibling is well"]).await;
    }
}

fn crash_of(reason: ExitReason) -> (CrashKind, String) {
    match reason {
        ExitReason::Crash(crash) => (crash.kind(), crash.message().to_owned()),
        other => panic!("not a crash: {other}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_a_callback_runs_terminate_and_spares_the_others() {
    let (log, mut book) = book();
    let family = Family::new(&log).await;
    let child = family.start(Probe::new("p", &log)).await;
    child.address.send(Do::Panic("boom")).await.unwrap();
    let reason = child.pid.join().await;
    assert_eq!(reason.to_string(), "crash: boom");
    assert_eq!(crash_of(reason), (CrashKind::Panic, "boom".to_owned()));
    book.expect(&["sibling init", "p init", "p terminate crash: boom", "p dropped"]).await;
    family.is_well(&mut book).await;
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_the_destructor_of_an_interrupted_callback_is_a_crash() {
    let (log, mut book) = book();
    let family = Family::new(&log).await;
    let child = family.start(Probe::new("p", &log)).await;
    child.address.send(Do::HangWithBomb).await.unwrap();
    book.expect(&["sibling init", "p init", "p hangs"]).await;
    child.pid.exit(ExitReason::Shutdown);
    assert_eq!(child.pid.join().await.to_string(), "crash: a bomb went off");
    book.expect(&["p terminate crash: a bomb went off", "p dropped"]).await;
    family.is_well(&mut book).await;
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_the_destructor_of_a_killed_callback_stays_in_it() {
    let (log, mut book) = book();
    let family = Family::new(&log).await;
    let child = family.start(Probe::new("p", &log)).await;
    child.address.send(Do::HangWithBomb).await.unwrap();
    book.expect(&["sibling init", "p init", "p hangs"]).await;
    child.pid.kill();
    assert_eq!(child.pid.join().await, ExitReason::Killed);
    book.expect(&["p dropped"]).await;
    family.is_well(&mut book).await;
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_the_destructor_of_the_process_is_a_crash() {
    let (log, mut book) = book();
    let family = Family::new(&log).await;
    let child = family.start(Probe { bomb: Some(Bomb), ..Probe::new("p", &log) }).await;
    child.address.send(Do::Stop(ExitReason::Normal)).await.unwrap();
    assert_eq!(child.pid.join().await.to_string(), "crash: a bomb went off");
    book.expect(&["sibling init", "p init", "p terminate normal", "p dropped"]).await;
    family.is_well(&mut book).await;
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_the_destructor_of_a_killed_process_stays_in_it() {
    let (log, mut book) = book();
    let family = Family::new(&log).await;
    let child = family.start(Probe { bomb: Some(Bomb), ..Probe::new("p", &log) }).await;
    child.pid.started().await.unwrap();
    child.pid.kill();
    assert_eq!(child.pid.join().await, ExitReason::Killed);
    let unborn = family.start(Probe { bomb: Some(Bomb), ..Probe::new("unborn", &log) }).await;
    unborn.pid.kill();
    assert_eq!(unborn.pid.join().await, ExitReason::Killed);
    book.expect(&["sibling init", "p init", "p dropped", "unborn dropped"]).await;
    family.is_well(&mut book).await;
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_terminate_is_a_crash_but_does_not_hide_the_first() {
    let (log, _book) = book();
    let family = Family::new(&log).await;
    let child = family.start(Probe { terminate: Way::Panic, ..Probe::new("p", &log) }).await;
    child.address.send(Do::Stop(ExitReason::Normal)).await.unwrap();
    assert_eq!(child.pid.join().await.to_string(), "crash: terminate panicked");
    let child = family.start(Probe { terminate: Way::Panic, ..Probe::new("p", &log) }).await;
    child.address.send(Do::Panic("the first")).await.unwrap();
    assert_eq!(child.pid.join().await.to_string(), "crash: the first");
}

#[tokio::test(start_paused = true)]
async fn a_failed_init_is_a_crash_without_terminate() {
    let (log, mut book) = book();
    let family = Family::new(&log).await;
    let child = family.start(Probe { init: Way::Error, ..Probe::new("p", &log) }).await;
    assert_eq!(crash_of(child.pid.join().await), (CrashKind::Init, "init failed".to_owned()));
    let child = family.start(Probe { init: Way::Panic, ..Probe::new("q", &log) }).await;
    assert_eq!(crash_of(child.pid.join().await), (CrashKind::Panic, "init panicked".to_owned()));
    book.expect(&["sibling init", "p init", "p dropped", "q init", "q dropped"]).await;
}

#[tokio::test(start_paused = true)]
async fn panics_in_queued_messages_and_in_the_closures_that_make_messages_stay_in_the_process() {
    let (log, mut book) = book();
    let family = Family::new(&log).await;
    let child = family.start(Probe::new("p", &log)).await;
    let (release, wait) = tokio::sync::oneshot::channel();
    child.address.send(Do::Wait(wait)).await.unwrap();
    book.expect(&["sibling init", "p init", "p waits"]).await;
    let bomb = Bomb;
    child.address.send(Do::run(move |_| drop(bomb))).await.unwrap();
    child.pid.exit(ExitReason::Shutdown);
    assert_eq!(child.pid.join().await, ExitReason::Shutdown);
    drop(release);

    let child = family.start(Probe::new("q", &log)).await;
    let work = Do::run(|me| drop(me.spawn(async {}, |_| panic!("no message can be made"))));
    child.address.send(work).await.unwrap();
    assert_eq!(child.pid.join().await.to_string(), "crash: no message can be made");
    book.rest();
    family.is_well(&mut book).await;
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_handle_continue_is_a_crash_after_the_start() {
    struct Eager;
    impl Process for Eager {
        type Message = std::cell::Cell<u8>;
        async fn handle_continue(&mut self, _: &Me<Self::Message>) -> Next {
            panic!("too eager")
        }
        async fn handle(&mut self, _: Self::Message, _: &Me<Self::Message>) -> Next {
            Next::Receive
        }
    }
    let parent = DynamicSupervisor::start(Parent::none(), "parent", DynamicOptions::default()).await.unwrap();
    let child = parent.start_child("eager", Eager, SpawnOptions::default()).unwrap();
    assert_eq!(child.pid.started().await, Ok(()));
    assert_eq!(child.pid.join().await.to_string(), "crash: too eager");
}

#[tokio::test]
async fn a_process_whose_making_panics_is_no_child() {
    let parent = DynamicSupervisor::start(Parent::none(), "parent", DynamicOptions::default()).await.unwrap();
    let make =
        || parent.start_child_with("p", |_| -> Probe { panic!("on purpose") }, SpawnOptions::default());
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(make)).is_err());
    assert_eq!(parent.count(), 0);
}
