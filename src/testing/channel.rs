//! A channel without a server: for a test of a handler's callbacks alone.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use http::Extensions;
use ractor_otp::testing::{LIMIT, within};
use ractor_otp::{Crash, ExitReason, Me, Next, Parent, Process, SpawnOptions, Tag, spawn};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use crate::handler::{Channel, Clock, Event, Exchange, Principal, RequestContext, Terms};
use crate::request::{Budget, Outbox, OutboxLimits, Outgoing};
use crate::wire::{LogLevel, MirroredParams, PROTOCOL_VERSION, ProgressToken, RequestId, RequestMeta};

/// Never full: a handler under test does not wait for its test to read.
const UNLIMITED: OutboxLimits =
    OutboxLimits { messages: usize::MAX, bytes: usize::MAX, patience: Duration::MAX };

/// A [`Channel`] whose output is recorded, for a handler that is called by the test itself. For any method but
/// `subscriptions/listen`, whose stream is more than its handler: test that with a [`TestServer`](super::TestServer).
///
/// ```
/// use ractor_mcp::prelude::*;
/// use ractor_mcp::testing::TestChannel;
///
/// async fn report(channel: &Channel<String>) -> Result<(), RpcError> {
///     channel.send_progress(1.0, 2.0, "half").await?;
///     channel.address().send("go on".to_owned()).await.ok();
///     Ok(())
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let mut test = TestChannel::start("tools/call").await;
/// report(test.channel()).await.unwrap();
/// assert_eq!(test.sent()[0]["params"]["message"], "half");
/// assert_eq!(test.next_message().await, "go on");
///
/// test.hang_up();
/// assert!(report(test.channel()).await.is_err());
/// # }
/// ```
pub struct TestChannel<M> {
    channel: Channel<M>,
    outbox: Arc<Outbox>,
    written: Mutex<Written>,
    messages: mpsc::UnboundedReceiver<M>,
}

impl<M: Send + 'static> TestChannel<M> {
    /// The channel of a request for this method, with id 1, of an anonymous caller that wants progress and all logs.
    pub async fn start(method: &str) -> Self {
        let mut meta = RequestMeta::default();
        PROTOCOL_VERSION.clone_into(&mut meta.protocol_version);
        meta.progress_token = Some(ProgressToken::from(1));
        meta.log_level = Some(LogLevel::Debug);
        Self::start_as(method, meta, Principal::anonymous(), Extensions::new()).await
    }

    /// As [`start`](TestChannel::start), with what the request's `_meta` says, who calls, and what layers in front of
    /// the server attached.
    ///
    /// # Panics
    ///
    /// When its actor does not start.
    pub async fn start_as(
        method: &str,
        meta: RequestMeta,
        principal: Principal,
        extensions: Extensions,
    ) -> Self {
        let context = RequestContext {
            id: Some(RequestId::from(1)),
            method: method.into(),
            name: None,
            meta,
            mirrored_params: MirroredParams::default(),
            peer: None,
            principal,
            extensions,
            received: std::time::Instant::now(),
            clock: Clock::system(),
        };
        let outbox = Arc::new(Outbox::new(UNLIMITED, Budget::new(usize::MAX), true));
        let exchange =
            Exchange::new(Arc::new(context), Arc::clone(&outbox) as _, None, Terms::default(), true);
        let (forward, messages) = mpsc::unbounded_channel();
        let (tell, told) = oneshot::channel();
        let stand_in = StandIn { tell: Some(tell), forward };
        let label = format!("test channel {method}");
        let started = spawn(Parent::none(), label, stand_in, SpawnOptions::default()).await;
        match (started, told.await) {
            (Ok(_), Ok(me)) => {
                Self { channel: Channel::new(me, exchange), outbox, written: Mutex::default(), messages }
            }
            (started, _) => panic!("expected the actor of a test channel, found: {:?}", started.err()),
        }
    }

    /// What a handler's callbacks get.
    pub fn channel(&self) -> &Channel<M> {
        &self.channel
    }

    /// The notifications that were sent so far.
    pub fn sent(&self) -> Vec<Value> {
        let written = self.written();
        let messages = written.events.iter().filter_map(|event| match event {
            Event::Open => None,
            Event::Message(json) => Some(parsed(json)),
        });
        messages.collect()
    }

    /// Whether the response has become a stream: by the first thing sent, or by `start_stream`.
    pub fn is_stream(&self) -> bool {
        !self.written().events.is_empty()
    }

    /// The JSON-RPC response that was given early with `send_result` or `send_error`; a handler's reply is its return
    /// value, which the test has.
    pub fn answer(&self) -> Option<Value> {
        self.written().answer.as_ref().map(parsed)
    }

    /// The next message sent to the request: to its address, by its timers, tasks and monitors.
    ///
    /// # Panics
    ///
    /// When none comes within [`LIMIT`].
    pub async fn next_message(&mut self) -> M {
        match within(LIMIT, self.messages.recv()).await {
            Some(Some(message)) => message,
            _ => panic!("{:?}: expected a message, found none within {LIMIT:?}", self.channel),
        }
    }

    /// What was written up to now.
    fn written(&self) -> MutexGuard<'_, Written> {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let mut cx = Context::from_waker(Waker::noop());
        while let Poll::Ready(outgoing) = self.outbox.poll_next(&mut cx) {
            match outgoing {
                Outgoing::Event(event) => written.events.push(event),
                Outgoing::Answer(answer) => written.answer = Some(answer.body),
            }
        }
        written
    }

    /// The client leaves: sends return `Closed`, and the request's timers and tasks end.
    pub fn hang_up(&self) {
        // What was sent before stays known.
        drop(self.written());
        self.outbox.abandon();
        self.channel.pid().exit(ExitReason::ShutdownWith(Tag::CLIENT_DISCONNECTED));
    }
}

impl<M> fmt::Debug for TestChannel<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Test{:?}", self.channel)
    }
}

/// What the test took out of the outbox.
#[derive(Default)]
struct Written {
    events: Vec<Event>,
    answer: Option<Bytes>,
}

fn parsed(json: &Bytes) -> Value {
    serde_json::from_slice(json).unwrap_or_default()
}

/// The actor behind a test channel: it hands on what is sent to it.
struct StandIn<M> {
    tell: Option<oneshot::Sender<Me<M>>>,
    forward: mpsc::UnboundedSender<M>,
}

impl<M: Send + 'static> Process for StandIn<M> {
    type Message = M;

    async fn init(&mut self, me: &Me<M>) -> Result<(), Crash> {
        if let Some(tell) = self.tell.take() {
            // Nobody waits only if the test is over.
            let _ = tell.send(me.clone());
        }
        Ok(())
    }

    async fn handle(&mut self, message: M, _: &Me<M>) -> Next {
        match self.forward.send(message) {
            Ok(()) => Next::Receive,
            Err(_) => Next::Stop(ExitReason::Normal),
        }
    }
}
