//! Floor 6: the test kit, behind the feature `testing`. A client in the test's own process, without a socket, that goes
//! the real way: through HTTP, the checks, the actors and the tree.
//!
//! Turn it on for tests only:
//!
//! ```toml
//! [dev-dependencies]
//! ractor_mcp = { path = "../ractor_mcp", features = ["testing"] }
//! serde_json = "1"
//! tokio = { version = "1", features = ["macros", "rt", "test-util"] }
//! ```
//!
//! A whole test file. The clock is paused, so that a tool that takes an hour is tested in no time:
//!
//! ```
//! # // Attributes of a test mean nothing in a documentation test: `main` below runs the functions one by one.
//! use std::time::Duration;
//!
//! use ractor_mcp::prelude::*;
//! use ractor_mcp::testing::{TestServer, assert_tree};
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//! use serde_json::json;
//!
//! /// Works for some hours.
//! #[derive(Deserialize, JsonSchema)]
//! struct Work { hours: u64 }
//!
//! async fn work(Work { hours }: Work, call: Call) -> Result<String, ToolError> {
//!     for hour in 0..hours {
//!         call.progress(hour, hours, "working").await?;
//!         tokio::time::sleep(Duration::from_secs(3600)).await;
//!     }
//!     Ok(format!("worked for {hours} hours"))
//! }
//!
//! fn suite() -> Suite {
//!     Suite::new("worker", "1.0.0").tool("work", work)
//! }
//!
//! # /*
//! #[tokio::test(start_paused = true)]
//! # */
//! async fn a_call_is_answered_after_its_progress() {
//!     let client = TestServer::start(suite()).await.connect().await;
//!     let answer = client.call_tool("work", json!({"hours": 3})).progress_token("p").await;
//!     assert_eq!(answer.text(), "worked for 3 hours");
//!     let steps: Vec<_> = answer.progress().map(|step| step["progress"].clone()).collect();
//!     assert_eq!(steps, [0.0, 1.0, 2.0]);
//! }
//!
//! # /*
//! #[tokio::test(start_paused = true)]
//! # */
//! async fn wrong_arguments_are_told_to_the_model() {
//!     let client = TestServer::start(suite()).await.connect().await;
//!     let answer = client.call_tool("work", json!({"hours": "three"})).await;
//!     assert!(answer.is_error());
//!     assert!(answer.text().contains("hours"), "{}", answer.text());
//! }
//!
//! # /*
//! #[tokio::test(start_paused = true)]
//! # */
//! async fn a_client_that_leaves_ends_the_work() {
//!     let server = TestServer::start(suite()).await;
//!     let call = server.connect().await.call_tool("work", json!({"hours": 3})).start().await;
//!     server.pid_of("request tools/call work").await;
//!     assert_tree!(call.connection(), "connection\n└─ request tools/call work #1");
//!     call.hang_up();
//!     let reason = server.await_exit("request tools/call work").await;
//!     assert_eq!(reason.to_string(), "shutdown: client_disconnected");
//! }
//!
//! # /*
//! #[tokio::test(start_paused = true)]
//! # */
//! async fn a_shutdown_lets_the_work_finish() {
//!     let server = TestServer::start(suite()).await;
//!     let call = server.connect().await.call_tool("work", json!({"hours": 1})).start().await;
//!     server.pid_of("request tools/call work").await;
//!     let summary = server.mcp().shutdown(Duration::from_secs(7200)).await;
//!     assert_eq!((summary.running, summary.interrupted), (1, 0));
//!     assert_eq!(call.answer().await.text(), "worked for 1 hours");
//! }
//! # fn main() {
//! #     let run = |test: std::pin::Pin<Box<dyn Future<Output = ()>>>| {
//! #         let mut runtime = tokio::runtime::Builder::new_current_thread();
//! #         runtime.enable_all().start_paused(true).build().unwrap().block_on(test);
//! #     };
//! #     run(Box::pin(a_call_is_answered_after_its_progress()));
//! #     run(Box::pin(wrong_arguments_are_told_to_the_model()));
//! #     run(Box::pin(a_client_that_leaves_ends_the_work()));
//! #     run(Box::pin(a_shutdown_lets_the_work_finish()));
//! # }
//! ```
//!
//! What is not as expected panics, and the message says what was expected, what was found, where the request was made
//! and how the tree looks at that moment. A wait is woken by what it waits for, and gives up after [`LIMIT`]; under a paused clock
//! time goes on as soon as all wait, so that a stream may reach its own end of time before that.
//!
//! What failed inside of the server is told to `tracing` alone, as in production: begin such a test with
//! `let _ = tracing_subscriber::fmt().with_test_writer().try_init();`. The reason of a process that panicked prints as
//! `crash: ` and the message. A caller's token is a header: `server.connect().await.header("Authorization", "Bearer alice")`.
//!
//! tokio's clock does not move the time of day, by which callers and sealed tokens expire: give the server a
//! [`ManualClock`](crate::ManualClock) with [`Options::clock`](crate::Options::clock), and move that.
//!
//! | type | is |
//! |---|---|
//! | [`TestServer`] | a running server; waits for starts and ends of its actors |
//! | [`TestClient`] | a client; makes requests |
//! | [`TestRequest`] | one request before it is sent: headers, `_meta`, id |
//! | [`TestCall`] | one request under way: events one by one, hang up, hold back reading |
//! | [`TestResponse`] | its answer and all that came before it |
//! | [`TestChannel`] | a [`Channel`](crate::Channel) without a server, for a handler alone |
#![allow(
    clippy::panic,
    reason = "a test kit fails a test by a panic, as the assertions of the standard library do"
)]

mod call;
mod channel;
mod client;
mod events;
mod failure;
mod line;
mod reading;
mod request;
mod response;
mod server;

pub use call::TestCall;
pub use channel::TestChannel;
pub use client::TestClient;
pub use ractor_otp::assert_tree;
pub use ractor_otp::testing::LIMIT;
pub use reading::Lost;
pub use request::TestRequest;
pub use response::TestResponse;
pub use server::TestServer;
