//! A drain with streams that do not end when they are told to: they fall from phase to phase like calls, within one time.

use std::future::pending;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ractor_mcp::Grant;
use ractor_mcp::otp::ExitReason;
use ractor_mcp::prelude::*;
use ractor_mcp::testing::{TestCall, TestServer};
use ractor_mcp::wire::{Request, ServerCapabilities};
use serde_json::json;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

use crate::support::logs::Logs;

/// What a stream does instead of waiting for its end.
enum Holds {
    /// It shields a future that never ends.
    Shielded,
    /// It blocks its thread until the test lets it go.
    Thread(Mutex<Receiver<()>>),
    /// It takes this long to be accepted.
    Accepting(Duration),
    /// It takes this long to clean up.
    Closing(Duration),
}

/// Accepts every stream, holds it, and takes every other request until it is interrupted.
struct Stubborn {
    holds: Holds,
    holding: Arc<Notify>,
}

impl Handler for Stubborn {
    type State = ();
    type Message = ();

    async fn init(&self, _: &Channel<()>) -> Result<(), RpcError> {
        Ok(())
    }

    async fn handle_request(
        &self,
        request: Request,
        channel: &Channel<()>,
        (): &mut (),
    ) -> Result<Reply, RpcError> {
        let Request::Listen(listen) = request else { return pending().await };
        if let Holds::Accepting(time) = &self.holds {
            sleep(*time).await;
        }
        channel.send_after(Duration::ZERO, ());
        Ok(Reply::subscribe(Grant::new(listen.notifications)))
    }

    async fn handle_message(&self, (): (), channel: &Channel<()>, (): &mut ()) -> Result<Reply, RpcError> {
        self.holding.notify_one();
        match &self.holds {
            Holds::Shielded => channel.uninterrupted(pending::<()>()).await,
            Holds::Thread(release) => drop(release.lock().expect("no panic").recv()),
            Holds::Accepting(_) | Holds::Closing(_) => {}
        }
        Ok(Reply::Stream)
    }

    async fn handle_close(&self, channel: &Channel<()>, (): &mut ()) {
        if let Holds::Closing(time) = &self.holds
            && channel.method() == "subscriptions/listen"
        {
            sleep(*time).await;
        }
    }

    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::new().tools(true)
    }
}

/// A server with one stream that holds already.
async fn start(holds: Holds, options: Options) -> (TestServer, TestCall) {
    let holding = Arc::<Notify>::default();
    let server = TestServer::start_with(Stubborn { holds, holding: Arc::clone(&holding) }, options).await;
    let filter = json!({"notifications": {"toolsListChanged": true}});
    let mut stream = server.connect().await.request("subscriptions/listen", filter).start().await;
    stream.next_event().await.expect("an acknowledgement");
    holding.notified().await;
    (server, stream)
}

/// The end that every stream has.
async fn expect_end(stream: TestCall) {
    assert_eq!(stream.answer().await.result()["resultType"], "complete");
}

const STREAM: &str = "request subscriptions/listen";
const LIMIT: Duration = Duration::from_secs(7);

#[tokio::test(start_paused = true)]
async fn a_stream_that_shields_itself_is_killed_with_no_call_beside_it() {
    let (server, stream) = start(Holds::Shielded, Options::new().close_time(LIMIT)).await;
    let began = Instant::now();
    let summary = server.mcp().shutdown(LIMIT).await;
    assert_eq!((summary.running, summary.interrupted, summary.killed), (0, 0, 1), "{summary}");
    assert_eq!(began.elapsed().as_secs(), 2 * LIMIT.as_secs(), "the deadline and the close time");
    assert_eq!(server.await_exit(STREAM).await, ExitReason::Killed);
    expect_end(stream).await;
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_does_not_end_counts_as_no_call_that_was_interrupted() {
    let (server, stream) = start(Holds::Shielded, Options::new()).await;
    let call = server.connect().await.request("tools/list", json!({})).start().await;
    server.pid_of("request tools/list").await;
    let summary = server.mcp().shutdown(LIMIT).await;
    assert_eq!((summary.running, summary.interrupted, summary.killed), (1, 1, 1), "{summary}");
    assert_eq!(summary.to_string(), "0 finished, 1 interrupted, 1 killed");
    assert_eq!(call.answer().await.code(), -32603);
    expect_end(stream).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_stream_that_blocks_its_thread_is_named_with_no_call_beside_it() {
    let (logs, _guard) = Logs::record(tracing::Level::ERROR);
    let (release, held) = channel();
    let options = Options::new().close_time(Duration::from_millis(50));
    let (server, _stream) = start(Holds::Thread(Mutex::new(held)), options).await;
    let summary = server.mcp().shutdown(Duration::from_millis(50)).await;
    assert_eq!(summary.stuck, ["request subscriptions/listen #1"], "{summary}");
    let told = logs.lines("ERROR").join("\n");
    assert!(told.contains("stuck: request subscriptions/listen #1"), "{told}");
    drop(release);
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_accepted_during_the_drain_ends_at_once() {
    let server =
        TestServer::start(Stubborn { holds: Holds::Accepting(LIMIT), holding: Arc::default() }).await;
    let filter = json!({"notifications": {"toolsListChanged": true}});
    let stream = server.connect().await.request("subscriptions/listen", filter).start().await;
    server.pid_of(STREAM).await;
    let began = Instant::now();
    let summary = server.mcp().shutdown(10 * LIMIT).await;
    assert_eq!((summary.running, summary.interrupted, summary.killed), (1, 0, 0), "{summary}");
    assert_eq!(began.elapsed().as_secs(), LIMIT.as_secs(), "not the deadline");
    expect_end(stream).await;
}

/// The clean-up of a stream and the deadline of the calls run at the same time.
#[tokio::test(start_paused = true)]
async fn the_deadline_counts_from_the_call_of_shutdown_whatever_the_streams_do() {
    let deadline = Duration::from_secs(1);
    let (server, stream) =
        start(Holds::Closing(LIMIT), Options::new().close_time(LIMIT + Duration::from_secs(1))).await;
    let call = server.connect().await.request("tools/list", json!({})).start().await;
    let running = server.pid_of("request tools/list").await;
    let began = Instant::now();
    let mcp = server.mcp().clone();
    let stopping = tokio::spawn(async move { mcp.shutdown(deadline).await });
    assert_eq!(running.join().await, ExitReason::Shutdown);
    assert_eq!(began.elapsed().as_secs(), deadline.as_secs(), "interrupted at the deadline");
    assert_eq!(call.answer().await.code(), -32603);
    let summary = stopping.await.expect("no panic");
    assert_eq!((summary.running, summary.interrupted, summary.killed), (1, 1, 0), "{summary}");
    assert_eq!(began.elapsed().as_secs(), LIMIT.as_secs(), "the stream had its time, from the start on");
    expect_end(stream).await;
}

/// It is killed by its own limit, and not by the drain.
#[tokio::test(start_paused = true)]
async fn a_stream_whose_handle_close_does_not_end_counts_as_killed() {
    let (server, stream) = start(Holds::Closing(Duration::MAX), Options::new().close_time(LIMIT)).await;
    let summary = server.mcp().shutdown(3 * LIMIT).await;
    assert_eq!((summary.running, summary.interrupted, summary.killed), (0, 0, 1), "{summary}");
    assert_eq!(server.await_exit(STREAM).await, ExitReason::Killed);
    expect_end(stream).await;
}
