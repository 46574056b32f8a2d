//! TOOL-09: a tool name has 1 to 128 characters of `[A-Za-z0-9_.-]`.
//!
//! The rule is a SHOULD, so only what no client can use is an error: nothing, or more than 128 characters. For the rest
//! there is a warning, and one for names that are valid and yet refused by clients in use (G12).

/// The longest name.
const LONGEST: usize = 128;

/// The longest name that fits in the 64 characters of several clients together with the prefix that they add.
const LONGEST_WITH_PREFIX: usize = 45;

/// Refuses a name that no client can use.
///
/// # Errors
///
/// What was found, and what would do.
pub(crate) fn check(name: &str) -> Result<(), String> {
    match name.chars().count() {
        0 => Err("the name is empty; a tool name has 1 to 128 characters".to_owned()),
        length if length > LONGEST => {
            Err(format!("the name has {length} characters; a tool name has 1 to 128"))
        }
        _ => Ok(()),
    }
}

/// Why some clients will refuse a name that passed [`check`].
pub(crate) fn warning(name: &str) -> Option<String> {
    let is_common = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-');
    if let Some(found) = name.chars().find(|&character| !is_common(character) && character != '.') {
        let found = found.escape_debug();
        return Some(format!(
            "the name holds `{found}`; tool names are made of letters, digits, `_`, `-` and `.`"
        ));
    }
    if name.contains('.') {
        return Some("the name holds a dot, which several clients refuse; `_` or `-` would do".to_owned());
    }
    let length = name.len();
    (length > LONGEST_WITH_PREFIX).then(|| {
        format!("the name has {length} characters; clients add a prefix and refuse more than 64, so keep it below 46")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_09_one_to_128_characters() {
        assert!(check("").is_err());
        assert!(check("a").is_ok());
        assert!(check(&"a".repeat(128)).is_ok());
        assert!(check(&"a".repeat(129)).unwrap_err().contains("129"));
        assert!(check(&"ü".repeat(128)).is_ok());
    }

    #[test]
    fn tool_09_other_characters_get_a_warning() {
        for name in ["a/b", "a b", "a,b", "grüße", "a\n"] {
            assert!(check(name).is_ok(), "{name}");
            assert!(warning(name).unwrap().contains("made of letters"), "{name}");
        }
    }

    #[test]
    fn g12_names_that_clients_refuse_get_a_warning() {
        assert!(warning("a.b").unwrap().contains("dot"));
        assert!(warning(&"a".repeat(46)).unwrap().contains("46"));
        assert_eq!(warning(&"a".repeat(45)), None);
        assert_eq!(warning("get_user-2"), None);
    }
}
