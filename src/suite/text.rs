//! Types out of texts: the variables of a URI and the arguments of a prompt are strings, and what takes them has types.

use std::fmt::{self, Display};

use serde::de::value::MapDeserializer;
use serde::de::{DeserializeOwned, Error as _, IntoDeserializer, Unexpected, Visitor};
use serde::{Deserializer, forward_to_deserialize_any};

/// Reads a type out of named texts: a struct or a map, or a single value if there is one text only. Numbers and truth
/// values are parsed.
///
/// # Errors
///
/// What does not fit, with its name.
pub(super) fn typed<T: DeserializeOwned>(texts: Vec<(String, String)>) -> Result<T, String> {
    serde_path_to_error::deserialize(Texts(texts)).map_err(|fault| {
        let path = fault.path().to_string();
        match path.as_str() {
            "." => fault.inner().to_string(),
            path => format!("`{path}`: {}", fault.inner()),
        }
    })
}

/// What keeps a type from being read out of texts of these names, whatever the texts are; `None` if nothing does, or if that
/// cannot be told without them.
pub(super) fn misfit<'a, T: DeserializeOwned>(
    names: impl Iterator<Item = &'a str> + Clone,
) -> Option<String> {
    let mut misfit = None;
    for text in ["0", "true", "x"] {
        let texts = names.clone().map(|name| (name.to_owned(), text.to_owned())).collect();
        match T::deserialize(Texts(texts)) {
            Ok(_) => return None,
            Err(Fault::Shape(what)) => misfit = Some(what),
            Err(Fault::Text(_)) => {}
        }
    }
    misfit
}

/// Why texts do not become a type.
#[derive(Debug)]
enum Fault {
    /// No texts of these names would.
    Shape(String),
    /// One of them does not fit.
    Text(String),
}

impl Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Shape(what) | Self::Text(what)) = self;
        f.write_str(what)
    }
}

impl std::error::Error for Fault {}

impl serde::de::Error for Fault {
    fn custom<T: Display>(what: T) -> Self {
        Self::Text(what.to_string())
    }

    fn missing_field(field: &'static str) -> Self {
        Self::Shape(format!("missing field `{field}`"))
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self::Shape(format!("unknown field `{field}`, expected one of {}", expected.join(", ")))
    }
}

struct Texts(Vec<(String, String)>);

struct Text(String);

impl Texts {
    fn only(self) -> Result<Text, Fault> {
        let number = self.0.len();
        match <[_; 1]>::try_from(self.0) {
            Ok([(_, text)]) => Ok(Text(text)),
            Err(_) => Err(Fault::Shape(format!("{number} values for a type that is one; a struct would do"))),
        }
    }
}

/// For each method: from the one text that there is.
macro_rules! only {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
            self.only()?.$method(visitor)
        })*
    };
}

impl<'de> Deserializer<'de> for Texts {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let texts = self.0.into_iter().map(|(name, text)| (name, Text(text)));
        visitor.visit_map(MapDeserializer::new(texts))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.only()?.deserialize_enum(name, variants, visitor)
    }

    only!(deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128 deserialize_u8
        deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128 deserialize_f32 deserialize_f64 deserialize_char
        deserialize_str deserialize_string);

    forward_to_deserialize_any! {
        bytes byte_buf option unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

impl IntoDeserializer<'_, Fault> for Text {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// For each type: parsed.
macro_rules! parsed {
    ($($method:ident $visit:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
            match self.0.parse() {
                Ok(value) => visitor.$visit(value),
                Err(_) => Err(Fault::invalid_value(Unexpected::Str(&self.0), &visitor)),
            }
        })*
    };
}

impl<'de> Deserializer<'de> for Text {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_string(self.0)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_enum(self.0.into_deserializer())
    }

    parsed!(deserialize_bool visit_bool deserialize_i8 visit_i8 deserialize_i16 visit_i16 deserialize_i32 visit_i32
        deserialize_i64 visit_i64 deserialize_i128 visit_i128 deserialize_u8 visit_u8 deserialize_u16 visit_u16
        deserialize_u32 visit_u32 deserialize_u64 visit_u64 deserialize_u128 visit_u128 deserialize_f32 visit_f32
        deserialize_f64 visit_f64);

    forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Key {
        name: String,
        page: u32,
        #[serde(default)]
        kind: Kind,
        mark: Option<bool>,
    }

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Kind {
        #[default]
        Draft,
        Final,
    }

    fn texts(texts: &[(&str, &str)]) -> Vec<(String, String)> {
        texts.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn structs_of_texts_numbers_truth_values_and_names() {
        let given = texts(&[("page", "7"), ("name", "12"), ("kind", "final"), ("mark", "true")]);
        let key = Key { name: "12".to_owned(), page: 7, kind: Kind::Final, mark: Some(true) };
        assert_eq!(typed::<Key>(given), Ok(key));
        let least: Key = typed(texts(&[("page", "0"), ("name", "")])).unwrap();
        assert_eq!((least.kind, least.mark), (Kind::Draft, None));
    }

    #[test]
    fn one_value_needs_no_struct() {
        #[derive(Debug, PartialEq, Deserialize)]
        struct Id(u64);
        assert_eq!(typed::<Id>(texts(&[("id", "7")])), Ok(Id(7)));
        assert_eq!(typed::<String>(texts(&[("id", "7")])).unwrap(), "7");
        assert_eq!(typed::<Kind>(texts(&[("id", "draft")])), Ok(Kind::Draft));
        let told = typed::<String>(texts(&[("a", ""), ("b", "")])).unwrap_err();
        assert!(told.contains("2 values for a type that is one"), "{told}");
    }

    #[test]
    fn what_no_texts_of_these_names_would_mend_is_a_misfit() {
        let misfit = |names: &[&'static str]| misfit::<Key>(names.iter().copied());
        assert_eq!(misfit(&["name", "page"]), None);
        assert_eq!(misfit(&["name", "number"]).as_deref(), Some("missing field `page`"));
        assert_eq!(super::misfit::<String>(["a"].into_iter()), None);
        assert!(super::misfit::<String>(["a", "b"].into_iter()).unwrap().contains("a struct would do"));
        // Whether these fit depends on the texts.
        assert_eq!(super::misfit::<Kind>(["a"].into_iter()), None);
    }

    #[test]
    fn a_fault_names_its_value() {
        let fault = |given: &[(&str, &str)]| typed::<Key>(texts(given)).unwrap_err();
        assert_eq!(
            fault(&[("name", "a"), ("page", "many")]),
            "`page`: invalid value: string \"many\", expected u32"
        );
        assert!(fault(&[("page", "1"), ("name", "a"), ("kind", "x")]).starts_with("`kind`: unknown variant"));
        assert_eq!(fault(&[("page", "1")]), "missing field `name`");
    }
}
