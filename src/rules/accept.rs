//! HTTP-07, HTTP-08, A-39: which of the two response types a client takes; 406 only if it takes neither.
//!
//! The duty to list both types is the client's. Clients leave the header out, send wildcards or name one type alone, so
//! whatever can be served is served (E15).

use http::HeaderMap;
use http::header::ACCEPT;

use super::errors::Refusal;

/// What a client takes as a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Accepts {
    /// One JSON object.
    pub(crate) json: bool,
    /// An SSE stream.
    pub(crate) sse: bool,
}

const USUAL: &str = "application/json, text/event-stream";

impl Accepts {
    const BOTH: Self = Self { json: true, sse: true };
}

/// Reads all `Accept` lines. Without one, or with nothing readable in them, both types are taken.
///
/// # Errors
///
/// 406 if neither type is acceptable.
pub(crate) fn check(headers: &HeaderMap) -> Result<Accepts, Refusal> {
    // What nearly every client writes, without the reading.
    let mut lines = headers.get_all(ACCEPT).iter();
    if lines.next().is_some_and(|line| line == USUAL) && lines.next().is_none() {
        return Ok(Accepts::BOTH);
    }
    let mut json = Preference::default();
    let mut sse = Preference::default();
    let mut readable = false;
    for line in headers.get_all(ACCEPT) {
        // A line with other bytes is no list of media ranges.
        for range in line.to_str().into_iter().flat_map(list_members).filter_map(MediaRange::read) {
            readable = true;
            json.weigh(&range, "application", "json");
            sse.weigh(&range, "text", "event-stream");
        }
    }
    let accepts = if readable { Accepts { json: json.taken, sse: sse.taken } } else { Accepts::BOTH };
    if accepts.json || accepts.sse { Ok(accepts) } else { Err(Refusal::not_acceptable()) }
}

/// What the ranges seen so far say of one type: the most specific one decides (RFC 9110, 12.5.1).
#[derive(Default)]
struct Preference {
    specificity: u8,
    taken: bool,
}

impl Preference {
    fn weigh(&mut self, range: &MediaRange<'_>, kind: &str, subtype: &str) {
        let specificity = match (range.kind, range.subtype) {
            ("*", "*") => 1,
            (range_kind, "*") if range_kind.eq_ignore_ascii_case(kind) => 2,
            (range_kind, range_subtype)
                if range_kind.eq_ignore_ascii_case(kind) && range_subtype.eq_ignore_ascii_case(subtype) =>
            {
                3
            }
            _ => return,
        };
        if specificity > self.specificity {
            *self = Self { specificity, taken: range.wanted };
        } else if specificity == self.specificity {
            self.taken |= range.wanted;
        }
    }
}

/// One member of the list: `text/*;q=0.5`. Parameters other than `q` do not narrow it.
struct MediaRange<'a> {
    kind: &'a str,
    subtype: &'a str,
    /// `q` is not zero.
    wanted: bool,
}

impl<'a> MediaRange<'a> {
    fn read(member: &'a str) -> Option<Self> {
        let mut parts = member.split(';').map(trim);
        let (kind, subtype) = parts.next()?.split_once('/')?;
        let wanted = !parts
            .filter_map(|parameter| parameter.split_once('='))
            .any(|(name, value)| trim(name).eq_ignore_ascii_case("q") && is_zero(trim(value)));
        let is_range = !kind.is_empty() && !subtype.is_empty() && (kind != "*" || subtype == "*");
        is_range.then_some(Self { kind, subtype, wanted })
    }
}

/// Splits at the commas that stand outside of quoted strings.
fn list_members(line: &str) -> impl Iterator<Item = &str> {
    let (mut quoted, mut escaped) = (false, false);
    line.split(move |character| match character {
        _ if escaped => {
            escaped = false;
            false
        }
        '\\' if quoted => {
            escaped = true;
            false
        }
        '"' => {
            quoted = !quoted;
            false
        }
        ',' => !quoted,
        _ => false,
    })
    .map(trim)
}

fn trim(text: &str) -> &str {
    text.trim_matches([' ', '\t'])
}

/// `0`, `0.` and `0.000`.
fn is_zero(quality: &str) -> bool {
    quality.strip_prefix('0').is_some_and(|rest| {
        rest.is_empty()
            || rest.strip_prefix('.').is_some_and(|digits| digits.bytes().all(|digit| digit == b'0'))
    })
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use proptest::prelude::*;

    use super::*;

    const JSON: Accepts = Accepts { json: true, sse: false };
    const SSE: Accepts = Accepts { json: false, sse: true };

    fn accepts(lines: &[&str]) -> Option<Accepts> {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(ACCEPT, HeaderValue::from_str(line).unwrap());
        }
        check(&headers).map_err(|refusal| assert_eq!(refusal.status.as_u16(), 406)).ok()
    }

    #[test]
    fn http_07_both_types_listed() {
        assert_eq!(accepts(&["application/json, text/event-stream"]), Some(Accepts::BOTH));
        assert_eq!(accepts(&["application/json", "text/event-stream"]), Some(Accepts::BOTH));
    }

    #[test]
    fn a_39_absence_and_wildcards_are_both() {
        for lines in [&[][..], &["*/*"], &[""], &["application/*, text/*"], &["text/html, */*;q=0.1"]] {
            assert_eq!(accepts(lines), Some(Accepts::BOTH), "{lines:?}");
        }
    }

    #[test]
    fn e15_one_type_alone_is_served() {
        for (line, expected) in [
            ("application/json", JSON),
            ("application/*", JSON),
            ("Application/JSON;charset=utf-8", JSON),
            ("text/event-stream", SSE),
            ("text/html, TEXT/Event-Stream ; q=0.2", SSE),
            ("application/json;q=0, text/event-stream", SSE),
            ("*/*, text/event-stream;q=0.000", JSON),
            ("text/*;q=0, */*", JSON),
        ] {
            assert_eq!(accepts(&[line]), Some(expected), "{line}");
        }
    }

    #[test]
    fn a_39_406_if_neither_can_match() {
        for line in ["text/html", "application/json;q=0", "*/*;q=0.0", "image/*, text/plain"] {
            assert_eq!(accepts(&[line]), None, "{line}");
        }
    }

    #[test]
    fn the_most_specific_range_decides_in_any_order() {
        assert_eq!(accepts(&["application/json;q=0", "*/*"]), Some(SSE));
        assert_eq!(accepts(&["*/*;q=0", "application/json"]), Some(JSON));
    }

    #[test]
    fn a_comma_in_quotes_separates_nothing() {
        assert_eq!(accepts(&[r#"text/html;a="x, application/json", image/png"#]), None);
        assert_eq!(accepts(&[r#"text/html;a="\",", text/event-stream"#]), Some(SSE));
    }

    proptest! {
        #[test]
        fn any_value_gets_an_answer(line in "[ -~\t]{0,60}") {
            if let Some(accepts) = accepts(&[&line]) {
                prop_assert!(accepts.json || accepts.sse);
            }
        }

        #[test]
        fn a_listed_type_is_taken(before in "[a-z]{1,5}/[a-z]{1,5}", q in 1_u16..1000, after in "[a-z*]{0,9}") {
            let line = format!("{before}, application/json;q=0.{q:03}, {after}");
            prop_assert!(accepts(&[&line]).is_some_and(|accepts| accepts.json));
        }
    }
}
