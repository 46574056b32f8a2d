//! The tree as text and as JSON, and the exit feed.

use std::sync::Arc;

use ractor_otp::{
    DynamicOptions, DynamicSupervisor, ExitReason, Label, Lagged, Parent, ProcessState, Shutdown,
    SpawnOptions, Supervisor, SupervisorOptions, assert_tree,
};
use tokio::sync::oneshot;

use crate::common::{Do, Probe, book};
use crate::{child, probe};

#[tokio::test(start_paused = true)]
async fn the_tree_as_text_works_while_processes_are_stuck() {
    let (log, mut book) = book();
    let children = vec![probe("worker", &log), probe("clock", &log)];
    let root =
        Supervisor::start(Parent::none(), "root", SupervisorOptions::default(), children).await.unwrap();
    let connections =
        DynamicSupervisor::start(&root, "connections", DynamicOptions::default()).await.unwrap();
    let port: Arc<dyn std::fmt::Display + Send + Sync> = Arc::new(51234);
    let label = Label::from(port);
    let connection = connections.start_supervisor(label, DynamicOptions::default()).await.unwrap();
    connection.describe("from the local host");
    let options = SpawnOptions { mailbox: 3, ..SpawnOptions::default() };
    let request = connection.start_child("request", Probe::new("r", &log), options).unwrap();
    let (_release, wait) = oneshot::channel();
    let describe = Do::run(|me| me.describe(String::from("tools/call #7")));
    request.address.send(describe).await.unwrap();
    request.address.send(Do::Shielded(wait)).await.unwrap();
    book.expect(&["worker init", "clock init", "r init", "r shielded"]).await;
    request.address.send(Do::Note("queued")).await.unwrap();
    request.pid.exit(ExitReason::Shutdown);
    assert_tree!(
        root.pid(),
        "
        root
        ├─ worker
        ├─ clock
        └─ connections
           └─ {port} from the local host
              └─ request tools/call #* (exiting, queue: 1/3)
        "
    );
    assert_eq!(root.pid().tree().size(), 6);
    let text = child(root.pid(), "connections").tree().to_string();
    assert!(text.starts_with("connections\n└─ 51234"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn the_tree_as_data() {
    let (log, _book) = book();
    let root = DynamicSupervisor::start(Parent::none(), "root", DynamicOptions::default()).await.unwrap();
    let leaf = root.start_child("leaf", Probe::new("p", &log), SpawnOptions::default()).unwrap();
    assert_eq!(leaf.pid.tree().state, ProcessState::Starting);
    leaf.pid.started().await.unwrap();
    tokio::time::advance(std::time::Duration::from_secs(90)).await;
    let json = serde_json::to_value(root.pid().tree()).unwrap();
    let wanted = serde_json::json!({
        "label": "root", "id": root.pid().id(), "state": "running", "age_ms": 90_000, "restarts": 0,
        "children": [{
            "label": "leaf", "id": leaf.pid.id(), "state": "running", "age_ms": 90_000, "restarts": 0,
            "queue": { "len": 0, "capacity": 64 }, "children": []
        }]
    });
    assert_eq!(json, wanted);
    leaf.pid.kill();
    leaf.pid.join().await;
    assert_eq!(leaf.pid.tree().state, ProcessState::Ended);
    assert_tree!(leaf.pid, "leaf (ended)");
}

#[tokio::test(start_paused = true)]
async fn the_feed_tells_every_end_below_a_process_its_own_and_no_other() {
    let (log, _book) = book();
    let root = DynamicSupervisor::start(Parent::none(), "root", DynamicOptions::default()).await.unwrap();
    let other = DynamicSupervisor::start(Parent::none(), "other", DynamicOptions::default()).await.unwrap();
    let below = root.start_supervisor("below", DynamicOptions::default()).await.unwrap();
    let beside = root.start_child("beside", Probe::new("p", &log), SpawnOptions::default()).unwrap();
    let early = below.start_child("early", Probe::new("p", &log), SpawnOptions::default()).unwrap();
    early.pid.kill();
    early.pid.join().await;
    let mut feed = below.pid().exits();
    let leaf = below.start_child("leaf", Probe::new("p", &log), SpawnOptions::default()).unwrap();
    leaf.address.send(Do::Panic("boom")).await.unwrap();
    leaf.pid.join().await;
    beside.pid.kill();
    beside.pid.join().await;
    other.pid().shutdown(Shutdown::Infinity).await;
    root.pid().shutdown(Shutdown::Infinity).await;
    for wanted in ["leaf: crash: boom", "below: shutdown"] {
        let event = feed.next().await.unwrap().unwrap();
        assert_eq!(format!("{}: {}", event.label, event.reason), wanted);
        assert_eq!(event.pid.exit_reason(), Some(event.reason));
    }
    drop((root, below, beside, early, leaf));
    assert!(feed.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_slow_reader_of_the_feed_is_told_what_it_lost() {
    let (log, _book) = book();
    let root = DynamicSupervisor::start(Parent::none(), "root", DynamicOptions::default()).await.unwrap();
    let mut feed = root.pid().exits();
    for _ in 0..1030 {
        let child = root.start_child("p", Probe::new("p", &log), SpawnOptions::default()).unwrap();
        child.pid.kill();
        child.pid.join().await;
    }
    assert_eq!(feed.next().await.unwrap().unwrap_err(), Lagged(6));
    for _ in 0..1024 {
        assert_eq!(feed.next().await.unwrap().unwrap().reason, ExitReason::Killed);
    }
}
