//! Callers by their token: `alice/notes:read` is the caller `alice` with the scope `notes:read`.

use ractor_mcp::prelude::*;
use ractor_mcp::testing::{TestClient, TestResponse, TestServer};
use ractor_mcp::{Principal, ProtectedResource};
use serde_json::{Value, json};

/// A server that knows its callers.
pub async fn serve(handler: impl Handler) -> TestServer {
    let options = Options::new()
        .connect(|request| async move {
            Ok(request.bearer_token().map_or(Principal::anonymous(), |token| {
                let mut parts = token.split('/');
                let id = parts.next().unwrap_or_default();
                Principal::new(id).with_scopes(parts)
            }))
        })
        .protected_resource(&ProtectedResource::new("https://example.com/mcp", "https://issuer.example.com"));
    TestServer::start_with(handler, options).await
}

pub async fn client(server: &TestServer, token: &str) -> TestClient {
    server.connect().await.header("Authorization", &format!("Bearer {token}"))
}

/// A list with the key of its items, as `tools/list`.
pub const LISTS: [(&str, &str, &str); 4] = [
    ("tools/list", "tools", "name"),
    ("resources/list", "resources", "uri"),
    ("resources/templates/list", "resourceTemplates", "uriTemplate"),
    ("prompts/list", "prompts", "name"),
];

/// The keys on one page of a list.
pub fn keys(answer: &TestResponse) -> Vec<String> {
    let (_, items, key) = LISTS
        .iter()
        .find(|(_, items, _)| answer.result().get(items).is_some())
        .unwrap_or_else(|| panic!("no list: {answer}"));
    let page = answer.result()[items].as_array().unwrap();
    page.iter().map(|item| item[key].as_str().unwrap().to_owned()).collect()
}

/// The keys on one page of a list, and where the next page starts.
pub async fn page(client: &TestClient, method: &str, cursor: Option<&str>) -> (Vec<String>, Option<String>) {
    let params = cursor.map_or(json!({}), |cursor| json!({ "cursor": cursor }));
    let answer = client.request(method, params).await;
    (keys(&answer), answer.result()["nextCursor"].as_str().map(str::to_owned))
}

/// The keys on all pages of a list.
pub async fn list(client: &TestClient, method: &str) -> Vec<String> {
    let (mut all, mut next) = page(client, method, None).await;
    while let Some(cursor) = next {
        let more = page(client, method, Some(&cursor)).await;
        all.extend(more.0);
        next = more.1;
    }
    all
}

/// What a request is answered with if nothing has the name that it names: `{}` in its place.
pub fn nameless(answer: &TestResponse, name: &str) -> Value {
    let error = answer.error().to_string().replace(name, "{}");
    serde_json::from_str(&error).unwrap()
}
