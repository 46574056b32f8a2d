//! BASE-28: the members of `params` and of its `_meta`, read once and strictly.
//!
//! Members that the specification defines are few: they are kept in a list, under names that need no room of their own.
//! All others go into a map, so that reading takes no longer for a body that has very many.

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
use serde_json::{Map, Value};

use super::json::{Fault, Strict, is_private};
use crate::wire::keys;

/// What `params` and `_meta` of requests may have. `_meta` itself is no member, but an object of members.
const KNOWN: [&str; 18] = [
    "name",
    "arguments",
    "uri",
    "cursor",
    "inputResponses",
    "requestState",
    "ref",
    "argument",
    "context",
    "notifications",
    keys::PROTOCOL_VERSION,
    keys::CLIENT_INFO,
    keys::CLIENT_CAPABILITIES,
    keys::LOG_LEVEL,
    keys::PROGRESS_TOKEN,
    keys::TRACEPARENT,
    keys::TRACESTATE,
    keys::BAGGAGE,
];

const META: &str = "_meta";

/// The members of one object.
#[derive(Debug, Default)]
pub(crate) struct Members {
    meta: Option<Box<Members>>,
    known: Vec<(&'static str, Value)>,
    others: Map<String, Value>,
}

impl Members {
    /// `_meta`, as an empty one if it is no object.
    pub(crate) fn meta(&self) -> Option<&Self> {
        self.meta.as_deref()
    }

    /// Takes `_meta` out.
    pub(crate) fn take_meta(&mut self) -> Self {
        self.meta.take().map(|meta| *meta).unwrap_or_default()
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        let known = self.known.iter().find(|(known, _)| *known == name);
        known.map(|(_, value)| value).or_else(|| self.others.get(name))
    }

    /// Takes a member out. The order of what stays is of no interest: each member is taken by name.
    pub(crate) fn take(&mut self, name: &str) -> Option<Value> {
        match self.known.iter().position(|(known, _)| *known == name) {
            Some(index) => Some(self.known.swap_remove(index).1),
            None => self.others.swap_remove(name),
        }
    }

    /// All of it, `_meta` too.
    pub(crate) fn into_map(self) -> Map<String, Value> {
        let mut map = self.others;
        map.extend(self.known.into_iter().map(|(name, value)| (name.to_owned(), value)));
        if let Some(meta) = self.meta {
            map.insert(META.to_owned(), Value::Object(meta.into_map()));
        }
        map
    }

    /// Adds a member; gives its name back if there is one of that name.
    fn add(&mut self, name: Name, value: Value) -> Option<String> {
        match name {
            Name::Known(name) if self.known.iter().any(|(known, _)| *known == name) => Some(name.to_owned()),
            Name::Known(name) => {
                self.known.push((name, value));
                None
            }
            Name::Other(name) => match self.others.entry(name) {
                Entry::Occupied(entry) => Some(entry.key().clone()),
                Entry::Vacant(entry) => {
                    entry.insert(value);
                    None
                }
            },
        }
    }
}

impl From<Map<String, Value>> for Members {
    fn from(map: Map<String, Value>) -> Self {
        Self { others: map, ..Self::default() }
    }
}

/// The name of a member.
enum Name {
    Known(&'static str),
    Other(String),
}

impl Name {
    fn as_str(&self) -> &str {
        match self {
            Self::Known(name) => name,
            Self::Other(name) => name,
        }
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameVisitor;
        impl Visitor<'_> for NameVisitor {
            type Value = Name;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a member name")
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<Name, E> {
                Ok(match KNOWN.iter().find(|known| **known == name) {
                    Some(known) => Name::Known(known),
                    None => Name::Other(name.to_owned()),
                })
            }
        }
        deserializer.deserialize_identifier(NameVisitor)
    }
}

/// Reads the members of an object; `None` is anything else.
#[derive(Clone, Copy)]
pub(super) struct Object<'f>(pub(super) Strict<'f>);

impl<'de> DeserializeSeed<'de> for Object<'_> {
    type Value = Option<Members>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Object<'_> {
    type Value = Option<Members>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
        self.0.visit_seq(seq).map(|_| None)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let strict = self.0;
        let inside = strict.inside();
        let mut members = Members::default();
        while let Some(name) = map.next_key::<Name>()? {
            if is_private(name.as_str()) {
                return strict.number(map).map(|_| None);
            }
            let Some(inside) = inside.filter(|_| strict.count()) else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let repeated = if name.as_str() == META {
                let meta = map.next_value_seed(Object(inside))?.unwrap_or_default();
                members.meta.replace(Box::new(meta)).map(|_| META.to_owned())
            } else {
                let value = map.next_value_seed(inside)?;
                members.add(name, value)
            };
            if let Some(name) = repeated {
                strict.note(Fault::Repeated(name));
            }
        }
        if inside.is_none() {
            strict.note(Fault::Depth);
        }
        Ok(Some(members))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use serde_json::json;

    use super::*;

    fn read(json: &str) -> (Option<Members>, Option<Fault>) {
        let (fault, left) = (RefCell::new(None), Cell::new(100));
        let mut deserializer = serde_json::Deserializer::from_str(json);
        let members = Object(Strict::new(&fault, &left, 8)).deserialize(&mut deserializer).unwrap();
        (members, fault.into_inner())
    }

    #[test]
    fn base_28_members_are_taken_by_name_whether_or_not_the_specification_has_them() {
        let (members, fault) = read(r#"{"name":"a","x":1,"_meta":{"progressToken":7,"y":{}},"uri":null}"#);
        let mut members = members.unwrap();
        assert!(fault.is_none());
        assert_eq!(members.get("name"), Some(&json!("a")));
        assert_eq!(members.take("uri"), Some(json!(null)));
        assert_eq!((members.take("uri"), members.take("x")), (None, Some(json!(1))));
        assert_eq!(members.meta().unwrap().get(keys::PROGRESS_TOKEN), Some(&json!(7)));
        let rest = json!({ "name": "a", "_meta": { "progressToken": 7, "y": {} } });
        assert_eq!(Value::Object(members.into_map()), rest);
    }

    #[test]
    fn e9_a_member_that_comes_twice_is_noted_whichever_it_is() {
        for (json, name) in [
            (r#"{"name":1,"name":1}"#, "name"),
            (r#"{"x":1,"x":1}"#, "x"),
            (r#"{"_meta":{},"_meta":1}"#, "_meta"),
            (r#"{"_meta":{"uri":1,"uri":2}}"#, "uri"),
        ] {
            let (members, fault) = read(json);
            assert!(members.is_some());
            assert!(matches!(fault, Some(Fault::Repeated(found)) if found == name), "{json}");
        }
    }

    #[test]
    fn what_is_no_object_has_no_members() {
        for json in ["null", "true", "-1", "1", "0.5", "\"x\"", "[{}]"] {
            assert!(matches!(read(json), (None, None)), "{json}");
        }
        let (members, _) = read(r#"{"_meta":[]}"#);
        assert!(members.unwrap().take_meta().into_map().is_empty());
    }
}
