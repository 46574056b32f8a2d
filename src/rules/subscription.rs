//! SUB-02, SUB-06, SUB-12, TASK-28: what a stream may be told is what was asked for, offered and granted, and nothing else.

use std::collections::HashSet;

use super::errors::Refusal;
use crate::wire::{ClientCapabilities, ServerCapabilities, ServerNotification, SubscriptionFilter, keys};

/// The part of a filter that the server's capabilities cover. Kinds that are not offered are left out (SUB-06).
pub(crate) fn offered(asked: &SubscriptionFilter, capabilities: &ServerCapabilities) -> SubscriptionFilter {
    let resources = capabilities.resources.unwrap_or_default();
    let mut filter = asked.clone();
    filter.tools_list_changed &= capabilities.tools.is_some_and(|tools| tools.list_changed);
    filter.prompts_list_changed &= capabilities.prompts.is_some_and(|prompts| prompts.list_changed);
    filter.resources_list_changed &= resources.list_changed;
    if !resources.subscribe {
        filter.resource_subscriptions.clear();
    }
    if !capabilities.has_tasks() {
        filter.task_ids.clear();
    }
    filter
}

/// What is granted, cut to what was asked for, and whether anything had to be cut: a filter may only be narrowed.
pub(crate) fn narrowed(
    asked: &SubscriptionFilter,
    granted: &SubscriptionFilter,
) -> (SubscriptionFilter, bool) {
    let mut filter = granted.clone();
    filter.tools_list_changed &= asked.tools_list_changed;
    filter.prompts_list_changed &= asked.prompts_list_changed;
    filter.resources_list_changed &= asked.resources_list_changed;
    let (uris, ids) = (set(&asked.resource_subscriptions), set(&asked.task_ids));
    filter.resource_subscriptions.retain(|uri| uris.contains(uri));
    filter.task_ids.retain(|id| ids.contains(id));
    let widened = filter != *granted;
    (filter, widened)
}

/// However many are named, each is looked up once.
fn set(names: &[String]) -> HashSet<&String> {
    names.iter().collect()
}

/// A filter names at most so many resources and tasks.
///
/// # Errors
///
/// `-32602`.
pub(crate) fn check_size(filter: &SubscriptionFilter, most: usize) -> Result<(), Refusal> {
    let named = filter.resource_subscriptions.len() + filter.task_ids.len();
    if named > most {
        let message = format!("the filter names {named} resources and tasks; at most {most} on one stream");
        return Err(Refusal::invalid_params(message));
    }
    Ok(())
}

/// A client that names tasks has declared the tasks extension, if the server offers it (TASK-28).
///
/// # Errors
///
/// 400 with `-32021`.
pub(crate) fn check_tasks(
    filter: &SubscriptionFilter,
    server: &ServerCapabilities,
    client: &ClientCapabilities,
) -> Result<(), Refusal> {
    if filter.task_ids.is_empty() || !server.has_tasks() || client.extension(keys::TASKS).is_some() {
        return Ok(());
    }
    Err(Refusal::missing_extension(keys::TASKS))
}

/// Whether a stream with this filter may be told a notification. What is no change of the specification is between the
/// application and its clients, except what belongs to other responses (SSE-10, SUB-17) and to the framework.
pub(crate) fn covers(filter: &SubscriptionFilter, notification: &ServerNotification) -> bool {
    match notification.method() {
        "notifications/tools/list_changed" => filter.tools_list_changed,
        "notifications/prompts/list_changed" => filter.prompts_list_changed,
        "notifications/resources/list_changed" => filter.resources_list_changed,
        "notifications/resources/updated" => {
            notification.updated_resource().is_some_and(|uri| covers_resource(filter, uri))
        }
        "notifications/tasks" => {
            notification.changed_task().is_some_and(|id| filter.task_ids.iter().any(|named| named == id))
        }
        "notifications/progress"
        | "notifications/message"
        | "notifications/cancelled"
        | "notifications/subscriptions/acknowledged" => false,
        _ => true,
    }
}

/// Whether a filter covers the update of a resource: it names the resource, or one that the resource is a part of.
fn covers_resource(filter: &SubscriptionFilter, uri: &str) -> bool {
    filter.resource_subscriptions.iter().any(|named| {
        uri.strip_prefix(named.as_str())
            .is_some_and(|rest| rest.is_empty() || named.ends_with('/') || rest.starts_with(['/', '?', '#']))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    #[test]
    fn sub_06_kinds_that_are_not_offered_are_left_out() {
        let asked = SubscriptionFilter::new().tools().prompts().resources().resource("file:///a");
        let capabilities = ServerCapabilities::new().tools(true).resources(false, true);
        assert_eq!(offered(&asked, &capabilities), SubscriptionFilter::new().tools().resource("file:///a"));
        assert!(offered(&asked, &ServerCapabilities::new()).is_empty());
        let (tasks, offers) = (SubscriptionFilter::new().task("t"), ServerCapabilities::new().tools(true));
        assert!(offered(&tasks, &offers).is_empty());
        assert_eq!(offered(&tasks, &offers.extension(keys::TASKS, json!({}))), tasks);
    }

    #[test]
    fn a_filter_may_only_be_narrowed() {
        let asked = SubscriptionFilter::new().tools().resource("file:///a").resource("file:///b");
        let narrower = SubscriptionFilter::new().resource("file:///b");
        assert_eq!(narrowed(&asked, &narrower), (narrower.clone(), false));
        let wider = SubscriptionFilter::new().tools().prompts().resource("file:///c");
        assert_eq!(narrowed(&asked, &wider), (SubscriptionFilter::new().tools(), true));
    }

    #[test]
    fn task_28_a_client_that_names_tasks_has_declared_the_extension() {
        let offers = ServerCapabilities::new().extension(keys::TASKS, json!({}));
        let declared = ClientCapabilities::new().with("extensions", json!({ keys::TASKS: {} }));
        let named = SubscriptionFilter::new().task("t");
        let refusal = check_tasks(&named, &offers, &ClientCapabilities::new()).unwrap_err();
        assert_eq!((refusal.status.as_u16(), refusal.error.code), (400, -32021));
        let required = json!({ "requiredCapabilities": { "extensions": { keys::TASKS: {} } } });
        assert_eq!(refusal.error.data, Some(required));
        // TASK-33: the capability of earlier revisions declares nothing.
        let legacy = ClientCapabilities::new().with("tasks", json!({}));
        assert!(check_tasks(&named, &offers, &legacy).is_err());
        assert!(check_tasks(&named, &offers, &declared).is_ok());
        assert!(check_tasks(&SubscriptionFilter::new(), &offers, &ClientCapabilities::new()).is_ok());
        assert!(check_tasks(&named, &ServerCapabilities::new(), &ClientCapabilities::new()).is_ok());
    }

    #[test]
    fn sub_02_a_notification_is_covered_by_its_own_member_of_the_filter_only() {
        let params = |name: &str, value: &str| Map::from_iter([(name.to_owned(), json!(value))]);
        let by_hand = |method: &str, params| ServerNotification::custom(method, params);
        let filter = SubscriptionFilter::new().tools().resource("file:///a").task("t");
        for (notification, covered) in [
            (ServerNotification::tools_list_changed(), true),
            (ServerNotification::prompts_list_changed(), false),
            (ServerNotification::resources_list_changed(), false),
            (ServerNotification::resource_updated("file:///a"), true),
            (ServerNotification::resource_updated("file:///b"), false),
            (by_hand("notifications/resources/updated", params("uri", "file:///a")), true),
            (by_hand("notifications/resources/updated", params("uri", "file:///b")), false),
            (by_hand("notifications/resources/updated", Map::new()), false),
            (ServerNotification::task_status("t", Map::new()), true),
            (ServerNotification::task_status("u", Map::new()), false),
            (by_hand("notifications/tasks", params("taskId", "u")), false),
            (by_hand("notifications/progress", Map::new()), false),
            (by_hand("notifications/message", Map::new()), false),
            (by_hand("notifications/cancelled", Map::new()), false),
            (by_hand("notifications/com.example/news", Map::new()), true),
        ] {
            assert_eq!(covers(&filter, &notification), covered, "{notification:?}");
        }
    }

    #[test]
    fn sub_12_a_part_of_a_named_resource_is_covered_and_a_longer_name_is_not() {
        let filter = SubscriptionFilter::new().resource("file:///a").resource("db://x/");
        for (uri, covered) in [
            ("file:///a", true),
            ("file:///a/b", true),
            ("file:///a#part", true),
            ("file:///ab", false),
            ("file:///", false),
            ("db://x/row", true),
        ] {
            assert_eq!(covers_resource(&filter, uri), covered, "{uri}");
        }
    }
}
