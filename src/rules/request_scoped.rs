//! SSE-02, LOG-02, PROG-01, PROG-04, CANC-02, RES-20: what a handler may send by hand on the response to a request that is
//! no `subscriptions/listen`; what a stream may be told, `subscription.rs` says.

use crate::wire::ServerNotification;

/// Checks a notification of the handler's own making. What the specification does not define is between the application
/// and its clients.
///
/// # Errors
///
/// Why it does not belong there, for the trace.
pub(crate) fn check(notification: &ServerNotification) -> Result<(), &'static str> {
    match notification.method() {
        "notifications/progress" => Err("progress is sent by `send_progress`, if the request asks for it"),
        "notifications/message" => Err("log records are sent by `send_log`, if the request asks for them"),
        "notifications/cancelled" | "notifications/subscriptions/acknowledged" => {
            Err("it belongs to the beginning and end of a listen stream, which the framework sends")
        }
        "notifications/tools/list_changed"
        | "notifications/prompts/list_changed"
        | "notifications/resources/list_changed"
        | "notifications/resources/updated"
        | "notifications/tasks" => Err("changes are told on listen streams only"),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::*;

    #[test]
    fn sse_02_what_does_not_belong_to_a_request_is_not_sent_on_its_response() {
        for notification in [
            ServerNotification::tools_list_changed(),
            ServerNotification::prompts_list_changed(),
            ServerNotification::resources_list_changed(),
            ServerNotification::resource_updated("file:///a"),
            ServerNotification::task_status("t", Map::new()),
        ] {
            assert!(check(&notification).is_err(), "{notification:?}");
            let by_hand = ServerNotification::custom(notification.method(), Map::new());
            assert!(check(&by_hand).is_err(), "{by_hand:?}");
        }
    }

    #[test]
    fn log_02_prog_01_canc_02_what_has_conditions_is_not_sent_by_hand() {
        for method in ["progress", "message", "cancelled", "subscriptions/acknowledged"] {
            let by_hand = ServerNotification::custom(format!("notifications/{method}"), Map::new());
            assert!(check(&by_hand).is_err(), "{by_hand:?}");
        }
        assert!(check(&ServerNotification::custom("notifications/com.example/news", Map::new())).is_ok());
    }
}
