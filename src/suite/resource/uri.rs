//! What a URI is made of (RFC 3986): the characters that may stand in it, and whether it is one (RES-12, RES-17).

/// One character of a URI: as it stands, or percent-encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::suite) struct Token {
    pub(super) byte: u8,
    pub(super) is_encoded: bool,
}

impl Token {
    pub(super) fn is_unreserved(self) -> bool {
        self.byte.is_ascii_alphanumeric() || matches!(self.byte, b'-' | b'.' | b'_' | b'~')
    }

    fn is_reserved(self) -> bool {
        b":/?#[]@!$&'()*+,;=".contains(&self.byte)
    }
}

/// The characters of a URI or of a part of one; `None` if others are among them.
pub(in crate::suite) fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut found = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [byte, behind @ ..] = rest {
        let token = if let (b'%', [high, low, ..]) = (byte, behind) {
            Token { byte: hex(*high)? << 4 | hex(*low)?, is_encoded: true }
        } else {
            Token { byte: *byte, is_encoded: false }
        };
        if !token.is_encoded && !token.is_unreserved() && !token.is_reserved() {
            return None;
        }
        rest = behind.get(if token.is_encoded { 2 } else { 0 }..)?;
        found.push(token);
    }
    Some(found)
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

/// Refuses what is no absolute URI.
///
/// # Errors
///
/// What is wrong with it, and what would do.
pub(in crate::suite) fn check(uri: &str) -> Result<(), String> {
    let is_scheme = |scheme: &str| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.chars().all(|one| one.is_ascii_alphanumeric() || matches!(one, '+' | '-' | '.'))
    };
    if uri.is_empty() {
        return Err("its URI is empty; `notes://today` would do".to_owned());
    }
    if uri.contains(['{', '}']) {
        return Err("it has `{` or `}`: a template such as `notes://{id}` is for a `ResourceRepo`".to_owned());
    }
    if !uri.split_once(':').is_some_and(|(scheme, rest)| is_scheme(scheme) && !rest.is_empty()) {
        return Err("it is no URI: it does not start with a scheme; `notes://today` would do".to_owned());
    }
    match tokens(uri) {
        Some(_) => Ok(()),
        None => Err("it holds characters that a URI cannot hold; percent-encode them".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn res_12_what_is_a_uri() {
        for uri in ["test://static-text", "file:///a%20b", "urn:isbn:1", "a+b.c-d://x?y#z", "mailto:a@b"] {
            assert_eq!(check(uri), Ok(()), "{uri}");
        }
        for uri in [
            "", "notes", "://a", "1a://b", "a b://c", "a://b c", "a://%4", "a://%4g", "a:", "a://é", "a://\n",
        ] {
            assert!(check(uri).is_err(), "{uri}");
        }
    }
}
