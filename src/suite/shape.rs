//! Where a schema wants integers, objects and lists, so that what clients write in another way reaches serde in the
//! right one: `30.0` as an integer (G5), and, for tools that ask for it, an object or a list sent as JSON text (G7).
//!
//! JSON Schema calls `30.0` an integer and serde does not. Only where every schema that applies says integer and none
//! says number is a whole float rewritten, so a float stays a float wherever the tool takes one.

use std::cell::Cell;
use std::collections::HashMap;

use serde_json::{Map, Number, Value};

use crate::rules::json;

/// The types and the places that a schema names, with local references followed.
pub(super) struct Shape {
    nodes: Vec<Node>,
    types: Vec<u8>,
}

/// One subschema.
#[derive(Default)]
struct Node {
    own: Option<u8>,
    properties: HashMap<Box<str>, usize>,
    /// Schemas of properties that are not named: `additionalProperties`, `patternProperties`.
    rest: Vec<usize>,
    prefix: Vec<usize>,
    items: Option<usize>,
    /// Schemas that hold at the same place: `$ref` and `allOf`; the groups `anyOf` and `oneOf`; `then` and `else`.
    all: Vec<usize>,
    any: Vec<Vec<usize>>,
    perhaps: Vec<usize>,
}

/// How deep arguments may be nested with what their texts hold: as deep as a body is by default.
const DEEPEST: usize = 64;

/// How many values the texts of one call may hold. They are not counted where those of the body are.
const MOST_VALUES: usize = 10_000;

const NUMBER: u8 = 1;
const INTEGER: u8 = 2;
const STRING: u8 = 4;
const OBJECT: u8 = 8;
const ARRAY: u8 = 16;
const OTHER: u8 = 32;
const ANYTHING: u8 = u8::MAX;

impl Shape {
    /// Reads a schema whose depth is bounded.
    pub(super) fn of(schema: &Value) -> Self {
        let mut reader = Reader { root: schema, nodes: Vec::new(), known: HashMap::new() };
        reader.node(schema);
        let nodes = reader.nodes;
        let mut types = vec![None; nodes.len()];
        for index in 0..nodes.len() {
            resolve(&nodes, &mut types, index);
        }
        let types = types.into_iter().map(|types| types.unwrap_or(ANYTHING)).collect();
        Self { nodes, types }
    }

    /// Rewrites whole floats as integers where the schema wants integers, and, if `json_text`, JSON text as what it
    /// holds where the schema wants objects or lists.
    pub(super) fn normalise(&self, arguments: &mut Value, json_text: bool) {
        let concerns = |value: &Value| match value {
            Value::Number(number) => number.is_f64(),
            Value::String(text) => json_text && looks_like_json(text),
            _ => false,
        };
        // Most calls have nothing to rewrite, and the schema need not be walked for them.
        if any(arguments, &concerns) {
            let left = Cell::new(MOST_VALUES);
            self.visit(arguments, &[0], Texts { left: json_text.then_some(&left), levels: DEEPEST });
        }
    }

    fn visit(&self, value: &mut Value, nodes: &[usize], texts: Texts<'_>) {
        let wanted = self.wanted(nodes);
        match value {
            Value::Number(number) if wanted & (INTEGER | NUMBER) == INTEGER => {
                if let Some(whole) = whole(number) {
                    *number = whole;
                }
            }
            Value::String(text) if wanted & STRING == 0 => {
                if let Some(decoded) = texts.decoded(text, wanted) {
                    *value = decoded;
                    self.visit(value, nodes, texts);
                }
            }
            Value::Object(members) => {
                let places = self.places(nodes);
                for (key, member) in members.iter_mut() {
                    self.visit(member, &at_key(&places, key), texts.inside());
                }
            }
            Value::Array(items) => {
                let places = self.places(nodes);
                let prefixed = places.iter().map(|node| node.prefix.len()).max().unwrap_or(0);
                let rest = at_index(&places, prefixed);
                for (index, item) in items.iter_mut().enumerate() {
                    if index < prefixed {
                        self.visit(item, &at_index(&places, index), texts.inside());
                    } else {
                        self.visit(item, &rest, texts.inside());
                    }
                }
            }
            _ => {}
        }
    }

    /// The types that the schemas here ask for; those that ask for nothing have no say.
    fn wanted(&self, nodes: &[usize]) -> u8 {
        let types = nodes.iter().filter_map(|&index| self.types.get(index));
        types.filter(|&&types| types != ANYTHING).fold(0, |all, types| all | types)
    }

    /// These schemas and all that hold at the same place.
    fn places(&self, nodes: &[usize]) -> Vec<&Node> {
        let mut found: Vec<usize> = nodes.to_vec();
        let mut next = 0;
        while let Some(node) = found.get(next).and_then(|&index| self.nodes.get(index)) {
            let here = node.all.iter().chain(node.any.iter().flatten()).chain(&node.perhaps);
            for &index in here {
                if !found.contains(&index) {
                    found.push(index);
                }
            }
            next += 1;
        }
        found.into_iter().filter_map(|index| self.nodes.get(index)).collect()
    }
}

/// The schemas of a member.
fn at_key(places: &[&Node], key: &str) -> Vec<usize> {
    let mut found = Vec::new();
    for node in places {
        match node.properties.get(key) {
            Some(&index) => found.push(index),
            None => found.extend(&node.rest),
        }
    }
    found
}

/// The schemas of an item.
fn at_index(places: &[&Node], index: usize) -> Vec<usize> {
    let at = |node: &&Node| node.prefix.get(index).copied().or(node.items);
    places.iter().filter_map(at).collect()
}

fn any(value: &Value, concerns: &impl Fn(&Value) -> bool) -> bool {
    match value {
        Value::Object(members) => members.values().any(|member| any(member, concerns)),
        Value::Array(items) => items.iter().any(|item| any(item, concerns)),
        leaf => concerns(leaf),
    }
}

/// A float without a fraction as the integer that it is, if that fits in 64 bits.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn whole(number: &Number) -> Option<Number> {
    const PAST_U64: f64 = 18_446_744_073_709_551_616.0;
    const LEAST_I64: f64 = -9_223_372_036_854_775_808.0;
    if !number.is_f64() {
        return None;
    }
    // By its digits, where they are there: with `arbitrary_precision` they may be more than a float holds.
    let text = number.to_string();
    if let Some((digits, fraction)) = text.split_once('.')
        && fraction.bytes().all(|digit| digit == b'0')
    {
        let signed = digits.parse::<i64>().map(Number::from);
        return signed.or_else(|_| digits.parse::<u64>().map(Number::from)).ok();
    }
    match number.as_f64()? {
        float if float.fract() != 0.0 => None,
        float if (0.0..PAST_U64).contains(&float) => Some(Number::from(float as u64)),
        float if (LEAST_I64..0.0).contains(&float) => Some(Number::from(float as i64)),
        _ => None,
    }
}

/// Whether a text may be an object or a list.
pub(super) fn looks_like_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '['])
}

/// How much JSON in texts is read as what it holds, at one place.
#[derive(Clone, Copy)]
struct Texts<'a> {
    /// The values that it may still hold; `None` where no text is taken for JSON.
    left: Option<&'a Cell<usize>>,
    /// Of nesting, from here.
    levels: usize,
}

impl Texts<'_> {
    fn inside(self) -> Self {
        Self { levels: self.levels.saturating_sub(1), ..self }
    }

    /// The object or the list that a text holds. A text that holds more than it may stays one, which the schema refuses.
    fn decoded(self, text: &str, wanted: u8) -> Option<Value> {
        if !looks_like_json(text) {
            return None;
        }
        let value = json::of_text(text, self.levels, self.left?)?;
        let fits = match &value {
            Value::Object(_) => wanted & OBJECT != 0,
            Value::Array(_) => wanted & ARRAY != 0,
            _ => false,
        };
        fits.then_some(value)
    }
}

/// Numbers the subschemas, each once, so that recursive schemas end.
struct Reader<'a> {
    root: &'a Value,
    nodes: Vec<Node>,
    known: HashMap<*const Value, usize>,
}

impl<'a> Reader<'a> {
    fn node(&mut self, schema: &'a Value) -> usize {
        if let Some(&index) = self.known.get(&std::ptr::from_ref(schema)) {
            return index;
        }
        let index = self.nodes.len();
        self.known.insert(std::ptr::from_ref(schema), index);
        self.nodes.push(Node::default());
        if let Value::Object(keywords) = schema {
            let node = self.read(keywords);
            if let Some(place) = self.nodes.get_mut(index) {
                *place = node;
            }
        }
        index
    }

    fn read(&mut self, keywords: &'a Map<String, Value>) -> Node {
        let mut node = Node { own: keywords.get("type").map(types), ..Node::default() };
        for (keyword, value) in keywords {
            match keyword.as_str() {
                "properties" => {
                    let named = value.as_object().into_iter().flatten();
                    node.properties =
                        named.map(|(key, schema)| (key.as_str().into(), self.node(schema))).collect();
                }
                "additionalProperties" => node.rest.push(self.node(value)),
                "patternProperties" => {
                    let schemas = value.as_object().into_iter().flat_map(Map::values);
                    node.rest.extend(schemas.map(|schema| self.node(schema)));
                }
                "prefixItems" => node.prefix = self.list(value),
                "items" => node.items = Some(self.node(value)),
                "allOf" => node.all.extend(self.list(value)),
                "anyOf" | "oneOf" => {
                    let group = self.list(value);
                    node.any.push(group);
                }
                "then" | "else" => node.perhaps.push(self.node(value)),
                "$ref" => {
                    if let Some(target) = value.as_str().and_then(|to| self.target(to)) {
                        node.all.push(self.node(target));
                    }
                }
                _ => {}
            }
        }
        node
    }

    fn list(&mut self, value: &'a Value) -> Vec<usize> {
        value.as_array().into_iter().flatten().map(|schema| self.node(schema)).collect()
    }

    /// What a reference inside the document points to. References by `$anchor` and `$id` are left to the validator.
    fn target(&self, reference: &str) -> Option<&'a Value> {
        self.root.pointer(reference.strip_prefix('#')?)
    }
}

/// The value of the keyword `type`.
fn types(value: &Value) -> u8 {
    let one = |name: &Value| match name.as_str() {
        Some("integer") => INTEGER,
        Some("number") => NUMBER | INTEGER,
        Some("string") => STRING,
        Some("object") => OBJECT,
        Some("array") => ARRAY,
        _ => OTHER,
    };
    match value {
        Value::Array(names) => names.iter().map(one).fold(0, |all, types| all | types),
        name => one(name),
    }
}

/// The types that a subschema allows, with what holds at the same place. One that is reached again while it is being
/// resolved has no say.
fn resolve(nodes: &[Node], known: &mut Vec<Option<u8>>, index: usize) -> u8 {
    let (Some(place), Some(node)) = (known.get_mut(index), nodes.get(index)) else {
        return ANYTHING;
    };
    if let Some(types) = *place {
        return types;
    }
    *place = Some(ANYTHING);
    let mut allowed = node.own.unwrap_or(ANYTHING);
    for &all in &node.all {
        allowed &= resolve(nodes, known, all);
    }
    for group in &node.any {
        allowed &= group.iter().map(|&one| resolve(nodes, known, one)).fold(0, |any, types| any | types);
    }
    if let Some(place) = known.get_mut(index) {
        *place = Some(allowed);
    }
    allowed
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn normalised(schema: &Value, mut value: Value, json_text: bool) -> Value {
        Shape::of(schema).normalise(&mut value, json_text);
        value
    }

    fn as_integer(number: &str) -> Value {
        let value: Value = serde_json::from_str(&format!(r#"{{"n":{number}}}"#)).unwrap();
        let schema = json!({"properties": {"n": {"type": "integer"}}});
        normalised(&schema, value, false)["n"].clone()
    }

    #[test]
    fn g5_whole_floats_become_integers_and_no_digit_is_lost() {
        assert_eq!(as_integer("30.0"), json!(30));
        assert_eq!(as_integer("3e1"), json!(30));
        assert_eq!(as_integer("-2.0"), json!(-2));
        assert_eq!(as_integer("-0.0"), json!(0));
        assert_eq!(as_integer("1e18"), json!(1_000_000_000_000_000_000_u64));
        assert_eq!(as_integer("1e19"), json!(10_000_000_000_000_000_000_u64));
        for kept in ["30.5", "1e30", "-1e19", "1.8446744073709552e19"] {
            assert!(as_integer(kept).as_number().unwrap().is_f64(), "{kept}");
        }
    }

    #[test]
    fn g5_in_lists_options_tuples_maps_references_and_groups() {
        let schema = json!({
            "$defs": {"n": {"type": ["integer", "null"]}, "tree": {
                "properties": {"n": {"$ref": "#/$defs/n"}, "kids": {"items": {"$ref": "#/$defs/tree"}}}
            }},
            "properties": {
                "list": {"items": {"type": "integer"}},
                "option": {"anyOf": [{"$ref": "#/$defs/n"}, {"type": "null"}]},
                "pair": {"prefixItems": [{"type": "number"}, {"type": "integer"}]},
                "map": {"additionalProperties": {"type": "integer"}},
                "tree": {"$ref": "#/$defs/tree"}
            },
            "allOf": [{"properties": {"flat": {"type": "integer"}}}]
        });
        let value = json!({
            "list": [1.0, 2.5], "option": 3.0, "pair": [4.0, 5.0], "map": {"x": 6.0},
            "tree": {"n": 7.0, "kids": [{"n": 8.0, "kids": []}]}, "flat": 9.0, "other": 10.0
        });
        let expected = json!({
            "list": [1, 2.5], "option": 3, "pair": [4.0, 5], "map": {"x": 6},
            "tree": {"n": 7, "kids": [{"n": 8, "kids": []}]}, "flat": 9, "other": 10.0
        });
        assert_eq!(normalised(&schema, value, false), expected);
    }

    #[test]
    fn a_float_stays_one_where_any_schema_takes_numbers() {
        let schema = json!({"properties": {
            "either": {"anyOf": [{"type": "integer"}, {"type": "number"}]},
            "number": {"type": "number"}
        }, "anyOf": [
            {"properties": {"kind": {"type": "integer"}}},
            {"properties": {"kind": {"type": "number"}}}
        ]});
        let value = json!({"either": 1.0, "number": 2.0, "kind": 3.0});
        assert_eq!(normalised(&schema, value.clone(), false), value);
    }

    #[test]
    fn g7_json_text_is_decoded_on_demand_and_only_for_objects_and_lists() {
        let schema = json!({"properties": {
            "filter": {"type": "object", "properties": {"n": {"type": "integer"}}},
            "tags": {"type": ["array", "null"]},
            "text": {"type": "string"},
            "either": {"anyOf": [{"type": "object"}, {"const": "{}"}]}
        }});
        let value = json!({"filter": r#"{"n":1.0}"#, "tags": r#"["x"]"#, "text": "{}", "either": "{}"});
        assert_eq!(normalised(&schema, value.clone(), false), value);
        let expected = json!({"filter": {"n": 1}, "tags": ["x"], "text": "{}", "either": "{}"});
        assert_eq!(normalised(&schema, value, true), expected);
        let wrong = json!({"filter": "[1]", "tags": "[1"});
        assert_eq!(normalised(&schema, wrong.clone(), true), wrong);
    }

    /// Lists in lists, each as the text of the one around it.
    fn nested(texts: usize, lists: usize) -> Value {
        let text = (0..texts).fold("[]".to_owned(), |inner, _| {
            let inner = Value::from(inner).to_string();
            format!("{}{inner}{}", "[".repeat(lists), "]".repeat(lists))
        });
        json!({ "l": text })
    }

    fn depth(value: &Value) -> usize {
        match value {
            Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
            Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
            _ => 0,
        }
    }

    #[test]
    fn g7_texts_are_read_as_strictly_as_a_body() {
        let schema = json!({
            "$defs": {"l": {"type": "array", "items": {"$ref": "#/$defs/l"}}},
            "properties": {"l": {"$ref": "#/$defs/l"}, "o": {"type": "object"}, "p": {"type": "array"}}
        });
        // Nesting counts through all texts.
        assert_eq!(depth(&normalised(&schema, nested(1, 60), true)), 62);
        for deep in [nested(1, 64), nested(4, 20), nested(14, 5), nested(12, 126)] {
            assert!(depth(&normalised(&schema, deep, true)) <= DEEPEST);
        }
        for text in [r#"{"a":1,"a":2}"#, r#"{"a":1e999}"#, "{} {}", r#"{"$serde_json::private::Number":"1"}"#]
        {
            assert_eq!(normalised(&schema, json!({"o": text}), true), json!({"o": text}));
        }
        // So do values.
        let list = |count: usize| format!("[{}]", vec!["0"; count].join(","));
        let value = json!({"o": "{}", "p": list(MOST_VALUES - 1)});
        assert!(normalised(&schema, value, true)["p"].is_array());
        let value = json!({"o": r#"{"a":0}"#, "p": list(MOST_VALUES)});
        assert!(normalised(&schema, value, true)["p"].is_string());
    }

    #[test]
    fn a_schema_that_refers_to_itself_ends() {
        let schema = json!({"$defs": {"a": {"$ref": "#/$defs/a"}}, "properties": {"n": {"$ref": "#/$defs/a"}}, "allOf": [{"$ref": "#"}]});
        assert_eq!(normalised(&schema, json!({"n": 1.0}), true), json!({"n": 1.0}));
    }
}
