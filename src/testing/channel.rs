//! A channel without a server: for a test of a handler's callbacks alone.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::Extensions;
use ractor_otp::testing::{LIMIT, within};
use ractor_otp::{Crash, ExitReason, Me, Next, Parent, Process, SpawnOptions, Tag, spawn};
use serde_json::Value;
use tokio::sync::futures::Notified;
use tokio::sync::{Notify, mpsc, oneshot};

use crate::handler::{Answer, Channel, Event, Exchange, Principal, Refused, RequestContext, Sink};
use crate::wire::{LogLevel, MirroredParams, PROTOCOL_VERSION, ProgressToken, RequestId, RequestMeta};

/// A [`Channel`] whose output is recorded, for a handler that is called by the test itself.
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
    record: Arc<Record>,
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
        };
        let record = Arc::new(Record::default());
        let exchange = Exchange::new(Arc::new(context), Arc::clone(&record) as _, None);
        let (forward, messages) = mpsc::unbounded_channel();
        let (tell, told) = oneshot::channel();
        let stand_in = StandIn {
            tell: Some(tell),
            forward,
        };
        let label = format!("test channel {method}");
        let started = spawn(Parent::none(), label, stand_in, SpawnOptions::default()).await;
        match (started, told.await) {
            (Ok(_), Ok(me)) => Self {
                channel: Channel::new(me, exchange),
                record,
                messages,
            },
            (started, _) => panic!("expected the actor of a test channel, found: {:?}", started.err()),
        }
    }

    /// What a handler's callbacks get.
    pub fn channel(&self) -> &Channel<M> {
        &self.channel
    }

    /// The notifications that were sent so far.
    pub fn sent(&self) -> Vec<Value> {
        let written = self.record.lock();
        let messages = written.events.iter().filter_map(|event| match event {
            Event::Open => None,
            Event::Message(json) => Some(parsed(json)),
        });
        messages.collect()
    }

    /// Whether the response has become a stream: by the first thing sent, or by `start_stream`.
    pub fn is_stream(&self) -> bool {
        !self.record.lock().events.is_empty()
    }

    /// The JSON-RPC response that was given early with `send_result` or `send_error`; a handler's reply is its return
    /// value, which the test has.
    pub fn answer(&self) -> Option<Value> {
        self.record
            .lock()
            .answer
            .as_ref()
            .map(|answer| parsed(&answer.body))
    }

    /// The next message sent to the request: to its address, by its timers, tasks and monitors.
    ///
    /// # Panics
    ///
    /// When none comes within [`LIMIT`].
    pub async fn next_message(&mut self) -> M {
        match within(LIMIT, self.messages.recv()).await {
            Some(Some(message)) => message,
            _ => panic!(
                "{:?}: expected a message, found none within {LIMIT:?}",
                self.channel
            ),
        }
    }

    /// The client leaves: sends return `Closed`, and the request's timers and tasks end.
    pub fn hang_up(&self) {
        self.record.lock().gone = true;
        self.channel
            .pid()
            .exit(ExitReason::ShutdownWith(Tag::CLIENT_DISCONNECTED));
    }
}

impl<M> fmt::Debug for TestChannel<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Test{:?}", self.channel)
    }
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

/// Keeps all that is sent. It is never full.
#[derive(Default)]
struct Record(Mutex<Written>, Notify);

#[derive(Default)]
struct Written {
    events: Vec<Event>,
    answer: Option<Answer>,
    gone: bool,
}

impl Record {
    fn lock(&self) -> MutexGuard<'_, Written> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sink for Record {
    fn offer(&self, event: Event) -> Result<(), Refused> {
        let mut written = self.lock();
        if written.gone || written.answer.is_some() {
            return Err(Refused::Closed);
        }
        written.events.push(event);
        Ok(())
    }

    fn room(&self) -> Notified<'_> {
        self.1.notified()
    }

    fn answer(&self, answer: Answer) -> bool {
        let mut written = self.lock();
        let due = !written.gone && written.answer.is_none();
        if due {
            written.answer = Some(answer);
        }
        due
    }

    fn is_closed(&self) -> bool {
        let written = self.lock();
        written.gone || written.answer.is_some()
    }

    fn streams(&self) -> bool {
        true
    }
}
