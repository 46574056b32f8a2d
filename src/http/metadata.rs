//! AUTH-04 to AUTH-06: the protected resource metadata document (RFC 9728), and where it is served.

use bytes::Bytes;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use http::request::Parts;
use http::{Method, Response, StatusCode, Uri};
use serde::Serialize;

use crate::rules::challenge::is_scope;
use crate::rules::cors;

use super::ResponseBody;

const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";
/// Its two segments.
const FOLDER: &str = "/.well-known";
const NAME: &str = "/oauth-protected-resource";

/// What clients are told of the authorization of this server: who issues tokens for it, and with which scopes
/// (RFC 9728). It is served by [`Options::protected_resource`](crate::Options::protected_resource), which refuses what is
/// wrong with it when the server starts.
///
/// ```
/// use ractor_mcp::{Options, ProtectedResource};
///
/// let resource = ProtectedResource::new("https://example.com/mcp", "https://issuer.example.com")
///     .scope("notes:read")
///     .name("Notes");
/// let options = Options::new().protected_resource(&resource);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ProtectedResource {
    /// The URL of the endpoint as clients configure it, such as `https://example.com/mcp`, without a fragment.
    pub resource: String,
    /// The URLs of the issuers of tokens, at least one (AUTH-05).
    pub authorization_servers: Vec<String>,
    /// The scopes that there are. `offline_access` is none of them: clients ask their issuer for it (AUTH-19).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scopes_supported: Vec<String>,
    bearer_methods_supported: [&'static str; 1],
    /// The name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_name: Option<String>,
    /// Where to read about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_documentation: Option<String>,
}

impl ProtectedResource {
    /// A resource by the URL of its endpoint, and one issuer of tokens for it.
    pub fn new(resource: impl Into<String>, authorization_server: impl Into<String>) -> Self {
        Self {
            resource: resource.into(),
            authorization_servers: vec![authorization_server.into()],
            scopes_supported: Vec::new(),
            bearer_methods_supported: ["header"],
            resource_name: None,
            resource_documentation: None,
        }
    }

    /// Adds an issuer.
    #[must_use]
    pub fn authorization_server(mut self, issuer: impl Into<String>) -> Self {
        self.authorization_servers.push(issuer.into());
        self
    }

    /// Adds a scope, one word of visible ASCII such as `notes:read`. By default none is named.
    #[must_use]
    pub fn scope(mut self, scope: impl Into<String>) -> Self {
        self.scopes_supported.push(scope.into());
        self
    }

    /// Sets the name for people. By default there is none.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.resource_name = Some(name.into());
        self
    }

    /// Sets the URL of a page to read about it. By default there is none.
    #[must_use]
    pub fn documentation(mut self, url: impl Into<String>) -> Self {
        self.resource_documentation = Some(url.into());
        self
    }

    /// The document, ready to be served.
    ///
    /// # Errors
    ///
    /// All that is wrong with it, and what would do.
    pub(crate) fn prepare(&self) -> Result<Metadata, Vec<String>> {
        let faults = self.faults().map(|fault| format!("protected_resource `{}`: {fault}", self.resource));
        let faults: Vec<_> = faults.collect();
        let Some(uri) = absolute(&self.resource).filter(|_| faults.is_empty()) else {
            return Err(faults);
        };
        let (Some(scheme), Some(authority)) = (uri.scheme(), uri.authority()) else {
            return Err(faults);
        };
        let path = uri.path().trim_end_matches('/').to_owned();
        let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
        let url = format!("{scheme}://{authority}{WELL_KNOWN}{path}{query}");
        let document = serde_json::to_vec(self).map_err(|error| vec![error.to_string()])?;
        Ok(Metadata { document: document.into(), path, url })
    }

    fn faults(&self) -> impl Iterator<Item = String> {
        let resource = absolute(&self.resource).is_none().then(|| {
            "it is no absolute URL without a fragment; `https://example.com/mcp` would do".to_owned()
        });
        let none = self
            .authorization_servers
            .is_empty()
            .then(|| "it has no authorization server; the URL of at least one would do".to_owned());
        let strange = self.authorization_servers.iter().filter(|issuer| absolute(issuer).is_none());
        let strange = strange.map(|issuer| {
            format!("the authorization server `{issuer}` is no absolute URL; `https://issuer.example.com` would do")
        });
        let scopes = self.scopes_supported.iter().filter_map(|scope| scope_fault(scope));
        resource.into_iter().chain(none).chain(strange).chain(scopes)
    }
}

/// A URL with a scheme, a host and no fragment.
fn absolute(url: &str) -> Option<Uri> {
    let uri: Uri = url.parse().ok().filter(|_| !url.contains('#'))?;
    let is_absolute = uri.scheme().is_some() && uri.host().is_some_and(|host| !host.is_empty());
    is_absolute.then_some(uri)
}

fn scope_fault(scope: &str) -> Option<String> {
    match scope {
        "offline_access" => Some(
            "the scope `offline_access` is for clients to ask of their issuer, and not of this server; leave it out"
                .to_owned(),
        ),
        _ if is_scope(scope) => None,
        _ => Some(format!(
            "its scope `{}` is not one word of visible ASCII; `notes:read` would do",
            scope.escape_debug()
        )),
    }
}

/// The document, ready to be served.
#[derive(Clone, Debug)]
pub(crate) struct Metadata {
    document: Bytes,
    /// The path of the resource, which its well-known path ends with.
    path: String,
    /// Where clients find it, for challenges.
    pub(crate) url: String,
}

impl Metadata {
    /// Answers a request for the document: at the path with the endpoint's own behind it, and at the root.
    pub(crate) fn answer(&self, head: &Parts) -> Option<Response<ResponseBody>> {
        self.answer_at(head.uri.path().strip_prefix(WELL_KNOWN)?, &head.method)
    }

    /// The same behind a router, which may have taken the first segments of the path away.
    pub(crate) fn answer_mounted(&self, head: &Parts) -> Option<Response<ResponseBody>> {
        let path = head.uri.path();
        let path = path.strip_prefix(FOLDER).unwrap_or(path);
        self.answer_at(path.strip_prefix(NAME).unwrap_or(path), &head.method)
    }

    fn answer_at(&self, below: &str, method: &Method) -> Option<Response<ResponseBody>> {
        let below = below.strip_suffix('/').unwrap_or(below);
        if !below.is_empty() && below != self.path {
            return None;
        }
        let (status, body) = match *method {
            Method::GET => (StatusCode::OK, ResponseBody::whole(self.document.clone())),
            Method::HEAD => (StatusCode::OK, ResponseBody::empty()),
            Method::OPTIONS => (StatusCode::NO_CONTENT, ResponseBody::empty()),
            _ => (StatusCode::METHOD_NOT_ALLOWED, ResponseBody::empty()),
        };
        let mut response = Response::new(body);
        *response.status_mut() = status;
        let headers = response.headers_mut();
        cors::metadata(headers);
        if status == StatusCode::OK {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=3600"));
        } else {
            headers.insert(ALLOW, HeaderValue::from_static("GET, HEAD, OPTIONS"));
        }
        Some(response)
    }
}

/// What is not there: 404 without a body.
pub(crate) fn nothing() -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::empty());
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(metadata: &Metadata, path: &str) -> Option<u16> {
        let (head, ()) = http::Request::get(path).body(()).unwrap().into_parts();
        metadata.answer(&head).map(|response| response.status().as_u16())
    }

    #[test]
    fn f9_the_document_is_at_the_suffixed_and_at_the_root_path_and_nowhere_else() {
        let metadata = ProtectedResource::new("https://h/svc/mcp", "https://issuer").prepare().unwrap();
        assert_eq!(metadata.url, "https://h/.well-known/oauth-protected-resource/svc/mcp");
        for (path, found) in [
            ("/.well-known/oauth-protected-resource/svc/mcp", true),
            ("/.well-known/oauth-protected-resource/svc/mcp/", true),
            ("/.well-known/oauth-protected-resource", true),
            ("/.well-known/oauth-protected-resource/svc", false),
            ("/.well-known/oauth-protected-resource/svc/mcp2", false),
            ("/.well-known/oauth-protected-resourceful", false),
            ("/svc/mcp", false),
        ] {
            assert_eq!(status(&metadata, path), found.then_some(200), "{path}");
        }
    }

    #[test]
    fn f9_behind_a_router_what_is_left_of_the_path_finds_it() {
        let metadata = ProtectedResource::new("https://h/mcp", "https://issuer").prepare().unwrap();
        for (path, found) in [
            ("/.well-known/oauth-protected-resource/mcp", true),
            ("/oauth-protected-resource/mcp", true),
            ("/oauth-protected-resource", true),
            ("/mcp", true),
            ("/", true),
            ("/oauth-protected-resource/other", false),
            ("/oauth-authorization-server", false),
            ("/.well-known/openid-configuration", false),
        ] {
            let (head, ()) = http::Request::get(path).body(()).unwrap().into_parts();
            assert_eq!(metadata.answer_mounted(&head).is_some(), found, "{path}");
        }
    }

    #[test]
    fn rfc_9728_a_query_of_the_resource_stays_behind_the_well_known_path() {
        let metadata = ProtectedResource::new("https://h/mcp?tenant=a", "https://issuer").prepare().unwrap();
        assert_eq!(metadata.url, "https://h/.well-known/oauth-protected-resource/mcp?tenant=a");
        assert_eq!(status(&metadata, "/.well-known/oauth-protected-resource/mcp?tenant=a"), Some(200));
    }

    #[test]
    fn rfc_9110_another_method_is_told_which_would_do_and_nobody_keeps_that_answer() {
        let metadata = ProtectedResource::new("https://h/mcp", "https://issuer").prepare().unwrap();
        let (head, ()) = http::Request::post(WELL_KNOWN).body(()).unwrap().into_parts();
        let response = metadata.answer(&head).unwrap();
        assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(response.headers()[ALLOW], "GET, HEAD, OPTIONS");
        assert!(
            !response.headers().contains_key(CACHE_CONTROL) && !response.headers().contains_key(CONTENT_TYPE)
        );
    }

    fn faults(resource: &ProtectedResource) -> Vec<String> {
        resource.prepare().err().unwrap_or_default()
    }

    #[test]
    fn auth_05_what_is_no_url_is_refused_at_start() {
        for url in ["mcp", "/mcp", "h", "h:80", "https://", "https://h/mcp#top", "not a url", ""] {
            assert_eq!(faults(&ProtectedResource::new(url, "https://issuer")).len(), 1, "{url}");
            assert_eq!(faults(&ProtectedResource::new("https://h/mcp", url)).len(), 1, "{url}");
        }
        let mut nobody = ProtectedResource::new("https://h/mcp", "https://issuer");
        nobody.authorization_servers.clear();
        assert!(faults(&nobody)[0].contains("no authorization server"));
    }

    #[test]
    fn auth_19_and_rfc_6749_scopes_are_those_that_a_challenge_can_name_and_this_server_grants() {
        let resource = ProtectedResource::new("https://h/mcp", "https://issuer");
        let told = faults(&resource.clone().scope("notes:read").scope("two words").scope("offline_access"));
        assert_eq!(told.len(), 2);
        assert!(told[0].contains("`two words` is not one word"), "{told:?}");
        assert!(told[1].contains("`offline_access` is for clients"), "{told:?}");
        assert!(faults(&resource.scope("notes:read")).is_empty());
    }
}
