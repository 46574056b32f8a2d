//! A handler that accepts every stream and does what it is ordered to, and clients that read what becomes of it.

use std::sync::{Mutex, PoisonError};

use ractor_mcp::otp::{Address, ExitReason, Pid};
use ractor_mcp::prelude::*;
use ractor_mcp::wire::{
    LogLevel, Request, ResultBody, ServerCapabilities, ServerNotification, SubscriptionFilter,
};
use ractor_mcp::{Grant, Options};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream};
use tokio::sync::mpsc;

use super::{Client, Post, Server, request};

/// Grants what is asked for.
pub const ALL: fn(SubscriptionFilter) -> Grant = Grant::new;

/// Tells what its callbacks see.
struct Streams {
    closed: mpsc::UnboundedSender<ExitReason>,
    grant: fn(SubscriptionFilter) -> Grant,
}

/// What a stream is told to do.
pub enum Order {
    Send(ServerNotification),
    /// What belongs on other responses.
    Report,
    Stop(ExitReason),
    /// What would answer any other request, while the handler goes on.
    Answer(Result<ResultBody, RpcError>),
    Fail,
    Panic,
    Close,
}

impl Handler for Streams {
    type State = ();
    type Message = Order;

    async fn init(&self, _: &Channel<Order>) -> Result<(), RpcError> {
        Ok(())
    }

    async fn handle_request(
        &self,
        request: Request,
        channel: &Channel<Order>,
        (): &mut (),
    ) -> Result<Reply, RpcError> {
        let Request::Listen(listen) = request else {
            return Err(RpcError::method_not_found(request.method()));
        };
        let mut addresses = ADDRESSES.lock().unwrap_or_else(PoisonError::into_inner);
        addresses.retain(|(_, address)| !address.is_closed());
        addresses.push((channel.pid().id(), channel.address()));
        Ok(Reply::subscribe((self.grant)(listen.notifications)))
    }

    async fn handle_message(
        &self,
        order: Order,
        channel: &Channel<Order>,
        (): &mut (),
    ) -> Result<Reply, RpcError> {
        match order {
            Order::Send(notification) => {
                channel.send_notification(notification).await?;
                Ok(Reply::Stream)
            }
            Order::Report => {
                channel.send_progress(1.0, None, None).await?;
                channel.send_log(LogLevel::Emergency, "a log", None).await?;
                Ok(Reply::Stream)
            }
            Order::Stop(reason) => Ok(Reply::Stop(reason)),
            Order::Answer(answer) => {
                match answer {
                    Ok(result) => channel.send_result(result)?,
                    Err(error) => channel.send_error(error)?,
                }
                Ok(Reply::Stream)
            }
            Order::Fail => Err(RpcError::internal("the source is gone")),
            Order::Panic => panic!("the handler of a stream"),
            Order::Close => {
                channel.close();
                Ok(Reply::Stream)
            }
        }
    }

    async fn handle_close(&self, channel: &Channel<Order>, (): &mut ()) {
        let _ = self.closed.send(channel.pid().exit_requested().expect("an exit was requested"));
    }

    fn capabilities(&self) -> ServerCapabilities {
        let offered = ServerCapabilities::new().tools(true).prompts(true).resources(true, true).logging();
        offered.extension("io.modelcontextprotocol/tasks", json!({}))
    }
}

/// The open streams of all servers of this process, by process id.
static ADDRESSES: Mutex<Vec<(u64, Address<Order>)>> = Mutex::new(Vec::new());

/// A server of streams.
pub struct Fixture {
    pub server: Server,
    /// The reason of each end that `handle_close` saw.
    pub closes: mpsc::UnboundedReceiver<ExitReason>,
}

pub async fn start(options: Options, grant: fn(SubscriptionFilter) -> Grant) -> Fixture {
    let (closed, closes) = mpsc::unbounded_channel();
    Fixture { server: Server::start_with(Streams { closed, grant }, options).await, closes }
}

impl Fixture {
    /// Opens a stream and reads its acknowledgement.
    pub async fn open(&self, filter: Value) -> (Client, Value) {
        acknowledged(self.server.client().await, &listen(filter)).await
    }

    /// The same over a pipe in memory that holds so many bytes, so that a client that does not read holds up its server at
    /// once.
    pub async fn open_pipe(&self, filter: Value, bytes: usize) -> Client<DuplexStream> {
        acknowledged(Client::pipe(&self.server, bytes).await, &listen(filter)).await.0
    }

    /// The one stream that is open.
    pub async fn stream(&self) -> Pid {
        self.server.await_process("request subscriptions/listen").await
    }

    /// Orders the one stream that is open.
    pub async fn order(&self, order: Order) {
        let stream = self.stream().await;
        let address = {
            let addresses = ADDRESSES.lock().unwrap_or_else(PoisonError::into_inner);
            addresses.iter().find(|(pid, _)| *pid == stream.id()).expect("an address").1.clone()
        };
        address.send(order).await.unwrap_or_else(|_| panic!("the stream lives"));
    }
}

pub fn listen(filter: Value) -> Post {
    request("subscriptions/listen", json!({ "notifications": filter }))
}

/// Sends a listen request and reads its acknowledgement.
pub async fn acknowledged<S: AsyncRead + AsyncWrite + Unpin>(
    mut client: Client<S>,
    post: &Post,
) -> (Client<S>, Value) {
    client.write(post).await;
    let head = client.read_head().await;
    assert_eq!((head.status, head.is_stream()), (200, true));
    let acknowledgement = client.read_event().await.expect("an acknowledgement");
    assert_eq!(acknowledgement["method"], "notifications/subscriptions/acknowledged");
    (client, acknowledgement)
}

/// Reads the teardown that every server-side end has, byte by byte, and nothing after it.
pub async fn expect_teardown<S: AsyncRead + AsyncWrite + Unpin>(client: &mut Client<S>) {
    let stamp = r#""_meta":{"io.modelcontextprotocol/subscriptionId":1}"#;
    let cancelled = r#""method":"notifications/cancelled","params":{"requestId":1,"#;
    let mut read = Vec::new();
    while let Some(chunk) = client.read_chunk().await {
        read.push(chunk);
    }
    assert_eq!(
        read,
        [
            format!("data: {{\"jsonrpc\":\"2.0\",{cancelled}{stamp}}}}}\n\n"),
            format!(
                "data: {{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"resultType\":\"complete\",{stamp}}}}}\n\n"
            ),
        ]
    );
}
