//! META-01, META-02, META-04, VER-11: the grammar of `_meta` keys and of extension identifiers.
//!
//! A key is an optional prefix of dot-separated labels with a `/`, and a name that may be empty after a prefix.

#[cfg(feature = "suite")]
use super::errors::Shown;

/// Whether a key of `_meta` is well formed.
fn is_valid(key: &str) -> bool {
    match key.split_once('/') {
        Some((prefix, name)) => is_prefix(prefix) && is_name(name),
        None => is_name(key),
    }
}

/// Whether an extension identifier is well formed: the same grammar, with a prefix.
pub(crate) fn is_extension(identifier: &str) -> bool {
    identifier.contains('/') && is_valid(identifier)
}

/// What is wrong with a key that an application sets.
#[cfg(feature = "suite")]
pub(crate) fn fault(key: &str) -> Option<String> {
    let wrong = match key {
        _ if !is_valid(key) => "is not a key; a key is an optional prefix such as `com.example/` and a name",
        _ if is_reserved(key) => "has a prefix that belongs to the protocol; use one of your own",
        _ => return None,
    };
    Some(format!("_meta `{}` {wrong}", Shown(key)))
}

/// Whether a key belongs to the protocol: the second label of its prefix is `modelcontextprotocol` or `mcp`, as in
/// `io.modelcontextprotocol/`. `com.example.mcp/` does not.
#[cfg(any(test, feature = "suite"))]
fn is_reserved(key: &str) -> bool {
    let second = key.split_once('/').and_then(|(prefix, _)| prefix.split('.').nth(1));
    matches!(second, Some("modelcontextprotocol" | "mcp"))
}

fn is_prefix(prefix: &str) -> bool {
    prefix.split('.').all(|label| {
        label.starts_with(|first: char| first.is_ascii_alphabetic())
            && label.ends_with(|last: char| last.is_ascii_alphanumeric())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    })
}

fn is_name(name: &str) -> bool {
    let is_alphanumeric = |character: char| character.is_ascii_alphanumeric();
    name.is_empty()
        || (name.starts_with(is_alphanumeric)
            && name.ends_with(is_alphanumeric)
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meta_01_a_prefix_is_labels_and_a_slash() {
        for key in
            ["com.example/colour", "a/b", "a-1.b2/c", "io.modelcontextprotocol/logLevel", "com.example/"]
        {
            assert!(is_valid(key), "{key}");
        }
        for key in ["/a", "1a/b", "a-/b", "a..b/c", ".a/b", "a_b/c", "a/b/c", "ä/b", "a /b"] {
            assert!(!is_valid(key), "{key}");
        }
    }

    #[test]
    fn meta_02_a_name_starts_and_ends_with_an_alphanumeric() {
        for key in ["progressToken", "a", "1", "a-b_c.d", "9z"] {
            assert!(is_valid(key), "{key}");
        }
        for key in ["-a", "a-", "_a", "a.", "a b", "ü"] {
            assert!(!is_valid(key), "{key}");
        }
    }

    #[test]
    fn meta_04_the_second_label_reserves() {
        for key in
            ["io.modelcontextprotocol/x", "dev.mcp/x", "org.modelcontextprotocol.api/", "com.mcp.tools/x"]
        {
            assert!(is_reserved(key), "{key}");
        }
        for key in ["com.example.mcp/x", "mcp/x", "mcp", "com.example/mcp"] {
            assert!(!is_reserved(key), "{key}");
        }
    }

    #[test]
    fn ver_11_an_extension_identifier_has_a_prefix() {
        assert!(is_extension("io.modelcontextprotocol/tasks"));
        assert!(!is_extension("tasks"));
    }
}
