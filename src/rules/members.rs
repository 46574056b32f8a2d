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

/// Where the metadata of a message is.
pub(super) const META: &str = "_meta";

/// The members of one object.
#[derive(Debug, Default)]
pub(crate) struct Members {
    meta: Option<Box<Members>>,
    known: Vec<(&'static str, Value)>,
    others: Map<String, Value>,
}

impl Members {
    /// `_meta`, if it is an object. What else was sent in its place is a member as any other.
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

    /// Adds `_meta`; gives its name back if there is one.
    fn add_meta(&mut self, meta: Result<Self, Value>) -> Option<String> {
        let repeated = self.meta.is_some() || self.others.contains_key(META);
        match meta {
            Ok(meta) => self.meta = Some(Box::new(meta)),
            Err(other) => drop(self.others.insert(META.to_owned(), other)),
        }
        repeated.then(|| META.to_owned())
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

/// Reads the members of an object; `Err` is anything else, as it was sent.
#[derive(Clone, Copy)]
pub(super) struct Object<'f> {
    strict: Strict<'f>,
    /// Whether a member `_meta` is an object of members, as it is in `params` and not in `_meta` itself.
    has_meta: bool,
}

impl<'f> Object<'f> {
    pub(super) fn params(strict: Strict<'f>) -> Self {
        Self { strict, has_meta: true }
    }

    fn meta(strict: Strict<'f>) -> Self {
        Self { strict, has_meta: false }
    }
}

impl<'de> DeserializeSeed<'de> for Object<'_> {
    type Value = Result<Members, Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Object<'_> {
    type Value = Result<Members, Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        self.strict.visit_unit().map(Err)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Self::Value, E> {
        self.strict.visit_bool(value).map(Err)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
        self.strict.visit_i64(value).map(Err)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
        self.strict.visit_u64(value).map(Err)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Self::Value, E> {
        self.strict.visit_f64(value).map(Err)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        self.strict.visit_str(text).map(Err)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
        self.strict.visit_seq(seq).map(Err)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let strict = self.strict;
        let inside = strict.inside();
        let mut members = Members::default();
        while let Some(name) = map.next_key::<Name>()? {
            if is_private(name.as_str()) {
                match strict.number(&mut map)? {
                    Some(number) => return Ok(Err(number)),
                    None => continue,
                }
            }
            let Some(inside) = inside.filter(|_| strict.count()) else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let repeated = if self.has_meta && name.as_str() == META {
                members.add_meta(map.next_value_seed(Self::meta(inside))?)
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
        Ok(Ok(members))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use serde_json::json;

    use super::*;

    fn read(json: &str) -> (Result<Members, Value>, Option<Fault>) {
        let (fault, left) = (RefCell::new(None), Cell::new(100));
        let mut deserializer = serde_json::Deserializer::from_str(json);
        let members = Object::params(Strict::new(&fault, &left, 8)).deserialize(&mut deserializer).unwrap();
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
            (r#"{"_meta":1,"_meta":{}}"#, "_meta"),
            (r#"{"_meta":{"_meta":1,"_meta":2}}"#, "_meta"),
            (r#"{"_meta":{"uri":1,"uri":2}}"#, "uri"),
        ] {
            let (members, fault) = read(json);
            assert!(members.is_ok());
            assert!(matches!(fault, Some(Fault::Repeated(found)) if found == name), "{json}");
        }
    }

    #[test]
    fn what_is_no_object_has_no_members_and_is_kept_as_it_was_sent() {
        for json in [json!(null), json!(true), json!(-1), json!(1), json!(0.5), json!("x"), json!([{}])] {
            let (members, fault) = read(&json.to_string());
            assert_eq!((members.unwrap_err(), fault.is_none()), (json.clone(), true));

            let (members, _) = read(&json!({ "_meta": json }).to_string());
            let members = members.unwrap();
            assert!(members.meta().is_none());
            assert_eq!(members.get("_meta"), Some(&json));
        }
    }

    #[test]
    fn meta_inside_of_meta_is_a_member_as_any_other() {
        for inner in [json!(1), json!({ "name": 1 })] {
            let sent = json!({ "_meta": { "_meta": inner } });
            let (members, fault) = read(&sent.to_string());
            assert!(fault.is_none());
            assert_eq!(Value::Object(members.unwrap().into_map()), sent);
        }
    }
}
