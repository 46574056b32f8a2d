//! What a request takes in memory once it is read, as the budget counts it. Members that nobody knows are dropped while it is
//! read; they count until then.

use serde_json::{Map, Value};

use crate::wire::{Request, RequestMeta};

/// What a JSON value is counted as, in bytes, without its text. In memory it is many times as large as in the body: an object of
/// one member takes about 500.
pub(crate) const VALUE: usize = 256;

/// The weight of what a request keeps.
pub(crate) fn of(request: &Request, meta: &RequestMeta) -> usize {
    map(&meta.entries) + map(meta.client_capabilities.as_map()) + of_params(request)
}

fn of_params(request: &Request) -> usize {
    let optional = |map_of: &Option<Map<String, Value>>| map_of.as_ref().map_or(0, map);
    let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    match request {
        Request::CallTool(call) => {
            map(&call.arguments) + optional(&call.input_responses) + text(&call.request_state)
        }
        Request::GetPrompt(get) => {
            map(&get.arguments) + optional(&get.input_responses) + text(&get.request_state)
        }
        Request::ReadResource(read) => {
            read.uri.len() + optional(&read.input_responses) + text(&read.request_state)
        }
        Request::Listen(listen) => {
            let filter = &listen.notifications;
            let names = filter.resource_subscriptions.iter().chain(&filter.task_ids);
            names.map(|name| VALUE + name.len()).sum()
        }
        Request::Custom { params, .. } => map(params),
        // Their texts are bounded, each by a limit of its own.
        _ => 0,
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
    use crate::wire::CallToolRequest;

    #[test]
    fn each_value_weighs_what_it_takes_and_its_text() {
        let arguments = json!({"a": [1, "23"], "b": {}}).as_object().unwrap().clone();
        let call = CallToolRequest { arguments, ..CallToolRequest::default() };
        assert_eq!(of(&Request::CallTool(call), &RequestMeta::default()), 4 * VALUE + 4);
    }
}
