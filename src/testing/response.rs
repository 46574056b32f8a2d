//! The answer to a request, with all that came before it.

use std::fmt;

use serde_json::Value;

use super::failure::Asked;
use super::reading::Head;

/// A response that was read to its end: HTTP status and headers, the notifications in order, and the JSON-RPC response.
#[derive(Clone)]
pub struct TestResponse {
    asked: Asked,
    head: Head,
    messages: Vec<Value>,
}

impl TestResponse {
    pub(super) fn new(asked: Asked, head: Head, messages: Vec<Value>) -> Self {
        Self { asked, head, messages }
    }

    /// The HTTP status.
    pub fn status(&self) -> u16 {
        self.head.status.as_u16()
    }

    /// A header; `None` if it is not there, or no text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.headers.get(name)?.to_str().ok()
    }

    /// Whether it was an SSE stream, and not one JSON object.
    pub fn is_stream(&self) -> bool {
        self.head.is_stream()
    }

    /// All messages in the order in which they came; none for a notification.
    pub fn messages(&self) -> &[Value] {
        &self.messages
    }

    /// The notifications in the order in which they came.
    pub fn notifications(&self) -> impl Iterator<Item = &Value> {
        self.messages.iter().filter(|message| message.get("method").is_some())
    }

    /// The parameters of each `notifications/progress`.
    pub fn progress(&self) -> impl Iterator<Item = &Value> {
        self.params_of("notifications/progress")
    }

    /// The parameters of each `notifications/message`.
    pub fn logs(&self) -> impl Iterator<Item = &Value> {
        self.params_of("notifications/message")
    }

    fn params_of(&self, method: &'static str) -> impl Iterator<Item = &Value> {
        self.notifications()
            .filter(move |message| message.get("method").is_some_and(|known| known == method))
            .filter_map(|message| message.get("params"))
    }

    /// The JSON-RPC response: the one message with a result or an error.
    ///
    /// # Panics
    ///
    /// When there is none.
    #[track_caller]
    pub fn response(&self) -> &Value {
        match self.messages.last().filter(|last| last.get("method").is_none()) {
            Some(response) => response,
            None => self.asked.fail("a JSON-RPC response", self),
        }
    }

    /// The result.
    ///
    /// # Panics
    ///
    /// When it is an error.
    #[track_caller]
    pub fn result(&self) -> &Value {
        match self.response().get("result") {
            Some(result) => result,
            None => self.asked.fail("a result", self),
        }
    }

    /// The JSON-RPC error: `code`, `message`, `data`.
    ///
    /// # Panics
    ///
    /// When it is a result.
    #[track_caller]
    pub fn error(&self) -> &Value {
        match self.response().get("error") {
            Some(error) => error,
            None => self.asked.fail("a JSON-RPC error", self),
        }
    }

    /// The code of the JSON-RPC error, such as `-32603`.
    ///
    /// # Panics
    ///
    /// When it is a result.
    #[track_caller]
    pub fn code(&self) -> i64 {
        match self.error().get("code").and_then(Value::as_i64) {
            Some(code) => code,
            None => self.asked.fail("a code", self),
        }
    }

    /// The first text of a tool's result, of what a resource holds, or of a prompt's messages.
    ///
    /// # Panics
    ///
    /// When there is none.
    #[track_caller]
    pub fn text(&self) -> &str {
        let places = ["/content/0/text", "/contents/0/text", "/messages/0/content/text"];
        let found = places.iter().find_map(|place| self.result().pointer(place));
        match found.and_then(Value::as_str) {
            Some(text) => text,
            None => self.asked.fail("a text", self),
        }
    }

    /// The structured content of a tool's result.
    ///
    /// # Panics
    ///
    /// When there is none.
    #[track_caller]
    pub fn structured(&self) -> &Value {
        match self.result().get("structuredContent") {
            Some(structured) => structured,
            None => self.asked.fail("structured content", self),
        }
    }

    /// Whether the result of a tool says that the tool failed (TOOL-13).
    ///
    /// # Panics
    ///
    /// When it is a JSON-RPC error.
    #[track_caller]
    pub fn is_error(&self) -> bool {
        self.result().get("isError").and_then(Value::as_bool) == Some(true)
    }
}

impl fmt::Display for TestResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "status {}", self.status())?;
        for message in &self.messages {
            write!(f, "\n            {message}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for TestResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
