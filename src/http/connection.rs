//! Driving one connection with hyper. The future lives in a task that the connection's supervisor owns; its end is the
//! end of the connection.

use std::convert::Infallible;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;

use hyper::body::Incoming;
use hyper::rt::{Read, Write};
use hyper::server::conn::http1;
use hyper::service::{HttpService, service_fn};
#[cfg(feature = "http2")]
use hyper_util::rt::TokioTimer;
use tracing::field::display;

use crate::request::{Drain, Phase};

use super::preface::{self, Version};
use super::stall::Stalling;
#[cfg(feature = "http2")]
use super::taking;
use super::{Caller, Endpoint, Limits, ResponseBody};

/// Serves one connection until the client leaves, a limit ends it or the server closes it.
///
/// `closed` resolves when the client has closed its side, for transports that can tell. A client that shuts down only
/// its write side counts as gone: hyper's half-close stays off, since with it a client that left would go unnoticed.
pub(crate) async fn drive<IO>(
    io: IO,
    closed: impl Future<Output = ()>,
    endpoint: Arc<Endpoint>,
    caller: Caller,
) where
    IO: Read + Write + Unpin + Send + 'static,
{
    let (peer, drain) = (caller.peer, endpoint.drain().clone());
    let caller = Arc::new(caller);
    tokio::select! {
        biased;
        () = serve(io, endpoint, Arc::clone(&caller)) => answered(&drain, &caller).await,
        () = closed => {
            tracing::debug!(target: "ractor_mcp", peer = peer.map(display), "the client closed the connection");
        }
    }
}

/// Waits for what runs though it has its answer: notifications. When a drain ends connections that are idle, it gives those
/// the same time as it gives calls.
async fn answered(drain: &Drain, caller: &Caller) {
    if drain.phase() == Phase::Draining {
        tokio::select! {
            () = caller.all_ended() => {}
            () = closing(drain, Phase::Closing, caller) => {}
        }
    }
}

async fn serve<IO>(io: IO, endpoint: Arc<Endpoint>, caller: Arc<Caller>)
where
    IO: Read + Write + Unpin + Send + 'static,
{
    let drain = endpoint.drain().clone();
    let limits = endpoint.limits().clone();
    let known = Arc::clone(&caller);
    let mut ending = pin!(closing(&drain, Phase::Closing, &known));
    let io = Stalling::new(io, limits.write_stall, caller.stalled.clone());
    let first = tokio::select! {
        first = caller.deadlines.within(limits.first_byte, preface::read(io)) => first,
        () = ending.as_mut() => return,
    };
    let Some(Ok((version, io))) = first else {
        tracing::debug!(target: "ractor_mcp", peer = known.peer.map(display), "the connection sent nothing");
        return;
    };
    let service = service_fn(move |request| {
        let (endpoint, caller) = (Arc::clone(&endpoint), Arc::clone(&caller));
        async move { Ok::<_, Infallible>(endpoint.answer(request, &caller).await) }
    });
    let ended = match version {
        Version::Http1 => http1(io, service, &limits, ending, &known).await,
        // In a box: it is several times as large, and most connections are of the other version. It is told from the begin
        // of a drain on: an answer with `Connection: close`, as HTTP/1.1 has it, would mean nothing there.
        Version::Http2 => {
            let draining = closing(&drain, Phase::Draining, &known);
            Box::pin(http2(io, service, &limits, draining, &known)).await
        }
    };
    if let Err(error) = ended {
        // The client left midway, sent no HTTP, or was too slow: its affair, not an error of the server.
        let peer = known.peer.map(display);
        tracing::debug!(target: "ractor_mcp", peer, %error, "the connection ended early");
    }
}

/// Resolves when the connection is to close as soon as its last response is written: in this phase of a drain, or when its
/// supervisor was asked to exit.
async fn closing(drain: &Drain, phase: Phase, caller: &Caller) {
    let supervisor = caller.parent.pid();
    tokio::select! {
        () = drain.reached(phase) => {}
        _ = supervisor.exiting() => {}
    }
}

async fn http1<IO, S>(
    io: IO,
    service: S,
    limits: &Limits,
    closing: impl Future<Output = ()>,
    caller: &Caller,
) -> hyper::Result<()>
where
    IO: Read + Write + Unpin + Send + 'static,
    S: HttpService<Incoming, ResBody = ResponseBody, Error = Infallible>,
{
    let mut builder = http1::Builder::new();
    builder.timer(caller.deadlines.clone()).header_read_timeout(limits.head_time).max_buf_size(limits.head);
    let mut connection = pin!(builder.serve_connection(io, service));
    tokio::select! {
        ended = connection.as_mut() => ended,
        () = closing => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    }
}

#[cfg(feature = "http2")]
async fn http2<IO, S>(
    io: IO,
    service: S,
    limits: &Limits,
    closing: impl Future<Output = ()>,
    caller: &Caller,
) -> hyper::Result<()>
where
    IO: Read + Write + Unpin + Send + 'static,
    S: HttpService<Incoming, ResBody = ResponseBody, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send + 'static,
{
    let service = service_fn(move |request| {
        let answer = service.clone().call(request);
        async move { Ok::<_, Infallible>(answer.await?.map(taking::Pieces::new)) }
    });
    let size = u32::try_from(limits.head).unwrap_or(u32::MAX);
    let at_once = u32::try_from(limits.in_flight_per_connection).unwrap_or(u32::MAX);
    let streams = taking::Streams::new(limits.write_stall);
    let mut builder = hyper::server::conn::http2::Builder::new(streams.clone());
    builder
        .timer(TokioTimer::new())
        .max_concurrent_streams(at_once)
        .max_header_list_size(size)
        .max_send_buf_size(limits.head)
        // Floods of resets, of the client's or of our own making, end the connection.
        .max_pending_accept_reset_streams(20)
        .max_local_error_reset_streams(Some(128))
        // A client that vanished answers no ping.
        .keep_alive_interval(Some(limits.keep_alive))
        .keep_alive_timeout(limits.vanished());
    let mut connection = pin!(builder.serve_connection(io, service));
    tokio::select! {
        ended = connection.as_mut() => return ended,
        // GOAWAY: streams that are open go on, new ones are for another connection. The drain is limited from above.
        () = closing => {
            connection.as_mut().graceful_shutdown();
            return connection.await;
        }
        // What HTTP/1.1 has in its head time: a connection without requests does not stay for ever.
        () = idle(&streams, caller, limits) => {}
    }
    connection.as_mut().graceful_shutdown();
    tokio::select! {
        ended = connection.as_mut() => ended,
        // It need not agree. A request that was on its way is answered first.
        () = idle(&streams, caller, limits) => Ok(()),
    }
}

/// Resolves when nothing was asked, worked on or written on the connection for the head time.
#[cfg(feature = "http2")]
async fn idle(streams: &taking::Streams, caller: &Caller, limits: &Limits) {
    let mut before = streams.progress();
    loop {
        tokio::time::sleep(limits.head_time).await;
        let now = streams.progress();
        // A socket that takes nothing has its own limit.
        if now == before && streams.open() == 0 && !caller.stalled.writes_wait() {
            return;
        }
        before = now;
    }
}

/// Without the feature `http2`, the preface is no request line of HTTP/1.1 and is refused as such.
#[cfg(not(feature = "http2"))]
async fn http2<IO, S>(
    io: IO,
    service: S,
    limits: &Limits,
    closing: impl Future<Output = ()>,
    caller: &Caller,
) -> hyper::Result<()>
where
    IO: Read + Write + Unpin + Send + 'static,
    S: HttpService<Incoming, ResBody = ResponseBody, Error = Infallible>,
{
    http1(io, service, limits, closing, caller).await
}
