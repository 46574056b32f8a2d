//! BASE-01, BASE-06, BASE-16, BASE-24, E1 to E4, E6, E8, E9: a body is one JSON-RPC request or notification.
//!
//! Refused as no JSON (`-32700`): whatever the grammar lacks, and what `json.rs` adds to it. Refused as no message
//! (`-32600`): batches, responses, other ids than strings and integers, repeated keys, deep nesting. Those are well-formed
//! JSON, so reading goes on to its end, and the answer has the id wherever it stood.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::errors::Refusal;
use super::json::{DEEPEST, Fault, MOST_VALUES, Strict};
use super::members::{Members, Object};
use crate::wire::RequestId;

/// One message of a client.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// It has an id: an answer is due.
    Request {
        /// The id as it came.
        id: RequestId,
        /// The method, known or not.
        method: String,
        /// The parameters, `_meta` included.
        params: Option<Members>,
    },
    /// It has none.
    Notification {
        /// The method, known or not.
        method: String,
        /// The parameters, `_meta` included.
        params: Option<Members>,
    },
}

/// Reads one message, at most `depth` levels deep (and never more than 126), with an id of at most `longest_id` bytes. The
/// number is how many JSON values it holds, which says more of what it takes in memory than its bytes do.
///
/// # Errors
///
/// 400 with `-32700` or `-32600`, and with the id where there is one to echo.
pub(crate) fn read(body: &[u8], depth: usize, longest_id: usize) -> Result<(Incoming, usize), Refusal> {
    let text = std::str::from_utf8(body).map_err(|error| {
        Refusal::not_json(format!("the body is not UTF-8 from byte {} on", error.valid_up_to()))
    })?;
    match text.trim_start_matches([' ', '\t', '\r', '\n']).bytes().next() {
        Some(b'{') => {}
        Some(first) => return Err(not_an_object(text, first)),
        None => {
            return Err(Refusal::not_json("the body is empty; it is one JSON-RPC request or notification"));
        }
    }
    let depth = depth.min(DEEPEST);
    let fault = RefCell::new(None);
    let left = Cell::new(MOST_VALUES);
    let mut json = serde_json::Deserializer::from_str(text);
    // The frame is the first level.
    let strict = Strict::new(&fault, &left, depth.saturating_sub(1));
    let envelope =
        json.deserialize_map(EnvelopeVisitor(strict)).and_then(|envelope| json.end().map(|()| envelope));
    match (envelope, fault.into_inner()) {
        (Err(_), Some(fault @ Fault::Number)) => Err(fault.refusal(depth)),
        (Err(error), _) => Err(Refusal::not_json(format!("the body is not JSON: {error}"))),
        (Ok(envelope), fault) => {
            let values = MOST_VALUES - left.get();
            envelope.into_message(fault, depth, longest_id).map(|incoming| (incoming, values))
        }
    }
}

/// Tells well-formed JSON that is no object from what is no JSON at all.
fn not_an_object(text: &str, first: u8) -> Refusal {
    match serde_json::from_str::<IgnoredAny>(text) {
        Ok(_) if first == b'[' => {
            Refusal::not_a_message("the body is a batch; each message is a POST of its own")
        }
        Ok(_) => Refusal::not_a_message("the body is no object; it is one JSON-RPC request or notification"),
        Err(error) => Refusal::not_json(format!("the body is not JSON: {error}")),
    }
}

/// The members of the JSON-RPC frame, as far as they are there. Names are case-sensitive (E9).
#[derive(Default)]
struct Envelope<'de> {
    jsonrpc: Option<Value>,
    id: Option<&'de RawValue>,
    id_repeated: bool,
    method: Option<Value>,
    /// `Err` inside: not an object.
    params: Option<Result<Members, Value>>,
    /// Names of members that the frame does not define. Ignored (BASE-28), but not twice.
    others: HashSet<String>,
}

impl Envelope<'_> {
    fn into_message(
        self,
        fault: Option<Fault>,
        depth: usize,
        longest_id: usize,
    ) -> Result<Incoming, Refusal> {
        let id = match self.id {
            Some(raw) if !self.id_repeated => Some(request_id(raw, longest_id)?),
            _ => None,
        };
        // The id of a response is not one of a request to this server.
        let echoed = id.clone().filter(|_| !self.is_response());
        let call = match fault {
            Some(fault) => Err(fault.refusal(depth)),
            None => self.into_call(),
        };
        match (call, id) {
            (Ok((method, params)), Some(id)) => Ok(Incoming::Request { id, method, params }),
            (Ok((method, params)), None) => Ok(Incoming::Notification { method, params }),
            (Err(refusal), _) => Err(refusal.with_id_option(echoed)),
        }
    }

    fn is_response(&self) -> bool {
        self.method.is_none() && ["result", "error"].iter().any(|name| self.others.contains(*name))
    }

    fn into_call(self) -> Result<Call, Refusal> {
        let invalid = |message: &'static str| Err(Refusal::not_a_message(message));
        if self.is_response() {
            return invalid("the body is a response; this server sends no requests");
        }
        match self.jsonrpc {
            Some(Value::String(version)) if version == "2.0" => {}
            Some(_) => return invalid("`jsonrpc` is not the string \"2.0\""),
            None => return invalid("`jsonrpc` is missing; it is \"2.0\""),
        }
        let method = match self.method {
            Some(Value::String(method)) => method,
            Some(_) => return invalid("`method` is not a string"),
            None => return invalid("`method` is missing"),
        };
        match self.params {
            None => Ok((method, None)),
            Some(Ok(params)) => Ok((method, Some(params))),
            Some(Err(_)) => invalid("`params` is not an object"),
        }
    }
}

type Call = (String, Option<Members>);

/// An id is a string or an integer of any size (BASE-06), within the limit, so that a refusal cannot be made to echo
/// megabytes (E6).
fn request_id(raw: &RawValue, longest: usize) -> Result<RequestId, Refusal> {
    let text = raw.get();
    if text.len() > longest {
        return Err(Refusal::not_a_message(format!("the id is longer than {longest} bytes")));
    }
    let is_integer = || {
        let digits = text.strip_prefix('-').unwrap_or(text);
        digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let is_string = text.starts_with('"');
    // serde_json leaves escapes of raw text unchecked.
    if is_string && text.contains('\\') && serde_json::from_str::<String>(text).is_err() {
        return Err(Refusal::not_json("the id is not JSON: it has an escape that is no character"));
    }
    if is_string || is_integer() {
        Ok(RequestId::from_raw(raw.to_owned()))
    } else {
        Err(Refusal::not_a_message("the id is neither a string nor an integer"))
    }
}

/// A member name of the frame.
enum Member {
    Jsonrpc,
    Id,
    Method,
    Params,
    Other(String),
}

impl<'de> Deserialize<'de> for Member {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MemberVisitor;
        impl Visitor<'_> for MemberVisitor {
            type Value = Member;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a member name")
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<Member, E> {
                Ok(match name {
                    "jsonrpc" => Member::Jsonrpc,
                    "id" => Member::Id,
                    "method" => Member::Method,
                    "params" => Member::Params,
                    other => Member::Other(other.to_owned()),
                })
            }
        }
        deserializer.deserialize_identifier(MemberVisitor)
    }
}

struct EnvelopeVisitor<'f>(Strict<'f>);

impl<'de> Visitor<'de> for EnvelopeVisitor<'_> {
    type Value = Envelope<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON-RPC message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Envelope<'de>, A::Error> {
        let strict = self.0;
        let mut envelope = Envelope::default();
        while let Some(member) = map.next_key()? {
            let counted = strict.count();
            let repeated: Option<Cow<'static, str>> = match member {
                Member::Id => {
                    // Kept as text: no number type holds every id, and `null` is not the same as absence.
                    envelope.id_repeated = envelope.id.replace(map.next_value()?).is_some();
                    envelope.id_repeated.then_some("id".into())
                }
                _ if !counted => {
                    map.next_value::<IgnoredAny>()?;
                    None
                }
                Member::Jsonrpc => {
                    envelope.jsonrpc.replace(map.next_value_seed(strict)?).map(|_| "jsonrpc".into())
                }
                Member::Method => {
                    envelope.method.replace(map.next_value_seed(strict)?).map(|_| "method".into())
                }
                Member::Params => {
                    let params = map.next_value_seed(Object::params(strict))?;
                    envelope.params.replace(params).map(|_| "params".into())
                }
                Member::Other(name) => {
                    map.next_value_seed(strict)?;
                    envelope.others.replace(name).map(Cow::from)
                }
            };
            if let Some(name) = repeated {
                strict.note(Fault::Repeated(name.into_owned()));
            }
        }
        Ok(envelope)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn read(body: impl AsRef<[u8]>) -> Result<Incoming, Refusal> {
        super::read(body.as_ref(), 64, 256).map(|(incoming, _)| incoming)
    }

    /// The code, and the id that the answer echoes.
    fn refused(body: impl AsRef<[u8]>) -> (i64, Option<String>) {
        let refusal = read(body).unwrap_err();
        assert_eq!(refusal.status.as_u16(), 400);
        (refusal.error.code, refusal.id.map(|id| id.as_json().to_owned()))
    }

    fn id_of(body: impl AsRef<[u8]>) -> String {
        match read(body).unwrap() {
            Incoming::Request { id, .. } => id.as_json().to_owned(),
            Incoming::Notification { .. } => panic!("a notification"),
        }
    }

    fn with_id(id: &str) -> String {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#)
    }

    fn with_params(params: &str) -> String {
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{params}}}"#)
    }

    #[test]
    fn a_body_of_more_values_than_anyone_means_is_refused_with_its_id() {
        let body = |count: usize| {
            let values = vec!["{\"\":0}"; count].join(",");
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{{"c":[{values}]}}}}"#)
        };
        assert!(super::read(body(MOST_VALUES / 2 - 10).as_bytes(), 64, 256).is_ok());
        let refusal = super::read(body(MOST_VALUES).as_bytes(), 64, 256).unwrap_err();
        assert_eq!((refusal.status.as_u16(), refusal.error.code), (400, -32600));
        assert_eq!(refusal.id, Some(RequestId::from(1)));
    }

    #[test]
    fn the_members_of_the_message_itself_are_values_too() {
        let body = |count: usize| {
            let members: String = (0..count).map(|n| format!("\"m{n}\":0,")).collect();
            format!(r#"{{{members}"jsonrpc":"2.0","method":"m","params":{{"a":0}},"id":1}}"#)
        };
        let (_, values) = super::read(body(10).as_bytes(), 64, 256).unwrap();
        assert_eq!(values, 10 + 4 + 1);
        assert!(super::read(body(MOST_VALUES - 10).as_bytes(), 64, 256).is_ok());
        let refusal = super::read(body(MOST_VALUES).as_bytes(), 64, 256).unwrap_err();
        assert_eq!((refusal.status.as_u16(), refusal.error.code), (400, -32600));
        assert!(refusal.error.message.contains("values"), "{refusal:?}");
        assert_eq!(refusal.id, Some(RequestId::from(1)));
    }

    #[test]
    fn base_01_a_request_and_a_notification() {
        let request = read(
            r#" {"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"a":[1,-2,0.5,"x",null,true]}} "#,
        );
        let Ok(Incoming::Request { id, method, params }) = request else { panic!("{request:?}") };
        assert_eq!((id.as_json(), &*method), ("1", "tools/list"));
        assert_eq!(Value::Object(params.unwrap().into_map()), json!({ "a": [1, -2, 0.5, "x", null, true] }));

        let notification = read(r#"{"method":"notifications/cancelled","jsonrpc":"2.0"}"#);
        assert!(matches!(notification, Ok(Incoming::Notification { params: None, .. })), "{notification:?}");
    }

    #[test]
    fn base_01_and_e1_a_frame_that_is_not_complete_is_refused_with_its_id() {
        let id = Some("99".to_owned());
        for body in [
            r#"{"id":99,"method":"tools/list","params":{}}"#,
            r#"{"jsonrpc":"1.0","id":99,"method":"tools/list"}"#,
            r#"{"jsonrpc":2.0,"id":99,"method":"tools/list"}"#,
            r#"{"jsonrpc":"2.0","id":99}"#,
            r#"{"jsonrpc":"2.0","id":99,"method":7}"#,
            r#"{"jsonrpc":"2.0","id":99,"method":null}"#,
            r#"{"jsonrpc":"2.0","id":99,"method":"x","params":[]}"#,
            r#"{"jsonrpc":"2.0","id":99,"method":"x","params":null}"#,
        ] {
            assert_eq!(refused(body), (-32600, id.clone()), "{body}");
        }
        assert_eq!(refused("{}"), (-32600, None));
    }

    #[test]
    fn base_06_and_e4_an_id_is_kept_byte_for_byte() {
        for id in [
            "0",
            "-1",
            "7",
            r#""7""#,
            r#""""#,
            "9007199254740993",
            "9223372036854775807",
            "123456789012345678901234567890",
            r#""snow-❄""#,
            r#""\u0041\n\ud83d\ude00""#,
        ] {
            assert_eq!(id_of(with_id(id)), id);
        }
    }

    #[test]
    fn base_06_and_e3_other_ids_are_refused() {
        for id in ["null", "true", "{}", "[1]", "1.5", "1.0", "1e2", "1E2", "-0.0"] {
            assert_eq!(refused(with_id(id)), (-32600, None), "{id}");
        }
        assert_eq!(refused(with_id(r#""\ud800""#)), (-32700, None));
        // Nothing inside of a refused id is looked at, and nothing recurses into it.
        let nested = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
        assert_eq!(refused(with_id(&nested)), (-32600, None));
    }

    #[test]
    fn e6_a_long_id_is_refused_without_an_echo() {
        assert_eq!(id_of(with_id(&"9".repeat(256))).len(), 256);
        for id in ["9".repeat(257), format!("\"{}\"", "x".repeat(3 << 20))] {
            let refusal = read(with_id(&id)).unwrap_err();
            assert_eq!((refusal.error.code, &refusal.id), (-32600, &None));
            assert!(refusal.to_bytes().len() < 300);
        }
    }

    #[test]
    fn base_24_and_e2_batches_are_refused() {
        for body in ["[]", r#"[{"jsonrpc":"2.0","id":1,"method":"x"},{"jsonrpc":"2.0","id":2,"method":"x"}]"#]
        {
            assert_eq!(refused(body), (-32600, None), "{body}");
        }
        assert_eq!(refused(r#"[{"jsonrpc":"2.0""#), (-32700, None));
    }

    #[test]
    fn base_24_responses_are_refused() {
        for body in [
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}"#,
            // Whatever else is wrong with them.
            r#"{"jsonrpc":"2.0","id":1,"result":{"a":1,"a":2}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{},"error":{}}"#,
        ] {
            assert_eq!(refused(body), (-32600, None), "{body}");
        }
    }

    #[test]
    fn base_24_a_body_that_is_no_object_is_refused() {
        for body in ["1", "\"x\"", "null", "true", "1e2"] {
            assert_eq!(refused(body), (-32600, None), "{body}");
        }
    }

    #[test]
    fn base_16_what_is_not_json_is_a_parse_error() {
        for body in
            ["", " \r\n", "not json", r#"{"jsonrpc":"2.0""#, "{]", "\u{feff}{}", "{'a':1}", "{\"a\":1,}"]
        {
            assert_eq!(refused(body), (-32700, None), "{body}");
        }
    }

    #[test]
    fn base_02_and_e11_text_and_numbers_outside_of_json() {
        assert_eq!(refused(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}"), (-32700, None));
        for value in [
            "NaN",
            "Infinity",
            "-Infinity",
            "01",
            "+1",
            ".5",
            "1.",
            "1e400",
            "-1e400",
            "\"\\ud800\"",
            "\"\n\"",
        ] {
            assert_eq!(refused(with_params(&format!("{{\"n\":{value}}}"))), (-32700, None), "{value}");
        }
        for value in ["-0", "1E2", "1e308", "1e-400", "123456789012345678901234567890", "\"\\ud83d\\ude00\""]
        {
            assert!(read(with_params(&format!("{{\"n\":{value}}}"))).is_ok(), "{value}");
        }
    }

    #[test]
    fn e8_depth_is_counted_from_the_body_and_refused_with_the_id() {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let nested = |levels: usize| {
                let value = format!("{}1{}", open.repeat(levels), close.repeat(levels));
                with_params(&format!("{{\"arguments\":{value}}}"))
            };
            // The body and `params` are two levels.
            assert!(read(nested(62)).is_ok());
            for levels in [63, 100, 127, 128, 129, 5000, 200_000] {
                assert_eq!(refused(nested(levels)), (-32600, Some("1".to_owned())), "{levels}");
            }
        }
        assert_eq!(refused(with_params(&"{\"a\":".repeat(5000))), (-32700, None));
    }

    #[test]
    fn e8_a_limit_above_what_serde_json_reads_is_lowered() {
        let nested =
            |levels: usize| with_params(&format!("{{\"a\":{}{}}}", "[".repeat(levels), "]".repeat(levels)));
        assert!(super::read(nested(124).as_bytes(), 1000, 256).is_ok());
        let refusal = super::read(nested(125).as_bytes(), 1000, 256).unwrap_err();
        assert_eq!((refusal.error.code, refusal.id.is_some()), (-32600, true));
    }

    #[test]
    fn e9_repeated_keys_are_refused_at_any_depth() {
        let id = Some("1".to_owned());
        for body in [
            r#"{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"a","x":1,"x":2}"#,
            r#"{"jsonrpc":"2.0","params":{},"method":"a","params":{},"id":1}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"a","x":[{"b":{"c":1,"\u0063":2}}]}"#,
            &with_params(r#"{"arguments":{"a":1,"a":1}}"#),
            &with_params(r#"{"_meta":{"a":{"b":1,"b":1}}}"#),
        ] {
            assert_eq!(refused(body), (-32600, id.clone()), "{body}");
        }
        assert_eq!(refused(r#"{"jsonrpc":"2.0","id":1,"method":"a","id":1}"#), (-32600, None));
    }

    #[test]
    fn e9_bytes_after_the_message_are_refused() {
        for rest in ["{}", "x", ",", "\0"] {
            assert_eq!(refused(format!("{}{rest}", with_id("1"))), (-32700, None), "{rest}");
        }
        assert!(read(format!("{}\r\n", with_id("1"))).is_ok());
    }

    #[test]
    fn e9_names_are_case_sensitive_and_others_are_ignored() {
        let body =
            r#"{"jsonrpc":"2.0","id":1,"method":"a","Method":"b","ID":{},"Params":[],"task":{"deep":[1]}}"#;
        let Ok(Incoming::Request { method, params: None, .. }) = read(body) else { panic!("refused") };
        assert_eq!(method, "a");
        assert_eq!(refused(r#"{"jsonrpc":"2.0","id":1,"Method":"b"}"#), (-32600, Some("1".to_owned())));
    }

    #[test]
    fn a_key_that_serde_json_keeps_for_itself_is_refused() {
        for key in ["Number", "RawValue", "other"] {
            for key in [format!("$serde_json::private::{key}"), format!("\\u0024serde_json::private::{key}")]
            {
                for value in ["\"1\"", "\"\\u0031\"", "1", "[1]", "{}"] {
                    let id = Some("1".to_owned());
                    for params in [
                        format!("{{\"a\":{{\"{key}\":{value}}}}}"),
                        format!("{{\"{key}\":{value}}}"),
                        format!("{{\"_meta\":{{\"{key}\":{value}}}}}"),
                    ] {
                        let body = with_params(&params);
                        assert_eq!(refused(&body), (-32600, id.clone()), "{body}");
                        // The id stands behind it.
                        let body = format!(r#"{{"params":{params},"jsonrpc":"2.0","method":"x","id":1}}"#);
                        assert_eq!(refused(&body), (-32600, id.clone()), "{body}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_key_that_serde_json_keeps_for_itself_hides_no_other_fault_and_no_other_fault_hides_it() {
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        for key in ["$serde_json::private::Number", "$serde_json::private::RawValue"] {
            for params in [
                format!(r#"{{"x":1,"x":2,"a":{{"{key}":"1"}}}}"#),
                format!(r#"{{"a":{{"{key}":"1","x":1,"x":2}}}}"#),
                format!(r#"{{"x":{deep},"a":{{"{key}":[1]}}}}"#),
                format!(r#"{{"a":{{"{key}":{deep}}}}}"#),
            ] {
                assert_eq!(refused(with_params(&params)), (-32600, Some("1".to_owned())), "{params}");
            }
            let body = with_params(&format!(r#"{{"a":{{"{key}":"1"}}"#));
            assert_eq!(refused(body), (-32700, None));
        }
    }

    #[test]
    fn the_order_of_members_stays() {
        let body = with_params(r#"{"z":1,"a":{"y":1,"b":2}}"#);
        let Ok(Incoming::Request { params: Some(params), .. }) = read(body) else { panic!("refused") };
        assert_eq!(serde_json::to_string(&params.into_map()).unwrap(), r#"{"z":1,"a":{"y":1,"b":2}}"#);
    }

    /// JSON text, sometimes with repeated keys.
    fn json() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            Just("null".to_owned()),
            any::<bool>().prop_map(|value| value.to_string()),
            any::<i64>().prop_map(|value| value.to_string()),
            (-1e300..1e300).prop_map(|value: f64| format!("{value:e}")),
            any::<String>().prop_map(|text| serde_json::to_string(&text).unwrap()),
        ];
        leaf.prop_recursive(6, 40, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5)
                    .prop_map(|values| format!("[{}]", values.join(","))),
                prop::collection::vec(("[a-d]{0,2}", inner), 0..5).prop_map(|members| {
                    let members: Vec<_> =
                        members.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
                    format!("{{{}}}", members.join(","))
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_bytes_get_an_answer(body in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&body);
        }

        #[test]
        fn any_json_gets_an_answer(params in json()) {
            let body = format!(r#"{{"jsonrpc":"2.0","id":"a","method":"x","params":{params}}}"#);
            match read(&body) {
                Ok(Incoming::Request { params: Some(read), .. }) => {
                    // No key came twice, so serde_json reads the same.
                    prop_assert_eq!(Value::Object(read.into_map()), serde_json::from_str::<Value>(&params).unwrap());
                }
                Ok(other) => prop_assert!(false, "{:?}", other),
                Err(refusal) => {
                    prop_assert_eq!(refusal.error.code, -32600);
                    prop_assert_eq!(refusal.id, Some(RequestId::from("a")));
                }
            }
        }

        #[test]
        fn mutated_json_gets_an_answer(params in json(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
            let mut body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{params}}}"#).into_bytes();
            let at = at.index(body.len());
            body[at] = byte;
            let strict = read(&body);
            prop_assert!(strict.is_err() || serde_json::from_slice::<Value>(&body).is_ok());
            body.truncate(at);
            prop_assert!(read(&body).is_err());
        }
    }
}
