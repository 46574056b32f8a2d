//! BASE-01, BASE-04, SSE-12: what a server writes, as compact JSON on one line. What cannot be written is a bug, which the trace
//! tells; a request is answered all the same.

use bytes::Bytes;

use crate::wire::{
    ErrorObject, ErrorResponse, NotificationMessage, RequestId, Response, ResultBody, ServerNotification,
};

use super::errors;

/// The answer to a request that not even an error with its id can be written for.
const LAST: &[u8] = br#"{"jsonrpc":"2.0","error":{"code":-32603,"message":"internal error"}}"#;

/// A result response. `None` is answered with an internal error.
pub(crate) fn result(id: &RequestId, result: &ResultBody) -> Option<Bytes> {
    written(Response::new(id, result).to_bytes(), Some(id), "result")
}

/// An error response; an internal error if this one cannot be written.
pub(crate) fn error(id: Option<&RequestId>, error: &ErrorObject) -> Bytes {
    written(ErrorResponse::new(id, error).to_bytes(), id, "error").unwrap_or_else(|| internal(id))
}

/// A notification. `None` is not sent.
pub(crate) fn notification(notification: &ServerNotification) -> Option<Bytes> {
    written(NotificationMessage::new(notification).to_bytes(), None, notification.method())
}

#[cold]
fn internal(id: Option<&RequestId>) -> Bytes {
    let error = errors::internal();
    written(ErrorResponse::new(id, &error).to_bytes(), id, "internal error")
        .unwrap_or(Bytes::from_static(LAST))
}

fn written(json: serde_json::Result<Vec<u8>>, id: Option<&RequestId>, what: &str) -> Option<Bytes> {
    match json {
        Ok(json) => Some(Bytes::from(json)),
        Err(error) => {
            let id = id.map(tracing::field::display);
            tracing::error!(target: "ractor_mcp", id, what, %error, "cannot be written as JSON");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn base_01_and_sse_12_a_message_is_one_line() {
        let written = error(Some(&RequestId::from(7)), &ErrorObject::new(1, "two\nlines"));
        assert!(!written.contains(&b'\n'));
        let parsed: Value = serde_json::from_slice(&written).unwrap();
        assert_eq!(parsed, json!({"jsonrpc": "2.0", "id": 7, "error": {"code": 1, "message": "two\nlines"}}));
    }

    #[test]
    fn what_cannot_be_written_is_nothing_rather_than_half_a_message() {
        let keys_that_are_no_text = BTreeMap::from([(vec![1], "x")]);
        let json = serde_json::to_vec(&keys_that_are_no_text);
        assert_eq!(written(json, Some(&RequestId::from(7)), "result"), None);
    }

    #[test]
    fn base_04_the_last_answer_is_an_internal_error() {
        let last: Value = serde_json::from_slice(LAST).unwrap();
        let written: Value = serde_json::from_slice(&error(None, &errors::internal())).unwrap();
        assert_eq!(last, written);
    }
}
