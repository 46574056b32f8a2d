//! META-15: `traceparent`, `tracestate` and `baggage` follow the W3C formats; a value that does not is as good as absent.
//!
//! W3C Trace Context and Baggage tell a receiver to go on without what it cannot read, so nothing here is an error.

use http::{HeaderMap, HeaderName};

use super::header_value::{Header, readable, single};
use crate::wire::{RequestMeta, keys};

/// Members that a `tracestate` may have, and its receivers must keep.
const MEMBERS: usize = 32;

/// Bytes of a `baggage` that must be carried; more is dropped as a whole.
const BAGGAGE: usize = 8192;

static PARENT: Header = Header::new(keys::TRACEPARENT, keys::TRACEPARENT);
static STATE: HeaderName = HeaderName::from_static(keys::TRACESTATE);
static BAGGAGE_LINES: HeaderName = HeaderName::from_static(keys::BAGGAGE);

/// Takes what `_meta` does not say from the headers of the same names, which proxies and clients that know nothing of
/// `_meta` set. A state stays with its own parent.
pub(crate) fn or_headers(meta: &mut RequestMeta, headers: &HeaderMap) {
    if meta.traceparent.is_none() {
        let parent = single(headers, &PARENT).ok().flatten();
        meta.traceparent = parent.filter(|parent| is_traceparent(parent)).map(str::to_owned);
        meta.tracestate = None;
        if meta.traceparent.is_some() {
            meta.tracestate = joined(headers, &STATE).filter(|state| is_tracestate(state));
        }
    }
    if meta.baggage.is_none() {
        meta.baggage = joined(headers, &BAGGAGE_LINES).filter(|baggage| is_baggage(baggage));
    }
}

/// The lines of a header that is a list, as one.
fn joined(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    if !headers.contains_key(name) {
        return None;
    }
    let lines: Option<Vec<&str>> = headers.get_all(name).iter().map(readable).collect();
    lines.map(|lines| lines.join(","))
}

/// Whether a `traceparent` is well formed: `00-<32 hex>-<16 hex>-<2 hex>`, ids not all zero. Later versions may be longer.
pub(crate) fn is_traceparent(value: &str) -> bool {
    let mut fields = value.splitn(5, '-');
    let mut next = || fields.next().unwrap_or_default();
    let (version, trace_id, parent_id, flags, rest) = (next(), next(), next(), next(), fields.next());
    is_hex(version, 2)
        && version != "ff"
        && is_id(trace_id, 32)
        && is_id(parent_id, 16)
        && is_hex(flags, 2)
        && (version != "00" || rest.is_none())
}

/// Whether a `tracestate` is well formed: at most 32 members `key=value`.
pub(crate) fn is_tracestate(value: &str) -> bool {
    let mut members = 0;
    value.split(',').map(trim).filter(|member| !member.is_empty()).all(|member| {
        members += 1;
        members <= MEMBERS
            && member.split_once('=').is_some_and(|(key, value)| is_key(key) && is_state(value))
    })
}

/// Whether a `baggage` is well formed: members `key=value`, each with optional `;properties`, 8 KiB in all.
pub(crate) fn is_baggage(value: &str) -> bool {
    value.len() <= BAGGAGE
        && value.split(',').all(|member| {
            let mut parts = member.split(';').map(trim);
            let pair = parts.next().and_then(|pair| pair.split_once('='));
            pair.is_some_and(|(key, value)| is_token(trim(key)) && is_baggage_value(trim(value)))
                && parts.all(|property| match property.split_once('=') {
                    Some((key, value)) => is_token(trim(key)) && is_baggage_value(trim(value)),
                    None => is_token(property),
                })
        })
}

fn trim(text: &str) -> &str {
    text.trim_matches([' ', '\t'])
}

fn is_hex(text: &str, length: usize) -> bool {
    text.len() == length && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn is_id(text: &str, length: usize) -> bool {
    is_hex(text, length) && text.bytes().any(|byte| byte != b'0')
}

/// A key of `tracestate`: `vendor` or `tenant@vendor`.
fn is_key(key: &str) -> bool {
    let (tenant, vendor) = match key.split_once('@') {
        Some((tenant, vendor)) => (Some(tenant), vendor),
        None => (None, key),
    };
    let is_part = |part: &str, longest: usize| {
        (1..=longest).contains(&part.len())
            && part.bytes().all(|byte| {
                byte.is_ascii_lowercase()
                    || byte.is_ascii_digit()
                    || matches!(byte, b'_' | b'-' | b'*' | b'/')
            })
    };
    let starts_low = |part: &str| part.starts_with(|first: char| first.is_ascii_lowercase());
    match tenant {
        Some(tenant) => {
            let first =
                tenant.starts_with(|first: char| first.is_ascii_lowercase() || first.is_ascii_digit());
            first && is_part(tenant, 241) && starts_low(vendor) && is_part(vendor, 14)
        }
        None => {
            key.starts_with(|first: char| first.is_ascii_lowercase() || first.is_ascii_digit())
                && is_part(key, 256)
        }
    }
}

/// A value of `tracestate`: printable, without comma and equals sign.
fn is_state(value: &str) -> bool {
    (1..=256).contains(&value.len())
        && value.bytes().all(|byte| matches!(byte, 0x20..=0x7e) && byte != b',' && byte != b'=')
}

/// A token of RFC 9110.
fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// A value of `baggage`: percent-encoded text.
fn is_baggage_value(value: &str) -> bool {
    value.bytes().all(|byte| matches!(byte, 0x21 | 0x23..=0x2b | 0x2d..=0x3a | 0x3c..=0x5b | 0x5d..=0x7e))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    const IN_META: &str = "00-11111111111111111111111111111111-1111111111111111-01";
    const IN_HEADER: &str = "00-22222222222222222222222222222222-2222222222222222-01";

    fn with_headers(mut meta: RequestMeta, lines: &[(&'static str, &'static str)]) -> [Option<String>; 3] {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, HeaderValue::from_static(value));
        }
        or_headers(&mut meta, &headers);
        [meta.traceparent, meta.tracestate, meta.baggage]
    }

    fn own(values: [Option<&str>; 3]) -> [Option<String>; 3] {
        values.map(|value| value.map(str::to_owned))
    }

    #[test]
    fn m1_headers_say_what_meta_does_not() {
        let lines = [("traceparent", IN_HEADER), ("tracestate", "a=b"), ("baggage", "k=v")];
        assert_eq!(
            with_headers(RequestMeta::default(), &lines),
            own([Some(IN_HEADER), Some("a=b"), Some("k=v")])
        );
        let meta = RequestMeta { traceparent: Some(IN_META.to_owned()), ..RequestMeta::default() };
        assert_eq!(with_headers(meta, &lines), own([Some(IN_META), None, Some("k=v")]));
    }

    #[test]
    fn m1_malformed_and_repeated_headers_are_ignored() {
        for parent in [
            "00-00000000000000000000000000000000-2222222222222222-01",
            "00-ABCDEF22222222222222222222222222-2222222222222222-01",
            "00-2222",
        ] {
            let lines = [("traceparent", parent), ("tracestate", "a=b"), ("baggage", "x")];
            assert_eq!(with_headers(RequestMeta::default(), &lines), own([None; 3]), "{parent}");
        }
        let twice = [("traceparent", IN_HEADER), ("traceparent", IN_HEADER)];
        assert_eq!(with_headers(RequestMeta::default(), &twice), own([None; 3]));
    }

    #[test]
    fn lists_may_come_on_several_lines() {
        let lines = [("baggage", "a=1"), ("baggage", "b=2")];
        assert_eq!(with_headers(RequestMeta::default(), &lines), own([None, None, Some("a=1,b=2")]));
    }

    #[test]
    fn meta_15_traceparent() {
        let good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        assert!(is_traceparent(good));
        assert!(is_traceparent(&format!("cc{}-what-comes-later", &good[2..])));
        for bad in [
            "",
            "00",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-1",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\n",
        ] {
            assert!(!is_traceparent(bad), "{bad}");
        }
    }

    #[test]
    fn meta_15_tracestate() {
        let full: Vec<_> = (0..32).map(|n| format!("k{n}=v")).collect();
        for good in [
            "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE",
            "fw529a3039@dt=FfAAA",
            "a=b, ,c=d",
            "",
            &full.join(","),
        ] {
            assert!(is_tracestate(good), "{good}");
        }
        for bad in ["a", "A=b", "=b", "a=", "a=b=c", "ü=b", "a@1=b", &format!("{},z=v", full.join(","))] {
            assert!(!is_tracestate(bad), "{bad}");
        }
    }

    #[test]
    fn meta_15_baggage() {
        for good in ["userId=alice,serverNode=DF%2028,isProduction=false", "k=v;p1;p2=x , a = ", "k=a=b"] {
            assert!(is_baggage(good), "{good}");
        }
        for bad in ["", "k", "k=a b", "k=\"v\"", "k=v,", "ü=v", "k=v;", &format!("k={}", "v".repeat(8192))] {
            assert!(!is_baggage(bad), "{bad}");
        }
    }
}
