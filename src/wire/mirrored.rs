//! The `Mcp-Param-*` headers of a request: arguments mirrored for gateways (XHDR-01).

/// The mirrored parameters of one request, as sent: names without the `Mcp-Param-` prefix, values still encoded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MirroredParams(Vec<(Box<str>, Box<str>)>);

impl MirroredParams {
    pub(crate) fn push(&mut self, name: &str, value: &str) {
        self.0.push((name.into(), value.into()));
    }

    /// The value of a parameter; names compare without case.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }

    /// All of them, in the order of the headers.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (&**name, &**value))
    }

    /// Whether the request mirrors nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
