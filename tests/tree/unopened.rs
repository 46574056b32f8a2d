//! Listen requests that their handler answers before it accepts them: by an error alone, and then there is no stream.

use ractor_mcp::Topic;
use ractor_mcp::otp::{ExitReason, Tag};
use ractor_mcp::prelude::*;
use ractor_mcp::wire::{ListenResult, Request, ServerCapabilities, SubscriptionFilter};
use serde_json::json;

use crate::support::logs::Logs;
use crate::support::streams::listen;
use crate::support::{Response, Server, next_request};

/// Answers a listen request so, through the channel, and then accepts it; or returns the answer.
#[derive(Clone, Copy)]
enum Hasty {
    Refuses,
    Results,
    Returns,
}

impl Handler for Hasty {
    type State = ();
    type Message = ();

    async fn init(&self, _: &Channel<()>) -> Result<(), RpcError> {
        Ok(())
    }

    async fn handle_request(
        &self,
        _: Request,
        channel: &Channel<()>,
        (): &mut (),
    ) -> Result<Reply, RpcError> {
        match self {
            Self::Refuses => channel.send_error(RpcError::new(7, "not now"))?,
            Self::Results => channel.send_result(ListenResult::new())?,
            Self::Returns => return Ok(ListenResult::new().into()),
        }
        Ok(Reply::subscribe(SubscriptionFilter::new().tools()))
    }

    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::new().tools(true)
    }
}

/// What the client reads, once the actor has ended and nothing is left of it, and what was traced.
async fn answered(handler: Hasty) -> (Response, Logs) {
    let (logs, _guard) = Logs::record(tracing::Level::WARN);
    let server = Server::start(handler).await;
    let mut exits = server.mcp.exits();
    let response = server.send(listen(json!({"toolsListChanged": true}))).await;
    assert_eq!(next_request(&mut exits).await.reason, ExitReason::ShutdownWith(Tag::REPLY));
    assert_eq!(server.mcp.subscribers(&Topic::Tools), []);
    (response, logs)
}

#[tokio::test]
async fn an_error_that_was_sent_stands_and_the_stream_is_not_opened() {
    let (response, logs) = answered(Hasty::Refuses).await;
    assert_eq!((response.is_stream(), response.code()), (false, 7));
    let warnings = logs.lines("WARN");
    assert!(matches!(&*warnings, [line] if line.contains("had answered before")), "{warnings:?}");
}

#[tokio::test]
async fn sub_03_sub_14_a_result_without_an_acknowledgement_is_a_bug_of_the_handler() {
    for handler in [Hasty::Results, Hasty::Returns] {
        let (response, logs) = answered(handler).await;
        assert_eq!((response.is_stream(), response.code()), (false, -32603));
        assert!(logs.lines("ERROR")[0].contains("Reply::Subscribe"), "{}", logs.text());
    }
}
