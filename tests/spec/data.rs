//! The types that several pages share (DATA).

use serde_json::json;

use super::server;
use crate::support::{call, request};

#[tokio::test]
async fn data_01_data_04_the_server_shows_a_title_and_icons() {
    let server = server::start().await;
    let result = server.send(request("server/discover", json!({}))).await.result();
    let info = &result["_meta"]["io.modelcontextprotocol/serverInfo"];
    assert_eq!((&info["name"], &info["title"]), (&json!("fixture"), &json!("The fixture")));
    assert_eq!(
        info["icons"],
        json!([{
            "src": "https://example.com/icon.png", "mimeType": "image/png", "sizes": ["48x48"], "theme": "dark"
        }])
    );
}

#[tokio::test]
async fn data_03_content_says_for_whom_it_is_and_how_much_it_matters() {
    let server = server::start().await;
    let content = server.send(call("contents", json!({}))).await.result()["content"].clone();
    let annotations = &content[0]["annotations"];
    assert_eq!(annotations["audience"], json!(["user"]));
    assert_eq!(annotations["priority"].as_f64(), Some(0.5));
    assert_eq!(annotations["lastModified"], "2026-07-28T00:00:00Z");
}
