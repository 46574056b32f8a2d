//! HTTP-02, HTTP-03, F5: a web page may call the server only if its origin is listed.
//!
//! Compared are the parsed scheme, host and port. Programs send no `Origin` and pass. `null`, which any sandboxed page
//! can send, needs a switch of its own.

use http::HeaderMap;
use http::header::ORIGIN;

use super::errors::{Refusal, Shown};
use super::host::{Host, HostName, all_or_faults};

/// Which origins may call. The default lists nothing, so that every request with an `Origin` is refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OriginPolicy {
    listed: Vec<Entry>,
    loopback: bool,
    null: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    /// In lower case.
    scheme: Box<str>,
    host: HostName,
    /// Without one, every port matches.
    port: Option<u16>,
}

impl OriginPolicy {
    /// Lists origins such as `https://app.example.com`, in place of those before. An entry without a port matches every port.
    ///
    /// # Errors
    ///
    /// What is wrong with each entry.
    pub(crate) fn with_list(
        mut self,
        origins: impl IntoIterator<Item = String>,
    ) -> Result<Self, Vec<String>> {
        self.listed = all_or_faults(origins.into_iter().map(|entry| Entry::read(&entry)))?;
        Ok(self)
    }

    /// Allows the pages of this machine: `http` and `https` on a loopback host, any port. For loopback binds.
    #[must_use]
    pub(crate) fn with_loopback(mut self, allowed: bool) -> Self {
        self.loopback = allowed;
        self
    }

    /// Allows `Origin: null`.
    #[must_use]
    pub(crate) fn with_null(mut self, allowed: bool) -> Self {
        self.null = allowed;
        self
    }

    /// Whether pages of any other origin than the server's own may call, so that browsers must be told.
    pub(crate) fn lists_any(&self) -> bool {
        self.null || !self.listed.is_empty()
    }

    fn allows(&self, origin: &str) -> bool {
        if origin == "null" {
            return self.null;
        }
        let Some(origin) = Origin::read(origin) else {
            return false;
        };
        let is_web = origin.default_port().is_some();
        (self.loopback && is_web && origin.host.is_loopback())
            || self.listed.iter().any(|entry| origin.is(entry))
    }
}

impl Entry {
    fn read(entry: &str) -> Result<Self, String> {
        let wrong = |fault: &str| format!("allowed_origins: `{}` {fault}", Shown(entry));
        if entry == "null" {
            return Err(wrong("is sent by any sandboxed page; it needs its own switch"));
        }
        let origin = Origin::read(entry).ok_or_else(|| {
            wrong("is not an origin; an entry is scheme, host and perhaps a port, without a path")
        })?;
        if entry.contains('*') {
            return Err(wrong("has a wildcard; an entry is one exact origin"));
        }
        let host = match origin.host {
            Host::Name(name) => HostName::Name(name.to_ascii_lowercase().into()),
            Host::Ip(address) => HostName::Ip(address),
        };
        Ok(Self { scheme: origin.scheme.to_ascii_lowercase().into(), host, port: origin.port })
    }
}

/// An origin as it was sent.
struct Origin<'a> {
    scheme: &'a str,
    host: Host<'a>,
    port: Option<u16>,
}

impl<'a> Origin<'a> {
    fn read(text: &'a str) -> Option<Self> {
        let (scheme, authority) = text.split_once("://")?;
        let (host, port) = Host::read(authority)?;
        let port = match port.strip_prefix(':') {
            Some(digits) => Some(digits.parse().ok()?),
            None => None,
        };
        let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
        is_scheme.then_some(Self { scheme, host, port })
    }

    /// The port that browsers leave out.
    fn default_port(&self) -> Option<u16> {
        match self.scheme {
            scheme if scheme.eq_ignore_ascii_case("http") => Some(80),
            scheme if scheme.eq_ignore_ascii_case("https") => Some(443),
            _ => None,
        }
    }

    fn is(&self, entry: &Entry) -> bool {
        self.scheme.eq_ignore_ascii_case(&entry.scheme)
            && self.host.is(&entry.host)
            && (entry.port.is_none() || entry.port == self.port.or_else(|| self.default_port()))
    }
}

/// Checks `Origin`, if there is one.
///
/// # Errors
///
/// 403.
pub(crate) fn check(headers: &HeaderMap, policy: &OriginPolicy) -> Result<(), Refusal> {
    let mut lines = headers.get_all(ORIGIN).iter();
    let Some(line) = lines.next() else { return Ok(()) };
    if lines.next().is_some() {
        return Err(Refusal::origin("the header Origin comes more than once"));
    }
    let origin = line.to_str().map_err(|_| Refusal::origin("the header Origin is not an origin"))?;
    if policy.allows(origin) {
        return Ok(());
    }
    let origin = Shown(origin);
    Err(Refusal::origin(format!(
        "pages of the origin `{origin}` may not call this server; see allowed_origins"
    )))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn passes(origin: &str, policy: &OriginPolicy) -> bool {
        let mut headers = HeaderMap::new();
        headers.append(ORIGIN, HeaderValue::from_str(origin).unwrap());
        check(&headers, policy).map_err(|refusal| assert_eq!(refusal.status.as_u16(), 403)).is_ok()
    }

    fn list(origins: &[&str]) -> Result<OriginPolicy, Vec<String>> {
        OriginPolicy::default().with_list(origins.iter().map(|origin| (*origin).to_owned()))
    }

    #[test]
    fn http_02_no_origin_passes() {
        assert!(check(&HeaderMap::new(), &OriginPolicy::default()).is_ok());
    }

    #[test]
    fn http_03_an_empty_list_refuses_every_origin() {
        for origin in ["http://elsewhere.example", "http://localhost", "null", "", "*"] {
            assert!(!passes(origin, &OriginPolicy::default()), "{origin}");
        }
    }

    #[test]
    fn f5_an_entry_without_a_port_matches_every_port() {
        let policy = list(&["http://localhost"]).unwrap();
        for origin in ["http://localhost", "http://localhost:6274", "HTTP://LOCALHOST:1"] {
            assert!(passes(origin, &policy), "{origin}");
        }
        for origin in [
            "https://localhost:6274",
            "http://localhost.elsewhere.example",
            "http://elsewhere.example/http://localhost",
            "http://localhost@elsewhere.example",
            "http://localhost:99999",
            "http://localhost/",
            "null",
        ] {
            assert!(!passes(origin, &policy), "{origin}");
        }
    }

    #[test]
    fn f5_an_entry_with_a_port_matches_that_port() {
        let policy =
            list(&["https://app.example.com:443", "vscode-webview://abc", "http://[::1]:5173"]).unwrap();
        for origin in ["https://app.example.com", "https://app.example.com:443", "vscode-webview://abc"] {
            assert!(passes(origin, &policy), "{origin}");
        }
        assert!(passes("http://[0::1]:5173", &policy));
        assert!(!passes("https://app.example.com:8443", &policy));
    }

    #[test]
    fn f5_loopback_origins_pass_where_the_bind_is_loopback() {
        let policy = OriginPolicy::default().with_loopback(true);
        for origin in ["http://localhost:6274", "https://127.0.0.1", "http://[::1]:3000"] {
            assert!(passes(origin, &policy), "{origin}");
        }
        for origin in ["http://elsewhere.example", "tauri://localhost", "null", "http://0.0.0.0:3000"] {
            assert!(!passes(origin, &policy), "{origin}");
        }
    }

    #[test]
    fn f5_null_needs_its_own_switch() {
        assert!(passes("null", &OriginPolicy::default().with_null(true)));
        assert!(list(&["null"]).unwrap_err()[0].contains("switch"));
    }

    #[test]
    fn two_lines_are_refused() {
        let mut headers = HeaderMap::new();
        headers.append(ORIGIN, HeaderValue::from_static("http://localhost"));
        headers.append(ORIGIN, HeaderValue::from_static("http://localhost"));
        assert!(check(&headers, &OriginPolicy::default().with_loopback(true)).is_err());
    }

    #[test]
    fn a_list_tells_what_is_wrong_with_it() {
        for entry in
            ["app.example.com", "https://app.example.com/", "https://", "*", "https://*.example.com", ""]
        {
            assert!(list(&[entry]).unwrap_err()[0].contains("allowed_origins"), "{entry}");
        }
    }
}
