//! The server behind TLS: rustls, with a certificate made at the start. Save what it prints, then
//! `curl --cacert certificate.pem https://localhost:3000/mcp ...`.
#![allow(clippy::print_stdout, reason = "an example talks to its terminal")]

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use hyper_util::rt::TokioIo;
use ractor_mcp::prelude::*;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

async fn whoami(_: NoArguments, call: Call) -> String {
    call.peer().map_or_else(|| "unknown".to_owned(), |peer| peer.to_string())
}

/// The configuration of a server named `localhost`, and its certificate as PEM.
fn tls() -> Result<(TlsAcceptor, String), Box<dyn Error>> {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned(), "127.0.0.1".to_owned()])?;
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der())?;
    let mut config =
        ServerConfig::builder().with_no_client_auth().with_single_cert(vec![made.cert.der().clone()], key)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok((TlsAcceptor::from(Arc::new(config)), made.cert.pem()))
}

/// Each handshake in a task of its own, with a limit: a client that is slow holds up nobody else.
async fn accept(listener: TcpListener, tls: TlsAcceptor, mcp: McpSupervisor) {
    loop {
        match listener.accept().await {
            Ok((socket, _)) => drop(tokio::spawn(handshake(socket, tls.clone(), mcp.clone()))),
            // No descriptor is free, most likely. It passes.
            Err(_) => sleep(Duration::from_millis(100)).await,
        }
    }
}

async fn handshake(socket: TcpStream, tls: TlsAcceptor, mcp: McpSupervisor) {
    let peer = socket.peer_addr().ok();
    // Waiting for more to send would only delay an event.
    let _ = socket.set_nodelay(true);
    if let Ok(Ok(stream)) = timeout(Duration::from_secs(10), tls.accept(socket)).await {
        // Refused while the server shuts down, or has as many connections as it may: the client sees it close.
        let _ = mcp.serve(TokioIo::new(stream), peer).await;
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let signal = shutdown_signal();
    let address = std::env::var("ADDR").unwrap_or_else(|_| "127.0.0.1:3000".into());
    let whoami = tool(whoami).description("Tells the client its own address.");
    let mcp = McpSupervisor::start(Suite::new("secret", "1.0.0").tool("whoami", whoami)).await?;
    let (tls, certificate) = tls()?;
    let listener = TcpListener::bind(address).await?;
    println!("listening on {}", listener.local_addr()?);
    println!("{certificate}");
    tokio::select! {
        () = accept(listener, tls, mcp.clone()) => {}
        reason = mcp.stopped() => return Err(reason.to_string().into()),
        // The listener is dropped, so that the port closes before the drain.
        () = signal => {}
    }
    println!("{}", mcp.shutdown(Duration::from_secs(30)).await);
    Ok(())
}
