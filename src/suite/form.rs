//! Forms: the question and the typed answer of an elicitation, from a flat struct (INP-02 to INP-09).

use std::fmt;
use std::marker::PhantomData;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::wire::{ElicitAction, ElicitResult, InputRequest};

use super::Question;
use super::blank::{self, Blank};

/// What a person did with a question. A tool decides what follows from a refusal; it is no error of the protocol
/// (INP-07, K4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Elicited<T> {
    /// Answered it.
    Accept(T),
    /// Refused it.
    Decline,
    /// Closed it without a choice.
    Cancel,
}

impl<T> Elicited<T> {
    /// The answer, if there is one.
    pub fn accepted(self) -> Option<T> {
        match self {
            Self::Accept(answer) => Some(answer),
            Self::Decline | Self::Cancel => None,
        }
    }
}

/// A form to fill in, whose answer is a `T`: a struct with `Deserialize` and `JsonSchema` whose fields are text, numbers,
/// `bool`, enums without data, lists of such enums, or an `Option` of those. Doc comments of fields and variants are what
/// the person reads; `#[schemars(email)]` and its like set a format.
///
/// Forms are for what the client may see; never ask for passwords or keys in one (INP-05).
///
/// The schema of a type is made and compiled when it is first asked for, and kept. Which forms a function asks for cannot be
/// known when the server starts, so that a type that is no form is found then too: it is a bug, answered with `-32603` and
/// traced. A test finds it sooner:
///
/// ```
/// use ractor_mcp::suite::{Question, form};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Name { name: String }
///
/// assert!(form::<Name>("Who are you?").request().is_ok());
/// assert!(form::<Vec<Name>>("Who are you all?").request().is_err());
/// ```
pub struct Form<T> {
    message: String,
    blank: blank::Known,
    answer: PhantomData<fn() -> T>,
}

/// A form with a message; see [`Form`].
pub fn form<T: DeserializeOwned + JsonSchema + 'static>(message: impl Into<String>) -> Form<T> {
    Form { message: message.into(), blank: blank::of::<T>(), answer: PhantomData }
}

impl<T: DeserializeOwned> Question for Form<T> {
    type Answer = Elicited<T>;

    fn request(&self) -> Result<InputRequest, String> {
        Ok(InputRequest::form(&self.message, self.blank()?.schema.clone()))
    }

    fn read(&self, answer: Value) -> Result<Elicited<T>, String> {
        let answer = result(answer)?;
        Ok(match answer.action {
            ElicitAction::Accept => {
                let content = answer.content.ok_or("`accept` comes without `content`")?;
                Elicited::Accept(self.decode(content)?)
            }
            ElicitAction::Decline => Elicited::Decline,
            ElicitAction::Cancel => Elicited::Cancel,
        })
    }
}

impl<T: DeserializeOwned> Form<T> {
    fn decode(&self, mut content: Map<String, Value>) -> Result<T, String> {
        // Clients send `null` for fields that were left empty.
        content.retain(|_, value| !value.is_null());
        self.blank()?.answer.read(content).map_err(|fault| format!("`content`: {fault}"))
    }

    fn blank(&self) -> Result<&Blank, String> {
        self.blank.as_ref().as_ref().map_err(String::clone)
    }
}

impl<T> fmt::Debug for Form<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let schema = self.blank.as_ref().as_ref().map(|blank| &blank.schema);
        f.debug_struct("Form").field("message", &self.message).field("schema", &schema).finish()
    }
}

/// The answer to any elicitation.
///
/// # Errors
///
/// What is wrong with its shape.
pub(super) fn result(answer: Value) -> Result<ElicitResult, String> {
    serde_json::from_value(answer)
        .map_err(|fault| format!("{fault}; an `action` of accept, decline or cancel would do"))
}

/// The flat schema of a form (INP-04).
///
/// # Errors
///
/// The first field that no form can hold.
pub(super) fn schema<T: JsonSchema>() -> Result<Value, String> {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    let root = settings.into_generator().into_root_schema_for::<T>().to_value();
    if root.get("type").is_none_or(|kind| kind != "object") {
        let name = T::schema_name();
        return Err(format!(
            "is a form of `{name}`, which is no object; a struct with named fields would do"
        ));
    }
    let mut fields = Map::new();
    for (name, field) in root.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let field = flat(field).ok_or_else(|| {
            format!(
                "has a field `{name}` that no form can hold; text, a number, a bool, an enum without data or a list of such \
                 enums would do"
            )
        })?;
        fields.insert(name.clone(), Value::Object(field));
    }
    let mut form = Map::new();
    form.insert("type".to_owned(), json!("object"));
    form.insert("properties".to_owned(), Value::Object(fields));
    form.extend(root.get("required").map(|required| ("required".to_owned(), required.clone())));
    Ok(Value::Object(form))
}

/// One field as clients know it, without the keywords that they do not.
fn flat(field: &Value) -> Option<Map<String, Value>> {
    let field = without_null(field);
    let mut flat = match field.get("type").and_then(Value::as_str) {
        Some("string") if field.contains_key("enum") || field.contains_key("const") => choice(&field)?,
        Some("string") => kept(&field, &["type", "minLength", "maxLength", "format"]),
        Some("integer" | "number") => kept(&field, &["type", "minimum", "maximum"]),
        Some("boolean") => kept(&field, &["type"]),
        Some("array") => several(&field)?,
        None if field.contains_key("oneOf") => choice(&field)?,
        _ => return None,
    };
    let format = flat.get("format").and_then(Value::as_str);
    if format.is_some_and(|format| !matches!(format, "email" | "uri" | "date" | "date-time")) {
        flat.shift_remove("format");
    }
    flat.extend(kept(&field, &["title", "description", "default"]));
    Some(flat)
}

fn kept(field: &Map<String, Value>, keywords: &[&str]) -> Map<String, Value> {
    let members = field.iter().filter(|(keyword, _)| keywords.contains(&keyword.as_str()));
    members.map(|(keyword, value)| (keyword.clone(), value.clone())).collect()
}

/// A field that need not be filled in is left out, never `null`.
fn without_null(field: &Value) -> Map<String, Value> {
    let mut members = field.as_object().cloned().unwrap_or_default();
    if let Some(Value::Array(branches)) = members.shift_remove("anyOf") {
        let mut branches = branches.into_iter().filter(|branch| branch["type"] != "null");
        if let (Some(Value::Object(only)), None) = (branches.next(), branches.next()) {
            let outer = std::mem::replace(&mut members, only);
            members.extend(outer);
        }
    }
    if let Some(Value::Array(kinds)) = members.get("type") {
        let mut kinds = kinds.iter().filter(|kind| *kind != "null").cloned();
        if let (Some(only), None) = (kinds.next(), kinds.next()) {
            members.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(values)) = members.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if members.get("default").is_some_and(Value::is_null) {
        members.shift_remove("default");
    }
    members
}

/// One of several texts, with titles where the variants have doc comments.
fn choice(field: &Map<String, Value>) -> Option<Map<String, Value>> {
    let (options, titled) = options(field)?;
    let mut choice = Map::from_iter([("type".to_owned(), json!("string"))]);
    let keyword = if titled { "oneOf" } else { "enum" };
    choice.insert(keyword.to_owned(), written(options, titled));
    Some(choice)
}

/// Several of several texts.
fn several(field: &Map<String, Value>) -> Option<Map<String, Value>> {
    let (options, titled) = options(field.get("items")?.as_object()?)?;
    let mut several = kept(field, &["type", "minItems", "maxItems"]);
    let options = written(options, titled);
    let items =
        if titled { json!({ "anyOf": options }) } else { json!({ "type": "string", "enum": options }) };
    several.insert("items".to_owned(), items);
    Some(several)
}

fn written(options: Vec<(String, Option<String>)>, titled: bool) -> Value {
    let write = |(value, title): (String, Option<String>)| match titled {
        true => json!({ "const": value, "title": title.unwrap_or_else(|| value.clone()) }),
        false => json!(value),
    };
    options.into_iter().map(write).collect()
}

/// A text to choose, and its title.
type Choice = (String, Option<String>);

/// The texts to choose from, and whether any has a title.
fn options(schema: &Map<String, Value>) -> Option<(Vec<Choice>, bool)> {
    let mut options = Vec::new();
    let alone = [Value::Object(schema.clone())];
    let variants = schema.get("oneOf").and_then(Value::as_array).map_or(&alone[..], Vec::as_slice);
    for variant in variants {
        let text = |member| variant.get(member).and_then(Value::as_str);
        let title = text("title").or_else(|| text("description"));
        let title = title.filter(|_| schema.contains_key("oneOf"));
        if let Some(value) = variant.get("const") {
            options.push((value.as_str()?.to_owned(), title.map(str::to_owned)));
        } else {
            for value in variant.get("enum")?.as_array()? {
                options.push((value.as_str()?.to_owned(), None));
            }
        }
    }
    let titled = options.iter().any(|(_, title)| title.is_some());
    (!options.is_empty()).then_some((options, titled))
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum Size {
        Small,
        Large,
    }

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum Colour {
        /// Like the sky
        Blue,
        Red,
    }

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    struct Order {
        /// For whom?
        name: String,
        #[schemars(email)]
        email: Option<String>,
        count: u8,
        price: Option<f64>,
        #[serde(default)]
        gift: bool,
        size: Size,
        again: Option<Size>,
        colour: Colour,
        sizes: Vec<Size>,
        #[serde(default)]
        colours: Vec<Colour>,
    }

    fn properties<T: JsonSchema>() -> Value {
        schema::<T>().unwrap()["properties"].clone()
    }

    #[test]
    fn inp_04_a_flat_struct_is_a_form() {
        let titled = json!([{"const": "blue", "title": "Like the sky"}, {"const": "red", "title": "red"}]);
        let mut titled_anyhow = titled.as_array().unwrap().clone();
        titled_anyhow.sort_by_key(|option| option["const"].to_string());
        let found = properties::<Order>();
        assert_eq!(found["name"], json!({"type": "string", "description": "For whom?"}));
        assert_eq!(found["email"], json!({"type": "string", "format": "email"}));
        assert_eq!(found["count"], json!({"type": "integer", "minimum": 0, "maximum": 255}));
        assert_eq!(found["price"], json!({"type": "number"}));
        assert_eq!(found["gift"], json!({"type": "boolean", "default": false}));
        assert_eq!(found["size"], json!({"type": "string", "enum": ["small", "large"]}));
        assert_eq!(found["again"], found["size"]);
        let mut colour = found["colour"]["oneOf"].as_array().unwrap().clone();
        colour.sort_by_key(|option| option["const"].to_string());
        assert_eq!((found["colour"]["type"].as_str(), colour), (Some("string"), titled_anyhow));
        assert_eq!(
            found["sizes"],
            json!({"type": "array", "items": {"type": "string", "enum": ["small", "large"]}})
        );
        assert_eq!(found["colours"]["items"]["anyOf"], found["colour"]["oneOf"]);
        assert_eq!(
            schema::<Order>().unwrap()["required"],
            json!(["name", "count", "size", "colour", "sizes"])
        );
    }

    #[test]
    fn inp_04_what_is_not_flat_is_named() {
        #[derive(JsonSchema)]
        #[allow(dead_code)]
        struct Nested {
            fine: String,
            order: Order,
        }
        #[derive(JsonSchema)]
        #[allow(dead_code)]
        struct Texts {
            texts: Vec<String>,
        }
        assert!(schema::<Nested>().unwrap_err().contains("`order`"));
        assert!(schema::<Texts>().unwrap_err().contains("`texts`"));
        assert!(schema::<u8>().unwrap_err().contains("uint8"));
    }

    fn read(answer: Value) -> Result<Elicited<Order>, String> {
        form::<Order>("?").read(answer)
    }

    fn content(name: Value, count: Value) -> Value {
        json!({"action": "accept", "content": {
            "name": name, "count": count, "gift": true, "size": "small", "colour": "red", "sizes": [], "email": null,
        }})
    }

    #[test]
    fn a_34_an_answer_is_typed_whole_floats_and_empty_fields_included() {
        let order = read(content(json!("Ada"), json!(3.0))).unwrap().accepted().unwrap();
        assert_eq!((&*order.name, order.count, order.email), ("Ada", 3, None));
    }

    #[test]
    fn k4_decline_and_cancel_are_answers() {
        assert_eq!(read(json!({"action": "decline"})).unwrap(), Elicited::Decline);
        assert_eq!(read(json!({"action": "cancel", "content": null})).unwrap(), Elicited::Cancel);
    }

    #[test]
    fn k4_and_inp_09_what_does_not_fit_is_told() {
        for (answer, told) in [
            (json!(12345), "an `action`"),
            (json!({"action": "maybe"}), "maybe"),
            (json!({"action": "accept"}), "without `content`"),
            (json!({"action": "accept", "content": "x"}), "an `action`"),
            (content(json!(7), json!(3)), "name"),
            (content(json!("Ada"), json!(3.5)), "count"),
            (content(json!("Ada"), json!(256)), "count"),
        ] {
            let fault = read(answer.clone()).unwrap_err();
            assert!(fault.contains(told), "{answer}: {fault}");
        }
    }
}
