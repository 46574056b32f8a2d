//! Floods, frame by frame: no client library sends them.

use ractor_mcp::otp::{ExitReason, Tag};
use serde_json::json;
use tokio::io::AsyncWriteExt;

use crate::support::{Client, Post, Server, call, fixture};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
const CANCEL: u32 = 8;
const ENHANCE_YOUR_CALM: u32 = 11;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// A header line that no table knows or keeps.
fn line(name: &str, value: &str) -> Vec<u8> {
    let text = |text: &str| {
        // What is longer has another form.
        assert!(text.len() < 127, "{text}");
        [&[u8::try_from(text.len()).unwrap()], text.as_bytes()].concat()
    };
    [vec![0], text(&name.to_ascii_lowercase()), text(value)].concat()
}

/// A whole request.
fn whole(stream: u32, post: &Post) -> Vec<u8> {
    let fixed =
        [(":method", &*post.verb), (":scheme", "http"), (":authority", "localhost"), (":path", &post.path)];
    let given = post.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let lines: Vec<u8> = fixed.into_iter().chain(given).flat_map(|(name, value)| line(name, value)).collect();
    [frame(HEADERS, END_HEADERS, stream, &lines), frame(DATA, END_STREAM, stream, &post.body)].concat()
}

/// The error codes of the farewells in what a server has sent.
fn farewells(mut bytes: &[u8]) -> Vec<u32> {
    let number = |bytes: &[u8]| u32::from_be_bytes(bytes.try_into().unwrap());
    let mut codes = Vec::new();
    while !bytes.is_empty() {
        let (head, rest) = bytes.split_at(9);
        let (payload, rest) = rest.split_at(number(&[&[0], &head[..3]].concat()) as usize);
        if head[3] == GOAWAY {
            codes.push(number(&payload[4..8]));
        }
        bytes = rest;
    }
    codes
}

/// Requests that are reset before their server has begun with them cost it work and are in no count of what runs: more than a
/// few at once end the connection, and with it what ran there.
#[tokio::test]
async fn a_flood_of_resets_ends_the_connection_and_nothing_is_left() {
    let server = Server::start(fixture::suite()).await;
    let slow = |stream: u32| whole(stream, &call("slow", json!({"ms": 600_000})).id(&stream.to_string()));
    let mut client = Client::pipe(&server, 64 * 1024).await;
    client.write_bytes(PREFACE).await;
    client.write_bytes(&frame(SETTINGS, 0, 0, &[])).await;
    let mut running = Vec::new();
    for stream in [1, 3, 5] {
        client.write_bytes(&slow(stream)).await;
        running.push(server.await_process(&format!("request tools/call slow #{stream}")).await);
    }
    let connection = running[0].parent().expect("a connection");

    let reset = |stream| [slow(stream), frame(RST_STREAM, 0, stream, &CANCEL.to_be_bytes())].concat();
    // One write, which the server reads as one.
    let flood: Vec<u8> = (7..87).step_by(2).flat_map(reset).collect();
    client.socket.write_all(&flood).await.expect("the pipe takes it whole");
    assert_eq!(farewells(&client.read_to_end().await), [ENHANCE_YOUR_CALM]);
    connection.join().await;
    for request in running {
        assert_eq!(request.join().await, ExitReason::ShutdownWith(Tag::CLIENT_DISCONNECTED));
    }
    server.await_no_process("request").await;
    assert_eq!(server.send(call("echo", json!({"text": "alive"}))).await.text(), "alive");
}

/// Each of these frames asks for an acknowledgement, and the client takes none: the server reads no more than it can answer, and
/// gives the client up when the time of a write is over.
#[tokio::test(start_paused = true)]
async fn a_flood_of_pings_or_settings_ends_the_connection_and_waits_in_no_memory() {
    const ROOM: usize = 64 * 1024;
    for (kind, payload) in [(PING, &[0; 8][..]), (SETTINGS, &[])] {
        let server = Server::start(fixture::suite()).await;
        let mut client = Client::pipe(&server, ROOM).await;
        client.write_bytes(PREFACE).await;
        client.write_bytes(&frame(SETTINGS, 0, 0, &[])).await;
        let connection = server.await_process("connection").await;
        let flood = frame(kind, 0, 0, payload);
        let mut taken = 0;
        // Ten times what both directions of the pipe hold.
        while taken < 20 * ROOM && client.socket.write_all(&flood).await.is_ok() {
            taken += flood.len();
        }
        assert!(taken < 4 * ROOM, "{taken} bytes of frames {kind}");
        connection.join().await;
        assert_eq!(server.send(call("echo", json!({"text": "alive"}))).await.text(), "alive");
    }
}
