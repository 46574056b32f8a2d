//! AUTH-04 to AUTH-06: the protected resource metadata document (RFC 9728), and where it is served.

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use http::request::Parts;
use http::{Method, Response, StatusCode, Uri};
use serde::Serialize;

use crate::rules::cors;

use super::ResponseBody;

const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// What clients are told of the authorization of this server: who issues tokens for it, and with which scopes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ProtectedResource {
    /// The URL of the endpoint as clients configure it, such as `https://example.com/mcp`.
    pub resource: String,
    /// The issuers of tokens, at least one.
    pub authorization_servers: Vec<String>,
    /// The scopes that there are.
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

    /// Adds a scope.
    #[must_use]
    pub fn scope(mut self, scope: impl Into<String>) -> Self {
        self.scopes_supported.push(scope.into());
        self
    }

    /// Sets the name for people.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.resource_name = Some(name.into());
        self
    }

    pub(crate) fn prepare(&self) -> Result<Metadata, String> {
        let wrong = |what: &str| format!("protected_resource `{}`: {what}", self.resource);
        let uri: Uri =
            self.resource.parse().map_err(|_| wrong("not a URL; such as https://example.com/mcp"))?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(wrong("not an absolute URL; such as https://example.com/mcp"));
        };
        if self
            .authorization_servers
            .iter()
            .any(|issuer| issuer.parse::<Uri>().is_ok_and(|uri| uri.scheme().is_none()))
        {
            return Err(wrong("an authorization server is not an absolute URL"));
        }
        let document = serde_json::to_vec(self).map_err(|error| wrong(&error.to_string()))?;
        let path = uri.path().trim_end_matches('/').to_owned();
        let url = format!("{scheme}://{authority}{WELL_KNOWN}{path}");
        Ok(Metadata { document: document.into(), path, url })
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
        let below = head.uri.path().strip_prefix(WELL_KNOWN)?;
        let below = below.strip_suffix('/').unwrap_or(below);
        if !below.is_empty() && below != self.path {
            return None;
        }
        let (status, body) = match head.method {
            Method::GET => (StatusCode::OK, ResponseBody::whole(self.document.clone())),
            Method::HEAD => (StatusCode::OK, ResponseBody::empty()),
            Method::OPTIONS => (StatusCode::NO_CONTENT, ResponseBody::empty()),
            _ => (StatusCode::METHOD_NOT_ALLOWED, ResponseBody::empty()),
        };
        let mut response = Response::new(body);
        *response.status_mut() = status;
        cors::metadata(response.headers_mut());
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=3600"));
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
    fn auth_05_a_resource_that_is_no_url_is_refused_at_start() {
        assert!(ProtectedResource::new("mcp", "https://issuer").prepare().is_err());
        assert!(ProtectedResource::new("https://h/mcp", "issuer").prepare().is_err());
    }
}
