//! The token that a client wants progress reported with: string or integer, echoed with its type (PROG-03).

use serde::ser::Error;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Number, Value, from_str};

/// A progress token as the client gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgressToken(Token);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    String(Box<str>),
    Integer(Number),
    /// `-0`, which no [`Number`] but a float holds.
    MinusZero,
}

impl ProgressToken {
    /// The token in a JSON value; `None` if it is neither a string nor an integer. `-0` is an integer that JSON readers take
    /// for a float: it is echoed as it is, and `-0.0`, which cannot be told from it, as `-0`.
    pub fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Some(Self(Token::String(text.as_str().into()))),
            Value::Number(number) if number.is_i64() || number.is_u64() => {
                Some(Self(Token::Integer(number.clone())))
            }
            Value::Number(number) if number.as_f64().is_some_and(is_minus_zero) => {
                Some(Self(Token::MinusZero))
            }
            _ => None,
        }
    }
}

fn is_minus_zero(number: f64) -> bool {
    number == 0.0 && number.is_sign_negative()
}

impl From<i64> for ProgressToken {
    fn from(token: i64) -> Self {
        Self(Token::Integer(token.into()))
    }
}

impl From<&str> for ProgressToken {
    fn from(token: &str) -> Self {
        Self(Token::String(token.into()))
    }
}

impl Serialize for ProgressToken {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Token::String(text) => text.serialize(serializer),
            Token::Integer(number) => number.serialize(serializer),
            Token::MinusZero => from_str::<&RawValue>("-0").map_err(S::Error::custom)?.serialize(serializer),
        }
    }
}
