//! A tool that asks before it acts, over two rounds, and what its client sees of that.

use ractor_mcp::prelude::*;
use ractor_mcp::testing::{TestClient, TestServer};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// Deletes a file.
#[derive(Deserialize, JsonSchema)]
struct Delete {
    path: String,
}

#[derive(Deserialize, JsonSchema)]
struct Sure {
    /// Yes, it may go
    sure: bool,
}

#[derive(Deserialize, JsonSchema)]
struct Reason {
    /// For the journal
    reason: Option<String>,
}

async fn delete(Delete { path }: Delete, call: Call) -> Result<String, ToolError> {
    // The function runs again from here in each round; what must not happen again has a key.
    let backup = call.once("backup", back_up(&path)).await?;
    let Elicited::Accept(Sure { sure: true }) = call.elicit("sure", format!("Delete {path}?"))? else {
        return Ok(format!("{path} was kept"));
    };
    let Elicited::Accept(Reason { reason }) = call.elicit("reason", format!("Why delete {path}?"))? else {
        return Ok(format!("{path} was kept, since nobody says why it should go"));
    };
    let reason = reason.unwrap_or_else(|| "no reason given".into());
    Ok(format!("{path} was deleted ({reason}); a copy is at {backup}"))
}

async fn back_up(path: &str) -> String {
    println!("server: copies {path}");
    format!("{path}.bak")
}

/// Sends the call until it asks no more, as a client does whose person says yes to everything.
async fn converse(client: TestClient) {
    let mut state = Value::Null;
    let mut answers = json!({});
    loop {
        let mut params =
            json!({"name": "delete", "arguments": {"path": "reports/old"}, "inputResponses": answers});
        if state.is_string() {
            params["requestState"] = state;
        }
        let response = client.request("tools/call", params).await;
        let result = response.result().clone();
        if result["resultType"] == "complete" {
            return println!("client: reads `{}`", response.text());
        }
        answers = json!({});
        for (key, question) in result["inputRequests"].as_object().into_iter().flatten() {
            println!("client: is asked `{}` under `{key}`", question["params"]["message"]);
            let content = json!({"sure": true, "reason": "it is old"});
            let fields = question["params"]["requestedSchema"]["properties"].clone();
            let known = |(field, _): &(&String, &Value)| fields.get(*field).is_some();
            let content = content.as_object().into_iter().flatten().filter(known);
            let content: serde_json::Map<_, _> = content.map(|(k, v)| (k.clone(), v.clone())).collect();
            answers[key] = json!({"action": "accept", "content": content});
        }
        state = result["requestState"].clone();
    }
}

#[tokio::main]
async fn main() {
    let suite = Suite::new("files", "1.0.0").tool("delete", delete);
    let client = TestServer::start(suite).await.connect().await;
    converse(client.client_capabilities(json!({"elicitation": {}}))).await;
}
