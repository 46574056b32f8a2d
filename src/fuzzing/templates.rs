//! Any text as a URI template, and any other as a URI that it may match.

use crate::suite::template_values;

/// Parses any template, and matches any URI with it.
///
/// What it matches can be relied on as part of a path: no value is empty, leaves its folder, or holds what it could not
/// show.
pub fn uri_templates(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (template, uri) = text.split_once('\n').unwrap_or((&text, ""));
    let Ok(Some(values)) = template_values(template, uri) else { return };
    for (name, value) in values {
        assert!(template.contains(&name), "`{name}` is no variable of {template:?}");
        assert!(!value.is_empty() && value.len() <= uri.len(), "{value:?} in {uri:?}");
        assert!(!value.contains(char::is_control) && !value.contains("//"), "{value:?}");
        assert!(
            !value.split('/').any(|segment| matches!(segment, "." | "..")),
            "{value:?} leaves its folder"
        );
        let is_reserved = template.contains(&format!("{{+{name}}}"));
        assert!(is_reserved || !value.contains('/'), "{value:?} is more than a segment");
    }
}
