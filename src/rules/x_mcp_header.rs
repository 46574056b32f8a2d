//! XHDR-02 to XHDR-22, E14: `x-mcp-header` marks parameters of a tool that clients mirror as `Mcp-Param-*` headers.
//!
//! One fault makes clients drop the whole tool (XHDR-10), so a schema is read once, when the tool is registered, and a
//! request is checked against what was read, before the tool sees it.

use std::borrow::Cow;

use serde_json::{Map, Number, Value};

use super::errors::{Refusal, Shown};
use super::header_value;
use crate::wire::MirroredParams;

const MARK: &str = "x-mcp-header";
const PREFIX: &str = "Mcp-Param-";

/// The largest integer that every client writes exactly (XHDR-07).
const SAFE: i64 = (1 << 53) - 1;

/// A parameter that is mirrored.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mirrored {
    /// The keys that lead to it from the arguments (XHDR-20).
    path: Vec<Box<str>>,
    /// The header without its prefix.
    name: Box<str>,
}

/// The mirrored parameters of an input schema.
///
/// # Errors
///
/// Everything that is wrong with its annotations, each with its place.
pub(crate) fn read(schema: &Value) -> Result<Vec<Mirrored>, Vec<String>> {
    let mut found = Found::default();
    found.visit(schema, &mut Vec::new(), true);
    if found.faults.is_empty() { Ok(found.mirrored) } else { Err(found.faults) }
}

/// The headers of a call against its arguments (step 15 of the order of checks). Without headers there is nothing to check.
///
/// # Errors
///
/// 400 with `-32020`.
pub(crate) fn check(
    mirrored: &[Mirrored],
    sent: &MirroredParams,
    arguments: &Map<String, Value>,
) -> Result<(), Refusal> {
    if !sent.have_headers() {
        return Ok(());
    }
    mirrored.iter().try_for_each(|parameter| parameter.check(sent, parameter.argument(arguments)))
}

impl Mirrored {
    /// The keys that lead to the parameter, for people.
    pub(crate) fn path(&self) -> String {
        self.path.join(".")
    }

    /// The argument at exactly this path; `null` is as good as absent (XHDR-14).
    fn argument<'a>(&self, arguments: &'a Map<String, Value>) -> Option<&'a Value> {
        let (first, rest) = self.path.split_first()?;
        let argument = rest.iter().try_fold(arguments.get(&**first)?, |inner, key| inner.get(&**key))?;
        (!argument.is_null()).then_some(argument)
    }

    fn check(&self, sent: &MirroredParams, argument: Option<&Value>) -> Result<(), Refusal> {
        let header = format!("{PREFIX}{}", self.name);
        let mut lines = sent.iter().filter(|(name, _)| name.eq_ignore_ascii_case(&self.name));
        let line = lines.next().map(|(_, value)| value);
        if lines.next().is_some() {
            return Err(Refusal::header_repeated(&header));
        }
        match (argument, line) {
            (None, None) => Ok(()),
            (None, Some(line)) => Err(Refusal::header_differs(&header, line, "nothing")),
            (Some(argument), None) => Err(Refusal::header_missing(&header, &text(argument))),
            (Some(argument), Some(line)) => {
                if !line.bytes().all(|byte| matches!(byte, b'\t' | 0x20..=0x7e)) {
                    return Err(Refusal::header_unreadable(&header));
                }
                let value = header_value::decode(line).ok_or_else(|| Refusal::header_undecodable(&header))?;
                if says(&value, argument) {
                    Ok(())
                } else {
                    Err(Refusal::header_differs(&header, &value, &text(argument)))
                }
            }
        }
    }
}

/// Whether a header says the same as an argument: integers by their value, everything else by its text (XHDR-18,
/// XHDR-19, A-18).
fn says(header: &str, argument: &Value) -> bool {
    match argument {
        Value::Number(number) => match whole(number) {
            Some(number) => whole_text(header) == Some(number),
            None => !is_integer(number) && number.to_string() == header,
        },
        Value::Array(_) | Value::Object(_) => false,
        primitive => text(primitive) == header,
    }
}

/// How an argument reads as a header.
fn text(argument: &Value) -> Cow<'_, str> {
    match argument {
        Value::String(text) => Cow::Borrowed(text),
        Value::Array(_) => Cow::Borrowed("an array"),
        Value::Object(_) => Cow::Borrowed("an object"),
        other => Cow::Owned(other.to_string()),
    }
}

fn is_integer(number: &Number) -> bool {
    number.is_i64() || number.is_u64()
}

/// A whole number within what clients write exactly; `30.0` is one.
fn whole(number: &Number) -> Option<i64> {
    let whole = match number.as_i64() {
        Some(whole) => whole,
        None => whole_text(&number.to_string())?,
    };
    (-SAFE..=SAFE).contains(&whole).then_some(whole)
}

fn whole_text(text: &str) -> Option<i64> {
    let (digits, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let unsigned = digits.strip_prefix('-').unwrap_or(digits);
    let is_number = !unsigned.is_empty() && unsigned.bytes().all(|byte| byte.is_ascii_digit());
    let is_whole = !fraction.is_empty() && fraction.bytes().all(|byte| byte == b'0');
    if is_number && is_whole { digits.parse().ok() } else { None }
}

#[derive(Default)]
struct Found {
    mirrored: Vec<Mirrored>,
    faults: Vec<String>,
}

impl Found {
    /// Looks at a schema and those inside it. `chain` tells whether only `properties` led here (XHDR-08, XHDR-09).
    fn visit<'a>(&mut self, schema: &'a Value, path: &mut Vec<&'a str>, chain: bool) {
        let Some(members) = schema.as_object() else { return };
        if let Some(name) = members.get(MARK)
            && let Err(fault) = self.mark(name, members, path, chain)
        {
            let place = if path.is_empty() { "the root".to_owned() } else { format!("`{}`", path.join(".")) };
            self.faults.push(format!("`{MARK}` at {place}: {fault}"));
        }
        for (keyword, value) in members {
            let chain = chain && keyword == "properties";
            match keyword.as_str() {
                "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas" => {
                    for (key, inner) in value.as_object().into_iter().flatten() {
                        if !chain {
                            path.push(keyword);
                        }
                        path.push(key);
                        self.visit(inner, path, chain);
                        path.truncate(path.len() - if chain { 1 } else { 2 });
                    }
                }
                // Data, not schemas.
                "const" | "enum" | "default" | "examples" | "required" | MARK => {}
                _ => {
                    path.push(keyword);
                    match value {
                        Value::Array(inner) => inner.iter().for_each(|inner| self.visit(inner, path, false)),
                        inner => self.visit(inner, path, false),
                    }
                    path.pop();
                }
            }
        }
    }

    fn mark(
        &mut self,
        name: &Value,
        schema: &Map<String, Value>,
        path: &[&str],
        chain: bool,
    ) -> Result<(), String> {
        if !chain || path.is_empty() {
            return Err("only a property that `properties` alone lead to can be mirrored".to_owned());
        }
        let name = name.as_str().ok_or_else(|| format!("the name is {name}, no string"))?;
        if name.is_empty() || !name.bytes().all(is_tchar) {
            let shown = Shown(name);
            return Err(format!(
                "the name is `{shown}`; letters, digits and any of !#$%&'*+-.^_`|~ would do"
            ));
        }
        match schema.get("type") {
            Some(Value::String(kind)) if matches!(kind.as_str(), "string" | "integer" | "boolean") => {}
            Some(Value::Array(_)) => {
                return Err(
                    "the property has several types, for which clients drop the tool; `string`, `integer` or `boolean` alone \
                     would do, which an `Option<T>` gets with `#[schemars(with = \"T\")]` and `#[serde(default)]`"
                        .to_owned(),
                );
            }
            other => {
                let kind = other.map_or(Cow::Borrowed("not given"), |kind| Cow::Owned(kind.to_string()));
                return Err(format!(
                    "the type of the property is {kind}; `string`, `integer` or `boolean`, written beside it, would do"
                ));
            }
        }
        let taken = self.mirrored.iter().find(|known| known.name.eq_ignore_ascii_case(name));
        if let Some(taken) = taken {
            return Err(format!(
                "the name `{name}` is taken by `{}`; names differ by more than case",
                taken.path()
            ));
        }
        self.mirrored
            .push(Mirrored { path: path.iter().map(|key| Box::from(*key)).collect(), name: name.into() });
        Ok(())
    }
}

/// A character of a token (RFC 9110).
fn is_tchar(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn faults(schema: Value) -> String {
        read(&schema).unwrap_err().join("\n")
    }

    fn marked(property: Value) -> Value {
        json!({ "type": "object", "properties": { "p": property } })
    }

    /// The code that a request is refused with.
    fn refused(schema: &Value, headers: &[(&str, &str)], arguments: Value) -> Option<i64> {
        let mut sent = MirroredParams::of_headers();
        headers.iter().for_each(|(name, value)| sent.push(name, value));
        check(&read(schema).unwrap(), &sent, arguments.as_object().unwrap()).err().map(|refusal| {
            assert_eq!(refusal.status.as_u16(), 400);
            refusal.error.code
        })
    }

    const MISMATCH: Option<i64> = Some(-32020);

    #[test]
    fn xhdr_02_to_04_the_name_is_a_token() {
        for name in
            [json!(""), json!("a b"), json!("a\r\nb"), json!("grüße"), json!("a:b"), json!(7), json!(null)]
        {
            let told = faults(marked(json!({ "type": "string", MARK: name })));
            assert!(told.contains("`x-mcp-header` at `p`: the name is"), "{told}");
        }
        assert!(read(&marked(json!({ "type": "string", MARK: "Method" }))).is_ok());
    }

    #[test]
    fn xhdr_05_names_differ_by_more_than_case() {
        let told = faults(json!({ "properties": {
            "a": { "type": "string", MARK: "Region" },
            "b": { "type": "string", MARK: "REGION" },
        } }));
        assert!(told.contains("at `b`: the name `REGION` is taken by `a`"), "{told}");
    }

    #[test]
    fn xhdr_06_and_a_16_three_types_and_no_other() {
        for kind in ["string", "integer", "boolean"] {
            assert!(read(&marked(json!({ "type": kind, MARK: "P" }))).is_ok());
        }
        for kind in ["number", "object", "array", "null"] {
            assert!(faults(marked(json!({ "type": kind, MARK: "P" }))).contains(kind));
        }
        assert!(faults(marked(json!({ MARK: "P" }))).contains("not given"));
        let optional = faults(marked(json!({ "type": ["string", "null"], MARK: "P" })));
        assert!(optional.contains("schemars(with"), "{optional}");
    }

    #[test]
    fn xhdr_08_and_09_only_properties_lead_to_it() {
        let mark = json!({ "type": "string", MARK: "P" });
        let nested = json!({ "properties": { "a": { "type": "object", "properties": { "b": mark } } } });
        assert_eq!(read(&nested).unwrap()[0].path(), "a.b");
        for (elsewhere, place) in [
            (json!({ MARK: "P", "type": "string" }), "the root"),
            (json!({ "properties": { "a": { "type": "array", "items": mark } } }), "`a.items`"),
            (json!({ "oneOf": [{ "properties": { "a": mark } }] }), "`oneOf"),
            (json!({ "allOf": [{ "properties": { "a": mark } }] }), "`allOf"),
            (json!({ "not": { "properties": { "a": mark } } }), "`not"),
            (json!({ "if": { "properties": { "a": mark } } }), "`if"),
            (json!({ "$defs": { "d": mark } }), "`$defs.d`"),
            (json!({ "$defs": { "d": { "properties": { "a": mark } } } }), "`$defs.d.properties.a`"),
            (json!({ "patternProperties": { "^x": mark } }), "`patternProperties"),
            (json!({ "additionalProperties": mark }), "`additionalProperties`"),
        ] {
            let told = faults(elsewhere);
            assert!(told.contains(place) && told.contains("`properties` alone"), "{told}");
        }
        let reference =
            json!({ "properties": { "a": { "$ref": "#/$defs/d", MARK: "P" } }, "$defs": { "d": {} } });
        assert!(faults(reference).contains("not given"));
    }

    #[test]
    fn data_and_properties_of_that_name_are_no_annotations() {
        let schema = json!({
            "properties": { MARK: { "type": "string" }, "a": { "const": { MARK: "" }, "default": { MARK: 1 } } },
            "examples": [{ MARK: 7 }],
        });
        assert_eq!(read(&schema).unwrap(), []);
    }

    #[test]
    fn xhdr_10_all_faults_are_told() {
        let schema = json!({ "properties": {
            "a": { "type": "number", MARK: "A" },
            "b": { "type": "string", MARK: "" },
        } });
        assert_eq!(read(&schema).unwrap_err().len(), 2);
    }

    #[test]
    fn e14_a_nested_integer_is_read_at_its_path_and_compared_as_a_number() {
        let schema = json!({ "properties": {
            "q": { "properties": { "shard": { "type": "integer", MARK: "Shard" } } },
            "shard": { "type": "integer" },
        } });
        let shard = |shard: Value| json!({ "q": { "shard": shard }, "shard": 7 });
        for (headers, argument, expected) in [
            (&[("shard", "42")][..], json!(42), None),
            (&[("SHARD", "42.0")], json!(42), None),
            (&[("shard", "42")], json!(42.0), None),
            (&[("shard", "-0")], json!(0), None),
            (&[("shard", "43")], json!(42), MISMATCH),
            (&[("shard", "4.2e1")], json!(42), MISMATCH),
            (&[("shard", "42.5")], json!(42), MISMATCH),
            (&[("shard", "")], json!(42), MISMATCH),
            (&[], json!(42), MISMATCH),
            (&[("shard", "1")], json!(null), MISMATCH),
            (&[], json!(null), None),
            (&[("shard", "42"), ("Shard", "42")], json!(42), MISMATCH),
        ] {
            assert_eq!(
                refused(&schema, headers, shard(argument.clone())),
                expected,
                "{headers:?} {argument}"
            );
        }
        assert_eq!(refused(&schema, &[], json!({ "q": "text", "shard": 7 })), None);
        assert_eq!(refused(&schema, &[], json!({})), None);
    }

    #[test]
    fn xhdr_07_integers_beyond_2_to_the_53_cannot_be_mirrored() {
        let schema = marked(json!({ "type": "integer", MARK: "P" }));
        let both = |number: &str| {
            let arguments = serde_json::from_str(&format!("{{\"p\":{number}}}")).unwrap();
            refused(&schema, &[("p", number)], arguments)
        };
        assert_eq!(both("9007199254740991"), None);
        assert_eq!(both("-9007199254740991"), None);
        assert_eq!(both("9007199254740992"), MISMATCH);
        assert_eq!(both("18446744073709551615"), MISMATCH);
    }

    #[test]
    fn xhdr_13_to_19_strings_and_booleans() {
        let text = marked(json!({ "type": "string", MARK: "P" }));
        let flag = marked(json!({ "type": "boolean", MARK: "P" }));
        for (schema, header, argument, expected) in [
            (&text, "Hello", json!("Hello"), None),
            (&text, "=?base64?SGVsbG8=?=", json!("Hello"), None),
            (&text, "=?base64?SGVsbG8?=", json!("Hello"), MISMATCH),
            (&text, "=?base64?SGVs!!!bG8=?=", json!("Hello"), MISMATCH),
            (&text, "SGVsbG8=", json!("SGVsbG8="), None),
            (&text, "=?base64?SGVsbG8=", json!("=?base64?SGVsbG8="), None),
            (&text, "", json!(""), None),
            (&text, "hello", json!("Hello"), MISMATCH),
            (&text, "gr\u{fffd}n", json!("gr\u{fffd}n"), MISMATCH),
            (&flag, "true", json!(true), None),
            (&flag, "True", json!(true), MISMATCH),
            (&flag, "1", json!(true), MISMATCH),
        ] {
            let arguments = json!({ "p": argument });
            assert_eq!(refused(schema, &[("p", header)], arguments), expected, "{header} {argument}");
        }
    }

    #[test]
    fn a_18_a_value_of_another_type_is_compared_as_text_and_never_if_it_has_none() {
        let schema = marked(json!({ "type": "string", MARK: "P" }));
        for (header, argument, expected) in [
            ("7", json!(7), None),
            ("4.5", json!(4.5), None),
            ("4.50", json!(4.5), MISMATCH),
            ("true", json!(true), None),
            ("[]", json!([]), MISMATCH),
            ("{}", json!({}), MISMATCH),
        ] {
            assert_eq!(refused(&schema, &[("p", header)], json!({ "p": argument })), expected, "{header}");
        }
    }

    #[test]
    fn xhdr_21_and_22_other_headers_are_ignored_and_without_headers_nothing_is_checked() {
        let schema = marked(json!({ "type": "string", MARK: "P" }));
        assert_eq!(refused(&schema, &[("other", "x"), ("p", "v")], json!({ "p": "v" })), None);
        let arguments = json!({ "p": "v" });
        let mirrored = read(&schema).unwrap();
        assert!(check(&mirrored, &MirroredParams::default(), arguments.as_object().unwrap()).is_ok());
    }
}
