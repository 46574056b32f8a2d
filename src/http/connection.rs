//! Driving one connection with hyper. The future lives in a task that the connection's supervisor owns; its end is the
//! end of the connection.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;

use hyper::rt::{Read, Write};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioTimer;

use crate::request::Phase;

use super::{Caller, Endpoint};

/// Serves HTTP/1.1 on `io` until the client leaves, a limit ends it or the server closes it.
///
/// A client that shuts down only its write side counts as gone: hyper's half-close stays off, since with it a client
/// that left would go unnoticed.
pub(crate) async fn drive<IO>(io: IO, endpoint: Arc<Endpoint>, caller: Caller)
where
    IO: Read + Write + Unpin + Send + 'static,
{
    let drain = endpoint.drain().clone();
    let limits = endpoint.limits();
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(limits.head_time).max_buf_size(limits.head);

    let caller = Arc::new(caller);
    let service = service_fn(move |request| {
        let (endpoint, caller) = (Arc::clone(&endpoint), Arc::clone(&caller));
        async move { Ok::<_, Infallible>(endpoint.answer(request, &caller).await) }
    });
    let mut connection = pin!(builder.serve_connection(io, service));
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = drain.reached(Phase::Closing) => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        // The client left midway, sent no HTTP, or was too slow: its affair, not an error of the server.
        tracing::debug!(target: "ractor_mcp", %error, "the connection ended early");
    }
}
