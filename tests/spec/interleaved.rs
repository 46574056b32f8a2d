//! Basic: statelessness (STATE), where one connection carries several requests at a time.
#![cfg(feature = "http2")]

use std::sync::Arc;

use ractor_mcp::prelude::*;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::support::{Post, Server, call};

fn of_client(name: &str) -> Post {
    call("any", json!({}))
        .with_meta("io.modelcontextprotocol/clientInfo", json!({"name": name, "version": "1"}))
}

/// Only HTTP/2 has several requests on one connection at a time: here two run when the third comes and is answered first.
#[tokio::test]
async fn state_02_conversations_interleave_on_one_connection() {
    let (gate, go) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
    let (started, wait) = (Arc::clone(&gate), Arc::clone(&go));
    let who = move |_: NoArguments, call: Call| {
        let (started, wait) = (Arc::clone(&started), Arc::clone(&wait));
        async move {
            let name = call.meta().client_info.as_ref().map(|client| client.name.clone());
            if name.is_some() {
                started.add_permits(1);
                wait.acquire().await.expect("the gate stays").forget();
            }
            name.unwrap_or_else(|| "unnamed".to_owned())
        }
    };
    let server = Server::start(Suite::new("who", "1").tool("any", who)).await;
    let socket = tokio::net::TcpStream::connect(server.addr).await.expect("the server accepts");
    let (client, connection) = h2::client::handshake(socket).await.expect("HTTP/2");
    tokio::spawn(connection);
    let send = |post: Post| {
        let mut request = http::Request::post("http://localhost/mcp");
        for (name, value) in &post.headers {
            request = request.header(name, value);
        }
        let mut client = client.clone();
        let (answer, mut body) =
            client.send_request(request.body(()).expect("a request"), false).expect("a stream");
        body.send_data(post.body.into(), true).expect("a body");
        async move {
            let mut answer = answer.await.expect("an answer").into_body();
            let mut read = Vec::new();
            while let Some(bytes) = answer.data().await {
                read.extend_from_slice(&bytes.expect("the rest"));
            }
            let answer: Value = serde_json::from_slice(&read).expect("JSON");
            answer["result"]["content"][0]["text"].as_str().expect("a text").to_owned()
        }
    };
    let (one, two) = (send(of_client("one")), send(of_client("two")));
    gate.acquire_many(2).await.expect("the gate stays").forget();
    assert_eq!(send(call("any", json!({}))).await, "unnamed");
    go.add_permits(2);
    assert_eq!((two.await, one.await), ("two".to_owned(), "one".to_owned()));
}
