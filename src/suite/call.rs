//! What a running tool knows of its call, and what it can send meanwhile.

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use ractor_otp::{Down, MonitorRef, Pid, TaskHandle, TaskResult, TimerHandle};
use serde_json::Value;

use crate::handler::{Channel, Clock, Closed, Principal, Sent, Working, contained};
use crate::wire::{LogLevel, RequestId, RequestMeta, ServerNotification};

use super::{Rounds, SuiteMessage, ToolAddress};

/// The call that a tool serves: the second argument of a tool function that wants it. A [`Tool`](super::Tool) that takes
/// messages of a type `M` gets a `Call<M>`, which has an [`address`](Call::address).
///
/// ```
/// use ractor_mcp::prelude::*;
/// # use schemars::JsonSchema;
/// # use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Count { to: u32 }
///
/// async fn count(Count { to }: Count, call: Call) -> Result<String, ToolError> {
///     for step in 1..=to {
///         call.progress(step, to, None).await?;
///     }
///     Ok(format!("counted to {to}"))
/// }
/// ```
pub struct Call<M = Infallible> {
    channel: Channel<SuiteMessage>,
    name: Arc<str>,
    rounds: Rounds,
    messages: PhantomData<fn(M)>,
}

impl<M: Send + 'static> Call<M> {
    pub(super) fn new(channel: Channel<SuiteMessage>, name: Arc<str>, rounds: Rounds) -> Self {
        let messages = PhantomData;
        Self { channel, name, rounds, messages }
    }

    /// What the request is about: the name of the tool or prompt, the URI of the resource or its template, and the method
    /// for a list.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The rounds of this call: what the client answered so far.
    pub fn rounds(&self) -> &Rounds {
        &self.rounds
    }

    /// The actor of the request.
    pub(super) fn pid(&self) -> Pid {
        self.channel.pid()
    }

    /// Held by the thread of a blocking call as long as it works.
    pub(super) fn works(&self) -> Working {
        self.channel.works()
    }

    /// Reports progress, if the client asked for it: with a `progressToken` in the request's `_meta`, and an `Accept` that
    /// takes `text/event-stream`. Otherwise nothing is sent, which is no error. It must grow with each call; `total` is in
    /// the same unit; it and the message, a `&str`, may be left out with `None`. A loop may report each of its steps: beyond so
    /// many in a second they are dropped ([`Options::progress_rate`](crate::Options::progress_rate)), except the one that reaches
    /// the total.
    ///
    /// # Errors
    ///
    /// [`Closed`] once the client left or the call was answered.
    pub async fn progress(
        &self,
        progress: impl Amount,
        total: impl IntoTotal,
        message: impl Into<Option<&str>>,
    ) -> Result<Sent, Closed> {
        self.channel.send_progress(progress.amount(), total.into_total(), message).await
    }

    /// Sends a log record, if the request asked for logs at or below `level`, and not beyond so many in a second
    /// ([`Options::log_rate`](crate::Options::log_rate)). The client reads it: no secrets, nothing internal. A suite may turn
    /// that off ([`Suite::logging`](super::Suite::logging)).
    ///
    /// # Errors
    ///
    /// [`Closed`] once the client left or the call was answered.
    pub async fn log(&self, level: LogLevel, data: impl Into<Value>) -> Result<Sent, Closed> {
        self.channel.send_log(level, data, &*self.name).await
    }

    /// Sends a notification of your own on this call's response; see [`Channel::send_notification`](crate::Channel::send_notification).
    ///
    /// # Errors
    ///
    /// [`Closed`] once the client left or the call was answered.
    pub async fn notify(&self, notification: impl Into<ServerNotification>) -> Result<Sent, Closed> {
        self.channel.send_notification(notification).await
    }

    /// Opens the response as a stream without writing an event, so that keep-alives flow while the tool works.
    ///
    /// # Errors
    ///
    /// [`Closed`] once the client left or the call was answered.
    pub async fn start_stream(&self) -> Result<(), Closed> {
        self.channel.start_stream().await
    }

    /// Starts a task that belongs to this call and ends with it. It runs in the request's `tracing` span, and a panic in it is
    /// traced with the tool's name and the request's id.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let (tool, request) = (Arc::clone(&self.name), self.pid());
        // Told by the task itself: nobody wants to read of it in a message.
        let watched = async move {
            if let Err(crash) = contained(task).await {
                let request = request.label();
                tracing::error!(target: "ractor_mcp", %tool, %request, %crash, "a task of the tool failed");
            }
        };
        self.channel.spawn(watched, |_| SuiteMessage::task_ended());
    }

    /// What application code uses to message this call while it streams: typed, clonable, bounded.
    pub fn address(&self) -> ToolAddress<M> {
        ToolAddress::new(self.channel.address())
    }

    /// Runs a task that belongs to this call and ends with it; its output, or its panic, arrives as a message. A panic of which
    /// the call reads no more is traced.
    pub fn spawn_to<T: Send + 'static>(
        &self,
        task: impl Future<Output = T> + Send + 'static,
        to_message: impl FnOnce(TaskResult<T>) -> M + Send + 'static,
    ) -> TaskHandle {
        self.channel.spawn(task, |output| SuiteMessage::new(to_message(output)))
    }

    /// Sends a message to this call after a delay, unless it ends before.
    pub fn send_after(&self, delay: Duration, message: M) -> TimerHandle {
        self.channel.send_after(delay, SuiteMessage::new(message))
    }

    /// Tells this call when another process ends, behind everything that process sent before.
    pub fn monitor(&self, pid: &Pid, to_message: impl FnOnce(Down) -> M + Send + 'static) -> MonitorRef {
        self.channel.monitor(pid, |down| SuiteMessage::new(to_message(down)))
    }

    /// Runs a future that neither a client that leaves nor a drain cuts: the end of the call waits for it.
    pub fn uninterrupted<'a, T, F>(&'a self, future: F) -> impl Future<Output = T> + Send + 'a
    where
        T: Send + 'a,
        F: Future<Output = T> + Send + 'a,
    {
        self.channel.uninterrupted(future)
    }

    /// Whether the client left or the call was answered. For work that cannot be interrupted at an `.await`.
    pub fn is_closed(&self) -> bool {
        self.channel.is_closed()
    }

    /// The id of the request as the client sent it.
    pub fn request_id(&self) -> Option<&RequestId> {
        self.channel.request_id()
    }

    /// What the request's `_meta` says.
    pub fn meta(&self) -> &RequestMeta {
        self.channel.meta()
    }

    /// Who calls.
    pub fn principal(&self) -> &Principal {
        self.channel.principal()
    }

    /// The address of the client's end of the connection, if the transport has one.
    pub fn peer(&self) -> Option<SocketAddr> {
        self.channel.peer()
    }

    /// By which clock the server's callers and tokens expire: what a tool that asks for the time of day should ask, so that
    /// its tests can set it. See [`Options::clock`](crate::Options::clock).
    pub fn clock(&self) -> &Clock {
        self.channel.clock()
    }

    /// How long the application may take to authorize what a stream is told.
    pub(super) fn authorize_time(&self) -> Duration {
        self.channel.authorize_time()
    }

    /// Typed values that layers in front of the server attached to the HTTP request.
    pub fn extensions(&self) -> &http::Extensions {
        self.channel.extensions()
    }
}

impl<M> Clone for Call<M> {
    fn clone(&self) -> Self {
        Self {
            channel: self.channel.clone(),
            name: Arc::clone(&self.name),
            rounds: self.rounds.clone(),
            messages: PhantomData,
        }
    }
}

impl<M> fmt::Debug for Call<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Call({:?})", self.channel)
    }
}

/// A number for [`Call::progress`]: any integer or float.
pub trait Amount {
    /// The number as the wire has it. Integers above 2^53 lose digits.
    fn amount(self) -> f64;
}

macro_rules! amounts {
    ($($number:ty)*) => {
        $(impl Amount for $number {
            #[allow(clippy::cast_precision_loss, clippy::cast_lossless)]
            fn amount(self) -> f64 {
                self as f64
            }
        })*
    };
}

amounts!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64);

/// A total for [`Call::progress`]: a number, or `None`.
pub trait IntoTotal {
    /// The total, if it is known.
    fn into_total(self) -> Option<f64>;
}

impl<N: Amount> IntoTotal for N {
    fn into_total(self) -> Option<f64> {
        Some(self.amount())
    }
}

impl IntoTotal for Option<f64> {
    fn into_total(self) -> Option<f64> {
        self
    }
}
