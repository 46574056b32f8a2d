//! What a server offers and what a client declares.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::keys;

/// What a server offers (DISC-04, DISC-05).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ServerCapabilities {
    /// Tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Listed>,
    /// Prompts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompts: Option<Listed>,
    /// Resources.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<ListedResources>,
    /// Completion of arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completions: Option<Empty>,
    /// `notifications/message`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logging: Option<Empty>,
    /// Extensions by identifier, each with its settings (VER-11).
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub extensions: Map<String, Value>,
    /// Features outside the specification, each with its settings.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub experimental: Map<String, Value>,
}

/// A capability without settings, `{}` on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Empty {}

/// A feature with a list that may change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Listed {
    /// Streams are told when the list changes.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub list_changed: bool,
}

/// Resources: a list that may change, and contents that may.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListedResources {
    /// Streams are told when the list changes.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub list_changed: bool,
    /// Streams are told when a resource that they named changes.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub subscribe: bool,
}

impl ServerCapabilities {
    /// Nothing is offered.
    pub fn new() -> Self {
        Self::default()
    }

    /// Offers tools.
    #[must_use]
    pub fn tools(mut self, list_changed: bool) -> Self {
        self.tools = Some(Listed { list_changed });
        self
    }

    /// Offers prompts.
    #[must_use]
    pub fn prompts(mut self, list_changed: bool) -> Self {
        self.prompts = Some(Listed { list_changed });
        self
    }

    /// Offers resources.
    #[must_use]
    pub fn resources(mut self, list_changed: bool, subscribe: bool) -> Self {
        self.resources = Some(ListedResources { list_changed, subscribe });
        self
    }

    /// Offers completion of arguments.
    #[must_use]
    pub fn completions(mut self) -> Self {
        self.completions = Some(Empty {});
        self
    }

    /// Offers log records on responses (LOG-01).
    #[must_use]
    pub fn logging(mut self) -> Self {
        self.logging = Some(Empty {});
        self
    }

    /// Offers an extension.
    #[must_use]
    pub fn extension(mut self, id: impl Into<String>, settings: Value) -> Self {
        self.extensions.insert(id.into(), settings);
        self
    }

    /// What either of the two offers; where both have settings for an extension, these stand.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        let either = |one: Option<Listed>, other: Option<Listed>| match (one, other) {
            (Some(one), Some(other)) => Some(Listed { list_changed: one.list_changed || other.list_changed }),
            (one, other) => one.or(other),
        };
        self.tools = either(self.tools, other.tools);
        self.prompts = either(self.prompts, other.prompts);
        self.resources = match (self.resources, other.resources) {
            (Some(one), Some(other)) => Some(ListedResources {
                list_changed: one.list_changed || other.list_changed,
                subscribe: one.subscribe || other.subscribe,
            }),
            (one, other) => one.or(other),
        };
        self.completions = self.completions.or(other.completions);
        self.logging = self.logging.or(other.logging);
        for (id, settings) in other.extensions {
            self.extensions.entry(id).or_insert(settings);
        }
        for (name, settings) in other.experimental {
            self.experimental.entry(name).or_insert(settings);
        }
        self
    }

    /// Whether the tasks extension is offered (TASK-01).
    pub fn has_tasks(&self) -> bool {
        self.extensions.contains_key(keys::TASKS)
    }

    /// Whether any change can be subscribed to, which is what `subscriptions/listen` needs.
    pub fn can_notify(&self) -> bool {
        self.has_tasks()
            || self.tools.is_some_and(|tools| tools.list_changed)
            || self.prompts.is_some_and(|prompts| prompts.list_changed)
            || self.resources.is_some_and(|resources| resources.list_changed || resources.subscribe)
    }
}

/// What a client declares on a request. Open: what is not known stays as it came (BASE-28).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ClientCapabilities(Map<String, Value>);

impl ClientCapabilities {
    /// Nothing is declared.
    pub fn new() -> Self {
        Self::default()
    }

    /// The capabilities in their JSON form.
    pub fn from_map(members: Map<String, Value>) -> Self {
        Self(members)
    }

    /// The JSON form.
    pub fn as_map(&self) -> &Map<String, Value> {
        &self.0
    }

    /// Whether the client asks people for form input: `elicitation: {}` means form only (INP-01).
    pub fn elicitation_form(&self) -> bool {
        let form = |modes: &Map<String, Value>| match modes.get("form") {
            Some(form) => form.is_object(),
            None => !modes.contains_key("url"),
        };
        self.object("elicitation").is_some_and(form)
    }

    /// Whether the client opens URLs for people (INP-01).
    pub fn elicitation_url(&self) -> bool {
        self.object("elicitation").is_some_and(|modes| modes.get("url").is_some_and(Value::is_object))
    }

    /// Whether the client samples from its model.
    pub fn sampling(&self) -> bool {
        self.object("sampling").is_some()
    }

    /// Whether the client samples with tools (INP-17).
    pub fn sampling_tools(&self) -> bool {
        self.object("sampling").is_some_and(|sampling| sampling.get("tools").is_some_and(Value::is_object))
    }

    /// Whether the client tells its roots.
    pub fn roots(&self) -> bool {
        self.object("roots").is_some()
    }

    /// The settings that the client declares for an extension.
    pub fn extension(&self, id: &str) -> Option<&Value> {
        self.object("extensions")?.get(id).filter(|settings| settings.is_object())
    }

    /// Declares a capability, for example in the error that asks for it.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, settings: Value) -> Self {
        self.0.insert(name.into(), settings);
        self
    }

    /// `{"sampling": {}}`.
    pub fn only_sampling() -> Self {
        Self::new().with("sampling", json!({}))
    }

    /// `{"elicitation": {}}`: forms.
    pub fn only_elicitation() -> Self {
        Self::new().with("elicitation", json!({}))
    }

    /// `{"roots": {}}`.
    pub fn only_roots() -> Self {
        Self::new().with("roots", json!({}))
    }

    fn object(&self, name: &str) -> Option<&Map<String, Value>> {
        self.0.get(name)?.as_object()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared(json: Value) -> ClientCapabilities {
        ClientCapabilities::from_map(json.as_object().cloned().unwrap())
    }

    #[test]
    fn inp_01_an_empty_elicitation_means_forms() {
        assert!(declared(json!({"elicitation": {}})).elicitation_form());
        assert!(!declared(json!({"elicitation": {}})).elicitation_url());
        assert!(!declared(json!({"elicitation": {"url": {}}})).elicitation_form());
        assert!(!declared(json!({"elicitation": null})).elicitation_form());
        for form in [json!(null), json!(false), json!([])] {
            assert!(!declared(json!({"elicitation": {"form": form}})).elicitation_form(), "{form}");
            assert!(
                !declared(json!({"elicitation": {"form": form, "url": {}}})).elicitation_form(),
                "{form}"
            );
        }
        assert!(!declared(json!({})).elicitation_form());
    }

    #[test]
    fn two_offers_together_offer_what_either_does() {
        let one =
            ServerCapabilities::new().tools(true).resources(false, true).extension("a/b", json!({"kept": 1}));
        let other = ServerCapabilities::new().tools(false).resources(true, false).prompts(false).logging();
        let other = other.completions().extension("a/b", json!({})).extension("a/c", json!({}));
        let both = ServerCapabilities::new().tools(true).resources(true, true).prompts(false).logging();
        let both = both.completions().extension("a/b", json!({"kept": 1})).extension("a/c", json!({}));
        assert_eq!(one.and(other), both);
    }

    #[test]
    fn e20_unknown_members_are_kept() {
        let json = json!({"elicitation": {"form": {}, "hologram": {}}, "future": 7});
        let capabilities = declared(json.clone());
        assert!(capabilities.elicitation_form());
        assert_eq!(serde_json::to_value(&capabilities).unwrap(), json);
    }
}
