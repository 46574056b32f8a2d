//! A connection: a dynamic supervisor under `connections`, temporary. Its children are its requests; the task that
//! drives hyper is its reason to live.
//!
//! When the driver ends, whoever closed, the requests are asked to exit with `shutdown: client_disconnected`.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::rt::{Read, Write};
use hyper_util::rt::TokioIo;
use ractor_otp::{DynamicOptions, DynamicSupervisor, ExitReason, Pid, StartError, Tag};
use tokio::net::TcpStream;
use tokio::sync::OwnedSemaphorePermit;

use crate::http::{self, Caller, Endpoint, Socket};

use super::listener::Port;

/// How long hyper may take to write what the last request left, when the connection is ended from above.
const LAST_WRITE: Duration = Duration::from_secs(1);

/// How long a connection may take that is ended from above once its requests have had their time, and those left are killed: for
/// the last write, and a moment. If it were killed with its requests, their answers would be lost.
pub(super) const LAST_TIME: Duration = Duration::from_millis(1500);

/// Starts the supervisor of an accepted connection; the permit is held until the connection ends.
pub(super) async fn start(port: &Port, stream: TcpStream, permit: OwnedSemaphorePermit) {
    // A client that is gone before it was served needs no answer.
    let Ok(peer) = stream.peer_addr() else { return };
    if let Err(error) = try_start(port, stream, peer, permit).await {
        tracing::warn!(target: "ractor_mcp", %peer, %error, "an accepted connection was not started");
    }
}

async fn try_start(
    port: &Port,
    stream: TcpStream,
    peer: SocketAddr,
    permit: OwnedSemaphorePermit,
) -> Result<(), StartError> {
    let endpoint = Arc::clone(&port.endpoint);
    let (socket, watch) = Socket::new(stream, endpoint.limits().vanished());
    let closed = async move {
        watch.closed().await;
        drop(permit);
    };
    let label = format!("connection {peer}");
    drive(&port.connections()?, label, endpoint, TokioIo::new(socket), closed, Some(peer)).await.map(drop)
}

/// Starts the supervisor of a connection over any transport; the permit is held until the connection ends.
pub(super) async fn serve<IO>(
    parent: &DynamicSupervisor,
    endpoint: Arc<Endpoint>,
    io: IO,
    peer: Option<SocketAddr>,
    permit: OwnedSemaphorePermit,
) -> Result<Pid, StartError>
where
    IO: Read + Write + Unpin + Send + 'static,
{
    let label = peer.map_or_else(|| "connection".to_owned(), |peer| format!("connection {peer}"));
    let closed = async move {
        // What the transport itself does not tell hyper, nobody can see.
        std::future::pending::<()>().await;
        drop(permit);
    };
    drive(parent, label, endpoint, io, closed, peer).await
}

async fn drive<IO>(
    parent: &DynamicSupervisor,
    label: String,
    endpoint: Arc<Endpoint>,
    io: IO,
    closed: impl Future<Output = ()> + Send + 'static,
    peer: Option<SocketAddr>,
) -> Result<Pid, StartError>
where
    IO: Read + Write + Unpin + Send + 'static,
{
    let options = DynamicOptions {
        shutdown: endpoint.limits().close_time,
        linger: LAST_WRITE,
        ..DynamicOptions::default()
    };
    let connection = parent.start_supervisor(label, options).await?;
    let caller = Caller::new(connection.clone(), endpoint.limits(), peer);
    let driver = http::drive(io, closed, endpoint, caller);
    connection.drive(driver, ExitReason::ShutdownWith(Tag::CLIENT_DISCONNECTED))?;
    Ok(connection.pid().clone())
}
