//! From the JSON of a call to the type that a tool takes.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::ToolError;

/// The arguments of a tool that takes none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoArguments {}

const SHOWN: usize = 300;

/// Decodes arguments. The fault names its path, what was found and what would do (A-05: an error that the model
/// reads, not a protocol error).
pub(super) fn decode<T: DeserializeOwned>(arguments: Map<String, Value>) -> Result<T, ToolError> {
    let arguments = Value::Object(arguments);
    serde_path_to_error::deserialize(&arguments).map_err(|fault| {
        let path = fault.path().to_string();
        let place = if path == "." {
            String::new()
        } else {
            format!(" at `{}`", clamp(&path))
        };
        ToolError::new(format!(
            "invalid arguments{place}: {}",
            clamp(&fault.inner().to_string())
        ))
    })
}

fn clamp(text: &str) -> String {
    if text.chars().count() <= SHOWN {
        text.to_owned()
    } else {
        text.chars().take(SHOWN).chain(['…']).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize)]
    struct Outer {
        #[allow(dead_code)]
        list: Vec<Inner>,
    }

    #[derive(Debug, serde::Deserialize)]
    struct Inner {
        #[allow(dead_code)]
        count: u8,
    }

    fn fault(json: &str) -> String {
        decode::<Outer>(serde_json::from_str(json).unwrap())
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn a_fault_names_its_path_what_was_found_and_what_would_do() {
        let fault = fault(r#"{"list":[{"count":1},{"count":"many"}]}"#);
        assert_eq!(
            fault,
            "invalid arguments at `list[1].count`: invalid type: string \"many\", expected u8"
        );
    }

    #[test]
    fn a_missing_field_is_named() {
        assert_eq!(fault("{}"), "invalid arguments: missing field `list`");
    }

    #[test]
    fn a_long_value_is_clamped() {
        let long = "x".repeat(10_000);
        assert!(fault(&format!(r#"{{"list":[{{"count":"{long}"}}]}}"#)).len() < 500);
    }
}
