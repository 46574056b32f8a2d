//! Bearer tokens: who calls, what each may, and what a client without a token is told. A real server asks its issuer
//! instead of a table, and checks that a token was issued for it.

use std::time::{Duration, SystemTime};

use ractor_mcp::prelude::*;
use ractor_mcp::{Challenge, ConnectRequest, Denied, Principal, ProtectedResource};
use schemars::JsonSchema;
use serde::Deserialize;

/// From the head of a request to its caller: once for each request, before anything else of it is read.
async fn connect(request: ConnectRequest) -> Result<Principal, Denied> {
    let caller = match request.bearer_token() {
        None => return Err(Denied::Unauthorized(Challenge::scopes(["notes:read"]))),
        Some("reader") => Principal::new("reader").with_scopes(["notes:read"]),
        Some("writer") => Principal::new("writer").with_scopes(["notes:read", "notes:write"]),
        Some(_) => return Err(Denied::invalid_token("the token is unknown")),
    };
    // Streams of this caller end with its token.
    Ok(caller.expiring_at(SystemTime::now() + Duration::from_secs(15 * 60)))
}

/// Says who calls.
#[derive(Deserialize, JsonSchema)]
struct WhoAmI {}

async fn who_am_i(_: WhoAmI, call: Call) -> String {
    call.principal().id().unwrap_or("nobody").to_owned()
}

/// Writes a note, for callers with the scope `notes:write`.
#[derive(Deserialize, JsonSchema)]
struct Write {
    text: String,
}

async fn write(Write { text }: Write) -> String {
    format!("noted: {text}")
}

#[tokio::main]
async fn main() -> Result<(), ractor_mcp::Error> {
    let address = std::env::var("ADDR").unwrap_or_else(|_| "127.0.0.1:3000".into());
    let resource = ProtectedResource::new(format!("http://{address}/mcp"), "https://issuer.example.com")
        .scope("notes:read")
        .scope("notes:write");
    let options = Options::new()
        .connect(connect)
        .disconnect(|end| println!("{} of {:?}: {}", end.method, end.principal.id(), end.reason))
        .protected_resource(&resource);
    let suite = Suite::new("notes", "1.0.0")
        .tool("who_am_i", tool(who_am_i).description("Tells the caller who they are."))
        .tool("write", tool(write).scope("notes:write"));
    let mcp = McpSupervisor::start_with(suite, options).await?;
    println!("listening on {}", mcp.listen(address).await?.addr());
    mcp.run_until(shutdown_signal()).await
}
