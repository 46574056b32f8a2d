//! TOOL-12, E18, A-31, CMP-02, SUB-01, PAGE-01: the parameters of each method, from JSON to types.
//!
//! Unknown members are ignored (BASE-28). A member of the wrong type is refused and never coerced: `arguments: null` is
//! not `{}`. The error names the path of the member, what was found and what would do.

use serde_json::{Map, Value};

use super::errors::{Refusal, Shown};
use super::members::Members;
use super::methods::Method;
use crate::wire::{
    CallToolRequest, CompleteRequest, CompletionRef, GetPromptRequest, ListPromptsRequest,
    ListResourceTemplatesRequest, ListResourcesRequest, ListToolsRequest, ListenRequest, ReadResourceRequest,
    Request, SubscriptionFilter,
};

/// Reads the parameters of a method, with cursors of at most `longest_cursor` bytes.
///
/// # Errors
///
/// `-32602` for the first member that does not fit.
pub(crate) fn read(method: Method, members: Members, longest_cursor: usize) -> Result<Request, Refusal> {
    let mut params = Object { path: "params", members };
    Ok(match method {
        Method::Discover => Request::Discover,
        Method::ListTools => Request::ListTools(ListToolsRequest { cursor: params.cursor(longest_cursor)? }),
        Method::ListResources => {
            Request::ListResources(ListResourcesRequest { cursor: params.cursor(longest_cursor)? })
        }
        Method::ListResourceTemplates => Request::ListResourceTemplates(ListResourceTemplatesRequest {
            cursor: params.cursor(longest_cursor)?,
        }),
        Method::ListPrompts => {
            Request::ListPrompts(ListPromptsRequest { cursor: params.cursor(longest_cursor)? })
        }
        Method::CallTool => Request::CallTool(CallToolRequest {
            name: params.string("name")?,
            arguments: params.optional_object("arguments")?.unwrap_or_default(),
            input_responses: params.optional_object("inputResponses")?,
            request_state: params.optional_string("requestState")?,
        }),
        Method::GetPrompt => Request::GetPrompt(GetPromptRequest {
            name: params.string("name")?,
            arguments: params.strings_by_name("arguments", "params.arguments")?,
            input_responses: params.optional_object("inputResponses")?,
            request_state: params.optional_string("requestState")?,
        }),
        Method::ReadResource => Request::ReadResource(ReadResourceRequest {
            uri: params.string("uri")?,
            input_responses: params.optional_object("inputResponses")?,
            request_state: params.optional_string("requestState")?,
        }),
        Method::Complete => Request::Complete(complete(params)?),
        Method::Listen => Request::Listen(ListenRequest {
            notifications: filter(params.object("notifications", "params.notifications")?)?,
        }),
    })
}

fn complete(mut params: Object) -> Result<CompleteRequest, Refusal> {
    let mut reference = params.object("ref", "params.ref")?;
    let reference = match &*reference.string("type")? {
        "ref/prompt" => CompletionRef::Prompt(reference.string("name")?),
        "ref/resource" => CompletionRef::Resource(reference.string("uri")?),
        other => {
            let found = Shown(other);
            let message = format!("params.ref.type is `{found}`; it is ref/prompt or ref/resource");
            return Err(Refusal::invalid_params(message));
        }
    };
    let mut argument = params.object("argument", "params.argument")?;
    let (name, value) = (argument.string("name")?, argument.string("value")?);
    let mut request = CompleteRequest::new(reference, name, value);
    if let Some(context) = params.optional_object("context")? {
        let mut context = Object { path: "params.context", members: context.into() };
        request.context = context.strings_by_name("arguments", "params.context.arguments")?;
    }
    Ok(request)
}

fn filter(mut asked: Object) -> Result<SubscriptionFilter, Refusal> {
    Ok(SubscriptionFilter {
        tools_list_changed: asked.flag("toolsListChanged")?,
        prompts_list_changed: asked.flag("promptsListChanged")?,
        resources_list_changed: asked.flag("resourcesListChanged")?,
        resource_subscriptions: asked.strings("resourceSubscriptions")?,
        task_ids: asked.strings("taskIds")?,
    })
}

/// The members of one object, taken out one by one, and where the object is.
struct Object {
    path: &'static str,
    members: Members,
}

impl Object {
    fn take(&mut self, name: &str) -> Option<Value> {
        self.members.take(name)
    }

    fn wrong(&self, name: &str, found: Option<&Value>, wanted: &str) -> Refusal {
        wrong(&format!("{}.{name}", self.path), found, wanted)
    }

    fn string(&mut self, name: &str) -> Result<String, Refusal> {
        self.optional_string(name)?.ok_or_else(|| self.wrong(name, None, "a string"))
    }

    fn optional_string(&mut self, name: &str) -> Result<Option<String>, Refusal> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.wrong(name, Some(&other), "a string")),
        }
    }

    /// An opaque position in a list; the empty one is valid too (PAGE-02).
    fn cursor(&mut self, longest: usize) -> Result<Option<String>, Refusal> {
        let cursor = self.optional_string("cursor")?;
        if cursor.as_ref().is_some_and(|cursor| cursor.len() > longest) {
            return Err(Refusal::invalid_params(format!("params.cursor is longer than {longest} bytes")));
        }
        Ok(cursor)
    }

    fn object(&mut self, name: &str, path: &'static str) -> Result<Self, Refusal> {
        let members = self.optional_object(name)?.ok_or_else(|| self.wrong(name, None, "an object"))?;
        Ok(Self { path, members: members.into() })
    }

    fn optional_object(&mut self, name: &str) -> Result<Option<Map<String, Value>>, Refusal> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Object(members)) => Ok(Some(members)),
            Some(other) => Err(self.wrong(name, Some(&other), "an object")),
        }
    }

    /// An object whose values are strings; absent is empty.
    fn strings_by_name(&mut self, name: &str, path: &str) -> Result<Map<String, Value>, Refusal> {
        let members = self.optional_object(name)?.unwrap_or_default();
        match members.iter().find(|(_, value)| !value.is_string()) {
            Some((key, value)) => Err(wrong(&format!("{path}.{}", Shown(key)), Some(value), "a string")),
            None => Ok(members),
        }
    }

    fn flag(&mut self, name: &str) -> Result<bool, Refusal> {
        match self.take(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(flag),
            Some(other) => Err(self.wrong(name, Some(&other), "a boolean")),
        }
    }

    /// An array of strings; absent is empty.
    fn strings(&mut self, name: &str) -> Result<Vec<String>, Refusal> {
        let values = match self.take(name) {
            None => return Ok(Vec::new()),
            Some(Value::Array(values)) => values,
            Some(other) => return Err(self.wrong(name, Some(&other), "an array of strings")),
        };
        let strings = values.into_iter().enumerate().map(|(index, value)| match value {
            Value::String(text) => Ok(text),
            other => Err(self.wrong(&format!("{name}[{index}]"), Some(&other), "a string")),
        });
        strings.collect()
    }
}

fn wrong(path: &str, found: Option<&Value>, wanted: &str) -> Refusal {
    let found = found.map_or("missing", kind);
    Refusal::invalid_params(format!("{path} is {found}; it has to be {wanted}"))
}

/// What kind of value it is, as part of a sentence.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(method: Method, params: Value) -> Result<Request, Refusal> {
        super::read(method, params.as_object().unwrap().clone().into(), 8192)
    }

    fn refused(method: Method, params: Value) -> String {
        let refusal = read(method, params).unwrap_err();
        assert_eq!((refusal.status.as_u16(), refusal.error.code), (200, -32602));
        refusal.error.message.into_owned()
    }

    #[test]
    fn tool_10_and_e18_absent_arguments_are_none() {
        let Ok(Request::CallTool(call)) = read(Method::CallTool, json!({ "name": "t" })) else {
            panic!("refused")
        };
        assert_eq!((&*call.name, call.arguments.len(), call.input_responses), ("t", 0, None));
    }

    #[test]
    fn tool_12_and_e18_odd_arguments_are_refused() {
        for (arguments, found) in [
            (json!(null), "null"),
            (json!([]), "an array"),
            (json!("{}"), "a string"),
            (json!(7), "a number"),
        ] {
            let message = refused(Method::CallTool, json!({ "name": "t", "arguments": arguments }));
            assert_eq!(message, format!("params.arguments is {found}; it has to be an object"));
        }
    }

    #[test]
    fn tool_12_a_call_names_a_tool() {
        assert_eq!(refused(Method::CallTool, json!({})), "params.name is missing; it has to be a string");
        assert!(refused(Method::CallTool, json!({ "name": ["t"] })).contains("an array"));
        // Names are case-sensitive (E9), and unknown members are ignored (BASE-28, TASK-32).
        assert!(refused(Method::CallTool, json!({ "Name": "t" })).contains("missing"));
        assert!(read(Method::CallTool, json!({ "name": "t", "task": { "ttl": 1 } })).is_ok());
    }

    #[test]
    fn a_30_input_responses_stay_as_they_came() {
        let answers = json!({ "a": { "action": "accept" }, "b": 12345 });
        let params = json!({ "name": "t", "inputResponses": answers, "requestState": "s" });
        let Ok(Request::CallTool(call)) = read(Method::CallTool, params) else { panic!("refused") };
        assert_eq!(Value::Object(call.input_responses.unwrap()), answers);
        assert_eq!(call.request_state.as_deref(), Some("s"));
    }

    #[test]
    fn a_31_input_responses_that_are_no_object_are_refused() {
        for method in [Method::CallTool, Method::GetPrompt, Method::ReadResource] {
            for value in [json!(null), json!([])] {
                let params = json!({ "name": "n", "uri": "u", "inputResponses": value });
                assert!(refused(method, params).contains("params.inputResponses"));
            }
            let params = json!({ "name": "n", "uri": "u", "requestState": {} });
            assert!(refused(method, params).contains("params.requestState"));
        }
    }

    #[test]
    fn page_01_cursors() {
        for method in
            [Method::ListTools, Method::ListPrompts, Method::ListResources, Method::ListResourceTemplates]
        {
            assert!(read(method, json!({})).is_ok());
            assert!(read(method, json!({ "cursor": "" })).is_ok());
            assert!(refused(method, json!({ "cursor": null })).contains("params.cursor is null"));
            assert!(read(method, json!({ "cursor": "c".repeat(8192) })).is_ok());
            assert!(refused(method, json!({ "cursor": "c".repeat(8193) })).contains("8192 bytes"));
        }
        let Ok(Request::ListTools(list)) = read(Method::ListTools, json!({ "cursor": "" })) else {
            panic!("refused")
        };
        assert_eq!(list.cursor.as_deref(), Some(""));
    }

    #[test]
    fn prm_12_arguments_of_a_prompt_are_strings() {
        let Ok(Request::GetPrompt(get)) =
            read(Method::GetPrompt, json!({ "name": "p", "arguments": { "a": "b" } }))
        else {
            panic!("refused")
        };
        assert_eq!(get.arguments["a"], "b");
        let message = refused(Method::GetPrompt, json!({ "name": "p", "arguments": { "a": "b", "n": 1 } }));
        assert_eq!(message, "params.arguments.n is a number; it has to be a string");
        assert!(read(Method::GetPrompt, json!({ "name": "p" })).is_ok());
        assert!(refused(Method::GetPrompt, json!({ "name": "p", "arguments": null })).contains("null"));
    }

    #[test]
    fn res_12_a_read_names_a_resource() {
        let Ok(Request::ReadResource(read)) = read(Method::ReadResource, json!({ "uri": "file:///a" }))
        else {
            panic!("refused")
        };
        assert_eq!(read.uri, "file:///a");
        assert!(refused(Method::ReadResource, json!({ "name": "a" })).contains("params.uri is missing"));
    }

    #[test]
    fn cmp_02_what_is_completed() {
        let params = json!({
            "ref": { "type": "ref/prompt", "name": "p" },
            "argument": { "name": "a", "value": "v" },
            "context": { "arguments": { "b": "c" } },
        });
        let Ok(Request::Complete(complete)) = read(Method::Complete, params.clone()) else {
            panic!("refused")
        };
        assert_eq!(complete.reference, CompletionRef::Prompt("p".to_owned()));
        assert_eq!((&*complete.argument, &*complete.value), ("a", "v"));
        assert_eq!(complete.context["b"], "c");

        for (pointer, value, fault) in [
            ("/ref", json!(null), "params.ref is null"),
            ("/ref/type", json!("ref/tool"), "params.ref.type is `ref/tool`"),
            ("/ref/name", json!(1), "params.ref.name is a number"),
            ("/argument", json!([]), "params.argument is an array"),
            ("/argument/value", json!(null), "params.argument.value is null"),
            ("/context", json!(null), "params.context is null"),
            ("/context/arguments/b", json!(1), "params.context.arguments.b is a number"),
        ] {
            let mut params = params.clone();
            *params.pointer_mut(pointer).unwrap() = value;
            assert!(refused(Method::Complete, params).starts_with(fault), "{fault}");
        }
        let template = json!({
            "ref": { "type": "ref/resource", "uri": "a/{b}" },
            "argument": { "name": "b", "value": "" },
        });
        assert!(read(Method::Complete, template).is_ok());
    }

    #[test]
    fn sub_01_a_filter() {
        let asked = json!({
            "toolsListChanged": true,
            "promptsListChanged": false,
            "resourceSubscriptions": ["a"],
            "taskIds": ["t"],
            "future": 1,
        });
        let Ok(Request::Listen(listen)) = read(Method::Listen, json!({ "notifications": asked })) else {
            panic!("refused")
        };
        let filter = listen.notifications;
        assert!(filter.tools_list_changed && !filter.prompts_list_changed && !filter.resources_list_changed);
        assert_eq!(
            (filter.resource_subscriptions, filter.task_ids),
            (vec!["a".to_owned()], vec!["t".to_owned()])
        );

        assert!(refused(Method::Listen, json!({})).contains("params.notifications is missing"));
        for (filter, fault) in [
            (json!({ "toolsListChanged": "yes" }), "params.notifications.toolsListChanged is a string"),
            (
                json!({ "resourceSubscriptions": "a" }),
                "params.notifications.resourceSubscriptions is a string",
            ),
            (
                json!({ "resourceSubscriptions": ["a", 1] }),
                "params.notifications.resourceSubscriptions[1] is a number",
            ),
        ] {
            assert!(
                refused(Method::Listen, json!({ "notifications": filter })).starts_with(fault),
                "{fault}"
            );
        }
    }

    #[test]
    fn disc_07_discover_takes_nothing() {
        assert_eq!(read(Method::Discover, json!({ "anything": 1 })).unwrap(), Request::Discover);
    }
}
