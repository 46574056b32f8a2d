//! Basic: trace context (META-15, M1), as a subscriber sees it.

use std::io;
use std::sync::{Arc, Mutex};

use ractor_mcp::prelude::*;
use serde_json::json;
use tracing::Level;

use crate::support::{Post, Server, call};

const IN_META: &str = "00-11111111111111111111111111111111-1111111111111111-01";
const IN_HEADER: &str = "00-22222222222222222222222222222222-2222222222222222-01";

/// What was traced, as text.
#[derive(Clone, Default)]
struct Traced(Arc<Mutex<Vec<u8>>>);

impl io::Write for Traced {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Traced {
    /// The line of an event, with the fields of its spans in front.
    fn line(&self, event: &str) -> String {
        let traced = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        let line = traced.lines().rev().find(|line| line.ends_with(event));
        line.unwrap_or_else(|| panic!("no `{event}` in {traced}")).to_owned()
    }
}

async fn traces(_: NoArguments) -> &'static str {
    tracing::info!("inside the tool");
    "traced"
}

fn post() -> Post {
    call("traces", json!({}))
}

#[tokio::test]
async fn meta_15_and_m1_the_span_of_a_request_names_the_trace_of_its_client() {
    let traced = Traced::default();
    let writer = traced.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(Level::INFO)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let server = Server::start(Suite::new("s", "1").tool("traces", traces)).await;
    for (post, present, absent) in [
        (
            post()
                .with_meta("traceparent", json!(IN_META))
                .with_meta("tracestate", json!("a=b"))
                .with_meta("baggage", json!("k=v")),
            vec![IN_META, "a=b", "k=v"],
            vec![],
        ),
        (
            post().header("traceparent", IN_HEADER).header("tracestate", "c=d"),
            vec![IN_HEADER, "c=d"],
            vec!["baggage"],
        ),
        (
            post()
                .with_meta("traceparent", json!(IN_META))
                .header("traceparent", IN_HEADER)
                .header("tracestate", "c=d"),
            vec![IN_META],
            vec![IN_HEADER, "tracestate"],
        ),
        (
            post().with_meta("traceparent", json!("00-1111")).header("traceparent", "00-2222"),
            vec!["method=tools/call", "name=\"traces\""],
            vec!["traceparent"],
        ),
    ] {
        assert_eq!(server.send(post).await.text(), "traced");
        let line = traced.line("inside the tool");
        for text in present {
            assert!(line.contains(text), "{text} in {line}");
        }
        for text in absent {
            assert!(!line.contains(text), "{text} in {line}");
        }
    }
}
