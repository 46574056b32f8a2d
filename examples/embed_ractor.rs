//! The server under an actor of a ractor application: it starts with that actor and is drained by it.
#![allow(clippy::print_stdout, reason = "an example talks to its terminal")]

use std::error::Error;
use std::time::Duration;

use ractor::{Actor, ActorProcessingErr, ActorRef, SupervisionEvent};
use ractor_mcp::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;

/// Adds two integers.
#[derive(Deserialize, JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

async fn add(Add { a, b }: Add) -> i64 {
    a + b
}

/// The application's own actor, with the server as its child.
struct Application;

#[cfg_attr(feature = "ractor-async-trait", ractor::async_trait)]
impl Actor for Application {
    type Msg = ();
    type State = McpSupervisor;
    type Arguments = String;

    async fn pre_start(
        &self,
        myself: ActorRef<()>,
        address: String,
    ) -> Result<McpSupervisor, ActorProcessingErr> {
        let suite = Suite::new("calculator", "1.0.0").tool("add", add);
        let mcp = McpSupervisor::start_linked(suite, Options::new(), myself.get_cell()).await?;
        println!("listening on {}", mcp.listen(address).await?.addr());
        println!("{}", mcp.tree());
        Ok(mcp)
    }

    /// A ractor actor that has stopped kills its children. Here they are still alive: requests finish, streams end.
    async fn post_stop(&self, _: ActorRef<()>, mcp: &mut McpSupervisor) -> Result<(), ActorProcessingErr> {
        println!("{}", mcp.shutdown(Duration::from_secs(30)).await);
        Ok(())
    }

    /// The server ended by itself: so does the application.
    async fn handle_supervisor_evt(
        &self,
        myself: ActorRef<()>,
        event: SupervisionEvent,
        _: &mut McpSupervisor,
    ) -> Result<(), ActorProcessingErr> {
        if let SupervisionEvent::ActorTerminated(..) | SupervisionEvent::ActorFailed(..) = event {
            myself.stop(Some(event.to_string()));
        }
        Ok(())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let signal = shutdown_signal();
    let address = std::env::var("ADDR").unwrap_or_else(|_| "127.0.0.1:3000".into());
    let (application, mut ended) = Actor::spawn(None, Application, address).await?;
    tokio::select! {
        ended = &mut ended => return Ok(ended?),
        () = signal => application.stop(None),
    }
    Ok(ended.await?)
}
