//! Who calls: computed once per HTTP request, passed by value, never inferred from the connection.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

/// The caller of a request. Without authentication everyone is [anonymous](Principal::anonymous).
///
/// Two principals are equal if their ids are; `Debug` shows the id and the expiry, never an extension.
#[derive(Clone, Default)]
pub struct Principal(Option<Arc<Known>>);

#[derive(Clone)]
struct Known {
    id: Box<str>,
    expires_at: Option<SystemTime>,
    scopes: Vec<String>,
    extensions: http::Extensions,
}

impl Principal {
    /// The caller that nobody has identified.
    pub fn anonymous() -> Self {
        Self(None)
    }

    /// A caller with a stable id, for example issuer and subject of its token.
    pub fn new(id: impl Into<String>) -> Self {
        let id = id.into().into_boxed_str();
        Self(Some(Arc::new(Known {
            id,
            expires_at: None,
            scopes: Vec::new(),
            extensions: http::Extensions::new(),
        })))
    }

    /// Sets when the caller's authorization ends, by the server's [clock](crate::Options::clock): from then on it is refused
    /// with 401, and its streams end with `shutdown: expired` (AUTH-14). A call that runs goes on. Default: never.
    /// Who may be revoked before is asked about with [`Options::still_valid`](crate::Options::still_valid).
    #[must_use]
    pub fn expiring_at(self, at: SystemTime) -> Self {
        self.map(|known| known.expires_at = Some(at))
    }

    /// Sets the scopes that the caller has; none by default. Where one scope includes others, add those too (AUTH-18).
    #[must_use]
    pub fn with_scopes<S: Into<String>>(self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.map(|known| known.scopes = scopes.into_iter().map(Into::into).collect())
    }

    /// Attaches a typed value, for example the scopes or the user record.
    #[must_use]
    pub fn with_extension<T: Clone + Send + Sync + 'static>(self, value: T) -> Self {
        self.map(|known| {
            known.extensions.insert(value);
        })
    }

    fn map(self, change: impl FnOnce(&mut Known)) -> Self {
        Self(self.0.map(|mut known| {
            change(Arc::make_mut(&mut known));
            known
        }))
    }

    /// The stable id; `None` for the anonymous caller.
    pub fn id(&self) -> Option<&str> {
        self.0.as_ref().map(|known| &*known.id)
    }

    /// Whether nobody has identified the caller.
    pub fn is_anonymous(&self) -> bool {
        self.0.is_none()
    }

    /// When the caller's authorization ends; `None` means that it does not.
    pub fn expires_at(&self) -> Option<SystemTime> {
        self.0.as_ref()?.expires_at
    }

    /// Whether the caller has a scope.
    pub fn has_scope(&self, scope: &str) -> bool {
        self.0.as_ref().is_some_and(|known| known.scopes.iter().any(|own| own == scope))
    }

    /// A typed value that was attached with [`with_extension`](Principal::with_extension).
    pub fn extension<T: Clone + Send + Sync + 'static>(&self) -> Option<&T> {
        self.0.as_ref()?.extensions.get()
    }
}

impl PartialEq for Principal {
    fn eq(&self, other: &Self) -> bool {
        self.id() == other.id()
    }
}

impl Eq for Principal {}

impl fmt::Debug for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Principal").field("id", &self.id()).field("expires_at", &self.expires_at()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_never_shows_an_extension() {
        #[derive(Clone, Debug)]
        struct Secret(#[allow(dead_code)] &'static str);
        let caller = Principal::new("alice").with_extension(Secret("hunter2"));
        assert_eq!(caller.extension::<Secret>().map(|s| s.0), Some("hunter2"));
        assert!(!format!("{caller:?}").contains("hunter2"));
    }

    #[test]
    fn principals_are_equal_by_id_only() {
        assert_eq!(Principal::new("a").expiring_at(SystemTime::UNIX_EPOCH), Principal::new("a"));
        assert_ne!(Principal::new("a"), Principal::anonymous());
    }
}
