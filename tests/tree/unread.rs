//! A client that leaves behind bytes which nobody has asked for, over a transport that cannot be watched: what `serve()` promises
//! of it, and no more.

use std::time::Duration;

use ractor_mcp::prelude::*;
use ractor_mcp::testing::TestServer;
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::time::Instant;

use crate::support::{Post, call, fixture};

const WORK: Duration = Duration::from_secs(60);

/// When the call of a client that has left ends, and why.
async fn end(options: Options, post: Post) -> (Duration, String) {
    let server = TestServer::start_with(fixture::suite(), options).await;
    let mut client = server.connect_raw().await;
    let bytes = [post.to_bytes("localhost"), b"\r\n".to_vec()].concat();
    client.write_all(&bytes).await.expect("the server reads");
    server.pid_of("request tools/call slow").await;
    let left = Instant::now();
    drop(client);
    let reason = server.await_exit("request tools/call slow").await;
    (left.elapsed(), reason.to_string())
}

fn slow() -> Post {
    call("slow", json!({"ms": WORK.as_millis() as u64}))
}

#[tokio::test(start_paused = true)]
async fn a_client_that_left_behind_a_stray_byte_is_noticed_by_the_first_write_that_fails() {
    let (noticed, reason) = end(Options::new(), slow()).await;
    assert_eq!((noticed.as_secs(), reason.as_str()), (15, "shutdown: client_disconnected"), "a keep-alive");
    let (noticed, _) = end(Options::new(), slow().json_only()).await;
    assert_eq!(noticed.as_secs(), WORK.as_secs(), "the answer");
}

#[tokio::test(start_paused = true)]
async fn the_time_of_a_request_ends_it_whether_or_not_its_client_is_known_to_have_left() {
    let (ended, reason) = end(Options::new().request_time(Duration::from_secs(5)), slow().json_only()).await;
    assert_eq!((ended.as_secs(), reason.as_str()), (5, "shutdown: expired"));
}
