//! MRTR-07, INP-01, INP-17, A-26: a client is asked only for what it declares on the request.

use serde_json::{Map, Value, json};

use crate::wire::{ClientCapabilities, InputRequiredResult};

/// What a client would have to declare for these questions and does not; `None` if it may be asked.
pub(crate) fn lacking(
    result: &InputRequiredResult,
    declared: &ClientCapabilities,
) -> Option<ClientCapabilities> {
    let mut lacking = Map::new();
    for request in result.input_requests.values() {
        let Some((capability, setting)) = needs(request, declared) else {
            continue;
        };
        let settings = lacking.entry(capability).or_insert_with(|| json!({}));
        if let (Some(settings), Some(setting)) = (settings.as_object_mut(), setting) {
            settings.insert(setting.to_owned(), json!({}));
        }
    }
    (!lacking.is_empty()).then(|| ClientCapabilities::from_map(lacking))
}

/// The capability that a question needs and the client lacks, and the setting of it that matters.
fn needs(request: &Value, declared: &ClientCapabilities) -> Option<(&'static str, Option<&'static str>)> {
    let params = &request["params"];
    let (is_declared, needed) = match request["method"].as_str()? {
        "elicitation/create" if params["mode"] == "url" => {
            (declared.elicitation_url(), ("elicitation", Some("url")))
        }
        "elicitation/create" => (declared.elicitation_form(), ("elicitation", Some("form"))),
        "sampling/createMessage" if !params["tools"].is_null() || !params["toolChoice"].is_null() => {
            (declared.sampling_tools(), ("sampling", Some("tools")))
        }
        "sampling/createMessage" => (declared.sampling(), ("sampling", None)),
        "roots/list" => (declared.roots(), ("roots", None)),
        _ => return None,
    };
    (!is_declared).then_some(needed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{CreateMessageRequest, InputRequest};

    fn lacks(questions: &[InputRequest], declared: Value) -> Option<Value> {
        let declared = ClientCapabilities::from_map(declared.as_object().cloned().unwrap());
        let asked =
            questions.iter().enumerate().fold(InputRequiredResult::new(), |result, (key, question)| {
                result.ask(key.to_string(), question.clone())
            });
        lacking(&asked, &declared).map(|lacking| serde_json::to_value(lacking).unwrap())
    }

    fn form() -> InputRequest {
        InputRequest::form("?", json!({ "type": "object", "properties": {} }))
    }

    fn url() -> InputRequest {
        InputRequest::url("?", "https://example.com")
    }

    fn sample() -> InputRequest {
        CreateMessageRequest::new(Vec::new(), 1).into()
    }

    #[test]
    fn k3_a_form_needs_a_client_with_forms() {
        let needed = Some(json!({ "elicitation": { "form": {} } }));
        assert_eq!(lacks(&[form()], json!({})), needed);
        assert_eq!(lacks(&[form()], json!({ "elicitation": null })), needed);
        assert_eq!(lacks(&[form()], json!({ "elicitation": { "url": {} } })), needed);
        assert_eq!(lacks(&[form()], json!({ "elicitation": {} })), None);
        assert_eq!(lacks(&[form()], json!({ "elicitation": { "form": {} } })), None);
    }

    #[test]
    fn inp_01_a_url_needs_a_client_that_opens_urls() {
        let needed = Some(json!({ "elicitation": { "url": {} } }));
        assert_eq!(lacks(&[url()], json!({ "elicitation": {} })), needed);
        assert_eq!(lacks(&[url()], json!({ "elicitation": { "url": {} } })), None);
    }

    #[test]
    fn inp_17_sampling_with_tools_needs_a_client_with_tools() {
        assert_eq!(lacks(&[sample()], json!({})), Some(json!({ "sampling": {} })));
        assert_eq!(lacks(&[sample()], json!({ "sampling": {} })), None);
        let mut asked = InputRequiredResult::new().ask("s", sample());
        asked.input_requests["s"]["params"]["tools"] = json!([]);
        assert!(lacking(&asked, &ClientCapabilities::only_sampling()).is_some());
    }

    #[test]
    fn what_several_questions_lack_is_told_at_once() {
        assert_eq!(
            lacks(&[form(), url(), InputRequest::roots(), sample()], json!({ "sampling": {} })),
            Some(json!({ "elicitation": { "form": {}, "url": {} }, "roots": {} }))
        );
    }

    #[test]
    fn without_a_question_nothing_is_lacking() {
        let state = InputRequiredResult::new().request_state("s");
        assert_eq!(lacking(&state, &ClientCapabilities::new()), None);
    }
}
