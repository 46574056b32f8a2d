//! Requests that answer questions, and what is known of the questions.

use serde_json::{Value, json};

use super::{Post, Response};

/// All that a client can be asked for.
pub fn everything() -> Value {
    json!({"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}})
}

impl Post {
    /// Declares these capabilities of the client.
    pub fn capable_of(self, capabilities: Value) -> Self {
        self.with_meta("io.modelcontextprotocol/clientCapabilities", capabilities)
    }

    /// A member beside the others of the parameters.
    pub fn with_param(self, name: &str, value: Value) -> Self {
        let mut body: Value = serde_json::from_slice(&self.body).expect("a JSON body");
        body["params"][name] = value;
        self.body(body.to_string())
    }

    /// Answers questions, without a state.
    pub fn answering(self, answers: Value) -> Self {
        self.with_param("inputResponses", answers)
    }

    /// Answers the questions of an earlier round, with its state.
    pub fn answering_round(self, round: &Response, answers: Value) -> Self {
        self.answering(answers).with_param("requestState", round.state())
    }
}

impl Response {
    /// The questions of an `input_required` result, with their keys in order.
    pub fn questions(&self) -> Value {
        let result = self.result();
        assert_eq!(result["resultType"], "input_required", "{self:?}");
        result["inputRequests"].clone()
    }

    pub fn asked_keys(&self) -> Vec<String> {
        self.questions().as_object().expect("questions").keys().cloned().collect()
    }

    /// The state of an `input_required` result.
    pub fn state(&self) -> Value {
        let state = self.result()["requestState"].clone();
        assert!(state.is_string(), "no state in {self:?}");
        state
    }
}

/// A form that was filled in.
pub fn accept(content: Value) -> Value {
    json!({"action": "accept", "content": content})
}
