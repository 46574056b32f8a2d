//! Any bytes as all that a connection receives: a live server in memory, one connection for each input.

use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use hyper_util::rt::TokioIo;
use ractor_otp::ExitReason;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex, split};
use tokio::runtime::{Builder, Runtime};
use tokio::task::yield_now;

use crate::suite::{Call, NoArguments, Suite, ToolError};
use crate::tree::McpSupervisor;

/// Enough for every answer to one input.
const PIPE: usize = 1024 * 1024;

/// Longer than any input takes: the client closes its side, and nothing but a hang would keep the server.
const HANG: Duration = Duration::from_secs(10);

static SERVER: LazyLock<Mutex<Server>> = LazyLock::new(|| Mutex::new(Server::start()));

/// Sends any bytes on a connection, and closes it.
///
/// The connection ends, nothing in the server has crashed, and what was answered over HTTP/1.1 is HTTP/1.1 and no 500.
pub fn http_intake(bytes: &[u8]) {
    // A lock that was poisoned by an input that failed serves the next one.
    SERVER.lock().unwrap_or_else(PoisonError::into_inner).take(bytes);
}

struct Server {
    runtime: Runtime,
    mcp: McpSupervisor,
    crashes: Arc<Mutex<Vec<String>>>,
}

async fn wait(_: NoArguments, call: Call) -> Result<&'static str, ToolError> {
    call.progress(1, 2, None).await?;
    yield_now().await;
    Ok("waited")
}

impl Server {
    fn start() -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let suite = Suite::new("fuzz", "1.0.0").tool("echo", wait).tool("wait", wait).list_changes();
        let mcp = runtime.block_on(McpSupervisor::start(suite)).expect("a server");
        let crashes = Arc::<Mutex<Vec<String>>>::default();
        let (found, mut exits) = (Arc::clone(&crashes), mcp.exits());
        runtime.spawn(async move {
            while let Some(exit) = exits.next().await {
                if let Ok(exit) = exit
                    && matches!(exit.reason, ExitReason::Crash(_))
                {
                    let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                    found.push(format!("{}: {}", exit.label, exit.reason));
                }
            }
        });
        Self { runtime, mcp, crashes }
    }

    /// What one connection is answered, after which nothing is left of it.
    fn answer(&self, bytes: &[u8]) -> Vec<u8> {
        self.runtime.block_on(async {
            let (client, server) = duplex(PIPE);
            let connection = self.mcp.serve(TokioIo::new(server), None).await.expect("a connection");
            let exchanged = tokio::time::timeout(HANG, exchange(client, bytes)).await;
            let answer = exchanged.unwrap_or_else(|_| panic!("the server hangs\n{}", self.mcp.tree()));
            let ended = tokio::time::timeout(HANG, connection.join()).await;
            assert!(ended.is_ok(), "the connection stays\n{}", self.mcp.tree());
            yield_now().await;
            answer
        })
    }

    fn take(&self, bytes: &[u8]) {
        let answer = self.answer(bytes);
        let crashes = std::mem::take(&mut *self.crashes.lock().unwrap_or_else(PoisonError::into_inner));
        assert!(crashes.is_empty(), "{crashes:?}");
        if bytes.starts_with(b"PRI * HTTP/2.0") {
            return;
        }
        let shown = String::from_utf8_lossy(&answer);
        assert!(answer.is_empty() || answer.starts_with(b"HTTP/1."), "no HTTP: {shown}");
        assert!(!shown.starts_with("HTTP/1.1 500"), "{shown}");
    }
}

/// Writes everything, lets the server go on with it for a while, leaves, and reads what came back.
async fn exchange(client: DuplexStream, bytes: &[u8]) -> Vec<u8> {
    let (mut reader, mut writer) = split(client);
    let writing = async move {
        // The server may have closed before it has read everything.
        let _ = writer.write_all(bytes).await;
        for _ in 0..50 {
            yield_now().await;
        }
        let _ = writer.shutdown().await;
    };
    let mut answer = Vec::new();
    let _ = tokio::join!(writing, reader.read_to_end(&mut answer));
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_answered_before_its_client_leaves() {
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
        let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                    MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: wait\r\n";
        let call = format!("{head}Content-Length: {}\r\n\r\n{body}", body.len());
        let answer = String::from_utf8(Server::start().answer(call.as_bytes())).expect("text");
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.contains("waited"), "{answer}");
    }
}
