//! The schema of revision 2026-07-28, one definition of it at a time.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

use jsonschema::Validator;
use serde::Serialize;
use serde_json::{Value, json};

static SCHEMA: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../schema/2026-07-28.json")).unwrap());

/// Compiled once each, since that takes longer than a test.
static VALIDATORS: LazyLock<Mutex<HashMap<String, Validator>>> = LazyLock::new(Mutex::default);

/// What a definition of the schema finds wrong with a value.
pub(crate) fn faults(definition: &str, value: &Value) -> Vec<String> {
    let mut validators = VALIDATORS.lock().unwrap();
    let validator = validators.entry(definition.to_owned()).or_insert_with(|| validator(definition));
    validator.iter_errors(value).map(|fault| format!("{}: {fault}", fault.instance_path())).collect()
}

fn validator(definition: &str) -> Validator {
    assert!(SCHEMA["$defs"].get(definition).is_some(), "the schema has no {definition}");
    let schema = json!({
        "$schema": SCHEMA["$schema"],
        "$ref": format!("#/$defs/{definition}"),
        "$defs": SCHEMA["$defs"],
    });
    jsonschema::options().offline().build(&schema).unwrap()
}

/// Writes a value as the crate does, and fails unless a definition of the schema accepts it. Returns what was written.
#[track_caller]
pub(crate) fn assert_valid(definition: &str, value: &impl Serialize) -> Value {
    let written = serde_json::to_vec(value).unwrap();
    assert_valid_json(definition, &written)
}

/// The same for bytes that were written already; they are compact JSON on one line (SSE-12).
#[track_caller]
pub(crate) fn assert_valid_json(definition: &str, written: &[u8]) -> Value {
    let text = std::str::from_utf8(written).unwrap();
    assert!(!text.contains('\n'), "{text}");
    let value: Value = serde_json::from_str(text).unwrap();
    assert_eq!(faults(definition, &value), Vec::<String>::new(), "{definition}: {text}");
    value
}

#[test]
fn the_schema_refuses_what_it_should() {
    assert!(!faults("CallToolResult", &json!({ "content": [] })).is_empty());
    assert!(!faults("ListToolsResult", &json!({ "resultType": "complete", "tools": [{}] })).is_empty());
    assert!(!faults("RequestId", &json!(null)).is_empty());
    assert!(faults("RequestId", &json!(7)).is_empty());
}
