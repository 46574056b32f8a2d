//! HTTP-22, F1, F2: the name that a client reached the server under, against DNS rebinding.
//!
//! Compared is the parsed host without its port, in any case, without the brackets of IPv6. `0.0.0.0` and `::` are
//! addresses to bind, never to reach, and browsers have let pages use them: they are refused under every policy.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use http::header::HOST;
use http::request::Parts;
use http::uri::Authority;

use super::errors::{Refusal, Shown};

/// Which hosts a listener answers under.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HostPolicy {
    /// `localhost`, `127.0.0.0/8` and `::1`, on any port.
    Loopback,
    /// These, on any port.
    List(Vec<HostName>),
    /// All: something in front of the server checks them.
    Any,
}

/// A host without its port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HostName {
    /// A name in lower case, without a final dot.
    Name(Box<str>),
    /// An address.
    Ip(IpAddr),
}

impl HostPolicy {
    /// A list of names and addresses without ports.
    ///
    /// # Errors
    ///
    /// What is wrong with each entry, or that there is none.
    pub(crate) fn list(hosts: impl IntoIterator<Item = String>) -> Result<Self, Vec<String>> {
        let hosts = all_or_faults(hosts.into_iter().map(|entry| HostName::entry(&entry)))?;
        if hosts.is_empty() {
            return Err(vec![
                "allowed_hosts: the list is empty, which would refuse every request".to_owned(),
            ]);
        }
        Ok(Self::List(hosts))
    }

    fn allows(&self, host: Host<'_>) -> bool {
        match self {
            _ if host.is_unspecified() => false,
            Self::Loopback => host.is_loopback(),
            Self::List(hosts) => hosts.iter().any(|listed| host.is(listed)),
            Self::Any => true,
        }
    }
}

/// All entries of a list, or what is wrong with each that is none.
pub(super) fn all_or_faults<T>(
    entries: impl Iterator<Item = Result<T, String>>,
) -> Result<Vec<T>, Vec<String>> {
    let (mut read, mut faults) = (Vec::new(), Vec::new());
    for entry in entries {
        match entry {
            Ok(entry) => read.push(entry),
            Err(fault) => faults.push(fault),
        }
    }
    if faults.is_empty() { Ok(read) } else { Err(faults) }
}

impl HostName {
    fn entry(entry: &str) -> Result<Self, String> {
        let wrong =
            |fault: &str| format!("allowed_hosts: `{}` {fault}, such as `mcp.example.com`", Shown(entry));
        // An IPv6 address may be listed without the brackets that it has in a URI.
        let bare = entry.parse::<Ipv6Addr>().map(|address| (Host::Ip(address.into()), ""));
        let (host, port) = bare
            .ok()
            .or_else(|| Host::read(entry))
            .ok_or_else(|| wrong("is not a host; an entry is a name or an address"))?;
        if !port.is_empty() {
            return Err(wrong("has a port; an entry has none and matches every port"));
        }
        if host.is_unspecified() {
            return Err(wrong("is no address that a client can reach; list the name that clients use"));
        }
        if entry.contains('*') {
            return Err(wrong("has a wildcard; an entry is one exact name"));
        }
        Ok(match host {
            Host::Name(name) => Self::Name(name.to_ascii_lowercase().into()),
            Host::Ip(address) => Self::Ip(address),
        })
    }
}

/// Checks `Host`, and the authority of the request line if it has one, as HTTP/2 and proxies send it.
///
/// # Errors
///
/// 403.
pub(crate) fn check(head: &Parts, policy: &HostPolicy) -> Result<(), Refusal> {
    let mut lines = head.headers.get_all(HOST).iter();
    let line = lines.next();
    if lines.next().is_some() {
        return Err(Refusal::host("the header Host comes more than once"));
    }
    let line = match line {
        Some(line) => Some(line.to_str().map_err(|_| Refusal::host("the header Host is not a host"))?),
        None => None,
    };
    let authority = head.uri.authority().map(Authority::as_str);
    if line.is_none() && authority.is_none() && *policy != HostPolicy::Any {
        return Err(Refusal::host("the header Host is missing"));
    }
    [line, authority].into_iter().flatten().try_for_each(|text| {
        let host = Host::read(text).map(|(host, _)| host);
        if host.is_some_and(|host| policy.allows(host)) { Ok(()) } else { Err(not_allowed(text)) }
    })
}

fn not_allowed(host: &str) -> Refusal {
    Refusal::host(format!(
        "the host `{}` is not one that this server answers under; see allowed_hosts",
        Shown(host)
    ))
}

/// A host as it was sent.
#[derive(Clone, Copy)]
pub(super) enum Host<'a> {
    Name(&'a str),
    Ip(IpAddr),
}

impl<'a> Host<'a> {
    /// Reads `host`, `host:port` or `[address]:port`; the second part is the port with its colon.
    pub(super) fn read(text: &'a str) -> Option<(Self, &'a str)> {
        // An address with its port, as most hosts of local servers are, needs no general reading.
        if let (Ok(address), Some(port)) = (text.parse::<SocketAddr>(), text.rfind(':')) {
            return Some((Self::Ip(address.ip()), text.get(port..)?));
        }
        let authority: Authority = text.parse().ok()?;
        let (host, port) = text.split_at_checked(authority.host().len())?;
        let is_port =
            port.strip_prefix(':').is_none_or(|digits| digits.bytes().all(|digit| digit.is_ascii_digit()));
        // A user name in front shifts the split: what follows the host then is no port.
        if host != authority.host() || !is_port || !(port.is_empty() || port.starts_with(':')) {
            return None;
        }
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let host = match (bare, host.parse()) {
            (Some(bare), _) => Self::Ip(IpAddr::V6(bare.parse().ok()?)),
            (None, Ok(address)) => Self::Ip(IpAddr::V4(address)),
            (None, Err(_)) => Self::Name(host.strip_suffix('.').unwrap_or(host)),
        };
        Some((host, port)).filter(|(host, _)| !matches!(host, Self::Name("")))
    }

    pub(super) fn is_loopback(self) -> bool {
        match self {
            Self::Name(name) => name.eq_ignore_ascii_case("localhost"),
            Self::Ip(address) => address.is_loopback(),
        }
    }

    pub(super) fn is_unspecified(self) -> bool {
        matches!(self, Self::Ip(address) if address.to_canonical().is_unspecified())
    }

    pub(super) fn is(self, listed: &HostName) -> bool {
        match (self, listed) {
            (Self::Name(name), HostName::Name(listed)) => name.eq_ignore_ascii_case(listed),
            (Self::Ip(address), HostName::Ip(listed)) => address == *listed,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn passes(uri: &str, hosts: &[&str], policy: &HostPolicy) -> bool {
        let mut request = Request::builder().uri(uri);
        for host in hosts {
            request = request.header("host", *host);
        }
        let head = request.body(()).unwrap().into_parts().0;
        check(&head, policy).map_err(|refusal| assert_eq!(refusal.status.as_u16(), 403)).is_ok()
    }

    fn list(hosts: &[&str]) -> Result<HostPolicy, Vec<String>> {
        HostPolicy::list(hosts.iter().map(|host| (*host).to_owned()))
    }

    #[test]
    fn f2_loopback_names_pass_on_any_port_and_in_any_spelling() {
        for host in [
            "localhost",
            "LOCALHOST:8080",
            "localhost.:1",
            "127.0.0.1",
            "127.0.0.1:8000",
            "127.1.2.3",
            "[::1]",
            "[::1]:8080",
            "[0:0:0:0:0:0:0:1]:1",
        ] {
            assert!(passes("/mcp", &[host], &HostPolicy::Loopback), "{host}");
        }
    }

    #[test]
    fn f1_other_names_are_refused_on_loopback() {
        for host in [
            "elsewhere.example:8080",
            "localhost.elsewhere.example",
            "localhost@elsewhere.example",
            "elsewhere.example@localhost",
            "192.168.0.1",
            "[fe80::1]",
            "0.0.0.0:8080",
            "[::]:8080",
            "[::ffff:0.0.0.0]",
            "",
            ":8080",
            "localhost:80a",
            "localhost:8080:1",
            "http://localhost",
            "localhost/x",
            "::1",
            "[localhost]",
        ] {
            assert!(!passes("/mcp", &[host], &HostPolicy::Loopback), "{host}");
        }
    }

    #[test]
    fn f2_no_line_and_two_lines_are_refused() {
        assert!(!passes("/mcp", &[], &HostPolicy::Loopback));
        assert!(!passes("/mcp", &["localhost", "localhost"], &HostPolicy::Loopback));
        assert!(!passes("/mcp", &["a.example", "a.example"], &HostPolicy::Any));
    }

    #[test]
    fn the_authority_of_the_request_line_is_checked_too() {
        assert!(passes("http://localhost:3000/mcp", &[], &HostPolicy::Loopback));
        assert!(!passes("http://elsewhere.example/mcp", &["localhost"], &HostPolicy::Loopback));
        assert!(!passes("http://localhost/mcp", &["elsewhere.example"], &HostPolicy::Loopback));
    }

    #[test]
    fn f2_a_listed_host_passes_on_any_port() {
        let policy = list(&["MCP.example.com", "10.0.0.5", "[2001:db8::1]", "2001:db8::2"]).unwrap();
        for host in
            ["mcp.example.com", "Mcp.Example.Com:8443", "10.0.0.5:80", "[2001:db8:0::1]:1", "[2001:db8::2]"]
        {
            assert!(passes("/mcp", &[host], &policy), "{host}");
        }
        for host in ["example.com", "x.mcp.example.com", "localhost", "127.0.0.1", "0.0.0.0"] {
            assert!(!passes("/mcp", &[host], &policy), "{host}");
        }
    }

    #[test]
    fn a_list_tells_what_is_wrong_with_it() {
        for (entry, fault) in [
            ("mcp.example.com:80", "port"),
            ("https://mcp.example.com", "not a host"),
            ("*.example.com", "wildcard"),
            ("0.0.0.0", "reach"),
            ("::", "reach"),
            ("", "not a host"),
        ] {
            assert!(list(&[entry]).unwrap_err()[0].contains(fault), "{entry}");
        }
        assert!(list(&[]).unwrap_err()[0].contains("empty"));
    }

    #[test]
    fn any_host_passes_but_no_unspecified_address() {
        assert!(passes("/mcp", &["whatever.example:1"], &HostPolicy::Any));
        assert!(passes("/mcp", &[], &HostPolicy::Any));
        assert!(!passes("/mcp", &["0.0.0.0:3000"], &HostPolicy::Any));
        assert!(!passes("/mcp", &[""], &HostPolicy::Any));
    }
}
