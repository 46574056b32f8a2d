//! From the JSON of a call to the type that a tool takes.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::checks::Checked;
use super::shape::Shape;
use super::{ToolError, schema};

/// The arguments of a tool that takes none. A client that gives one is told so, as for every struct with
/// `#[serde(deny_unknown_fields)]`; a struct without it ignores what it does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = undescribed)]
pub struct NoArguments {}

/// The doc comment of [`NoArguments`] describes no tool.
fn undescribed(schema: &mut schemars::Schema) {
    schema.remove("description");
}

const SHOWN: usize = 300;

/// What is known of a tool's arguments: their schema, compiled.
pub(super) struct Arguments {
    shape: Shape,
    checked: Checked,
    json_text: bool,
}

impl Arguments {
    /// Compiles a schema.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub(super) fn of(schema: &Value, type_name: &str, json_text: bool) -> Result<Self, String> {
        schema::check_input(schema, type_name)?;
        Ok(Self { checked: Checked::input(schema)?, shape: Shape::of(schema), json_text })
    }

    /// Decodes the arguments of one call. Faults name their path, what was found and what would do (A-05: an error that
    /// the model reads, not a protocol error).
    pub(super) fn decode<T: DeserializeOwned>(&self, given: Map<String, Value>) -> Result<T, ToolError> {
        self.read(given).map_err(|fault| {
            let gap = if fault.starts_with('\n') { "" } else { " " };
            ToolError::new(format!("invalid arguments:{gap}{fault}"))
        })
    }

    /// Reads what was given.
    ///
    /// # Errors
    ///
    /// What does not fit, several faults each on a line of its own.
    pub(super) fn read<T: DeserializeOwned>(&self, given: Map<String, Value>) -> Result<T, String> {
        let mut given = Value::Object(given);
        self.shape.normalise(&mut given, self.json_text);
        match self.checked.fault(&given) {
            None => typed(given),
            Some(fault) => Err(fault),
        }
    }
}

/// What the schema does not say, such as the range of a 32-bit integer, the type itself does.
pub(super) fn typed<T: DeserializeOwned>(given: Value) -> Result<T, String> {
    // The way to a fault is kept only once there is one: keeping it costs more than the reading.
    T::deserialize(&given).or_else(|_| serde_path_to_error::deserialize(given).map_err(described))
}

fn described(fault: serde_path_to_error::Error<serde_json::Error>) -> String {
    let path = fault.path().to_string();
    let place = if path == "." { String::new() } else { format!("at `{}`: ", clamp(&path)) };
    format!("{place}{}", clamp(&fault.inner().to_string()))
}

/// A text, cut where a reader has seen enough.
pub(super) fn clamp(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
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
        typed::<Outer>(serde_json::from_str(json).unwrap()).unwrap_err()
    }

    #[test]
    fn a_fault_names_its_path_what_was_found_and_what_would_do() {
        let fault = fault(r#"{"list":[{"count":1},{"count":"many"}]}"#);
        assert_eq!(fault, "at `list[1].count`: invalid type: string \"many\", expected u8");
    }

    #[test]
    fn a_missing_field_is_named() {
        assert_eq!(fault("{}"), "missing field `list`");
    }

    #[test]
    fn a_long_value_is_clamped() {
        let long = "x".repeat(10_000);
        assert!(fault(&format!(r#"{{"list":[{{"count":"{long}"}}]}}"#)).len() < 500);
    }
}
