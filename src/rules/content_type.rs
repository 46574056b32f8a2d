//! A-39, E16: a body declared as anything but `application/json` in UTF-8 is refused with 415.

use http::HeaderMap;
use http::header::CONTENT_TYPE;

use super::errors::Refusal;

/// Checks the media type alone, without regard to case; a `charset` other than UTF-8 is another type. A body without a
/// declaration passes. `text/plain` does not: web pages may send it to foreign servers without asking first.
///
/// # Errors
///
/// 415.
pub(crate) fn check(headers: &HeaderMap) -> Result<(), Refusal> {
    let mut lines = headers.get_all(CONTENT_TYPE).iter();
    let Some(line) = lines.next() else { return Ok(()) };
    // What nearly every client sends is known by sight.
    let is_json = lines.next().is_none() && (line == "application/json" || line.to_str().is_ok_and(is_json));
    if is_json { Ok(()) } else { Err(Refusal::unsupported_media_type()) }
}

fn is_json(value: &str) -> bool {
    let mut parts = value.split(';').map(trim);
    let is_json = parts.next().is_some_and(|media_type| media_type.eq_ignore_ascii_case("application/json"));
    is_json
        && parts.filter_map(|parameter| parameter.split_once('=')).all(|(name, value)| is_utf_8(name, value))
}

/// Whether a parameter leaves the text UTF-8: only a `charset` can say otherwise.
fn is_utf_8(name: &str, value: &str) -> bool {
    let charset = trim(value).trim_matches('"');
    let is_utf_8 = charset.eq_ignore_ascii_case("utf-8") || charset.eq_ignore_ascii_case("utf8");
    is_utf_8 || !trim(name).eq_ignore_ascii_case("charset")
}

fn trim(text: &str) -> &str {
    text.trim_matches([' ', '\t'])
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn passes(lines: &[&str]) -> bool {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(CONTENT_TYPE, HeaderValue::from_str(line).unwrap());
        }
        check(&headers).map_err(|refusal| assert_eq!(refusal.status.as_u16(), 415)).is_ok()
    }

    #[test]
    fn e16_the_media_type_alone_counts() {
        for line in [
            "application/json",
            "Application/JSON; charset=\"UTF-8\"",
            "application/json;charset=utf-8",
            "application/json ; Charset = utf8",
            "application/json; profile=x",
            "application/json;",
        ] {
            assert!(passes(&[line]), "{line}");
        }
    }

    #[test]
    fn a_39_no_declaration_passes() {
        assert!(passes(&[]));
    }

    #[test]
    fn a_39_other_types_and_charsets_are_refused() {
        for line in ["text/plain", "application/json;charset=utf-16", "application/jsonx", "json", "", "*/*"]
        {
            assert!(!passes(&[line]), "{line}");
        }
        assert!(!passes(&["application/json", "text/plain"]));
    }
}
