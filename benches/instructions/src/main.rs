//! The load whose instructions are counted: one server, one connection in memory, so many calls of one tool, all on one
//! thread, so that two runs take the same steps.
//!
//!     ractor_mcp_instructions CALLS [TOOLS]
//!
//! `count.py` runs it under callgrind with two numbers of calls; what the second run has more is the cost of the calls.

use std::error::Error;

use hyper_util::rt::TokioIo;
use ractor_mcp::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

/// Adds two integers.
#[derive(Deserialize, JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

async fn add(Add { a, b }: Add) -> i64 {
    a + b
}

const BODY: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"count","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut numbers = std::env::args().skip(1).map(|number| number.parse::<usize>());
    let calls = numbers.next().ok_or("how many calls?")??;
    let tools = numbers.next().transpose()?.unwrap_or(1);
    let suite = Suite::new("count", "1.0.0").tool("add", add);
    let suite = (1..tools).fold(suite, |suite, n| suite.tool(&format!("add_{n}"), add));
    let mcp = McpSupervisor::start(suite).await?;
    let (mut client, server) = duplex(64 * 1024);
    mcp.serve(TokioIo::new(server), None).await?;
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
         Mcp-Method: tools/call\r\nMcp-Name: add\r\nContent-Length: {}\r\n\r\n{BODY}",
        BODY.len()
    );
    for _ in 0..calls {
        call(&mut client, request.as_bytes()).await?;
    }
    Ok(())
}

/// Sends one call and reads its answer, which comes in one piece.
async fn call(client: &mut DuplexStream, request: &[u8]) -> Result<(), Box<dyn Error>> {
    let mut answer = [0; 4096];
    client.write_all(request).await?;
    let length = client.read(&mut answer).await?;
    let answer = answer.get(..length).unwrap_or_default();
    let is_sum = answer.starts_with(b"HTTP/1.1 200") && answer.ends_with(b"}");
    if is_sum { Ok(()) } else { Err(String::from_utf8_lossy(answer).into()) }
}
