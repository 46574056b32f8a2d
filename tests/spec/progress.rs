//! Patterns: progress (PROG).

use ractor_mcp::prelude::*;
use serde_json::{Value, json};

use super::server;
use crate::support::{Response, Server, call};

async fn stepped(server: &Server, token: Value, steps: Value) -> Response {
    server.send(call("steps", json!({"steps": steps})).progress(token)).await
}

/// The parameters of the progress notifications of a response.
fn reported(response: &Response) -> Vec<Value> {
    let is_progress = |message: &Value| message["method"] == "notifications/progress";
    let messages = response.messages().into_iter().filter(is_progress);
    messages.map(|message| message["params"].clone()).collect()
}

#[tokio::test]
async fn prog_01_prog_02_without_a_token_nothing_is_reported() {
    let server = server::start().await;
    let response = server.send(call("steps", json!({"steps": [{"progress": 1}]}))).await;
    assert!(!response.is_stream());
    assert_eq!(response.text(), "NotRequested");
}

#[tokio::test]
async fn prog_03_a_token_is_echoed_with_value_and_type_and_others_are_refused() {
    let server = server::start().await;
    for token in [json!("t"), json!(""), json!("7"), json!(7), json!(0), json!(-1)] {
        let response = stepped(&server, token.clone(), json!([{"progress": 1}])).await;
        assert_eq!(reported(&response)[0]["progressToken"], token);
    }
    for token in [json!(null), json!(1.5), json!(true), json!({}), json!([])] {
        let response = stepped(&server, token.clone(), json!([])).await;
        assert_eq!(response.code(), -32602, "{token}");
    }
}

#[tokio::test]
async fn prog_04_a_25_progress_that_does_not_grow_is_dropped() {
    let server = server::start().await;
    let steps =
        json!([{"progress": 1}, {"progress": 1}, {"progress": 0.5}, {"progress": 2}, {"progress": -3}]);
    let response = stepped(&server, json!(1), steps).await;
    let values: Vec<_> = reported(&response).iter().map(|params| params["progress"].as_f64()).collect();
    assert_eq!(values, [Some(1.0), Some(2.0)]);
    assert_eq!(response.text(), "Delivered Dropped Dropped Delivered Dropped");
}

#[tokio::test]
async fn prog_05_prog_06_fractions_a_missing_total_and_a_message() {
    let server = server::start().await;
    let steps = json!([{"progress": 0.25, "total": 1.5, "message": "a quarter"}, {"progress": 0.5}]);
    let response = stepped(&server, json!(1), steps).await;
    let reported = reported(&response);
    assert_eq!(reported[0]["progress"].as_f64(), Some(0.25));
    assert_eq!(reported[0]["total"].as_f64(), Some(1.5));
    assert_eq!(reported[0]["message"], "a quarter");
    assert_eq!((reported[1].get("total"), reported[1].get("message")), (None, None));
}

#[tokio::test]
async fn prog_05_a_total_is_a_number_or_absent() {
    let endless = |_: NoArguments, call: Call| async move {
        for (step, total) in [f64::INFINITY, f64::NAN].into_iter().enumerate() {
            call.progress(step as u64, Some(total), None).await?;
        }
        Ok::<_, ToolError>("")
    };
    let server = Server::start(Suite::new("endless", "1").tool("endless", endless)).await;
    let response = server.send(call("endless", json!({})).progress(json!(1))).await;
    let reported = reported(&response);
    assert_eq!(reported.len(), 2);
    assert!(reported.iter().all(|params| params.get("total").is_none()), "{reported:?}");
}

/// Neither a tool that tells nothing, nor one whose progress has no way to the client.
#[tokio::test]
async fn prog_09_a_request_with_a_token_may_get_none() {
    let server = server::start().await;
    let response = server.send(call("echo", json!({"text": "x"})).progress(json!(1))).await;
    assert_eq!((response.messages().len(), response.text()), (1, "x".to_owned()));
    let steps = json!({"steps": [{"progress": 1}, {"progress": 2}]});
    let response = server.send(call("steps", steps).progress(json!(1)).json_only()).await;
    assert_eq!((response.messages().len(), response.text()), (1, "Dropped Dropped".to_owned()));
}

#[tokio::test]
async fn prog_08_the_rate_is_bounded_and_the_last_step_gets_through() {
    let server = Server::start_with(server::suite(), Options::new().progress_rate(3)).await;
    let steps: Vec<Value> = (1..=10).map(|n| json!({"progress": n, "total": 10})).collect();
    let response = stepped(&server, json!(1), json!(steps)).await;
    let told: Vec<Value> = reported(&response).into_iter().map(|step| step["progress"].clone()).collect();
    assert_eq!(told, [1.0, 2.0, 3.0, 10.0]);
    assert_eq!(
        response.text(),
        "Delivered Delivered Delivered Dropped Dropped Dropped Dropped Dropped Dropped Delivered"
    );
    // The next request has a rate of its own.
    let next = stepped(&server, json!(1), json!([{"progress": 1}])).await;
    assert_eq!(reported(&next).len(), 1);
}
