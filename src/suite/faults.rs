//! What is wrong with a value, in words for a model: where, what was found, what would do (N5).

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::paths::{Location, LocationSegment};
use jsonschema::{ValidationError, Validator};
use serde_json::Value;

use super::arguments::clamp;
use super::shape::looks_like_json;

/// How many faults are told.
const TOLD: usize = 10;

/// Up to how many values are looked at for all faults. The validator collects them all, and what a client sends must
/// not make it collect millions.
const SEARCHED: usize = 10_000;

/// All faults of a value that is not valid, one a line, clamped in number and size.
pub(super) fn describe(validator: &Validator, schema: &Value, value: &Value) -> String {
    if count(value, SEARCHED) == 0 {
        return format!(
            "they do not fit the schema, and hold more than {SEARCHED} values, too many to say where"
        );
    }
    let mut teller = Teller { schema, value, told: Vec::new() };
    for error in validator.iter_errors(value) {
        teller.tell(&error);
        if teller.told.len() > TOLD {
            teller.told.truncate(TOLD);
            teller.told.push("more faults like these".to_owned());
            break;
        }
    }
    match teller.told.as_slice() {
        [one] => one.clone(),
        many => many.iter().fold(String::new(), |text, fault| text + "\n- " + fault),
    }
}

/// Counts a value and those in it down from `left`; 0 when there are more.
fn count(value: &Value, left: usize) -> usize {
    let left = left.saturating_sub(1);
    match value {
        Value::Array(items) if items.len() > left => 0,
        Value::Object(members) if members.len() > left => 0,
        Value::Array(items) => items.iter().fold(left, |left, item| count(item, left)),
        Value::Object(members) => members.values().fold(left, |left, member| count(member, left)),
        _ => left,
    }
}

/// Gathers what is wrong.
struct Teller<'a> {
    schema: &'a Value,
    value: &'a Value,
    told: Vec<String>,
}

impl Teller<'_> {
    /// Adds what one error says; of a group of alternatives, what is wrong with the one that was meant.
    fn tell(&mut self, error: &ValidationError<'_>) {
        if self.told.len() > TOLD {
            return;
        }
        let (Kind::AnyOf { context } | Kind::OneOfNotValid { context }) = error.kind() else {
            self.told.push(at(error, &self.sentence(error)));
            return;
        };
        let found = shown(error.instance());
        if let Some(options) = constants(context) {
            self.told.push(at(error, &format!("found {found}, expected one of {options}")));
        } else if let Some(meant) = meant(context, error.instance_path()) {
            meant.iter().for_each(|inner| self.tell(inner));
        } else {
            let count = context.len();
            self.told.push(at(error, &format!("found {found}, which fits none of the {count} alternatives")));
        }
    }

    /// What was found and what would do.
    fn sentence(&self, error: &ValidationError<'_>) -> String {
        let found = shown(error.instance());
        let expected = match error.kind() {
            Kind::Type { kind } => return wrong_type(error.instance(), &types(kind)),
            Kind::Required { property } => return format!("{} is missing", quoted(property)),
            Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
                return self.unknown(unexpected, error);
            }
            Kind::FalseSchema => return self.refused(error),
            Kind::Enum { options } => format!("one of {}", list(options)),
            Kind::Constant { expected_value } => clamp(&expected_value.to_string()),
            Kind::Minimum { limit } => format!("at least {limit}"),
            Kind::Maximum { limit } => format!("at most {limit}"),
            Kind::ExclusiveMinimum { limit } => format!("more than {limit}"),
            Kind::ExclusiveMaximum { limit } => format!("less than {limit}"),
            Kind::MultipleOf { multiple_of } => format!("a multiple of {multiple_of}"),
            Kind::MinLength { limit } => format!("at least {limit} characters"),
            Kind::MaxLength { limit } => format!("at most {limit} characters"),
            Kind::Pattern { pattern } => format!("text that matches `{}`", clamp(pattern)),
            Kind::MinItems { limit } => return format!("expected at least {limit} items"),
            Kind::MaxItems { limit } => return format!("expected at most {limit} items"),
            Kind::UniqueItems => return "expected items that all differ".to_owned(),
            _ => return clamp(&error.masked_with("the value").to_string()),
        };
        format!("found {found}, expected {expected}")
    }

    /// Names that are not known, beside those that are.
    fn unknown(&self, unexpected: &[String], error: &ValidationError<'_>) -> String {
        let names = |names: &mut dyn Iterator<Item = &String>| {
            clamp(&names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "))
        };
        let found = names(&mut unexpected.iter());
        let parent = error.schema_path().as_str().rsplit_once('/').map(|(parent, _)| parent);
        let known = parent.and_then(|parent| self.schema.pointer(parent)?.get("properties")?.as_object());
        match known {
            Some(known) if !known.is_empty() => {
                format!("{found} is unknown; known are {}", names(&mut known.keys()))
            }
            _ => format!("{found} is unknown; no names are known, `{{}}` would do"),
        }
    }

    /// What a schema refuses that takes nothing. Of `additionalProperties: false` without `properties` the error has the
    /// place of the object and the value of one member.
    fn refused(&self, error: &ValidationError<'_>) -> String {
        let instance: &Value = error.instance();
        match self.value.pointer(error.instance_path().as_str()) {
            Some(Value::Object(members)) if members.values().any(|member| member == instance) => {
                let names: Vec<_> = members.keys().cloned().collect();
                self.unknown(&names, error)
            }
            _ => format!("found {}, and nothing is taken here", shown(instance)),
        }
    }
}

/// The allowed values, if each alternative is one value.
fn constants(context: &[Vec<ValidationError<'static>>]) -> Option<String> {
    let constant = |errors: &Vec<ValidationError<'static>>| {
        errors.iter().find_map(|error| match error.kind() {
            Kind::Constant { expected_value } if error.instance_path().as_str() == root(errors) => {
                Some(expected_value.to_string())
            }
            Kind::Enum { options } => Some(list(options)),
            _ => None,
        })
    };
    let all: Option<Vec<_>> = context.iter().map(constant).collect();
    all.filter(|all| !all.is_empty()).map(|all| clamp(&all.join(", ")))
}

/// The shortest path among errors.
fn root<'e>(errors: &'e [ValidationError<'static>]) -> &'e str {
    let paths = errors.iter().map(|error| error.instance_path().as_str());
    paths.min_by_key(|path| path.len()).unwrap_or_default()
}

/// The errors of the one alternative that has the right type and the right tag.
fn meant<'c>(
    context: &'c [Vec<ValidationError<'static>>],
    place: &Location,
) -> Option<&'c [ValidationError<'static>]> {
    let is_other = |errors: &&Vec<ValidationError<'static>>| {
        errors.iter().any(|error| match error.kind() {
            Kind::Type { .. } => error.instance_path() == place,
            Kind::Constant { .. } => true,
            _ => false,
        })
    };
    let mut candidates = context.iter().filter(|errors| !is_other(errors));
    match (candidates.next(), candidates.next()) {
        (Some(one), None) => Some(one),
        _ => None,
    }
}

fn wrong_type(instance: &Value, expected: &str) -> String {
    match instance {
        Value::String(text)
            if looks_like_json(text) && (expected.contains("object") || expected.contains("array")) =>
        {
            format!("found JSON text in a string, expected {expected}: send it as JSON, not as text")
        }
        _ => format!("found {}, expected {expected}", shown(instance)),
    }
}

fn types(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(one) => one.to_string(),
        TypeKind::Multiple(several) => {
            let names: Vec<_> = several.iter().map(|one| one.to_string()).collect();
            names.join(" or ")
        }
    }
}

fn at(error: &ValidationError<'_>, what: &str) -> String {
    let mut path = String::new();
    for segment in error.instance_path() {
        match segment {
            LocationSegment::Index(index) => path.push_str(&format!("[{index}]")),
            LocationSegment::Property(name) if path.is_empty() => path.push_str(&name),
            LocationSegment::Property(name) => {
                path.push('.');
                path.push_str(&name);
            }
        }
    }
    if path.is_empty() { what.to_owned() } else { format!("at `{}`: {what}", clamp(&path)) }
}

/// A value, short: what is in a list or an object tells less than that it is one.
fn shown(value: &Value) -> String {
    match value {
        Value::Object(_) => "an object".to_owned(),
        Value::Array(_) => "an array".to_owned(),
        leaf => clamp(&leaf.to_string()),
    }
}

fn quoted(name: &Value) -> String {
    format!("`{}`", clamp(name.as_str().unwrap_or_default()))
}

fn list(options: &Value) -> String {
    let options = options.as_array().into_iter().flatten();
    clamp(&options.map(Value::to_string).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::suite::checks::Checked;

    use super::*;

    fn fault(schema: &Value, value: &Value) -> String {
        Checked::input(schema).unwrap().fault(value).unwrap()
    }

    #[test]
    fn n5_all_faults_at_once_each_with_path_what_was_found_and_what_would_do() {
        let schema = json!({
            "type": "object", "required": ["name"], "additionalProperties": false,
            "properties": {
                "name": {"type": "string"},
                "list": {"items": {"type": "object", "properties": {"count": {"type": "integer"}}}},
                "colour": {"enum": ["red", "blue"]},
                "size": {"minimum": 1, "maximum": 9},
                "code": {"type": "string", "pattern": "^[a-z]+$"}
            }
        });
        let value = json!({
            "list": [{"count": 1}, {"count": 30.5}], "colour": "green", "size": 10, "code": "A1", "more": 1
        });
        let told = fault(&schema, &value);
        let mut lines: Vec<_> = told.lines().skip(1).collect();
        lines.sort_unstable();
        assert_eq!(
            lines,
            [
                "- `more` is unknown; known are `name`, `list`, `colour`, `size`, `code`",
                "- `name` is missing",
                "- at `code`: found \"A1\", expected text that matches `^[a-z]+$`",
                "- at `colour`: found \"green\", expected one of \"red\", \"blue\"",
                "- at `list[1].count`: found 30.5, expected integer",
                "- at `size`: found 10, expected at most 9",
            ]
        );
    }

    #[test]
    fn g7_json_text_for_an_object_is_called_that() {
        let schema = json!({"properties": {"filter": {"type": ["object", "null"]}}});
        assert_eq!(
            fault(&schema, &json!({"filter": r#"{"a":1}"#})),
            "at `filter`: found JSON text in a string, expected null or object: send it as JSON, not as text"
        );
    }

    #[test]
    fn of_alternatives_the_one_that_was_meant_is_told() {
        let option = json!({"properties": {"o": {"anyOf": [
            {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}, {"type": "null"}
        ]}}});
        assert_eq!(fault(&option, &json!({"o": {"n": "x"}})), "at `o.n`: found \"x\", expected integer");
        let tagged = json!({"properties": {"o": {"oneOf": [
            {"properties": {"kind": {"const": "a"}, "n": {"type": "integer"}}, "required": ["kind", "n"]},
            {"properties": {"kind": {"const": "b"}}, "required": ["kind"]}
        ]}}});
        assert_eq!(fault(&tagged, &json!({"o": {"kind": "a"}})), "at `o`: `n` is missing");
        let described = json!({"properties": {"o": {"oneOf": [{"const": "a"}, {"const": "b"}]}}});
        assert_eq!(
            fault(&described, &json!({"o": "c"})),
            "at `o`: found \"c\", expected one of \"a\", \"b\""
        );
        let unclear = json!({"properties": {"o": {"anyOf": [{"minimum": 5}, {"multipleOf": 3}]}}});
        assert_eq!(
            fault(&unclear, &json!({"o": 1})),
            "at `o`: found 1, which fits none of the 2 alternatives"
        );
    }

    #[test]
    fn faults_are_clamped_in_number_and_size() {
        let schema = json!({"additionalProperties": {"type": "integer"}});
        let long = "x".repeat(100_000);
        let many: serde_json::Map<_, _> = (0..50).map(|n| (format!("{long}{n}"), json!(long))).collect();
        let told = fault(&schema, &Value::Object(many));
        assert_eq!(told.lines().skip(1).count(), TOLD + 1);
        assert!(told.len() < 10_000, "{} bytes", told.len());
    }

    #[test]
    fn a_value_too_large_to_search_gets_one_sentence() {
        let schema = json!({"properties": {"list": {"items": {"type": "integer"}}}});
        let told = fault(&schema, &json!({"list": vec!["x"; SEARCHED]}));
        assert!(told.contains("more than 10000 values"), "{told}");
        assert!(fault(&schema, &json!({"list": vec!["x"; 100]})).contains("list[9]"));
    }
}
