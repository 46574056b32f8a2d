//! What is read of a client, floats included: the types that are both read and written come back as they were.

use serde_json::json;

use crate::schema::assert_valid;
use crate::wire::{
    ClientCapabilities, ElicitAction, ElicitResult, Implementation, ProgressToken, SubscriptionFilter,
};

#[test]
fn meta_07_client_info() {
    let json = json!({ "name": "c", "version": "1", "icons": [{ "src": "https://example.com/i", "theme": "dark" }], "future": 1.5 });
    let info: Implementation = serde_json::from_value(json).unwrap();
    let written = assert_valid("Implementation", &info);
    assert_eq!(written["icons"][0]["theme"], "dark");
}

#[test]
fn meta_09_client_capabilities() {
    let json = json!({ "elicitation": { "form": {} }, "sampling": {}, "extensions": { "com.example/x": { "v": [1] } } });
    let capabilities: ClientCapabilities = serde_json::from_value(json.clone()).unwrap();
    assert_eq!(assert_valid("ClientCapabilities", &capabilities), json);
    // The published schema knows no fractions here either.
    let fraction = r#"{"experimental":{"x":{"v":0.1}}}"#;
    let capabilities: ClientCapabilities = serde_json::from_str(fraction).unwrap();
    assert_eq!(serde_json::to_string(&capabilities).unwrap(), fraction);
    for only in [
        ClientCapabilities::only_sampling(),
        ClientCapabilities::only_elicitation(),
        ClientCapabilities::only_roots(),
    ] {
        assert_valid("ClientCapabilities", &only);
    }
}

#[test]
fn inp_07_answers_hold_any_number() {
    // The published schema knows no fractions here; clients send them (A-34).
    let answer: ElicitResult =
        serde_json::from_str(r#"{"action":"accept","content":{"n":0.1,"s":"x"}}"#).unwrap();
    assert_eq!(answer.action, ElicitAction::Accept);
    assert_eq!(answer.content.unwrap()["n"].as_f64(), Some(0.1));
    for action in ["decline", "cancel"] {
        let answer: ElicitResult = serde_json::from_value(json!({ "action": action })).unwrap();
        assert_valid("ElicitResult", &answer);
    }
    assert!(serde_json::from_value::<ElicitResult>(json!({ "action": "ignore" })).is_err());
}

#[test]
fn sub_01_a_filter_comes_back_as_it_was() {
    let json = json!({ "toolsListChanged": true, "resourceSubscriptions": ["file:///a"] });
    let filter: SubscriptionFilter = serde_json::from_value(json.clone()).unwrap();
    assert_eq!(assert_valid("SubscriptionFilter", &filter), json);
}

#[test]
fn prog_03_a_token_is_a_string_or_an_integer() {
    for json in [json!(0), json!(-1), json!(u64::MAX), json!(""), json!("7")] {
        let token = ProgressToken::from_value(&json).unwrap();
        assert_eq!(assert_valid("ProgressToken", &token), json);
    }
    let large = serde_json::from_str("18446744073709551616").unwrap();
    for json in [json!(1.5), json!(null), json!([]), large] {
        assert!(ProgressToken::from_value(&json).is_none(), "{json}");
    }
}
