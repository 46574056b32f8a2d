//! Registration as a whole: what is refused, what is warned about, what a call costs.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::handler::Handler;
use crate::suite::entry::{Entry, warnings};
use crate::wire::ToolList;

use crate::suite::{IntoTool, NoArguments, Suite, ToolError, ToolSpec, tool};

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Typed {
    count: u32,
    #[serde(default = "ten")]
    limit: u64,
    since: Option<String>,
    #[serde(flatten)]
    flat: Flat,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Flat {
    offset: Option<i64>,
    list: Option<Vec<i32>>,
}

fn ten() -> u64 {
    10
}

async fn typed(_: Typed) -> &'static str {
    "fine"
}

async fn nothing(_: NoArguments) {}

fn faults(suite: &Suite) -> String {
    suite.check().unwrap_err().to_string()
}

fn listed(suite: &Suite) -> ToolList {
    suite.providers.current.catalog().tools.whole()
}

fn with_schema(schema: Value) -> Suite {
    let spec = tool(nothing).input_schema(schema);
    Suite::new("s", "1").trace_warnings(false).tool("named", spec)
}

fn decode(arguments: Value) -> Result<Typed, ToolError> {
    let entry = Entry::register("typed", typed.into_tool()).unwrap();
    entry.arguments.decode(arguments.as_object().unwrap().clone())
}

fn refused(arguments: Value) -> String {
    decode(arguments).unwrap_err().to_string()
}

#[test]
fn all_faults_of_all_tools_are_told_when_the_supervisor_starts() {
    let suite = Suite::new("s", "1")
        .tool("", nothing)
        .tool("twice", nothing)
        .tool("twice", typed)
        .tool("none", tool(nothing).max_concurrent(0).timeout(Duration::ZERO));
    let told = faults(&suite);
    for fault in [
        "`twice`: registered twice",
        "`none`: its max_concurrent is 0",
        "timeout is 0",
        "tool ``: the name is empty",
    ] {
        assert!(told.contains(fault), "{fault} in {told}");
    }
}

#[test]
fn a_tool_registered_twice_stays_the_first_one() {
    let suite = Suite::new("s", "1").tool("a", nothing).tool("a", typed);
    assert_eq!(listed(&suite).len(), 1);
    assert_eq!(listed(&suite)[0].input_schema["additionalProperties"], false);
}

#[cfg(feature = "json-schema")]
#[test]
fn g2_and_jsch_11_references_that_lead_nowhere_are_refused_with_the_name_of_the_tool() {
    for reference in ["#/$defs/none", "https://example.com/schema.json", "other.json", "file:///etc/passwd"] {
        let told = faults(&with_schema(json!({"type": "object", "properties": {"a": {"$ref": reference}}})));
        assert!(told.contains("tool `named`: the input schema"), "{told}");
        assert!(told.contains("$ref"), "{reference}: {told}");
    }
}

#[cfg(feature = "json-schema")]
#[test]
fn jsch_06_schemas_that_are_not_valid_are_refused_with_their_place() {
    let told = faults(&with_schema(json!({"type": "object", "properties": {"a": {"type": "int"}}})));
    assert!(told.contains("`named`") && told.contains("/properties/a/type"), "{told}");
    let told = faults(&with_schema(json!({"type": "object", "properties": {"a": {"pattern": "("}}})));
    assert!(told.contains("`named`") && told.contains("pattern"), "{told}");
    let spec = tool(nothing).output_schema(json!({"type": "int"}));
    let told = faults(&Suite::new("s", "1").tool("out", spec));
    assert!(told.contains("tool `out`: the output schema"), "{told}");
}

#[test]
fn jsch_04_another_dialect_is_refused_with_the_name_of_the_tool() {
    let told =
        faults(&with_schema(json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"})));
    assert!(told.contains("tool `named`") && told.contains("draft-07"), "{told}");
}

#[test]
fn jsch_13_a_given_schema_is_listed_as_it_stands() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "title": "kept",
        "$defs": {"address": {"$anchor": "addressDef", "type": "object"}},
        "properties": {"address": {"$ref": "#addressDef"}, "x": {"type": "string", "x-mcp-header": "X", "nullable": true}},
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"required": ["x"]}, "then": {"required": ["phone"]}, "else": {"required": ["email"]},
        "additionalProperties": false
    });
    let suite = with_schema(schema.clone());
    assert!(suite.check().is_ok());
    assert_eq!(serde_json::to_string(&listed(&suite)[0].input_schema).unwrap(), schema.to_string());
}

#[test]
fn g1_and_g12_and_g6_are_warnings_that_name_the_tool() {
    #[derive(serde::Serialize, JsonSchema)]
    struct Order {
        order_id: u64,
        lines: Vec<Line>,
    }
    #[derive(serde::Serialize, JsonSchema)]
    struct Line {
        id: i64,
        amount: u64,
    }
    async fn order() -> crate::suite::Json<Order> {
        let lines = vec![Line { id: 1, amount: 2 }];
        crate::suite::Json(Order { order_id: 1, lines })
    }
    let suite = Suite::new("s", "1")
        .tool("a.b", nothing)
        .tool("fine", nothing)
        .tool("either", tool(nothing).input_schema(json!({"type": "object", "anyOf": [{}]})))
        .tool("order", order);
    let told = suite.warnings();
    assert!(told[0].starts_with("tool `a.b`: the name holds a dot"), "{told:?}");
    assert!(told[1].contains("`either`") && told[1].contains("anyOf"), "{told:?}");
    assert!(told[2].contains("`order`") && told[2].contains("order_id"), "{told:?}");
    assert!(told[3].contains("`order`") && told[3].contains("`id`"), "{told:?}");
    assert_eq!(told.len(), 4, "{told:?}");
    assert!(suite.check().is_ok(), "a warning is no fault");
}

#[test]
fn g4_absent_null_and_default() {
    let only = |count| Typed { count, limit: 10, since: None, flat: Flat { offset: None, list: None } };
    assert_eq!(decode(json!({"count": 1})).unwrap(), only(1));
    assert_eq!(decode(json!({"count": 1, "since": null})).unwrap(), only(1));
    let empty = decode(json!({"count": 1, "since": ""})).unwrap();
    assert_eq!(empty.since.as_deref(), Some(""), "an empty text is a value");
    let told = refused(json!({"count": 1, "limit": null}));
    assert!(told.contains("limit") || told.contains("null"), "{told}");
    #[cfg(feature = "json-schema")]
    assert_eq!(told, "invalid arguments: at `limit`: found null, expected integer");
}

#[test]
fn g5_whole_floats_are_integers_in_plain_optional_listed_and_flattened_fields() {
    let given: Value =
        serde_json::from_str(r#"{"count": 30.0, "limit": 3e1, "offset": -2.0, "list": [1.0, 2]}"#).unwrap();
    let typed = decode(given).unwrap();
    assert_eq!((typed.count, typed.limit), (30, 30));
    assert_eq!(typed.flat, Flat { offset: Some(-2), list: Some(vec![1, 2]) });
}

#[test]
fn g5_fractions_and_numbers_out_of_range_are_refused_with_their_path() {
    for (arguments, path) in [
        (r#"{"count": 30.5}"#, "count"),
        (r#"{"count": -1}"#, "count"),
        (r#"{"count": 4294967296}"#, "`count`"),
        (r#"{"count": 1, "limit": 1e30}"#, "`limit`"),
        (r#"{"count": 1, "list": [1, 2.5]}"#, "list[1]"),
    ] {
        let told = refused(serde_json::from_str(arguments).unwrap());
        assert!(told.starts_with("invalid arguments:"), "{told}");
        #[cfg(feature = "json-schema")]
        assert!(told.contains(path), "{path}: {told}");
        #[cfg(not(feature = "json-schema"))]
        let _ = path;
    }
}

#[cfg(feature = "json-schema")]
#[test]
fn g10_unknown_fields_are_refused_where_the_type_refuses_them_and_else_ignored() {
    assert!(decode(json!({"count": 1, "more": 2})).is_ok());
    let entry = Entry::register("n", nothing.into_tool()).unwrap();
    assert_eq!(entry.definition.input_schema["additionalProperties"], false);
    let given = json!({"more": 2}).as_object().unwrap().clone();
    let told = entry.arguments.decode::<NoArguments>(given).unwrap_err().to_string();
    assert_eq!(told, "invalid arguments: `more` is unknown; no names are known, `{}` would do");
}

#[cfg(feature = "json-schema")]
#[test]
fn g10_what_only_the_schema_says_is_enforced_before_the_tool_runs() {
    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    struct Bounded {
        #[schemars(range(min = 1, max = 5))]
        stars: u8,
        #[schemars(regex(pattern = "^[a-z]+$"))]
        code: String,
    }
    async fn rate(_: Bounded) {}
    let entry = Entry::register("rate", rate.into_tool()).unwrap();
    let given = json!({"stars": 6, "code": "A"}).as_object().unwrap().clone();
    let told = entry.arguments.decode::<Bounded>(given).err().unwrap().to_string();
    assert_eq!(
        told,
        "invalid arguments:\n- at `stars`: found 6, expected at most 5\n- at `code`: found \"A\", expected text that \
         matches `^[a-z]+$`"
    );
}

#[test]
fn g13_the_list_is_in_the_order_of_registration_and_written_once() {
    let suite =
        (0..50).fold(Suite::new("s", "1"), |suite, n| suite.tool(&format!("t{}", 97 * n % 50), nothing));
    let names: Vec<_> = listed(&suite).iter().map(|tool| tool.name.clone()).collect();
    let expected: Vec<_> = (0..50).map(|n| format!("t{}", 97 * n % 50)).collect();
    assert_eq!(names, expected);
    let first = serde_json::to_string(&listed(&suite)).unwrap();
    assert_eq!(serde_json::to_string(&listed(&suite)).unwrap(), first);
    assert_eq!(first, serde_json::to_string(&*listed(&suite)).unwrap(), "the same as without keeping it");
}

#[cfg(feature = "json-schema")]
#[test]
fn jsch_12_references_in_a_circle_end_and_take_nothing_down() {
    let schema = json!({
        "type": "object", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}},
        "properties": {"x": {"$ref": "#/$defs/a"}, "self": {"$ref": "#"}}
    });
    let entry = Entry::register("circle", tool(nothing).input_schema(schema)).unwrap();
    let given = json!({"x": 1, "self": {"self": {"x": 2}}}).as_object().unwrap().clone();
    assert!(entry.arguments.decode::<Value>(given).is_ok());
}

#[test]
fn a_definition_without_stumbling_blocks_has_no_warning() {
    let ToolSpec { mut definition, .. } = tool(typed);
    "typed".clone_into(&mut definition.name);
    assert_eq!(warnings(&definition), Vec::<String>::new());
}
