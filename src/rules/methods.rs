//! BASE-16, DISC-06, VER-16, HTTP-12: which methods exist, and which capability each needs. Also MRTR-02 and HDR-03.

use super::errors::Refusal;
use crate::wire::ServerCapabilities;

/// A method of this revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    Discover,
    ListTools,
    CallTool,
    ListResources,
    ListResourceTemplates,
    ReadResource,
    ListPrompts,
    GetPrompt,
    Complete,
    Listen,
}

/// Methods of earlier revisions. They answer `-32601` here, whatever the handler serves (VER-16).
const REMOVED: &[&str] =
    &["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"];

/// Finds the method of a request; `None` is one of the handler's own.
///
/// # Errors
///
/// 404 with `-32601`, decided before anything else about the parameters.
pub(crate) fn check(
    name: &str,
    capabilities: &ServerCapabilities,
    serves: &dyn Fn(&str) -> Result<bool, Refusal>,
) -> Result<Option<Method>, Refusal> {
    match Method::find(name) {
        Some(method) if method.is_offered(capabilities) => Ok(Some(method)),
        None if !REMOVED.contains(&name) && serves(name)? => Ok(None),
        Some(Method::Listen) => Err(Refusal::nothing_to_listen_to()),
        _ => Err(Refusal::method_not_found(name)),
    }
}

/// Whether a request may be called so.
pub(crate) fn is_known(name: &str) -> bool {
    Method::find(name).is_some()
}

impl Method {
    /// The method of this name, spelled as on the wire.
    pub(crate) fn find(name: &str) -> Option<Self> {
        Some(match name {
            "server/discover" => Self::Discover,
            "tools/list" => Self::ListTools,
            "tools/call" => Self::CallTool,
            "resources/list" => Self::ListResources,
            "resources/templates/list" => Self::ListResourceTemplates,
            "resources/read" => Self::ReadResource,
            "prompts/list" => Self::ListPrompts,
            "prompts/get" => Self::GetPrompt,
            "completion/complete" => Self::Complete,
            "subscriptions/listen" => Self::Listen,
            _ => return None,
        })
    }

    /// The member of `params` that `Mcp-Name` mirrors (HDR-03).
    pub(crate) fn mirrored_name(self) -> Option<&'static str> {
        match self {
            Self::CallTool | Self::GetPrompt => Some("name"),
            Self::ReadResource => Some("uri"),
            _ => None,
        }
    }

    /// Whether it may be answered with `input_required` (MRTR-02, A-36).
    pub(crate) fn may_ask(self) -> bool {
        matches!(self, Self::CallTool | Self::GetPrompt | Self::ReadResource)
    }

    /// Whether the server advertises the capability that the method belongs to.
    fn is_offered(self, capabilities: &ServerCapabilities) -> bool {
        match self {
            Self::Discover => true,
            Self::ListTools | Self::CallTool => capabilities.tools.is_some(),
            Self::ListResources | Self::ListResourceTemplates | Self::ReadResource => {
                capabilities.resources.is_some()
            }
            Self::ListPrompts | Self::GetPrompt => capabilities.prompts.is_some(),
            Self::Complete => capabilities.completions.is_some(),
            // A stream that nothing could ever be sent on is not worth holding open.
            Self::Listen => capabilities.can_notify(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [&str; 10] = [
        "server/discover",
        "tools/list",
        "tools/call",
        "resources/list",
        "resources/templates/list",
        "resources/read",
        "prompts/list",
        "prompts/get",
        "completion/complete",
        "subscriptions/listen",
    ];

    fn served(capabilities: &ServerCapabilities) -> Vec<&'static str> {
        ALL.into_iter().filter(|name| check(name, capabilities, &|_| Ok(false)).is_ok()).collect()
    }

    fn status(name: &str, serves: &dyn Fn(&str) -> Result<bool, Refusal>) -> Option<(u16, i64)> {
        let refusal =
            check(name, &ServerCapabilities::new().tools(true).resources(true, true), serves).err()?;
        Some((refusal.status.as_u16(), refusal.error.code))
    }

    #[test]
    fn disc_06_a_method_needs_its_capability() {
        let none = ServerCapabilities::new();
        assert_eq!(served(&none), ["server/discover"]);
        assert_eq!(served(&none.clone().tools(false)), ["server/discover", "tools/list", "tools/call"]);
        assert_eq!(
            served(&none.clone().resources(false, false)),
            ["server/discover", "resources/list", "resources/templates/list", "resources/read"]
        );
        assert_eq!(served(&none.clone().prompts(false)), ["server/discover", "prompts/list", "prompts/get"]);
        assert_eq!(served(&none.completions().logging()), ["server/discover", "completion/complete"]);
    }

    #[test]
    fn a_23_listen_needs_something_to_listen_to() {
        let none = ServerCapabilities::new();
        for capabilities in [
            none.clone().tools(true),
            none.clone().prompts(true),
            none.clone().resources(true, false),
            none.clone().resources(false, true),
        ] {
            assert!(served(&capabilities).contains(&"subscriptions/listen"));
        }
        let silent = none.tools(false).prompts(false).resources(false, false);
        assert!(!served(&silent).contains(&"subscriptions/listen"));
    }

    #[test]
    fn ver_16_removed_methods_answer_404_whatever_the_handler_serves() {
        for name in REMOVED {
            assert_eq!(status(name, &|_| Ok(true)), Some((404, -32601)), "{name}");
        }
    }

    #[test]
    fn http_12_unknown_methods_answer_404() {
        for name in ["foo/bar", "tasks/list", "tasks/result", "tasks/get", "TOOLS/LIST", "", "prompts/list"] {
            assert_eq!(status(name, &|_| Ok(false)), Some((404, -32601)), "{name}");
        }
    }

    #[test]
    fn a_method_of_the_handler_passes() {
        assert_eq!(status("com.example/sum", &|name| Ok(name == "com.example/sum")), None);
        // It cannot bring back a method whose capability it does not advertise.
        assert_eq!(status("prompts/list", &|_| Ok(true)), Some((404, -32601)));
    }
}
