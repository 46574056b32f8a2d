//! Many streams at once: bursts, clients that come and go, clients that do not read.

use std::sync::Arc;
use std::time::Duration;

use ractor_mcp::otp::testing::{LIMIT, within};
use ractor_mcp::otp::{ExitReason, Tag};
use ractor_mcp::{Options, Principal, Topic};
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::support::Client;
use crate::support::streams::{ALL, Fixture, acknowledged, expect_teardown, listen, start};

fn tools() -> Value {
    json!({"toolsListChanged": true})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn i10_a_burst_of_one_principal_never_has_more_than_its_cap_and_evicts_nobody_else() {
    const BURST: usize = 200;
    const CAP: usize = 4;
    let options = Options::new()
        .max_streams(1000, CAP)
        .connect(|request| async move { Ok(Principal::new(request.bearer_token().unwrap_or("none"))) });
    let fixture = start(options, ALL).await;
    let as_caller = |who: &str| listen(tools()).header("Authorization", &format!("Bearer {who}"));
    let (mut bob, _) = acknowledged(fixture.server.client().await, &as_caller("bob")).await;
    let bobs = fixture.stream().await;

    let mut exits = fixture.server.mcp.exits();
    let mut burst = JoinSet::new();
    for _ in 0..BURST {
        let (addr, post) = (fixture.server.addr, as_caller("alice"));
        burst.spawn(async move { acknowledged(Client::connect(addr).await, &post).await.0 });
    }
    // A stream is in the registry once its principal's oldest was told to end: those that were not are the live ones.
    let live = || {
        let streams = fixture.server.mcp.subscribers(&Topic::Tools);
        streams.iter().filter(|stream| stream.exit_requested().is_none()).count()
    };
    let mut clients = Vec::new();
    while clients.len() < BURST {
        tokio::select! {
            client = burst.join_next() => clients.push(client.expect("one is left").expect("no panic")),
            () = tokio::task::yield_now() => assert!(live() <= CAP + 1, "{} are live", live()),
        }
    }
    for _ in 0..BURST - CAP {
        let end = exits.next().await.expect("an end").expect("none was missed");
        if end.label.starts_with("request ") {
            assert_eq!(end.reason, ExitReason::ShutdownWith(Tag::SUPERSEDED));
        }
    }
    assert_eq!((live(), fixture.server.mcp.notify_tools_changed()), (CAP + 1, CAP + 1));
    assert!(bobs.is_alive());
    assert_eq!(bob.read_event().await.expect("a change")["method"], "notifications/tools/list_changed");
    let mut superseded = 0;
    for mut client in clients {
        let event = client.read_event().await.expect("an event");
        if event["method"] == "notifications/cancelled" {
            superseded += 1;
            assert_eq!(client.read_event().await.expect("a result")["result"]["resultType"], "complete");
            assert_eq!(client.read_event().await, None);
        }
    }
    assert_eq!(superseded, BURST - CAP);
}

/// Opens and leaves so many streams, a few at a time, and checks that nothing of them is left. The three tests that use it, over
/// connections in memory, TCP and HTTP/2, open twenty thousand.
pub(crate) async fn churn(fixture: &Arc<Fixture>, streams: usize, over: fn(Arc<Fixture>, usize) -> Leaving) {
    const AT_ONCE: usize = 16;
    let (idle, tasks) = (fixture.server.tree().to_string(), Handle::current().metrics().num_alive_tasks());
    let mut workers = JoinSet::new();
    for _ in 0..AT_ONCE {
        workers.spawn(over(Arc::clone(fixture), streams / AT_ONCE));
    }
    while let Some(worker) = workers.join_next().await {
        worker.expect("no panic");
    }
    fixture.server.await_tree(&idle).await;
    assert_eq!(fixture.server.mcp.subscribers(&Topic::Tools), [], "no entry is left");
    // The timers of a stream, and what watches over it, live in tasks.
    eventually("no task is left", || Handle::current().metrics().num_alive_tasks() <= tasks).await;
}

pub(crate) type Leaving = std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;

/// Asks again and again what tells nobody of its changes: how many tasks tokio has, and how many sockets the system.
pub(crate) async fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let asking = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    within(LIMIT, asking).await.unwrap_or_else(|| panic!("did not happen: {what}"));
}

fn options() -> Options {
    // As many places as there are streams at once, and some that are about to end: what is not given back is soon missed.
    Options::new().max_streams(64, 4)
}

/// A place may be free a moment after its stream's client has left.
async fn place<S, F: Future<Output = Client<S>>>(connect: impl Fn() -> F) -> Client<S>
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    loop {
        let mut client = connect().await;
        client.write(&listen(tools())).await;
        match client.read_head().await.status {
            200 => break client,
            503 => tokio::task::yield_now().await,
            other => panic!("status {other}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn o4_thousands_of_streams_on_connections_of_their_own_leave_nothing() {
    let fixture = Arc::new(start(options(), ALL).await);
    churn(&fixture, 8_000, |fixture, streams| {
        Box::pin(async move {
            for _ in 0..streams {
                let mut client = place(|| Client::pipe(&fixture.server, 1024)).await;
                client.read_event().await.expect("an acknowledgement");
            }
        })
    })
    .await;
    let mut open = Vec::new();
    for _ in 0..64 {
        open.push(place(|| Client::pipe(&fixture.server, 1024)).await);
    }
    assert_eq!(fixture.server.mcp.notify_tools_changed(), 64, "every place is free again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a4_streams_that_are_reset_leave_no_actor_task_or_socket() {
    let fixture = Arc::new(start(options(), ALL).await);
    for _ in 0..3 {
        churn(&fixture, 688, |fixture, streams| {
            Box::pin(async move {
                for _ in 0..streams {
                    let mut client = place(|| fixture.server.client()).await;
                    client.read_event().await.expect("an acknowledgement");
                    client.reset();
                }
            })
        })
        .await;
        #[cfg(target_os = "linux")]
        eventually("no socket is left", || sockets_of(fixture.server.addr.port()) == 1).await;
    }
}

/// The sockets of this port that some process holds: the listener's own, and those of its connections.
#[cfg(target_os = "linux")]
pub(crate) fn sockets_of(port: u16) -> usize {
    let table = std::fs::read_to_string("/proc/net/tcp").expect("a table of sockets");
    let local = format!(":{port:04X}");
    let held = |line: &&str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        fields.get(1).is_some_and(|address| address.ends_with(&local))
            && fields.get(9).is_some_and(|inode| *inode != "0")
    };
    table.lines().filter(held).count()
}

/// What the tree shows of a stream: waiting, delivered, coalesced, dropped.
fn counters(detail: &str) -> [u64; 4] {
    let (_, counts) = detail.split_once("] ").expect("a filter");
    let mut counts =
        counts.split(", ").map(|count| count.split(' ').next().expect("a number").parse().expect("a number"));
    std::array::from_fn(|_| counts.next().expect("four counters"))
}

fn details(tree: &ractor_mcp::otp::Tree) -> Vec<String> {
    let own = tree.detail.clone().filter(|_| tree.label.starts_with("request "));
    own.into_iter().chain(tree.children.iter().flat_map(details)).collect()
}

/// The clock is paused: it moves only when everybody waits, as for the time after which a client that reads nothing is given up.
#[tokio::test(start_paused = true)]
async fn d1_clients_that_do_not_read_hold_up_nobody_and_what_waits_for_them_is_bounded() {
    const CHANGES: u64 = 20_000;
    const HALF: usize = 25;
    let fixture = start(Options::new(), ALL).await;
    let filter = json!({"toolsListChanged": true, "resourceSubscriptions": ["x:a", "x:b", "x:last"]});
    let mut silent = Vec::new();
    let mut readers = JoinSet::new();
    for _ in 0..HALF {
        silent.push(fixture.open_pipe(filter.clone(), 512).await);
        let mut reader = fixture.open_pipe(filter.clone(), 512).await;
        readers.spawn(async move {
            let mut seen = Vec::new();
            while seen.last().is_none_or(|last| last != "x:last") {
                let told = reader.read_event().await.expect("an event");
                let subject = told["params"]["uri"].as_str().unwrap_or("tools").to_owned();
                seen.push(subject);
            }
            (reader, seen)
        });
    }
    let mcp = fixture.server.mcp.clone();
    let began = Instant::now();
    for change in 0..CHANGES {
        let told = match change % 4 {
            0 | 1 => mcp.notify_tools_changed(),
            2 => mcp.notify_resource_updated("x:a"),
            _ => mcp.notify_resource_updated("x:b"),
        };
        assert_eq!(told, 2 * HALF, "each stream takes each change");
        if change % 1000 == 0 {
            tokio::task::yield_now().await;
        }
    }
    assert_eq!(mcp.notify_resource_updated("x:last"), 2 * HALF);
    let mut read = Vec::new();
    while let Some(reader) = readers.join_next().await {
        let (reader, seen) = reader.expect("no panic");
        for subject in ["tools", "x:a", "x:b"] {
            assert!(seen.iter().any(|told| told == subject), "{subject}");
        }
        read.push(reader);
    }
    assert_eq!(began.elapsed(), Duration::ZERO, "nobody waited");
    let streams = details(&fixture.server.tree());
    assert_eq!(streams.len(), 2 * HALF);
    let mut waiting = Vec::new();
    for detail in &streams {
        let [waits, delivered, coalesced, dropped] = counters(detail);
        // All are accounted for; the acknowledgement is the one more.
        assert_eq!((waits + delivered + coalesced, dropped), (CHANGES + 1 + 1, 0), "{detail}");
        waiting.push(waits);
    }
    waiting.sort_unstable();
    let most = [[0; HALF], [4; HALF]].concat();
    assert_eq!(waiting, most, "one of each kind, at most: {streams:#?}");
    drop((silent, read));
}

/// Within 100 ms, says the case. By a paused clock it is no time at all, unless somebody waits for who does not read.
#[tokio::test(start_paused = true)]
async fn i5_clients_that_stall_or_leave_disturb_no_other() {
    let fixture = start(Options::new(), ALL).await;
    let mut stalled = Vec::new();
    for _ in 0..10 {
        stalled.push(fixture.open_pipe(tools(), 512).await);
    }
    for _ in 0..20 {
        fixture.server.mcp.notify_tools_changed();
        tokio::task::yield_now().await;
    }
    let mut reading = Vec::new();
    for _ in 0..80 {
        reading.push(fixture.open_pipe(tools(), 4096).await);
    }
    let mut leaving = Vec::new();
    for _ in 0..10 {
        leaving.push(fixture.open_pipe(tools(), 4096).await);
    }
    let began = Instant::now();
    drop(leaving);
    // That they have left is not noticed yet, since this test has the only thread.
    assert_eq!(fixture.server.mcp.notify_tools_changed(), 100);
    for client in &mut reading {
        assert_eq!(
            client.read_event().await.expect("a change")["method"],
            "notifications/tools/list_changed"
        );
    }
    assert_eq!(began.elapsed(), Duration::ZERO);
    drop(stalled);
}

#[tokio::test]
async fn d5_a_stalled_client_keeps_neither_its_leaving_nor_a_shutdown_from_coming_through() {
    let fixture = start(Options::new(), ALL).await;
    for leaves in [true, false] {
        let client = fixture.open_pipe(tools(), 512).await;
        let stream = fixture.stream().await;
        for _ in 0..1000 {
            fixture.server.mcp.notify_tools_changed();
            tokio::task::yield_now().await;
        }
        assert_eq!(stream.queue().map(|queue| queue.len), Some(0), "D6: changes do not pass its mailbox");
        if leaves {
            drop(client);
            assert_eq!(stream.join().await, ExitReason::ShutdownWith(Tag::CLIENT_DISCONNECTED));
        } else {
            let mut client = client;
            let mcp = fixture.server.mcp.clone();
            let stopping = tokio::spawn(async move { mcp.shutdown(Duration::from_secs(1)).await });
            assert_eq!(stream.join().await, ExitReason::Shutdown);
            // What waits is still told, then the end.
            while let Some(event) = client.read_event().await {
                if event["method"] == "notifications/cancelled" {
                    assert_eq!(
                        client.read_event().await.expect("a result")["result"]["resultType"],
                        "complete"
                    );
                }
            }
            stopping.await.expect("no panic");
        }
    }
}

/// A client that has read all that was told reads the end, and nothing after it.
#[tokio::test]
async fn what_waits_is_told_before_the_end() {
    let fixture = start(Options::new(), ALL).await;
    let (mut client, _) = fixture.open(tools()).await;
    fixture.server.mcp.notify_tools_changed();
    fixture.stream().await.exit(ExitReason::Shutdown);
    assert_eq!(client.read_event().await.expect("a change")["method"], "notifications/tools/list_changed");
    expect_teardown(&mut client).await;
}
