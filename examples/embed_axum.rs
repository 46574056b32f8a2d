//! The server inside an axum application: `/mcp` beside a route of its own, one port, one shutdown.
#![allow(clippy::print_stdout, reason = "an example talks to its terminal")]

use std::error::Error;
use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::extract::{ConnectInfo, Request};
use axum::http::StatusCode;
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

/// What a load balancer asks for: 503 from the signal on, and while there are as many calls as may be.
fn how_it_is(mcp: &McpSupervisor) -> (StatusCode, String) {
    let status = mcp.status();
    let code = if status.is_ready() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (code, status.to_string())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let address = std::env::var("ADDR").unwrap_or_else(|_| "127.0.0.1:3000".into());
    let whoami = tool(whoami).description("Tells the client its own address.");
    let suite = Suite::new("embedded", "1.0.0").tool("whoami", whoami);
    // So long the port stays open behind the signal, for a load balancer to look elsewhere: some periods of its probe.
    let options = Options::new().drain_delay(Duration::from_secs(1));
    let mcp = McpSupervisor::start_with(suite, options).await?;
    let health = mcp.clone();
    let application = Router::new()
        .route("/health", get(|| async move { how_it_is(&health) }))
        .nest_service("/mcp", mcp.service())
        .layer(map_request(peer))
        .into_make_service_with_connect_info::<SocketAddr>();

    let listener = TcpListener::bind(address).await?;
    println!("listening on {}", listener.local_addr()?);
    println!("{}", mcp.tree());

    // At the same time: axum closes the port when the drain begins and waits for open responses, and the drain is what ends
    // those of the server. axum alone would wait for a stream for ever; the drain alone would leave the port open.
    let serving = axum::serve(listener, application).with_graceful_shutdown(mcp.draining());
    let served = async { serving.await.map_err(Box::<dyn Error>::from) };
    let drained = async { mcp.run_until(shutdown_signal()).await.map_err(Box::from) };
    tokio::try_join!(served, drained)?;
    Ok(())
}
