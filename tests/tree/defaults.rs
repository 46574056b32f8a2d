//! The defaults of all options, in one place: a change of one is a change of what a server does, so it has to be meant.

use std::time::{Duration, SystemTime};

use ractor_mcp::testing::TestServer;
use ractor_mcp::{ManualClock, Options, Suite};
use serde_json::{Value, json};

#[test]
fn the_limits_of_a_server_that_sets_none() {
    let options = format!("{:?}", Options::default());
    for default in [
        "path: \"/mcp\"",
        // 4 MiB, 64 KiB and 256 MiB; 10,000 connections, 1,000 requests of which 100 on one connection.
        " body: 4194304,",
        " head: 65536,",
        " body_budget: 268435456,",
        " max_connections: 10000,",
        " max_in_flight: 1000,",
        " max_in_flight_per_principal: None,",
        " in_flight_per_connection: 100,",
        " depth: 64,",
        " id: 256,",
        " token: 8192 ",
        // How long each phase of a connection, a request and an end may take.
        " first_byte: 10s,",
        " head_time: 30s,",
        " body_time: 30s,",
        " write_stall: 30s,",
        " keep_alive: 15s,",
        " time: 10s,",
        " authorize_time: 5s,",
        " request_time: None,",
        " close_time: 5s,",
        " long_schedule: 500ms,",
        " drain: 30s,",
        " drain_delay: 0ns,",
        // What may wait, be told and be named.
        " outbox: OutboxLimits { messages: 64, bytes: 1048576, patience: 30s },",
        " stream_outbox: OutboxLimits { messages: 1000, bytes: 1048576, patience: 30s },",
        " mailbox: 1000 ",
        " pace: Pace { progress: 1000, logs: 1000 },",
        " filter: 1000,",
        " StreamCaps { server: 10000, principal: 4, anonymous: false },",
        " StreamLimits { lifetime: 3600s, idle: None },",
    ] {
        assert!(options.contains(default), "{default} in {options}");
    }
}

#[tokio::test]
async fn a_page_of_a_suite_has_100_entries_and_what_it_seals_holds_for_20_minutes() {
    async fn nothing() {}
    let tools = (0..101).fold(Suite::new("s", "1"), |suite, n| suite.tool(&format!("t{n}"), nothing));
    let clock = ManualClock::new(SystemTime::UNIX_EPOCH);
    let server = TestServer::start_with(tools, Options::new().clock(clock.clone())).await;
    let client = server.connect().await;
    let page = async |params: Value| client.request("tools/list", params).await;
    let first = page(json!({})).await.result().clone();
    assert_eq!(first["tools"].as_array().map(Vec::len), Some(100));
    let cursor = json!({"cursor": first["nextCursor"]});
    clock.advance(Duration::from_secs(20 * 60 - 1));
    assert_eq!(page(cursor.clone()).await.result()["tools"].as_array().map(Vec::len), Some(1));
    clock.advance(Duration::from_secs(2));
    assert_eq!(page(cursor).await.code(), -32602);
}
