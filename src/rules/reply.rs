//! MRTR-02 to MRTR-06, CMP-03, SUB-03, SUB-14: whether a result answers the method it is given for. If not, the handler has a bug.

use serde_json::Value;

use super::methods::Method;
use crate::wire::{CompleteResult, InputRequiredResult, ResultBody};

/// Checks a result against the method of its request.
///
/// # Errors
///
/// What does not fit, for the trace.
pub(crate) fn fits(method: &str, result: &ResultBody) -> Result<(), &'static str> {
    let method = Method::find(method);
    match (method, result) {
        (Some(method), ResultBody::InputRequired(result)) if method.may_ask() => asks(result),
        (_, ResultBody::InputRequired(_)) => {
            Err("only tools/call, prompts/get and resources/read may be answered with input_required")
        }
        (Some(Method::Complete), ResultBody::Complete(result)) => proposes(result),
        (Some(Method::Discover), ResultBody::Discover(_))
        | (Some(Method::ListTools), ResultBody::ListTools(_))
        | (Some(Method::CallTool), ResultBody::CallTool(_))
        | (Some(Method::ListResources), ResultBody::ListResources(_))
        | (Some(Method::ListResourceTemplates), ResultBody::ListResourceTemplates(_))
        | (Some(Method::ReadResource), ResultBody::ReadResource(_))
        | (Some(Method::ListPrompts), ResultBody::ListPrompts(_))
        | (Some(Method::GetPrompt), ResultBody::GetPrompt(_)) => Ok(()),
        // Its one result is that of the teardown, with the id of a subscription that was acknowledged.
        (Some(Method::Listen), _) => {
            Err("`subscriptions/listen` is accepted with `Reply::Subscribe` or refused with an error")
        }
        // What a method of the handler's own answers is the handler's own affair.
        (None, _) => Ok(()),
        (Some(_), _) => Err("the result belongs to another method"),
    }
}

/// An interim result asks something or carries state (MRTR-04), and asks only what clients know (MRTR-06).
fn asks(result: &InputRequiredResult) -> Result<(), &'static str> {
    if result.input_requests.is_empty() && result.request_state.is_none() {
        return Err("input_required has neither a question nor a state");
    }
    if !result.input_requests.values().all(is_question) {
        return Err(
            "a question is {method, params} of elicitation/create, sampling/createMessage or roots/list",
        );
    }
    Ok(())
}

fn is_question(request: &Value) -> bool {
    let method = request.get("method").and_then(Value::as_str);
    let has_params = request.get("params").is_some_and(Value::is_object);
    match method {
        Some("elicitation/create" | "sampling/createMessage") => has_params,
        Some("roots/list") => has_params || request.get("params").is_none(),
        _ => false,
    }
}

fn proposes(result: &CompleteResult) -> Result<(), &'static str> {
    if result.completion.values.len() <= CompleteResult::MOST {
        Ok(())
    } else {
        Err("a completion has at most 100 values")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::wire::{
        CallToolResult, CustomResult, DiscoverResult, GetPromptResult, InputRequest, ListPromptsResult,
        ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, ListenResult, ReadResourceResult,
        ServerCapabilities,
    };

    const LISTEN: &str = "subscriptions/listen";

    fn all() -> Vec<(&'static str, ResultBody)> {
        vec![
            ("server/discover", DiscoverResult::new(ServerCapabilities::new()).into()),
            ("tools/list", ListToolsResult::new(Vec::new()).into()),
            ("tools/call", CallToolResult::text("x").into()),
            ("resources/list", ListResourcesResult::new(vec![]).into()),
            ("resources/templates/list", ListResourceTemplatesResult::new(vec![]).into()),
            ("resources/read", ReadResourceResult::new(vec![]).into()),
            ("prompts/list", ListPromptsResult::new(vec![]).into()),
            ("prompts/get", GetPromptResult::new(vec![]).into()),
            ("completion/complete", CompleteResult::new(["a"]).into()),
            (LISTEN, ListenResult::new().into()),
        ]
    }

    #[test]
    fn sub_14_a_stream_takes_no_result_of_its_handler() {
        for (method, _) in all() {
            assert!(fits(method, &ListenResult::new().into()).is_err(), "{method}");
        }
    }

    fn question() -> InputRequiredResult {
        InputRequiredResult::new()
            .ask("name", InputRequest::form("Who are you?", json!({ "type": "object" })))
    }

    #[test]
    fn each_method_takes_its_own_result_and_no_other() {
        for (method, _) in all() {
            for (of, result) in all().into_iter().filter(|(of, _)| *of != LISTEN) {
                assert_eq!(fits(method, &result).is_ok(), method == of, "{of} for {method}");
            }
            assert!(fits(method, &CustomResult::default().into()).is_err());
        }
    }

    #[test]
    fn a_method_of_the_handler_takes_any_result() {
        assert!(fits("com.example/x", &CustomResult::default().into()).is_ok());
        assert!(fits("com.example/x", &CallToolResult::text("x").into()).is_ok());
    }

    #[test]
    fn mrtr_02_and_03_three_methods_may_ask() {
        let asking: Vec<_> = all()
            .into_iter()
            .map(|(method, _)| method)
            .filter(|method| fits(method, &question().into()).is_ok())
            .collect();
        assert_eq!(asking, ["tools/call", "resources/read", "prompts/get"]);
        assert!(fits("com.example/x", &question().into()).is_err());
    }

    #[test]
    fn mrtr_04_a_question_or_a_state() {
        assert!(fits("tools/call", &InputRequiredResult::new().into()).is_err());
        assert!(fits("tools/call", &InputRequiredResult::new().request_state("s").into()).is_ok());
    }

    #[test]
    fn mrtr_06_only_questions_that_clients_know() {
        for (value, is_fine) in [
            (json!({ "method": "roots/list" }), true),
            (json!({ "method": "roots/list", "params": [] }), false),
            (json!({ "method": "elicitation/create" }), false),
            (json!({ "method": "tools/call", "params": {} }), false),
            (json!("roots/list"), false),
        ] {
            let mut result = InputRequiredResult::new();
            result.input_requests.insert("key".to_owned(), value.clone());
            assert_eq!(fits("tools/call", &result.into()).is_ok(), is_fine, "{value}");
        }
        assert!(
            fits("tools/call", &InputRequiredResult::new().ask("roots", InputRequest::roots()).into())
                .is_ok()
        );
    }

    #[test]
    fn cmp_03_at_most_100_values() {
        let mut result = CompleteResult::new(["a"]);
        result.completion.values = vec![String::new(); 101];
        assert!(fits("completion/complete", &result.into()).is_err());
    }
}
