//! The server inside an axum application: `/mcp` beside a route of its own, one port, one shutdown.
#![allow(clippy::print_stdout, reason = "an example talks to its terminal")]

use std::error::Error;
use std::net::SocketAddr;

use axum::Router;
use axum::extract::{ConnectInfo, Request};
use axum::middleware::map_request;
use axum::routing::get;
use ractor_mcp::prelude::*;
use tokio::net::TcpListener;

async fn whoami(_: NoArguments, call: Call) -> String {
    call.peer().map_or_else(|| "unknown".to_owned(), |peer| peer.to_string())
}

/// axum tells the peer in its own type; the server looks for a plain `SocketAddr`.
async fn peer(ConnectInfo(peer): ConnectInfo<SocketAddr>, mut request: Request) -> Request {
    request.extensions_mut().insert(peer);
    request
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let (closing, draining) = (shutdown_signal(), shutdown_signal());
    let address = std::env::var("ADDR").unwrap_or_else(|_| "127.0.0.1:3000".into());
    let whoami = tool(whoami).description("Tells the client its own address.");
    let mcp = McpSupervisor::start(Suite::new("embedded", "1.0.0").tool("whoami", whoami)).await?;
    let application = Router::new()
        .route("/health", get(|| async { "well" }))
        .nest_service("/mcp", mcp.service())
        .layer(map_request(peer))
        .into_make_service_with_connect_info::<SocketAddr>();

    let listener = TcpListener::bind(address).await?;
    println!("listening on {}", listener.local_addr()?);
    println!("{}", mcp.tree());

    // At the same time: axum closes the port and waits for open responses, and the drain is what ends those of the
    // server. axum alone would wait for a stream for ever; the drain alone would leave the port open.
    let serving = axum::serve(listener, application).with_graceful_shutdown(closing);
    let served = async { serving.await.map_err(Box::<dyn Error>::from) };
    let drained = async { mcp.run_until(draining).await.map_err(Box::from) };
    tokio::try_join!(served, drained)?;
    Ok(())
}
