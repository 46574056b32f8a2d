//! SUB-02, SUB-06, SUB-12: what a stream may be told is what was asked for, offered and granted, and nothing else.

use super::errors::Refusal;
use crate::wire::{ServerCapabilities, SubscriptionFilter};

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
    filter
}

/// What is granted, cut to what was asked for, and whether anything had to be cut: a filter may only be narrowed.
pub(crate) fn narrowed(
    asked: &SubscriptionFilter,
    granted: SubscriptionFilter,
) -> (SubscriptionFilter, bool) {
    let mut filter = granted.clone();
    filter.tools_list_changed &= asked.tools_list_changed;
    filter.prompts_list_changed &= asked.prompts_list_changed;
    filter.resources_list_changed &= asked.resources_list_changed;
    filter.resource_subscriptions.retain(|uri| asked.resource_subscriptions.contains(uri));
    filter.task_ids.retain(|id| asked.task_ids.contains(id));
    let widened = filter != granted;
    (filter, widened)
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

/// Whether a filter covers the update of a resource: it names the resource, or one that the resource is a part of.
pub(crate) fn covers_resource(filter: &SubscriptionFilter, uri: &str) -> bool {
    filter.resource_subscriptions.iter().any(|named| {
        uri.strip_prefix(named.as_str())
            .is_some_and(|rest| rest.is_empty() || named.ends_with('/') || rest.starts_with(['/', '?', '#']))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sub_06_kinds_that_are_not_offered_are_left_out() {
        let asked = SubscriptionFilter::new().tools().prompts().resources().resource("file:///a");
        let capabilities = ServerCapabilities::new().tools(true).resources(false, true);
        assert_eq!(offered(&asked, &capabilities), SubscriptionFilter::new().tools().resource("file:///a"));
        assert!(offered(&asked, &ServerCapabilities::new()).is_empty());
    }

    #[test]
    fn a_filter_may_only_be_narrowed() {
        let asked = SubscriptionFilter::new().tools().resource("file:///a").resource("file:///b");
        let narrower = SubscriptionFilter::new().resource("file:///b");
        assert_eq!(narrowed(&asked, narrower.clone()), (narrower, false));
        let wider = SubscriptionFilter::new().tools().prompts().resource("file:///c");
        assert_eq!(narrowed(&asked, wider), (SubscriptionFilter::new().tools(), true));
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
