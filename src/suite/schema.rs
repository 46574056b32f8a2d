//! The JSON Schemas that a tool advertises: dialect 2020-12, self-contained, with an object as root (TOOL-07, JSCH-01).

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

/// The one dialect that is supported (JSCH-05).
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The bounds of a schema (JSCH-12): how deep its subschemas nest, and how many there are.
const DEEPEST: usize = 64;
const MOST: usize = 10_000;

/// The schema of a tool's arguments, and the doc comment of their type.
pub(super) fn input<T: JsonSchema>() -> (Value, Option<String>) {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = lean::<T>(generator);
    let description = schema.as_object_mut().and_then(|root| root.remove("description"));
    let description = description.and_then(|text| text.as_str().map(str::to_owned));
    (schema, description)
}

/// The schema of a tool's structured output, as it is written; any root will do (JSCH-14).
pub(super) fn output<T: JsonSchema>() -> Value {
    lean::<T>(SchemaSettings::draft2020_12().for_serialize().into_generator())
}

/// Leaves out what costs tokens and tells nothing: the dialect is the default one, and the title is a type's name.
fn lean<T: JsonSchema>(generator: SchemaGenerator) -> Value {
    let mut schema = generator.into_root_schema_for::<T>().to_value();
    let Some(root) = schema.as_object_mut() else {
        return json!({});
    };
    root.remove("$schema");
    root.remove("title");
    schema
}

/// What is wrong with the input schema of a tool, whose arguments are a type of this name.
///
/// # Errors
///
/// What was found and what would do.
pub(super) fn check_input(schema: &Value, arguments: &str) -> Result<(), String> {
    if schema.get("type").is_none_or(|kind| kind != "object") {
        return Err(format!(
            "the root of the input schema, from `{arguments}`, has no `\"type\": \"object\"`, as that of an enum, a tuple or \
             a number has none; a struct with named fields has one"
        ));
    }
    check(schema).map_err(|fault| format!("the input schema {fault}"))
}

/// What is wrong with the output schema of a tool.
///
/// # Errors
///
/// What was found and what would do.
pub(super) fn check_output(schema: &Value) -> Result<(), String> {
    check(schema).map_err(|fault| format!("the output schema {fault}"))
}

fn check(schema: &Value) -> Result<(), String> {
    if !matches!(schema, Value::Object(_) | Value::Bool(_)) {
        return Err("is no JSON Schema; an object would do".to_owned());
    }
    let mut seen = 0;
    let mut waiting = vec![(schema, 1)];
    while let Some((schema, depth)) = waiting.pop() {
        seen += 1;
        if depth > DEEPEST {
            return Err(format!("nests deeper than {DEEPEST} subschemas; name the inner ones in `$defs`"));
        }
        if seen > MOST {
            return Err(format!("has more than {MOST} subschemas; fewer would do"));
        }
        check_dialect(schema)?;
        waiting.extend(subschemas(schema).into_iter().map(|inner| (inner, depth + 1)));
    }
    Ok(())
}

/// Refuses dialects that nothing here knows (JSCH-04).
fn check_dialect(schema: &Value) -> Result<(), String> {
    match schema.get("$schema") {
        None => Ok(()),
        Some(Value::String(dialect)) if dialect.trim_end_matches('#') == DIALECT => Ok(()),
        Some(dialect) => Err(format!(
            "is of the dialect {dialect}, which is not supported; leave `$schema` out, or write \"{DIALECT}\""
        )),
    }
}

/// The schemas directly inside a schema.
pub(super) fn subschemas(schema: &Value) -> Vec<&Value> {
    let mut found = Vec::new();
    for (keyword, value) in schema.as_object().into_iter().flatten() {
        match keyword.as_str() {
            "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas" => {
                found.extend(value.as_object().into_iter().flat_map(Map::values));
            }
            "allOf" | "anyOf" | "oneOf" | "prefixItems" => {
                found.extend(value.as_array().into_iter().flatten())
            }
            "items"
            | "contains"
            | "additionalProperties"
            | "propertyNames"
            | "unevaluatedItems"
            | "unevaluatedProperties"
            | "contentSchema"
            | "not"
            | "if"
            | "then"
            | "else" => found.push(value),
            _ => {}
        }
    }
    found
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

    fn of<T: JsonSchema>() -> Result<(), String> {
        check_input(&input::<T>().0, &T::schema_name())
    }

    #[test]
    fn the_doc_comment_is_the_description_and_fields_keep_their_order() {
        let (schema, description) = input::<Add>();
        assert_eq!(description.as_deref(), Some("Adds two integers."));
        let fields: Vec<_> = schema["properties"].as_object().unwrap().keys().collect();
        assert_eq!(fields, ["zeta", "alpha"]);
        assert_eq!(schema["properties"]["zeta"]["description"], "The first one.");
        assert_eq!(schema["required"], json!(["zeta"]));
    }

    #[test]
    fn g3_an_option_is_a_type_with_null() {
        let (schema, _) = input::<Add>();
        assert_eq!(schema["properties"]["alpha"]["type"], json!(["string", "null"]));
    }

    #[test]
    fn g1_arguments_without_an_object_root_are_refused_by_name() {
        #[derive(JsonSchema)]
        #[allow(dead_code)]
        enum External {
            A,
            B(u8),
        }
        #[derive(JsonSchema)]
        #[serde(tag = "kind")]
        #[allow(dead_code)]
        enum Internal {
            A { n: u8 },
            B,
        }
        #[derive(JsonSchema)]
        #[allow(dead_code)]
        struct Newtype(u8);
        assert!(of::<u32>().unwrap_err().contains("uint32"));
        assert!(of::<External>().unwrap_err().contains("External"));
        assert!(of::<Internal>().unwrap_err().contains("Internal"));
        assert!(of::<Newtype>().unwrap_err().contains("Newtype"));
        assert!(of::<(i64, i64)>().is_err());
        assert!(of::<()>().is_err());
        assert_eq!(of::<Add>(), Ok(()));
    }

    #[test]
    fn jsch_04_another_dialect_is_refused_by_name_wherever_it_stands() {
        let draft_7 = "http://json-schema.org/draft-07/schema#";
        let fault = check_input(&json!({"type": "object", "$schema": draft_7}), "x").unwrap_err();
        assert!(fault.contains(draft_7) && fault.contains(DIALECT), "{fault}");
        let inner = json!({"type": "object", "$defs": {"a": {"$id": "a", "$schema": draft_7}}});
        assert!(check_input(&inner, "x").is_err());
        let property =
            json!({"$schema": DIALECT, "type": "object", "properties": {"$schema": {"type": "string"}}});
        assert_eq!(check_input(&property, "x"), Ok(()));
    }

    #[test]
    fn jsch_12_depth_and_number_of_subschemas_are_bounded() {
        let nested = |depth| {
            (1..depth).fold(json!({"type": "object"}), |inner, _| json!({"type": "object", "not": inner}))
        };
        assert_eq!(check_input(&nested(64), "x"), Ok(()));
        assert!(check_input(&nested(65), "x").unwrap_err().contains("64"));
        let wide = |width| json!({"type": "object", "anyOf": vec![json!({}); width]});
        assert_eq!(check_input(&wide(9_999), "x"), Ok(()));
        assert!(check_input(&wide(10_000), "x").unwrap_err().contains("10000"));
    }
}
