//! A server inside a ractor application: its root is a child of an actor of the application.

use std::time::Duration;

use ractor::{Actor, ActorProcessingErr, ActorRef, SupervisionEvent};
use ractor_mcp::otp::ExitReason;
use ractor_mcp::otp::testing::await_process;
use ractor_mcp::{McpSupervisor, Options};
use serde_json::json;
use tokio::sync::oneshot;

use crate::support::{Client, call, fixture};

/// The application's own actor, which starts the server under itself.
struct Application {
    drains: bool,
}

type Started = oneshot::Sender<(McpSupervisor, std::net::SocketAddr)>;

#[cfg_attr(feature = "ractor-async-trait", ractor::async_trait)]
impl Actor for Application {
    type Msg = ();
    type State = McpSupervisor;
    type Arguments = Started;

    async fn pre_start(
        &self,
        myself: ActorRef<()>,
        started: Started,
    ) -> Result<McpSupervisor, ActorProcessingErr> {
        let mcp = McpSupervisor::start_linked(fixture::suite(), Options::new(), myself.get_cell()).await?;
        let addr = mcp.listen("127.0.0.1:0").await?.addr();
        let _ = started.send((mcp.clone(), addr));
        Ok(mcp)
    }

    async fn post_stop(&self, _: ActorRef<()>, mcp: &mut McpSupervisor) -> Result<(), ActorProcessingErr> {
        if self.drains {
            mcp.shutdown(Duration::from_secs(10)).await;
        }
        Ok(())
    }

    async fn handle_supervisor_evt(
        &self,
        _: ActorRef<()>,
        _: SupervisionEvent,
        _: &mut McpSupervisor,
    ) -> Result<(), ActorProcessingErr> {
        Ok(())
    }
}

#[tokio::test]
async fn an_application_that_drains_in_its_post_stop_lets_calls_finish() {
    let (started, starts) = oneshot::channel();
    let (application, ended) = Actor::spawn(None, Application { drains: true }, started).await.unwrap();
    let (mcp, addr) = starts.await.unwrap();
    let mut client = Client::connect(addr).await;
    client.write(&call("slow", json!({"ms": 200}))).await;
    await_process(mcp.pid(), "request tools/call slow").await.unwrap();
    application.stop(None);
    assert_eq!(client.read_response().await.text(), "worked for 200 ms");
    ended.await.unwrap();
    assert_eq!(mcp.stopped().await, ExitReason::Shutdown);
}

#[tokio::test]
async fn an_application_that_just_stops_kills_everything_and_the_port_closes() {
    let (started, starts) = oneshot::channel();
    let (application, ended) = Actor::spawn(None, Application { drains: false }, started).await.unwrap();
    let (mcp, addr) = starts.await.unwrap();
    let mut client = Client::connect(addr).await;
    client.write(&call("slow", json!({"ms": 60_000}))).await;
    let request = await_process(mcp.pid(), "request tools/call slow").await.unwrap();
    application.stop(None);
    ended.await.unwrap();
    assert_eq!(request.join().await, ExitReason::Killed);
    assert_eq!(mcp.stopped().await, ExitReason::Killed);
    client.read_to_end().await;
    let closed = async {
        while tokio::net::TcpStream::connect(addr).await.is_ok() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), closed).await.expect("the port closes");
}
