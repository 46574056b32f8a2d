//! A connection: a dynamic supervisor under `connections`, temporary. Its children are its requests; the task that
//! drives hyper is its reason to live.
//!
//! When the driver ends, whoever closed, the requests are asked to exit with `shutdown: client_disconnected`.

use std::sync::Arc;

use hyper_util::rt::TokioIo;
use ractor_otp::{DynamicOptions, ExitReason, StartError, Tag};
use tokio::net::TcpStream;
use tokio::sync::OwnedSemaphorePermit;

use crate::http::{self, Caller, Socket};

use super::listener::Port;

/// Starts the supervisor of an accepted connection; the permit is held until the connection ends.
pub(super) async fn start(port: &Port, stream: TcpStream, permit: OwnedSemaphorePermit) {
    if let Err(error) = try_start(port, stream, permit).await {
        tracing::warn!(target: "ractor_mcp", %error, "an accepted connection was not started");
    }
}

async fn try_start(port: &Port, stream: TcpStream, permit: OwnedSemaphorePermit) -> Result<(), StartError> {
    let Ok(peer) = stream.peer_addr() else {
        return Ok(());
    };
    let endpoint = Arc::clone(&port.endpoint);
    let options = DynamicOptions {
        shutdown: endpoint.limits().close_time,
        ..DynamicOptions::default()
    };
    let connection = port
        .connections()?
        .start_supervisor(format!("connection {peer}"), options)
        .await?;
    let caller = Caller::new(connection.clone(), endpoint.limits(), Some(peer));
    let (socket, watch) = Socket::new(stream, endpoint.limits().write_stall);
    let driver = async move {
        http::drive(TokioIo::new(socket), watch.closed(), endpoint, caller).await;
        drop(permit);
    };
    connection.drive(driver, ExitReason::ShutdownWith(Tag::CLIENT_DISCONNECTED))
}
