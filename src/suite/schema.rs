//! The JSON Schemas that a tool advertises: dialect 2020-12, self-contained, with an object as root (TOOL-07, JSCH-01).

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

fn generator() -> SchemaGenerator {
    SchemaSettings::draft2020_12().into_generator()
}

/// The schema of a tool's arguments, and the doc comment of their type.
///
/// # Errors
///
/// What is wrong when the root is not an object.
pub(super) fn input<T: JsonSchema>() -> Result<(Value, Option<String>), String> {
    let mut schema = generator().into_root_schema_for::<T>().to_value();
    let root = schema.as_object_mut();
    let Some(root) = root.filter(|root| root.get("type").is_some_and(|kind| kind == "object")) else {
        return Err(format!(
            "the arguments are `{}`, whose JSON Schema is not an object; take a struct with named fields",
            T::schema_name()
        ));
    };
    let description = root
        .remove("description")
        .and_then(|text| text.as_str().map(str::to_owned));
    lean(root);
    Ok((schema, description))
}

/// The schema of a tool's structured output; any root will do (JSCH-14).
pub(super) fn output<T: JsonSchema>() -> Value {
    let mut schema = generator().into_root_schema_for::<T>().to_value();
    match schema.as_object_mut() {
        Some(root) => lean(root),
        None => schema = json!({}),
    }
    schema
}

/// Leaves out what costs tokens and tells nothing: the dialect is the default one, and the title is a type's name.
fn lean(root: &mut Map<String, Value>) {
    root.remove("$schema");
    root.remove("title");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds two integers.
    #[derive(JsonSchema)]
    #[allow(dead_code)]
    struct Add {
        /// The first one.
        zeta: i64,
        alpha: Option<String>,
    }

    #[test]
    fn the_doc_comment_is_the_description_and_fields_keep_their_order() {
        let (schema, description) = input::<Add>().unwrap();
        assert_eq!(description.as_deref(), Some("Adds two integers."));
        let fields: Vec<_> = schema["properties"].as_object().unwrap().keys().collect();
        assert_eq!(fields, ["zeta", "alpha"]);
        assert_eq!(schema["properties"]["zeta"]["description"], "The first one.");
        assert_eq!(schema["required"], json!(["zeta"]));
    }

    #[test]
    fn g3_an_option_is_a_type_with_null() {
        let (schema, _) = input::<Add>().unwrap();
        assert_eq!(schema["properties"]["alpha"]["type"], json!(["string", "null"]));
    }

    #[test]
    fn g1_arguments_without_an_object_root_are_refused_by_name() {
        assert!(input::<u32>().unwrap_err().contains("uint32"));
        assert!(input::<(i64, i64)>().is_err());
        assert!(input::<()>().is_err());
    }
}
