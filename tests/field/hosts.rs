//! Origin and Host (F1, F2, F3, F5).

use ractor_mcp::{McpSupervisor, Options};
use serde_json::json;

use crate::support::logs::Logs;
use crate::support::{Post, Server, call, fixture};

fn echo() -> Post {
    call("echo", json!({"text": "x"}))
}

/// On all interfaces, where no name is trusted unless it is listed.
async fn on_all_interfaces(options: Options) -> Server {
    let mut server = Server::start_on("0.0.0.0:0", fixture::suite(), options).await;
    server.addr.set_ip([127, 0, 0, 1].into());
    server
}

#[tokio::test]
async fn f1_dns_rebinding_is_refused_by_host_and_by_origin() {
    let server = Server::start(fixture::suite()).await;
    for (what, post, status) in [
        ("a foreign host", echo().header("Host", "elsewhere.example:8080"), 403),
        ("a foreign origin", echo().header("Origin", "http://elsewhere.example"), 403),
        ("the null origin", echo().header("Origin", "null"), 403),
        ("no origin", echo(), 200),
    ] {
        assert_eq!(server.send(post).await.status, status, "{what}");
    }
}

#[tokio::test]
async fn f1_an_empty_list_of_origins_denies_and_absence_passes() {
    let options = Options::new().any_host().allowed_origins(Vec::<String>::new());
    let server = on_all_interfaces(options).await;
    assert_eq!(server.send(echo().header("Origin", "http://localhost")).await.status, 403);
    assert_eq!(server.send(echo()).await.status, 200);
}

#[tokio::test]
async fn f2_hosts_compare_without_port_case_and_brackets() {
    let server = Server::start(fixture::suite()).await;
    for (host, status) in [
        ("LOCALHOST:8080", 200),
        ("localhost", 200),
        ("[::1]:8080", 200),
        ("[::1]", 200),
        ("127.0.0.1", 200),
        ("127.0.0.1:1", 200),
        ("0.0.0.0:8080", 403),
        ("[::]:8080", 403),
        ("localhost.elsewhere.example", 403),
        ("", 403),
    ] {
        assert_eq!(server.send(echo().header("Host", host)).await.status, status, "{host:?}");
    }
    let two = echo().header("Host", "localhost").another("Host", "localhost");
    assert_eq!(server.send(two).await.status, 403, "two lines");
}

#[tokio::test]
async fn f3_a_wildcard_bind_without_a_list_is_a_start_up_error_that_says_what_would_do() {
    let mcp = McpSupervisor::start(fixture::suite()).await.expect("a server");
    let refused = mcp.listen("0.0.0.0:0").await.expect_err("no list of hosts").to_string();
    assert!(refused.contains("allowed_hosts") && refused.contains("0.0.0.0"), "{refused}");
}

#[tokio::test]
async fn f3_a_refused_host_is_traced_with_the_remedy() {
    let (logs, _guard) = Logs::record(tracing::Level::DEBUG);
    let server = on_all_interfaces(Options::new().allowed_hosts(["127.0.0.1", "mcp.example.com"])).await;
    assert_eq!(server.send(echo().header("Host", "MCP.example.com:80")).await.status, 200);
    assert_eq!(server.send(echo().header("Host", "box.lan")).await.status, 403);
    let text = logs.text();
    let told = text.lines().find(|line| line.contains("box.lan")).expect("a line with the host");
    assert!(told.contains("allowed_hosts"), "{told}");
    assert!(logs.lines("ERROR").is_empty(), "{text}");
}

#[tokio::test]
async fn f3_a_refused_name_is_traced_once_and_as_a_warning_once_a_second() {
    let (logs, _guard) = Logs::record(tracing::Level::DEBUG);
    let server = Server::start(fixture::suite()).await;
    let mut client = server.client().await;
    for post in [echo().header("Host", "box.lan"), echo().header("Origin", "http://box.lan")] {
        assert_eq!(client.send(&post).await.status, 403);
    }
    let text = logs.text();
    let told: Vec<_> = text.lines().filter(|line| line.contains("request refused")).collect();
    assert!(
        matches!(&*told, [host, origin] if host.contains(" WARN ") && origin.contains(" DEBUG ")),
        "{told:#?}"
    );
}

#[tokio::test]
async fn f5_an_entry_without_a_port_matches_every_port_and_nothing_that_only_looks_like_it() {
    let options = Options::new().any_host().allowed_origins(["http://localhost"]);
    let server = on_all_interfaces(options).await;
    for (origin, status) in [
        ("http://localhost:6274", 200),
        ("http://localhost", 200),
        ("HTTP://LOCALHOST:1", 200),
        ("https://localhost:6274", 403),
        ("http://localhost.elsewhere.example", 403),
        ("http://localhost@elsewhere.example", 403),
        ("http://127.0.0.1", 403),
        ("null", 403),
    ] {
        assert_eq!(server.send(echo().header("Origin", origin)).await.status, status, "{origin}");
    }
    let two = echo().header("Origin", "http://localhost").another("Origin", "http://elsewhere.example");
    assert_eq!(server.send(two).await.status, 403, "two lines");
}

#[tokio::test]
async fn a_text_that_is_no_address_is_told_one_that_is() {
    let mcp = McpSupervisor::start(fixture::suite()).await.expect("a server");
    for (address, example) in [
        ("127.0.0.1", "`127.0.0.1:8080`"),
        ("localhost", "`localhost:8080`"),
        ("::1", "`[::1]:8080`"),
        ("[::1]", "`[::1]:8080`"),
        ("", "`127.0.0.1:8080`"),
    ] {
        let told = mcp.listen(address).await.expect_err("no port").to_string();
        assert!(told.contains("the port is missing") && told.contains(example), "{told}");
    }
    for (address, fault) in [
        (":3000", "the host is missing; `127.0.0.1:3000` has one"),
        ("http://127.0.0.1:3000", "it is a URL; an address is a host and a port, such as `127.0.0.1:8080`"),
    ] {
        let told = mcp.listen(address).await.expect_err("no address").to_string();
        assert!(told.contains(fault), "{told}");
    }
    mcp.listen("localhost:0").await.expect("a name and a port");
}

#[tokio::test]
async fn an_address_says_what_is_wrong_with_its_port() {
    let server = Server::start(fixture::suite()).await;
    let taken = server.addr.to_string();
    for (address, would_do) in [
        ("3777", "`127.0.0.1:3777` has one"),
        ("127.0.0.1:99999", "a port is a number up to 65535"),
        (taken.as_str(), "another port would do, or 0 for any that is free"),
    ] {
        let told = server.mcp.listen(address).await.unwrap_err().to_string();
        assert!(told.contains(address) && told.contains(would_do), "{told}");
    }
}
