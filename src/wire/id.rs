//! The id of a request: a string or an integer of any length, kept and echoed byte for byte (BASE-06, BASE-08).

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};

/// A JSON-RPC request id. `"7"` and `7` are two ids.
#[derive(Clone)]
pub struct RequestId(Arc<RawValue>);

impl RequestId {
    /// The id in its JSON form. The caller has checked that it is a string or an integer.
    pub(crate) fn from_raw(raw: Box<RawValue>) -> Self {
        Self(Arc::from(raw))
    }

    /// The id as JSON: with quotes if it is a string.
    pub fn as_json(&self) -> &str {
        self.0.get()
    }
}

impl From<i64> for RequestId {
    fn from(id: i64) -> Self {
        Self::from_raw(to_raw_value(&id).unwrap_or_default())
    }
}

impl From<&str> for RequestId {
    fn from(id: &str) -> Self {
        Self::from_raw(to_raw_value(id).unwrap_or_default())
    }
}

impl Serialize for RequestId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_json())
    }
}

impl fmt::Debug for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RequestId({})", self.as_json())
    }
}

impl PartialEq for RequestId {
    fn eq(&self, other: &Self) -> bool {
        self.as_json() == other.as_json()
    }
}

impl Eq for RequestId {}

impl Hash for RequestId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_json().hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_08_string_and_integer_are_two_ids() {
        assert_ne!(RequestId::from("7"), RequestId::from(7));
        assert_eq!(serde_json::to_string(&RequestId::from("snow-❄")).unwrap(), "\"snow-❄\"");
        assert_eq!(serde_json::to_string(&RequestId::from(-1)).unwrap(), "-1");
    }
}
