//! HTTP/2 with prior knowledge: each stream is a request of its own, and ends alone.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use h2::client::{self, ResponseFuture, SendRequest};
use hyper_util::rt::TokioIo;
use ractor_mcp::Options;
use ractor_mcp::otp::{ExitReason, Tag};
use ractor_mcp::prelude::*;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf, ReadHalf};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{Instant, Sleep, sleep};

use crate::crowds::churn;
use crate::support::{Post, Server, call, fixture, streams};

pub(crate) struct Http2 {
    pub(crate) requests: SendRequest<Bytes>,
    addr: std::net::SocketAddr,
}

impl Http2 {
    pub(crate) async fn connect(server: &Server) -> Self {
        Self::with_window(server, 65_535).await
    }

    /// A client whose streams may each be sent so many bytes before it opens the window.
    async fn with_window(server: &Server, window: u32) -> Self {
        let socket = TcpStream::connect(server.addr).await.unwrap();
        Self::over(server, socket, client::Builder::new().initial_window_size(window)).await
    }

    /// The same in memory, for clocks that are paused.
    async fn in_memory(server: &Server, window: u32) -> Self {
        let near = Self::pipe(server).await;
        Self::over(server, near, client::Builder::new().initial_window_size(window)).await
    }

    /// A client in memory with windows so wide that only its pace of reading, in bytes a second, holds anything up.
    async fn with_pace(server: &Server, pace: u32) -> Self {
        let (read, write) = tokio::io::split(Self::pipe(server).await);
        let io = Slow { io: read, pause: Box::pin(sleep(TICK)), bytes: pace as usize / 100 };
        let mut wide = client::Builder::new();
        wide.initial_window_size(1 << 20).initial_connection_window_size(32 << 20);
        Self::over(server, tokio::io::join(io, write), &wide).await
    }

    async fn pipe(server: &Server) -> DuplexStream {
        let (near, far) = tokio::io::duplex(64 * 1024);
        server.mcp.serve(TokioIo::new(far), None).await.expect("the server takes a connection");
        near
    }

    async fn over<IO>(server: &Server, io: IO, builder: &client::Builder) -> Self
    where
        IO: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let (requests, connection) = builder.handshake(io).await.unwrap();
        tokio::spawn(connection);
        Self { requests: requests.ready().await.unwrap(), addr: server.addr }
    }

    pub(crate) async fn start(&mut self, post: &Post) -> ResponseFuture {
        let mut request = http::Request::post(format!("http://{}/mcp", self.addr));
        for (name, value) in &post.headers {
            request = request.header(name, value);
        }
        let mut requests = self.requests.clone().ready().await.unwrap();
        let (response, mut body) = requests.send_request(request.body(()).unwrap(), false).unwrap();
        body.send_data(Bytes::from(post.body.clone()), true).unwrap();
        response
    }

    pub(crate) async fn send(&mut self, post: &Post) -> (u16, Value) {
        self.send_and_read(post, Duration::ZERO).await
    }

    /// Makes room for what it has read once per `pace`.
    async fn send_and_read(&mut self, post: &Post, pace: Duration) -> (u16, Value) {
        let response = self.start(post).await.await.unwrap();
        let status = response.status().as_u16();
        let mut body = response.into_body();
        let mut all = Vec::new();
        while let Some(chunk) = body.data().await {
            let chunk = chunk.unwrap();
            if !pace.is_zero() {
                sleep(pace).await;
            }
            body.flow_control().release_capacity(chunk.len()).unwrap();
            all.extend_from_slice(&chunk);
        }
        (status, serde_json::from_slice(&all).unwrap_or_default())
    }
}

const TICK: Duration = Duration::from_millis(10);

/// The side of a connection that is read, so many bytes a tick.
struct Slow {
    io: ReadHalf<DuplexStream>,
    pause: Pin<Box<Sleep>>,
    bytes: usize,
}

impl AsyncRead for Slow {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        ready!(self.pause.as_mut().poll(cx));
        let mut some = vec![0; self.bytes.min(buf.remaining())];
        let mut some = ReadBuf::new(&mut some);
        ready!(Pin::new(&mut self.io).poll_read(cx, &mut some))?;
        buf.put_slice(some.filled());
        self.pause = Box::pin(sleep(TICK));
        Poll::Ready(Ok(()))
    }
}

/// Many answers at once over a connection that is slow: their turns come late, and the last of them wait in h2 when all their
/// requests have ended. At the default times.
#[tokio::test(start_paused = true)]
async fn many_large_answers_are_read_whole_however_slow_and_steady_their_client_is() {
    for (size, pace) in [(60_000, 60_000), (100_000, 40_000), (60_000, 200_000)] {
        let server = Server::start(fixture::suite()).await;
        let mut client = Http2::with_pace(&server, pace).await;
        let post = call("echo", json!({"text": "x".repeat(size)}));
        let mut responses = Vec::new();
        for _ in 0..100 {
            responses.push(client.start(&post).await);
        }
        let mut reading = JoinSet::new();
        for response in responses {
            reading.spawn(async move {
                let mut body = response.await?.into_body();
                let mut length = 0;
                while let Some(chunk) = body.data().await {
                    let chunk = chunk?;
                    body.flow_control().release_capacity(chunk.len())?;
                    length += chunk.len();
                }
                Ok::<_, h2::Error>(length)
            });
        }
        for length in reading.join_all().await {
            assert!(length.unwrap() > size, "at {pace} bytes a second");
        }
    }
}

#[tokio::test]
async fn a_call_is_answered_over_http_2() {
    let server = Server::start(fixture::suite()).await;
    let mut client = Http2::connect(&server).await;
    let (status, answer) = client.send(&call("echo", json!({"text": "two"}))).await;
    assert_eq!((status, &answer["result"]["content"][0]["text"]), (200, &json!("two")));
    let (status, answer) =
        client.send(&call("echo", json!({"text": "two"})).header("Mcp-Method", "tools/list")).await;
    assert_eq!((status, &answer["error"]["code"]), (400, &json!(-32020)));
}

#[tokio::test]
async fn a_reset_ends_one_request_only() {
    let server = Server::start(fixture::suite()).await;
    let mut client = Http2::connect(&server).await;
    let cancelled = client.start(&call("slow", json!({"ms": 60_000})).id("1")).await;
    let first = server.await_process("request tools/call slow #1").await;
    let going_on = client.start(&call("slow", json!({"ms": 300})).id("2")).await;
    let second = server.await_process("request tools/call slow #2").await;
    drop(cancelled);
    assert_eq!(first.join().await, ExitReason::ShutdownWith(Tag::CLIENT_DISCONNECTED));
    assert_eq!(going_on.await.unwrap().status(), 200);
    assert_eq!(second.join().await, ExitReason::ShutdownWith(Tag::REPLY));
}

#[tokio::test]
async fn a_connection_that_goes_ends_all_its_requests() {
    let server = Server::start(fixture::suite()).await;
    let socket = TcpStream::connect(server.addr).await.unwrap();
    let (requests, connection) = client::handshake(socket).await.unwrap();
    let driver = tokio::spawn(connection);
    let mut client = Http2 { requests: requests.ready().await.unwrap(), addr: server.addr };
    let _one = client.start(&call("slow", json!({"ms": 60_000})).id("1")).await;
    let _two = client.start(&call("slow", json!({"ms": 60_000})).id("2")).await;
    let first = server.await_process("request tools/call slow #1").await;
    let second = server.await_process("request tools/call slow #2").await;
    driver.abort();
    assert_eq!(first.join().await, ExitReason::ShutdownWith(Tag::CLIENT_DISCONNECTED));
    assert_eq!(second.join().await, ExitReason::ShutdownWith(Tag::CLIENT_DISCONNECTED));
    server.await_no_process("connection").await;
}

#[tokio::test]
async fn a_window_kept_at_zero_stalls_one_stream_only() {
    async fn chatter(_: NoArguments, call: Call) -> Result<&'static str, ToolError> {
        for step in 0_u64.. {
            call.progress(step, None, "x".repeat(1000).as_str()).await?;
        }
        Ok("never")
    }
    let suite = fixture::suite().tool("chatter", chatter);
    let options = Options::new().write_stall(Duration::from_millis(300)).outbox(8, 16 * 1024);
    let server = Server::start_with(suite, options).await;
    let mut client = Http2::with_window(&server, 1024).await;
    let stalled = client.start(&call("chatter", json!({})).progress(json!(1))).await;
    let stalled = stalled.await.unwrap();
    let request = server.await_process("request tools/call chatter").await;
    let (status, answer) = client.send(&call("echo", json!({"text": "beside"}))).await;
    assert_eq!((status, &answer["result"]["content"][0]["text"]), (200, &json!("beside")));
    assert_eq!(request.join().await, ExitReason::ShutdownWith(Tag::STALLED));
    assert_eq!(client.send(&call("echo", json!({"text": "after"}))).await.0, 200);
    drop(stalled);
}

/// What a client takes nothing of does not stay for as long as it likes, however busy its other streams are.
#[tokio::test]
async fn a_response_that_nobody_takes_is_dropped_and_the_others_go_on() {
    async fn large(_: NoArguments) -> String {
        "x".repeat(1_000_000)
    }
    async fn one_step(_: NoArguments, call: Call) -> Result<&'static str, ToolError> {
        call.progress(1, None, "more than the window has room for, so that it is shut from now on").await?;
        std::future::pending().await
    }
    let short = Duration::from_millis(100);
    let suite = fixture::suite().tool("large", large).tool("one_step", one_step);
    let server = Server::start_with(suite, Options::new().keep_alive(short).write_stall(short)).await;
    let mut client = Http2::with_window(&server, 64).await;
    let untaken = client.start(&call("large", json!({}))).await.await.unwrap();
    let stalled = client.start(&call("one_step", json!({})).progress(json!(1))).await.await.unwrap();
    let request = server.await_process("request tools/call one_step").await;
    assert_eq!(request.join().await, ExitReason::ShutdownWith(Tag::STALLED));

    // The answer was there before the stream was: it is dropped, too.
    let mut body = untaken.into_body();
    let mut taken = 0;
    let end = loop {
        match body.data().await.expect("it does not end as if it were whole") {
            Ok(piece) => {
                taken += piece.len();
                body.flow_control().release_capacity(piece.len()).unwrap();
            }
            Err(error) => break error,
        }
    };
    assert!(end.is_reset(), "{end}");
    assert!(taken <= 16 * 1024, "{taken} bytes were kept");
    let (status, answer) = client.send(&call("echo", json!({"text": "beside"}))).await;
    assert_eq!((status, &answer["result"]["content"][0]["text"]), (200, &json!("beside")));
    drop(stalled);
}

/// A finished answer is held by no actor: its stream ends all the same, and new requests do not keep it.
#[tokio::test]
async fn whole_answers_that_the_client_makes_no_room_for_are_dropped_after_the_stall_time() {
    for window in [0, 1] {
        let server =
            Server::start_with(fixture::suite(), Options::new().write_stall(Duration::from_millis(300)))
                .await;
        let mut client = Http2::with_window(&server, window).await;
        let large = call("echo", json!({"text": "x".repeat(100_000)}));
        for accept in ["application/json", "text/event-stream"] {
            let response = client.start(&large.clone().header("Accept", accept)).await.await.unwrap();
            assert_eq!(response.status(), 200);
            let mut body = response.into_body();
            let error = loop {
                match body.data().await.expect("no end in order") {
                    Ok(byte) => assert_eq!(byte.len(), 1, "window {window}"),
                    Err(error) => break error,
                }
            };
            assert_eq!(error.reason(), Some(h2::Reason::CANCEL), "window {window}, {accept}");
        }
        // The connection serves on.
        let beside = client.start(&call("echo", json!({"text": "beside"}))).await.await.unwrap();
        assert_eq!(beside.status(), 200);
    }
}

#[tokio::test]
async fn a_large_answer_arrives_whole_through_a_small_window() {
    let server = Server::start(fixture::suite()).await;
    let mut client = Http2::with_window(&server, 1000).await;
    let text = "x".repeat(300_000);
    let (status, answer) = client.send(&call("echo", json!({"text": text}))).await;
    assert_eq!((status, &answer["result"]["content"][0]["text"]), (200, &json!(text)));
}

/// A stream stalls when its client takes nothing, not when it takes little.
#[tokio::test(start_paused = true)]
async fn an_answer_that_is_read_slowly_and_steadily_arrives_whole() {
    let stall = Duration::from_millis(400);
    let server = Server::start_with(fixture::suite(), Options::new().write_stall(stall)).await;
    let mut client = Http2::in_memory(&server, 64).await;
    let text = "x".repeat(2_000);
    let large = call("echo", json!({"text": text}));
    for accept in ["application/json", "text/event-stream"] {
        let began = Instant::now();
        let (status, answer) =
            client.send_and_read(&large.clone().header("Accept", accept), stall / 20).await;
        assert_eq!(status, 200);
        assert!(began.elapsed() > stall, "read too fast to show anything");
        if accept == "application/json" {
            assert_eq!(answer["result"]["content"][0]["text"], json!(text));
        }
    }
}

/// The actor of a finished answer is gone long before its last byte is: the connection is not idle for that.
#[tokio::test(start_paused = true)]
async fn a_connection_is_not_idle_while_a_finished_answer_is_read() {
    let short = Duration::from_millis(100);
    let options = Options::new().head_time(short).first_byte_time(short);
    let server = Server::start_with(fixture::suite(), options).await;
    let mut client = Http2::in_memory(&server, 1000).await;
    let text = "x".repeat(60_000);
    let (status, answer) =
        client.send_and_read(&call("echo", json!({"text": text})), Duration::from_millis(10)).await;
    assert_eq!((status, &answer["result"]["content"][0]["text"]), (200, &json!(text)));
}

#[tokio::test(start_paused = true)]
async fn a_connection_is_not_idle_while_a_body_is_sent() {
    let short = Duration::from_millis(100);
    let options = Options::new().head_time(short).first_byte_time(short);
    let server = Server::start_with(fixture::suite(), options).await;
    let mut client = Http2::in_memory(&server, 65_535).await;
    let post = call("echo", json!({"text": "slow"}));
    let mut request = http::Request::post(format!("http://{}/mcp", server.addr));
    for (name, value) in &post.headers {
        request = request.header(name, value);
    }
    let (response, mut body) = client.requests.send_request(request.body(()).unwrap(), false).unwrap();
    let bytes = Bytes::from(post.body);
    for byte in 0..bytes.len() {
        body.send_data(bytes.slice(byte..=byte), byte + 1 == bytes.len()).unwrap();
        sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(response.await.unwrap().status(), 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn o4_thousands_of_streams_that_are_reset_on_a_few_connections_leave_nothing() {
    let fixture = Arc::new(streams::start(Options::new().max_streams(64, 4), streams::ALL).await);
    churn(&fixture, 10_000, |fixture, count| {
        Box::pin(async move {
            let mut client = Http2::connect(&fixture.server).await;
            let post = streams::listen(json!({"toolsListChanged": true}));
            for _ in 0..count {
                let mut body = loop {
                    let response = client.start(&post).await.await.unwrap();
                    match response.status().as_u16() {
                        200 => break response.into_body(),
                        // The places of streams that were reset may take a moment.
                        503 => tokio::task::yield_now().await,
                        other => panic!("status {other}"),
                    }
                };
                body.data().await.expect("an acknowledgement").unwrap();
                // A body that is dropped before its end resets its stream.
                drop(body);
            }
        })
    })
    .await;
}

/// A whole answer that the client gives no room for is held by no actor: the connection is idle, and ends as such.
#[tokio::test]
async fn a_connection_whose_windows_stay_at_zero_does_not_stay_for_ever() {
    let short = Duration::from_millis(200);
    let options = Options::new().head_time(short).write_stall(short).first_byte_time(short);
    let server = Server::start_with(fixture::suite(), options).await;
    let mut client = Http2::with_window(&server, 0).await;
    let unread = client.start(&call("echo", json!({"text": "unread"}))).await.await.unwrap();
    server.await_process("connection").await;
    server.await_no_process("connection").await;
    drop(unread);
}

#[tokio::test]
async fn an_http_2_connection_without_requests_does_not_stay_for_ever() {
    let server =
        Server::start_with(fixture::suite(), Options::new().head_time(Duration::from_millis(100))).await;
    let client = Http2::connect(&server).await;
    server.await_process("connection").await;
    server.await_no_process("connection").await;
    drop(client);
}
