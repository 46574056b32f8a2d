//! Server: logging (LOG).

use ractor_mcp::Options;
use serde_json::{Value, json};

use super::server::{self, LEVELS};
use crate::support::{Response, Server, call, request};

const LEVEL: &str = "io.modelcontextprotocol/logLevel";

async fn logged(server: &Server, level: &str) -> Response {
    server.send(call("logs", json!({})).with_meta(LEVEL, json!(level))).await
}

fn records(response: &Response) -> Vec<Value> {
    let is_record = |message: &Value| message["method"] == "notifications/message";
    let messages = response.messages().into_iter().filter(is_record);
    messages.map(|message| message["params"].clone()).collect()
}

#[tokio::test]
async fn log_01_the_capability_is_declared() {
    let server = server::start().await;
    let result = server.send(request("server/discover", json!({}))).await.result();
    assert_eq!(result["capabilities"]["logging"], json!({}));
}

#[tokio::test]
async fn log_02_without_a_level_nothing_is_sent() {
    let server = server::start().await;
    let response = server.send(call("logs", json!({}))).await;
    assert_eq!((response.text(), response.messages().len()), ("logged".to_owned(), 1));
}

#[tokio::test]
async fn log_03_log_06_with_a_level_that_and_what_is_above_it_comes_before_the_response() {
    let server = server::start().await;
    for (index, level) in LEVELS.iter().enumerate() {
        let response = logged(&server, level).await;
        let levels: Vec<Value> = records(&response).iter().map(|record| record["level"].clone()).collect();
        assert_eq!(levels, LEVELS[index..], "{level}");
        assert!(response.answer().get("result").is_some());
    }
}

#[tokio::test]
async fn log_05_an_unknown_level_is_minus_32602() {
    let server = server::start().await;
    for level in [json!("verbose"), json!("WARNING"), json!(4), json!(null)] {
        let refused = server.send(call("logs", json!({})).with_meta(LEVEL, level.clone())).await;
        assert_eq!(refused.code(), -32602, "{level}");
    }
}

#[tokio::test]
async fn log_06_a_record_has_level_data_and_the_tool_as_its_logger() {
    let server = server::start().await;
    let record = records(&logged(&server, "emergency").await)[0].clone();
    assert_eq!(record, json!({"level": "emergency", "logger": "logs", "data": "a record"}));
}

#[tokio::test]
async fn log_08_what_went_wrong_inside_stays_inside() {
    let server = server::start().await;
    let response = server.send(call("boom", json!({})).with_meta(LEVEL, json!("debug"))).await;
    assert_eq!(response.code(), -32603);
    assert!(!response.body.contains("secret-marker"), "{}", response.body);
}

#[tokio::test]
async fn log_07_the_rate_is_bounded() {
    let server = Server::start_with(server::suite(), Options::new().log_rate(3)).await;
    assert_eq!(records(&logged(&server, "debug").await).len(), 3);
    // What is below the level costs nothing.
    assert_eq!(records(&logged(&server, "alert").await).len(), 2);
}
