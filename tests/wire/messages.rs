//! The JSON-RPC frame: responses, errors, notifications.

use std::sync::Arc;

use serde_json::value::to_raw_value;
use serde_json::{Map, json};

use crate::schema::assert_valid_json;
use crate::wire::{
    CallToolResult, ErrorObject, ErrorResponse, Icon, Implementation, LogLevel, NotificationMessage,
    ProgressToken, RequestId, Response, ResultBody, ServerNotification, SubscriptionFilter,
};

#[track_caller]
fn notification(definition: &str, notification: &ServerNotification) -> serde_json::Value {
    let bytes = NotificationMessage::new(notification).to_bytes().unwrap();
    let written = assert_valid_json("JSONRPCNotification", &bytes);
    assert!(written.get("id").is_none(), "BASE-23");
    assert_valid_json(definition, &bytes)
}

#[test]
fn base_08_a_response_echoes_the_id() {
    for id in [RequestId::from(7), RequestId::from("7"), RequestId::from(i64::MAX)] {
        let result = ResultBody::from(CallToolResult::text("x"));
        let bytes = Response::new(&id, &result).to_bytes().unwrap();
        let written = assert_valid_json("CallToolResultResponse", &bytes);
        assert_eq!(written["id"].to_string(), id.as_json());
    }
}

#[test]
fn meta_12_the_server_is_named_on_every_result() {
    let info = Implementation::new("s", "1")
        .title("S")
        .description("d")
        .website_url("https://example.com")
        .icon(Icon::new("https://example.com/i"));
    let mut result = ResultBody::from(CallToolResult::text("x"));
    result.meta_mut().insert("com.example/n", 1);
    result.meta_mut().stamp_server_info(Arc::from(to_raw_value(&info).unwrap()));
    let bytes = Response::new(&RequestId::from(1), &result).to_bytes().unwrap();
    let written = assert_valid_json("CallToolResultResponse", &bytes);
    let meta = &written["result"]["_meta"];
    assert_eq!(meta["com.example/n"], 1);
    assert_eq!(meta["io.modelcontextprotocol/serverInfo"]["websiteUrl"], "https://example.com");
}

#[test]
fn base_12_an_error_without_an_id() {
    let error = ErrorObject::new(-32700, "not JSON");
    let written =
        assert_valid_json("JSONRPCErrorResponse", &ErrorResponse::new(None, &error).to_bytes().unwrap());
    assert!(written.get("id").is_none());
    assert_valid_json(
        "JSONRPCErrorResponse",
        &ErrorResponse::new(Some(&RequestId::from("a")), &error).to_bytes().unwrap(),
    );
}

#[test]
fn ver_02_and_meta_09_errors_with_data() {
    let mut error = ErrorObject::new(-32022, "no such version");
    error.data = Some(json!({ "supported": ["2026-07-28"], "requested": "1" }));
    let bytes = ErrorResponse::new(Some(&RequestId::from(1)), &error).to_bytes().unwrap();
    assert_valid_json("UnsupportedProtocolVersionError", &bytes);

    let mut error = ErrorObject::new(-32021, "no sampling");
    error.data = Some(json!({ "requiredCapabilities": crate::wire::ClientCapabilities::only_sampling() }));
    let bytes = ErrorResponse::new(Some(&RequestId::from(1)), &error).to_bytes().unwrap();
    assert_valid_json("MissingRequiredClientCapabilityError", &bytes);

    let bytes = ErrorResponse::new(None, &ErrorObject::new(-32020, "differs")).to_bytes().unwrap();
    assert_valid_json("HeaderMismatchError", &bytes);
}

#[test]
fn prog_03_progress() {
    for token in [ProgressToken::from(0), ProgressToken::from("")] {
        let written = notification(
            "ProgressNotification",
            &ServerNotification::progress(token.clone(), 0.5, None, None),
        );
        assert_eq!(written["params"]["progressToken"], serde_json::to_value(&token).unwrap());
        assert!(written["params"].get("total").is_none());
    }
    let full = ServerNotification::progress(7.into(), 1.0, Some(2.0), Some("half".to_owned()));
    let written = notification("ProgressNotification", &full);
    assert_eq!(written["params"]["progress"].as_f64(), Some(1.0));
    assert_eq!(written["params"]["message"], "half");
}

#[test]
fn log_06_records() {
    let levels = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
    let levels = levels.map(|name| (name, LogLevel::from_name(name).unwrap()));
    assert!(levels.is_sorted_by_key(|(_, level)| *level));
    for (name, level) in levels {
        let record = ServerNotification::message(level, json!({ "n": 1.5 }), Some("db".to_owned()));
        let written = notification("LoggingMessageNotification", &record);
        assert_eq!(written["params"], json!({ "level": name, "data": { "n": 1.5 }, "logger": "db" }));
    }
    let null = notification(
        "LoggingMessageNotification",
        &ServerNotification::message(LogLevel::Info, json!(null), None),
    );
    assert_eq!(null["params"], json!({ "level": "info", "data": null }));
}

#[test]
fn sub_03_and_06_the_acknowledgement() {
    let granted = SubscriptionFilter::new().tools().prompts().resources().resource("file:///a");
    let mut acknowledged = ServerNotification::acknowledged(granted);
    acknowledged.stamp_subscription(&RequestId::from("listen:0"));
    let written = notification("SubscriptionsAcknowledgedNotification", &acknowledged);
    assert_eq!(written["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], "listen:0");
    assert_eq!(written["params"]["notifications"]["resourceSubscriptions"], json!(["file:///a"]));

    let nothing = notification(
        "SubscriptionsAcknowledgedNotification",
        &ServerNotification::acknowledged(SubscriptionFilter::new()),
    );
    assert_eq!(nothing["params"]["notifications"], json!({}));
}

#[test]
fn meta_14_and_16_changes_carry_the_subscription_with_its_type() {
    for (definition, mut change) in [
        ("ToolListChangedNotification", ServerNotification::tools_list_changed()),
        ("PromptListChangedNotification", ServerNotification::prompts_list_changed()),
        ("ResourceListChangedNotification", ServerNotification::resources_list_changed()),
        ("ResourceUpdatedNotification", ServerNotification::resource_updated("file:///a")),
        (
            "CancelledNotification",
            ServerNotification::cancelled(RequestId::from(0), Some("drain".to_owned())),
        ),
    ] {
        notification(definition, &change);
        change.stamp_subscription(&RequestId::from(0));
        let written = notification(definition, &change.with_meta("com.example/n", 1));
        assert_eq!(written["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 0);
        assert_eq!(written["params"]["_meta"]["com.example/n"], 1);
    }
}

#[test]
fn canc_11_a_cancellation_names_the_request() {
    let written =
        notification("CancelledNotification", &ServerNotification::cancelled(RequestId::from("7"), None));
    assert_eq!(written["params"], json!({ "requestId": "7" }));
}

#[test]
fn a_notification_of_the_application() {
    let mut params = Map::new();
    params.insert("a".to_owned(), json!(0.5));
    params.insert("_meta".to_owned(), json!("not an object"));
    let written = notification("JSONRPCNotification", &ServerNotification::custom("notifications/x", params));
    assert_eq!(written, json!({ "jsonrpc": "2.0", "method": "notifications/x", "params": { "a": 0.5 } }));
}
