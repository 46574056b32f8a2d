//! What a request takes in memory once it is read, as the budget counts it. Members that nobody knows are dropped while it is
//! read; they count until then.

use serde_json::{Map, Value};

use crate::wire::{
    CompletionRef, ListPromptsRequest, ListResourceTemplatesRequest, ListResourcesRequest, ListToolsRequest,
    Request, RequestMeta,
};

/// What a JSON value is counted as, in bytes, without its text. In memory it is many times as large as in the body: an object of
/// one member takes about 500.
pub(crate) const VALUE: usize = 256;

/// The weight of what a request keeps.
pub(crate) fn of(request: &Request, meta: &RequestMeta) -> usize {
    of_meta(meta) + of_params(request)
}

/// Without its tokens and its trace context, each of which has a limit of its own.
fn of_meta(meta: &RequestMeta) -> usize {
    let client = meta.client_info.as_ref().and_then(|client| serde_json::to_value(client).ok());
    client.map_or(0, |client| value(&client)) + map(&meta.entries) + map(meta.client_capabilities.as_map())
}

fn of_params(request: &Request) -> usize {
    let answers = |answers: &Option<Map<String, Value>>, state: &Option<String>| {
        answers.as_ref().map_or(0, map) + state.as_ref().map_or(0, String::len)
    };
    match request {
        Request::Discover => 0,
        Request::ListTools(ListToolsRequest { cursor })
        | Request::ListResources(ListResourcesRequest { cursor })
        | Request::ListResourceTemplates(ListResourceTemplatesRequest { cursor })
        | Request::ListPrompts(ListPromptsRequest { cursor }) => cursor.as_ref().map_or(0, String::len),
        Request::CallTool(call) => {
            call.name.len() + map(&call.arguments) + answers(&call.input_responses, &call.request_state)
        }
        Request::GetPrompt(get) => {
            get.name.len() + map(&get.arguments) + answers(&get.input_responses, &get.request_state)
        }
        Request::ReadResource(read) => read.uri.len() + answers(&read.input_responses, &read.request_state),
        Request::Complete(complete) => {
            let (CompletionRef::Prompt(name) | CompletionRef::Resource(name)) = &complete.reference;
            name.len() + complete.argument.len() + complete.value.len() + map(&complete.context)
        }
        Request::Listen(listen) => {
            let filter = &listen.notifications;
            let names = filter.resource_subscriptions.iter().chain(&filter.task_ids);
            names.map(|name| VALUE + name.len()).sum()
        }
        Request::Custom { method, params } => method.len() + map(params),
    }
}

fn map(members: &Map<String, Value>) -> usize {
    members.iter().map(|(name, member)| name.len() + value(member)).sum()
}

fn value(of: &Value) -> usize {
    let inside = match of {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(value).sum(),
        Value::Object(members) => map(members),
        _ => 0,
    };
    VALUE + inside
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::wire::{
        CallToolRequest, CompleteRequest, GetPromptRequest, Implementation, ListenRequest,
        ReadResourceRequest, SubscriptionFilter,
    };

    fn object(json: Value) -> Map<String, Value> {
        json.as_object().unwrap().clone()
    }

    #[test]
    fn each_value_weighs_what_it_takes_and_its_text() {
        assert_eq!(map(&object(json!({"a": [1, "23"], "b": {}}))), 4 * VALUE + 4);
    }

    /// Whatever member is large, the request is.
    #[test]
    fn no_member_of_any_request_is_left_out() {
        let long = || "x".repeat(1000);
        let one = || object(json!({"a": long()}));
        let (answers, state) = (Some(one()), Some(long()));
        let of_params = |request| (of(&request, &RequestMeta::default()), request);
        for (weight, request) in [
            Request::ListTools(ListToolsRequest { cursor: Some(long()) }),
            Request::ListPrompts(ListPromptsRequest { cursor: Some(long()) }),
            Request::CallTool(CallToolRequest { name: long(), ..Default::default() }),
            Request::CallTool(CallToolRequest { arguments: one(), ..Default::default() }),
            Request::CallTool(CallToolRequest { input_responses: answers.clone(), ..Default::default() }),
            Request::CallTool(CallToolRequest { request_state: state.clone(), ..Default::default() }),
            Request::GetPrompt(GetPromptRequest { arguments: one(), ..Default::default() }),
            Request::ReadResource(ReadResourceRequest { uri: long(), ..Default::default() }),
            Request::Complete(CompleteRequest::new(CompletionRef::Prompt(long()), "a", "b")),
            Request::Complete(CompleteRequest::new(CompletionRef::Resource("a".into()), long(), "b")),
            Request::Complete(CompleteRequest::new(CompletionRef::Prompt("a".into()), "b", long())),
            Request::Listen(ListenRequest {
                notifications: SubscriptionFilter {
                    resource_subscriptions: vec![long()],
                    ..Default::default()
                },
            }),
            Request::Custom { method: "m".into(), params: one() },
        ]
        .map(of_params)
        {
            assert!(weight >= 1000, "{weight} of {request:?}");
        }
        let client = Implementation::new("c", "1").description(long());
        let client = RequestMeta { client_info: Some(client), ..RequestMeta::default() };
        let entries = RequestMeta { entries: one(), ..RequestMeta::default() };
        for meta in [client, entries] {
            assert!(of(&Request::Discover, &meta) >= 1000, "{meta:?}");
        }
    }
}
