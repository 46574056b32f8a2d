//! The `Mcp-Param-*` headers of a request: arguments mirrored for gateways (XHDR-01).

/// The mirrored parameters of one request, as sent: names without the `Mcp-Param-` prefix, values still encoded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MirroredParams(Option<Vec<(Box<str>, Box<str>)>>);

impl MirroredParams {
    /// None so far, on a transport that has headers.
    pub(crate) fn of_headers() -> Self {
        Self(Some(Vec::new()))
    }

    pub(crate) fn push(&mut self, name: &str, value: &str) {
        self.0.get_or_insert_default().push((name.into(), value.into()));
    }

    /// Whether the request came with headers at all. Without them there is nothing to check (XHDR-22).
    pub fn have_headers(&self) -> bool {
        self.0.is_some()
    }

    /// The value of a parameter; names compare without case.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// All of them, in the order of the headers.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().flatten().map(|(name, value)| (&**name, &**value))
    }

    /// Whether the request mirrors nothing.
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }
}
