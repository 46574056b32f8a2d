//! The JSON-RPC frame around what a server writes, as compact JSON on one line (BASE-01, SSE-12).

use serde::Serialize;

use super::notification::Params;
use super::{ErrorObject, RequestId, ResultBody, ServerNotification};

const VERSION: &str = "2.0";

/// A result response.
#[derive(Serialize)]
pub(crate) struct Response<'a> {
    jsonrpc: &'static str,
    id: &'a RequestId,
    result: &'a ResultBody,
}

/// An error response; without an id if none could be read.
#[derive(Serialize)]
pub(crate) struct ErrorResponse<'a> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a RequestId>,
    error: &'a ErrorObject,
}

/// A notification.
#[derive(Serialize)]
pub(crate) struct NotificationMessage<'a> {
    jsonrpc: &'static str,
    method: &'a str,
    params: Params<'a>,
}

impl<'a> Response<'a> {
    pub(crate) fn new(id: &'a RequestId, result: &'a ResultBody) -> Self {
        Self { jsonrpc: VERSION, id, result }
    }

    pub(crate) fn to_bytes(&self) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec(self)
    }
}

impl<'a> ErrorResponse<'a> {
    pub(crate) fn new(id: Option<&'a RequestId>, error: &'a ErrorObject) -> Self {
        Self { jsonrpc: VERSION, id, error }
    }

    pub(crate) fn to_bytes(&self) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec(self)
    }
}

impl<'a> NotificationMessage<'a> {
    pub(crate) fn new(notification: &'a ServerNotification) -> Self {
        Self { jsonrpc: VERSION, method: notification.method(), params: notification.params() }
    }

    pub(crate) fn to_bytes(&self) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec(self)
    }
}
