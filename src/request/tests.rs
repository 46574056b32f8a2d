//! The life of a request's actor in the moments that no client can hit: what holds while the answer is given, before the
//! actor runs, and between an answer and the exit that follows.

use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use ractor_otp::{DynamicOptions, DynamicSupervisor, ExitReason, Parent, Pid, SpawnOptions, Tag};
use tokio::sync::futures::Notified;
use tokio::sync::{Notify, oneshot};

use super::{
    Budget, Call, Count, Held, Lane, Message, Slots, Spawn, StreamCaps, StreamLimits, Streams, erase,
};
use crate::handler::{
    Answer, Channel, Disconnect, Event, Handler, ListenSink, Principal, Refused, Reply, RequestContext,
    RpcError, Sink, Terms,
};
use crate::wire::{CallToolResult, Request, ServerCapabilities};

/// Looks at the slots in the moment when the answer is given.
struct Watching {
    slots: Slots,
    in_use: Mutex<Option<usize>>,
    room: Notify,
}

impl Sink for Watching {
    fn offer(&self, _: Event) -> Result<(), Refused> {
        Err(Refused::Closed)
    }

    fn room(&self) -> Notified<'_> {
        self.room.notified()
    }

    fn patience(&self) -> Duration {
        Duration::MAX
    }

    fn answer(&self, _: Answer) -> bool {
        let mut in_use = self.in_use.lock().unwrap();
        let first = in_use.is_none();
        in_use.get_or_insert(self.slots.in_use());
        first
    }

    fn is_closed(&self) -> bool {
        self.is_answered()
    }

    fn is_answered(&self) -> bool {
        self.in_use.lock().unwrap().is_some()
    }

    fn streams(&self) -> bool {
        false
    }

    fn listening(self: Arc<Self>) -> Option<Arc<dyn ListenSink>> {
        None
    }
}

/// A handler with one slot.
struct Served {
    handler: Arc<dyn Spawn>,
    parent: DynamicSupervisor,
    slots: Slots,
    connection: Count,
}

impl Served {
    async fn start(handler: impl Handler, disconnect: Option<Disconnect>) -> Self {
        let caps = StreamCaps { server: 1, principal: 1, anonymous: false };
        let time = Duration::from_secs(1);
        let limits = StreamLimits { lifetime: time, idle: None };
        let handler =
            erase(handler, Ok(()), Streams::new(caps, limits, None), disconnect, Terms::default()).unwrap();
        let parent = DynamicSupervisor::start(Parent::none(), "connection", DynamicOptions::default());
        Self { handler, parent: parent.await.unwrap(), slots: Slots::new(1, 1), connection: Count::new(1) }
    }

    fn spawn(&self, method: &str) -> (Pid, Arc<Watching>) {
        let sink = Watching { slots: self.slots.clone(), in_use: Mutex::default(), room: Notify::new() };
        let sink = Arc::new(sink);
        let slot = self
            .slots
            .take(Lane::Calls, &self.connection, &Principal::anonymous())
            .expect("the slot of the one before is free");
        let call = Call {
            message: Message::Request(Box::new(Request::Discover)),
            context: Arc::new(RequestContext::of(method)),
            sink: Arc::clone(&sink) as _,
            held: Held::slot(slot, Budget::new(1000).share()),
        };
        (self.handler.spawn(&self.parent, call, SpawnOptions::default()).unwrap(), sink)
    }
}

/// Ends its request in the way that the method names.
struct Ways;

impl Handler for Ways {
    type State = ();
    type Message = ();

    async fn init(&self, channel: &Channel<()>) -> Result<(), RpcError> {
        match channel.method() {
            "init" => Err(RpcError::internal("no state")),
            _ => Ok(()),
        }
    }

    async fn handle_request(
        &self,
        _: Request,
        channel: &Channel<()>,
        (): &mut (),
    ) -> Result<Reply, RpcError> {
        match channel.method() {
            "result" => Ok(CallToolResult::text("done").into()),
            "error" => Err(RpcError::invalid_params("no")),
            "panic" => panic!("on purpose"),
            _ => std::future::pending().await,
        }
    }

    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::new()
    }
}

/// Or a client that asks again as soon as it has read its answer would be one too many.
#[tokio::test]
async fn the_slot_is_free_before_the_answer_is_given_however_the_request_ends() {
    let served = Served::start(Ways, None).await;
    for method in ["result", "error", "panic", "init", "exit", "kill"] {
        let (pid, sink) = served.spawn(method);
        match method {
            "exit" => pid.exit(ExitReason::Shutdown),
            "kill" => pid.kill(),
            _ => {}
        }
        pid.join().await;
        assert_eq!(*sink.in_use.lock().unwrap(), Some(0), "{method}");
    }
}

#[tokio::test]
async fn the_disconnect_hook_is_told_why_a_request_ended_that_never_ran() {
    let ends: Arc<Mutex<Vec<ExitReason>>> = Arc::default();
    let told = Arc::clone(&ends);
    let hook = Disconnect::new(move |end| told.lock().unwrap().push(end.reason));
    let served = Served::start(Ways, Some(hook)).await;
    let (pid, _) = served.spawn("result");
    // This test has the only thread: the request's task has not run yet.
    pid.exit(ExitReason::ShutdownWith(Tag::CLIENT_DISCONNECTED));
    pid.join().await;
    assert_eq!(*ends.lock().unwrap(), [ExitReason::ShutdownWith(Tag::CLIENT_DISCONNECTED)]);
}

/// Shows its channel, and returns when it is told to.
struct Late {
    channel: Mutex<Option<oneshot::Sender<Channel<()>>>>,
    go: Arc<Notify>,
}

impl Handler for Late {
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
        let shown = self.channel.lock().unwrap().take().unwrap().send(channel.clone());
        assert!(shown.is_ok(), "the test waits");
        self.go.notified().await;
        Ok(CallToolResult::text("too late").into())
    }

    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::new()
    }
}

#[tokio::test]
async fn h9_what_is_returned_between_the_answer_at_the_end_of_its_time_and_the_exit_is_too_late() {
    let (show, shown) = oneshot::channel();
    let go = Arc::new(Notify::new());
    let late = Late { channel: Mutex::new(Some(show)), go: Arc::clone(&go) };
    let (pid, _) = Served::start(late, None).await.spawn("tools/call");
    let channel = shown.await.unwrap();
    // On a thread of its own, which stops between the two as the system might stop it.
    let (ended, ends) = mpsc::channel::<()>();
    let timer = tokio::task::spawn_blocking(move || {
        channel.expire(|channel| {
            channel.send_error(RpcError::internal("its time is over"))?;
            go.notify_one();
            ends.recv().unwrap();
            Ok(())
        })
    });
    assert_eq!(pid.join().await, ExitReason::ShutdownWith(Tag::EXPIRED));
    ended.send(()).unwrap();
    assert!(timer.await.unwrap(), "it was answered by the timer");
}
