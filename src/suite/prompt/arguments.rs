//! The arguments of a prompt: texts by name, checked against what the prompt declares, and read as a type.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::handler::RpcError;
use crate::suite::arguments::clamp;
use crate::suite::{schema, text};
use crate::wire::PromptArgument;

/// How many faults one error tells.
const MOST_FAULTS: usize = 20;

/// How far the schema of an argument is followed.
const STEPS: usize = 8;

/// The arguments that a prompt was asked for with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptArguments(BTreeMap<String, String>);

impl PromptArguments {
    pub(in crate::suite) fn new(texts: impl IntoIterator<Item = (String, String)>) -> Self {
        Self(texts.into_iter().collect())
    }

    /// One argument, if it was given.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// All that were given, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, text)| (name.as_str(), text.as_str()))
    }

    /// Reads them as a type, as those of a prompt that is a function.
    ///
    /// # Errors
    ///
    /// `-32602`, which names all arguments that are missing or unknown, or the one that does not fit (PRM-05).
    pub fn parse<T: DeserializeOwned + JsonSchema>(self) -> Result<T, RpcError> {
        let declared = Declared::by::<T>().map_err(RpcError::internal)?;
        self.read(&declared.arguments)
    }

    /// Reads them as a type that declares these arguments.
    pub(super) fn read<T: DeserializeOwned>(self, declared: &[PromptArgument]) -> Result<T, RpcError> {
        self.check(declared)?;
        let typed = text::typed(self.0.into_iter().collect());
        typed.map_err(|fault| RpcError::invalid_params(format!("invalid arguments: {}", clamp(&fault))))
    }

    fn check(&self, declared: &[PromptArgument]) -> Result<(), RpcError> {
        let missing = declared
            .iter()
            .filter(|argument| argument.required && !self.0.contains_key(&argument.name))
            .map(|argument| format!("`{}` is missing", argument.name));
        let unknown = self
            .0
            .keys()
            .filter(|name| declared.iter().all(|argument| argument.name != **name))
            .map(|name| format!("`{}` is unknown", clamp(name).escape_debug()));
        let faults: Vec<String> = missing.chain(unknown).take(MOST_FAULTS).collect();
        if faults.is_empty() {
            return Ok(());
        }
        let names: Vec<&str> = declared.iter().map(|argument| &*argument.name).collect();
        let takes = match &*names {
            [] => "it takes none".to_owned(),
            names => format!("it takes `{}`", names.join("`, `")),
        };
        Err(RpcError::invalid_params(format!("invalid arguments: {}; {takes}", faults.join(", "))))
    }
}

/// What a type declares as the arguments of a prompt: for the listing of a repository.
///
/// ```
/// use ractor_mcp::suite::prompt_arguments;
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Greet {
///     /// Whom to greet.
///     name: String,
///     tone: Option<String>,
/// }
///
/// let declared = prompt_arguments::<Greet>();
/// assert_eq!(declared[0].description.as_deref(), Some("Whom to greet."));
/// assert!(declared[0].required && !declared[1].required);
/// ```
///
/// A type that cannot be one, such as a list, declares none.
pub fn prompt_arguments<T: JsonSchema>() -> Vec<PromptArgument> {
    Declared::by::<T>().map(|declared| declared.arguments).unwrap_or_default()
}

/// What a type says of a prompt.
pub(super) struct Declared {
    pub(super) arguments: Vec<PromptArgument>,
    pub(super) description: Option<String>,
}

impl Declared {
    /// What a type says, from its schema.
    ///
    /// # Errors
    ///
    /// Why it cannot be the arguments of a prompt.
    pub(super) fn by<T: JsonSchema>() -> Result<Self, String> {
        let (schema, description) = schema::input::<T>();
        if schema.get("type").is_none_or(|kind| kind != "object") {
            return Err(format!(
                "its arguments, `{}`, are no struct with named fields; one would do",
                T::schema_name()
            ));
        }
        let required: Vec<&str> = strings(schema.get("required"));
        let mut arguments = Vec::new();
        for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            if is_compound(property, &schema, STEPS) {
                return Err(format!(
                    "its argument `{name}` is an object or a list, and clients send text; text, a number or an enum \
                     without fields would do"
                ));
            }
            let text = |key: &str| property.get(key).and_then(Value::as_str).map(str::to_owned);
            let mut argument = PromptArgument::optional(name);
            argument.required = required.contains(&&**name);
            argument.title = text("title");
            argument.description = text("description");
            arguments.push(argument);
        }
        Ok(Self { arguments, description })
    }
}

fn strings(list: Option<&Value>) -> Vec<&str> {
    let list = list.and_then(Value::as_array).into_iter().flatten();
    list.filter_map(Value::as_str).collect()
}

/// Whether a schema, or one that it refers to within some steps, is of an object or a list.
fn is_compound(schema: &Value, root: &Value, steps: usize) -> bool {
    let kinds = match schema.get("type") {
        Some(Value::String(kind)) => vec![&**kind],
        kinds => strings(kinds),
    };
    let definition = schema.get("$ref").and_then(Value::as_str);
    let definition = definition.and_then(|path| root.get("$defs")?.get(path.strip_prefix("#/$defs/")?));
    let alternatives = ["allOf", "anyOf", "oneOf"].iter().filter_map(|key| schema.get(*key)?.as_array());
    kinds.iter().any(|kind| matches!(*kind, "object" | "array"))
        || (steps > 0
            && alternatives.flatten().chain(definition).any(|inner| is_compound(inner, root, steps - 1)))
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    /// Writes a letter.
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    struct Letter {
        /// To whom.
        to: String,
        #[serde(default)]
        tone: Tone,
        pages: Option<u8>,
    }

    #[derive(Debug, Default, PartialEq, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum Tone {
        #[default]
        Formal,
        /// As among friends.
        Warm,
    }

    fn parse(given: &[(&str, &str)]) -> Result<Letter, String> {
        let given = given.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        PromptArguments::new(given).parse().map_err(|error| {
            assert_eq!(error.code(), -32602);
            error.message().to_owned()
        })
    }

    #[test]
    fn prm_12_a_type_declares_its_fields() {
        let declared = Declared::by::<Letter>().unwrap();
        assert_eq!(declared.description.as_deref(), Some("Writes a letter."));
        let told: Vec<_> = declared
            .arguments
            .iter()
            .map(|argument| (&*argument.name, argument.required, argument.description.as_deref()))
            .collect();
        assert_eq!(told, [("to", true, Some("To whom.")), ("tone", false, None), ("pages", false, None)]);
    }

    #[test]
    fn texts_become_the_type() {
        let letter = Letter { to: "Ada".to_owned(), tone: Tone::Warm, pages: Some(2) };
        assert_eq!(parse(&[("to", "Ada"), ("tone", "warm"), ("pages", "2")]), Ok(letter));
    }

    #[test]
    fn prm_05_all_that_is_missing_or_unknown_is_told_at_once() {
        assert_eq!(
            parse(&[("too", "Ada"), ("a", "")]).unwrap_err(),
            "invalid arguments: `to` is missing, `a` is unknown, `too` is unknown; it takes `to`, `tone`, `pages`"
        );
        let told = parse(&[("to", "Ada"), ("pages", "many")]).unwrap_err();
        assert_eq!(told, "invalid arguments: `pages`: invalid value: string \"many\", expected u8");
        assert!(parse(&[("to", "Ada"), ("tone", "cold")]).unwrap_err().contains("`tone`: unknown variant"));
        let many: Vec<String> = (0..1_000).map(|n| format!("{n:0300}")).collect();
        let many: Vec<(&str, &str)> = many.iter().map(|name| (&**name, "")).collect();
        assert!(parse(&many).unwrap_err().len() < 10_000);
    }

    #[test]
    fn what_is_not_text_is_refused_by_name() {
        #[derive(JsonSchema)]
        #[allow(dead_code)]
        struct Nested {
            letter: Letter,
        }
        #[derive(JsonSchema)]
        #[allow(dead_code)]
        struct List {
            names: Option<Vec<String>>,
        }
        assert!(Declared::by::<Nested>().err().unwrap().contains("`letter` is an object or a list"));
        assert!(Declared::by::<List>().err().unwrap().contains("`names`"));
        assert!(Declared::by::<Vec<String>>().is_err());
        assert_eq!(prompt_arguments::<Vec<String>>(), []);
    }
}
