//! AUTH-06, AUTH-07, AUTH-15 to AUTH-17: the `WWW-Authenticate` challenge of a 401 or a 403.

use http::HeaderValue;

/// What a `Bearer` challenge says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bearer<'a> {
    /// Where the protected resource metadata is (RFC 9728).
    pub(crate) resource_metadata: Option<&'a str>,
    /// The scopes that the operation needs, all of them at once.
    pub(crate) scopes: &'a [String],
    /// Such as `invalid_token` or `insufficient_scope` (RFC 6750); none if no token was sent.
    pub(crate) error: Option<&'a str>,
    pub(crate) error_description: Option<&'a str>,
}

impl Bearer<'_> {
    /// The header value. Characters that a quoted string may not hold are left out.
    pub(crate) fn to_value(&self) -> HeaderValue {
        let scope = (!self.scopes.is_empty()).then(|| self.scopes.join(" "));
        let parameters = [
            ("error", self.error),
            ("error_description", self.error_description),
            ("scope", scope.as_deref()),
            ("resource_metadata", self.resource_metadata),
        ];
        let given = parameters.iter().filter_map(|(name, value)| value.map(|value| (name, value)));
        let mut text = String::from("Bearer");
        for (number, (name, value)) in given.enumerate() {
            text.push_str(if number == 0 { " " } else { ", " });
            text.push_str(name);
            text.push_str("=\"");
            text.extend(value.chars().filter(|c| matches!(c, ' '..='~') && *c != '"' && *c != '\\'));
            text.push('"');
        }
        HeaderValue::from_str(&text).unwrap_or_else(|_| HeaderValue::from_static("Bearer"))
    }
}

/// Whether a challenge can name a scope (RFC 6749, section 3.3).
pub(crate) fn is_scope(scope: &str) -> bool {
    !scope.is_empty() && scope.chars().all(|c| matches!(c, '!'..='~') && c != '"' && c != '\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auth_16_an_insufficient_scope_names_all_scopes_and_the_metadata() {
        let scopes = ["files:read".to_owned(), "files:write".to_owned()];
        let challenge = Bearer {
            resource_metadata: Some("https://h/.well-known/oauth-protected-resource/mcp"),
            scopes: &scopes,
            error: Some("insufficient_scope"),
            error_description: None,
        };
        assert_eq!(
            challenge.to_value(),
            "Bearer error=\"insufficient_scope\", scope=\"files:read files:write\", \
             resource_metadata=\"https://h/.well-known/oauth-protected-resource/mcp\""
        );
    }

    #[test]
    fn without_anything_to_say_it_is_the_scheme_alone() {
        assert_eq!(Bearer::default().to_value(), "Bearer");
    }

    #[test]
    fn nothing_breaks_out_of_the_quotes() {
        let challenge = Bearer { error_description: Some("a\"b\\c\r\nd\u{e9}"), ..Bearer::default() };
        assert_eq!(challenge.to_value(), "Bearer error_description=\"abcd\"");
    }
}
