//! BASE-02, E8, E9, E11: JSON is read strictly and once: no repeated keys, no deep nesting, no lone surrogates, no number
//! that no float holds.
//!
//! Nothing recurses deeper than the limit: what lies below it is skipped without a stack, and never becomes a tree that
//! would have to be dropped. What a client reads of a fault is tested in `message.rs`, too.

use std::cell::{Cell, RefCell};
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
use serde_json::{Map, Number, Value};

use super::errors::{Refusal, Shown};

/// The deepest nesting that serde_json reads is 127 levels; one of them is needed to notice what lies below.
pub(super) const DEEPEST: usize = 126;

/// How many values one body may hold, of any kind and at any depth.
pub(super) const MOST_VALUES: usize = 200_000;

/// How serde_json marks numbers and raw text inside of its own data model. A client's key of this kind would be
/// taken for such a mark later on, so it is refused.
const PRIVATE: &str = "$serde_json::private::";

/// Whether a key is, or passes for, a mark of serde_json.
pub(super) fn is_private(key: &str) -> bool {
    key.starts_with(PRIVATE)
}

/// Reads JSON that stands in a text, as strictly as a body: at most `levels` deep, and with at most as many values as are
/// `left`, which counts down. `None` if it is no JSON or holds what a body may not.
#[cfg(feature = "suite")]
pub(crate) fn of_text(text: &str, levels: usize, left: &Cell<usize>) -> Option<Value> {
    let fault = RefCell::new(None);
    let mut json = serde_json::Deserializer::from_str(text);
    let value = Strict::new(&fault, left, levels).deserialize(&mut json).ok()?;
    json.end().ok()?;
    fault.into_inner().is_none().then_some(value)
}

/// What well-formed JSON may not hold here. The first one found is told.
#[derive(Debug)]
pub(super) enum Fault {
    /// A key that one object has twice.
    Repeated(String),
    /// Nesting beyond the limit.
    Depth,
    /// More values than the limit.
    Values,
    /// A number that no float holds.
    Number,
    /// A key that starts as those that serde_json keeps for itself.
    Private,
}

impl Fault {
    /// What the client reads.
    pub(super) fn refusal(&self, depth: usize) -> Refusal {
        match self {
            Self::Repeated(key) => {
                Refusal::not_a_message(format!("the member `{}` comes twice in one object", Shown(key)))
            }
            Self::Depth => Refusal::not_a_message(format!("the body is nested deeper than {depth} levels")),
            Self::Values => Refusal::not_a_message(format!("the body holds more than {MOST_VALUES} values")),
            Self::Number => Refusal::not_json("the body holds a number that is out of range"),
            Self::Private => {
                Refusal::not_a_message(format!("a member has a name that starts with `{PRIVATE}`"))
            }
        }
    }
}

/// Reads a value without repeated keys, at most `levels` deep.
#[derive(Clone, Copy)]
pub(super) struct Strict<'f> {
    fault: &'f RefCell<Option<Fault>>,
    left: &'f Cell<usize>,
    levels: usize,
}

impl<'f> Strict<'f> {
    /// Notes the first fault in `fault`, and reads on.
    pub(super) fn new(fault: &'f RefCell<Option<Fault>>, left: &'f Cell<usize>, levels: usize) -> Self {
        Self { fault, left, levels }
    }

    pub(super) fn note(self, fault: Fault) {
        self.fault.borrow_mut().get_or_insert(fault);
    }

    /// Counts one value more; false if there are too many. In memory a value is many times as large as in the body.
    pub(super) fn count(self) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        if left == 0 {
            self.note(Fault::Values);
        }
        left > 0
    }

    /// For the values inside of this one; `None` if it may not be a container.
    pub(super) fn inside(self) -> Option<Self> {
        self.levels.checked_sub(1).map(|levels| Self { levels, ..self })
    }

    /// A number as serde_json hands it over with `arbitrary_precision`: a map of one private key and its digits. `None` for
    /// such a key in the body, which is noted; its value is skipped.
    pub(super) fn number<'de, A: MapAccess<'de>>(self, map: &mut A) -> Result<Option<Value>, A::Error> {
        let Some(digits) = map.next_value_seed(Digits)? else {
            self.note(Fault::Private);
            return Ok(None);
        };
        // Without that feature, serde_json itself refuses what no float holds.
        match digits.parse::<Number>() {
            Ok(number) if digits.parse::<f64>().is_ok_and(f64::is_finite) => Ok(Some(Value::Number(number))),
            _ => {
                self.note(Fault::Number);
                Err(A::Error::custom("number out of range"))
            }
        }
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::String(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let Some(inside) = self.inside() else {
            self.note(Fault::Depth);
            while seq.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(Value::Null);
        };
        let mut array = Vec::new();
        while self.count() {
            let Some(value) = seq.next_element_seed(inside)? else { return Ok(Value::Array(array)) };
            array.push(value);
        }
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let inside = self.inside();
        let mut object = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            if is_private(&key) {
                match self.number(&mut map)? {
                    Some(number) => return Ok(number),
                    None => continue,
                }
            }
            let Some(inside) = inside.filter(|_| self.count()) else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let value = map.next_value_seed(inside)?;
            match object.entry(key) {
                Entry::Vacant(entry) => {
                    entry.insert(value);
                }
                Entry::Occupied(entry) => self.note(Fault::Repeated(entry.key().clone())),
            }
        }
        if inside.is_none() {
            self.note(Fault::Depth);
        }
        Ok(Value::Object(object))
    }
}

/// The digits of a number. They arrive as text even where nothing is asked for; what the body holds is skipped then, so a
/// client cannot pass for them.
struct Digits;

impl<'de> DeserializeSeed<'de> for Digits {
    type Value = Option<String>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_ignored_any(self)
    }
}

impl Visitor<'_> for Digits {
    type Value = Option<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the digits of a number")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    /// Text of the body is never owned.
    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_string<E>(self, digits: String) -> Result<Self::Value, E> {
        Ok(Some(digits))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Deserializer, json};

    use super::*;

    /// The value, the first fault, and how many more values there might have been.
    fn read(text: &str, levels: usize, most: usize) -> (Option<Value>, Option<Fault>, usize) {
        let (fault, left) = (RefCell::new(None), Cell::new(most));
        let value = Strict::new(&fault, &left, levels).deserialize(&mut Deserializer::from_str(text)).ok();
        (value, fault.into_inner(), left.get())
    }

    #[test]
    fn base_02_what_is_in_order_is_read_as_it_stands() {
        let text = r#"{"a":[1,-2,0.5,"grüße",null,true,{}],"b":{"a":{}}}"#;
        let (value, fault, left) = read(text, 4, 100);
        assert_eq!(value, Some(json!({"a": [1, -2, 0.5, "grüße", null, true, {}], "b": {"a": {}}})));
        assert!(fault.is_none(), "{fault:?}");
        assert!(left < 100, "values are counted");
    }

    #[test]
    fn e8_a_key_that_one_object_has_twice_is_a_fault_at_any_depth() {
        for text in [r#"{"a":1,"a":1}"#, r#"[{"b":{"a":1,"c":2,"a":3}}]"#, r#"{"a":0,"\u0061":0}"#] {
            let (_, fault, _) = read(text, 4, 100);
            assert!(matches!(&fault, Some(Fault::Repeated(key)) if key == "a"), "{text}: {fault:?}");
        }
        assert!(read(r#"{"a":{"a":1},"A":1}"#, 4, 100).1.is_none());
    }

    #[test]
    fn e9_nesting_beyond_the_limit_is_skipped_without_a_stack() {
        assert!(read("[[[1]]]", 3, 100).1.is_none());
        for text in ["[[[[1]]]]".to_owned(), format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000))] {
            assert!(matches!(read(&text, 3, 100).1, Some(Fault::Depth)));
        }
        assert!(matches!(read(r#"{"a":{"a":{"a":{}}}}"#, 3, 100).1, Some(Fault::Depth)));
    }

    #[test]
    fn more_values_than_the_limit_are_a_fault_and_the_rest_is_not_kept() {
        let (value, fault, left) = read("[0,0,0,0,0,0]", 3, 4);
        assert!(matches!(fault, Some(Fault::Values)), "{fault:?}");
        assert_eq!((value.as_ref().and_then(Value::as_array).map(Vec::len), left), (Some(4), 0));
    }

    #[test]
    fn e11_lone_surrogates_and_numbers_that_no_float_holds_are_not_read() {
        for text in [r#"["\ud800"]"#, r#"{"\udc00":1}"#, "[1e999]", "-1e999"] {
            assert_eq!(read(text, 4, 100).0, None, "{text}");
        }
    }
}
