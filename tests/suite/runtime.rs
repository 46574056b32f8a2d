//! A suite that changes while it serves: what is told, what is checked, and what a running request notices.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use ractor_mcp::prelude::*;
use ractor_mcp::suite::{PromptArguments, SuiteHandle};
use ractor_mcp::testing::{TestCall, TestServer};
use ractor_mcp::wire::{Prompt, Request, Resource, ResourceTemplate, ServerCapabilities};
use ractor_mcp::{Misconfigured, Notifier};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::callers::{client, list, page, serve};
use crate::support::logs::Logs;

async fn text() -> &'static str {
    "text"
}

struct Notes(&'static str);

impl ResourceRepo for Notes {
    type Key = String;
    type Cursor = ();
    type Output = String;

    fn template(&self) -> ResourceTemplate {
        ResourceTemplate::new(self.0, "note")
    }

    async fn list(&self, _: Option<()>, _: &Call) -> Result<Page<Resource, ()>, ToolError> {
        Ok(vec![Resource::new(self.0.replace("{id}", "1"), "note")].into())
    }

    async fn read(&self, id: String, _: &Call) -> Result<String, ToolError> {
        Ok(id)
    }
}

struct Saved;

impl PromptRepo for Saved {
    type Cursor = ();
    type Output = String;

    fn prefix(&self) -> String {
        "saved_".to_owned()
    }

    async fn list(&self, _: Option<()>, _: &Call) -> Result<Page<Prompt, ()>, ToolError> {
        Ok(vec![Prompt::new("saved_1")].into())
    }

    async fn get(&self, name: &str, _: PromptArguments, _: &Call) -> Result<String, ToolError> {
        Ok(name.to_owned())
    }

    async fn complete(&self, _: &str, _: Completing, _: &Call) -> Result<Vec<String>, ToolError> {
        Ok(vec!["proposed".to_owned()])
    }
}

fn suite() -> Suite {
    Suite::new("s", "1").tool("first", text).resource("first://1", text).prompt("first", text)
}

async fn stream(server: &TestServer, filter: Value) -> TestCall {
    let listen = server.connect().await.request("subscriptions/listen", json!({ "notifications": filter }));
    let mut stream = listen.start().await;
    let first = stream.next_event().await.expect("an acknowledgement");
    assert_eq!(first["params"]["notifications"], filter, "all of it is granted");
    stream
}

async fn all_lists(server: &TestServer) -> TestCall {
    let all = json!({"toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true});
    stream(server, all).await
}

async fn told(stream: &mut TestCall) -> String {
    let event = stream.next_event().await.expect("an event");
    event["method"].as_str().unwrap_or_else(|| panic!("no notification: {event}")).to_owned()
}

/// A suite, its handle, a server and a stream of all its lists.
async fn started() -> (SuiteHandle, TestServer, TestCall) {
    let suite = suite();
    let handle = suite.handle();
    let server = serve(suite).await;
    let stream = all_lists(&server).await;
    (handle, server, stream)
}

#[tokio::test(start_paused = true)]
async fn tool_05_a_tool_that_is_added_is_told_listed_and_called_and_one_that_is_removed_is_not() {
    let (handle, server, mut stream) = started().await;
    let client = server.connect().await;
    handle.add_tool("second", text).unwrap();
    assert_eq!(told(&mut stream).await, "notifications/tools/list_changed");
    assert_eq!(list(&client, "tools/list").await, ["first", "second"]);
    assert_eq!(client.call_tool("second", json!({})).await.text(), "text");
    assert!(handle.remove_tool("first"));
    assert_eq!(told(&mut stream).await, "notifications/tools/list_changed");
    assert_eq!(list(&client, "tools/list").await, ["second"]);
    assert_eq!(client.call_tool("first", json!({})).await.code(), -32602);
    handle.add_tool("first", text).unwrap();
    assert_eq!(list(&client, "tools/list").await, ["second", "first"], "what is added is last");
}

#[tokio::test(start_paused = true)]
async fn every_kind_is_added_and_removed_and_its_own_list_is_told() {
    let (handle, server, mut stream) = started().await;
    let client = server.connect().await;
    let resources = "notifications/resources/list_changed";
    let prompts = "notifications/prompts/list_changed";
    handle.add_resource("second://1", text).unwrap();
    assert_eq!(told(&mut stream).await, resources);
    handle.add_resource_repo(Notes("note://{id}")).unwrap();
    assert_eq!(told(&mut stream).await, resources);
    assert_eq!(list(&client, "resources/list").await, ["first://1", "second://1", "note://1"]);
    assert_eq!(list(&client, "resources/templates/list").await, ["note://{id}"]);
    assert!(handle.remove_resource("first://1"));
    assert_eq!(told(&mut stream).await, resources);
    assert!(handle.remove_resource_repo("note://{id}"));
    assert_eq!(told(&mut stream).await, resources);
    assert_eq!(list(&client, "resources/list").await, ["second://1"]);
    assert_eq!(client.request("resources/read", json!({"uri": "note://1"})).await.code(), -32602);
    handle.add_prompt("second", text).unwrap();
    assert_eq!(told(&mut stream).await, prompts);
    handle.add_prompt_repo(Saved).unwrap();
    assert_eq!(told(&mut stream).await, prompts);
    assert_eq!(list(&client, "prompts/list").await, ["first", "second", "saved_1"]);
    let saved =
        json!({"ref": {"type": "ref/prompt", "name": "saved_1"}, "argument": {"name": "a", "value": ""}});
    let completed = client.request("completion/complete", saved).await;
    assert_eq!(completed.result()["completion"]["values"], json!(["proposed"]), "completion was promised");
    assert!(handle.remove_prompt("first") && handle.remove_prompt_repo("saved_"));
    assert_eq!(told(&mut stream).await, prompts);
    assert_eq!(list(&client, "prompts/list").await, ["second"]);
}

#[tokio::test(start_paused = true)]
async fn disc_05_a_handle_promises_that_lists_change_and_without_one_they_do_not() {
    let capabilities = async |suite: Suite| {
        let discovered = serve(suite).await.connect().await.request("server/discover", json!({})).await;
        discovered.result()["capabilities"].clone()
    };
    let still = json!({"tools": {}, "prompts": {}, "resources": {}, "logging": {}});
    assert_eq!(capabilities(suite()).await, still);
    let with_handle = suite();
    let _handle = with_handle.handle();
    let changing = json!({
        "tools": {"listChanged": true}, "prompts": {"listChanged": true}, "resources": {"listChanged": true},
        "completions": {}, "logging": {}
    });
    assert_eq!(capabilities(with_handle).await, changing);
}

#[tokio::test(start_paused = true)]
async fn what_is_not_there_is_not_removed_and_nobody_is_told() {
    let (handle, server, mut stream) = started().await;
    assert!(
        !handle.remove_tool("none") && !handle.remove_resource("none://1") && !handle.remove_prompt("none")
    );
    assert!(!handle.remove_resource_repo("none://{id}") && !handle.remove_prompt_repo("none_"));
    server.mcp().notify_prompts_changed();
    assert_eq!(told(&mut stream).await, "notifications/prompts/list_changed", "and nothing before it");
}

#[tokio::test(start_paused = true)]
async fn what_is_wrong_is_told_all_of_it_and_changes_nothing() {
    let (handle, server, mut stream) = started().await;
    handle.add_resource_repo(Notes("note://{id}")).unwrap();
    assert_eq!(told(&mut stream).await, "notifications/resources/list_changed");
    let faults = |refused: Result<(), Misconfigured>| refused.unwrap_err().faults().join("\n");
    let two = faults(handle.add_tool("", tool(text).max_concurrent(0)));
    assert!(two.contains("tool ``: the name is empty") && two.contains("max_concurrent is 0"), "{two}");
    for (told, fault) in [
        (faults(handle.add_tool("first", text)), "tool `first`: registered twice"),
        (faults(handle.add_resource("first://1", text)), "resource `first://1`: registered twice"),
        (faults(handle.add_resource_repo(Notes("note://a/{id}"))), "overlaps with `note://`"),
        (faults(handle.add_prompt("first", text)), "prompt `first`: registered twice"),
    ] {
        assert!(told.contains(fault), "{fault} in {told}");
    }
    let client = server.connect().await;
    assert_eq!(list(&client, "tools/list").await, ["first"]);
    assert_eq!(list(&client, "resources/templates/list").await, ["note://{id}"]);
    server.mcp().notify_prompts_changed();
    assert_eq!(told(&mut stream).await, "notifications/prompts/list_changed", "and nothing before it");
}

#[tokio::test(start_paused = true)]
async fn disc_04_a_kind_is_added_at_run_time_if_it_was_offered_or_promised_at_the_start() {
    let plain = Suite::new("s", "1").tool("first", text);
    let handle = plain.handle();
    handle.add_resource("early://1", text).unwrap();
    let server = serve(plain).await;
    handle.add_resource("late://1", text).unwrap();
    let refused = handle.add_prompt("p", text).unwrap_err().to_string();
    assert!(refused.contains("prompt `p`: the server was started without prompts"), "{refused}");
    assert!(refused.contains("`Suite::promises` with prompts"), "{refused}");
    assert_eq!(server.connect().await.request("prompts/list", json!({})).await.code(), -32601);

    let promising = Suite::new("s", "1").promises(ServerCapabilities::new().prompts(false));
    let handle = promising.handle();
    let server = serve(promising).await;
    let mut stream = stream(&server, json!({"promptsListChanged": true})).await;
    let client = server.connect().await;
    assert_eq!(list(&client, "prompts/list").await, Vec::<String>::new());
    handle.add_prompt("p", text).unwrap();
    assert_eq!(told(&mut stream).await, "notifications/prompts/list_changed");
    assert_eq!(list(&client, "prompts/list").await, ["p"]);
    assert!(handle.remove_prompt("p"));
    let discovered = client.request("server/discover", json!({})).await;
    assert!(discovered.result()["capabilities"]["prompts"].is_object(), "an empty list is still offered");
}

#[tokio::test(start_paused = true)]
async fn every_server_that_serves_the_suite_tells_its_streams_and_one_that_is_gone_does_not_matter() {
    let suite = Arc::new(suite());
    let handle = suite.handle();
    let (one, other) = (serve(Arc::clone(&suite)).await, serve(suite).await);
    let (mut first, mut second) = (all_lists(&one).await, all_lists(&other).await);
    handle.add_tool("second", text).unwrap();
    assert_eq!(told(&mut first).await, "notifications/tools/list_changed");
    assert_eq!(told(&mut second).await, "notifications/tools/list_changed");
    one.mcp().shutdown(std::time::Duration::ZERO).await;
    drop((one, first));
    handle.add_tool("third", text).unwrap();
    assert_eq!(told(&mut second).await, "notifications/tools/list_changed");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_runs_goes_on_when_its_tool_is_removed() {
    let (enter, leave) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (entered, left) = (Arc::clone(&enter), Arc::clone(&leave));
    let wait = move || {
        let (entered, left) = (Arc::clone(&entered), Arc::clone(&left));
        async move {
            entered.notify_one();
            left.notified().await;
            "to the end"
        }
    };
    let suite = Suite::new("s", "1").tool("wait", wait);
    let handle = suite.handle();
    let client = serve(suite).await.connect().await;
    let call = client.call_tool("wait", json!({})).start().await;
    enter.notified().await;
    assert!(handle.remove_tool("wait"));
    assert_eq!(client.call_tool("wait", json!({})).await.code(), -32602, "the next call finds none");
    leave.notify_one();
    assert_eq!(call.answer().await.text(), "to the end");
}

#[tokio::test(start_paused = true)]
async fn page_04_items_that_go_between_two_pages_lose_no_other_and_a_cursor_behind_one_is_stale() {
    let suite = (0..6).fold(Suite::new("s", "1").page_size(2), |suite, n| suite.tool(&format!("t{n}"), text));
    let handle = suite.handle();
    let client = serve(suite).await.connect().await;
    let (first, next) = page(&client, "tools/list", None).await;
    assert_eq!(first, ["t0", "t1"]);
    assert!(handle.remove_tool("t0") && handle.remove_tool("t3"));
    let (second, next) = page(&client, "tools/list", next.as_deref()).await;
    assert_eq!(second, ["t2", "t4"]);
    assert!(handle.remove_tool("t4"));
    let stale = client.request("tools/list", json!({ "cursor": next })).await;
    assert_eq!(stale.code(), -32602);
}

#[tokio::test(start_paused = true)]
async fn sub_06_an_open_stream_is_told_no_more_of_what_is_guarded_later() {
    let suite = suite().resource_updates();
    let handle = suite.handle();
    let server = serve(suite).await;
    let mut stream = stream(&server, json!({"resourceSubscriptions": ["first://1", "none://1"]})).await;
    server.mcp().notify_resource_updated("first://1");
    assert_eq!(stream.next_event().await.unwrap()["params"]["uri"], "first://1");
    assert!(handle.remove_resource("first://1"));
    handle.add_resource("first://1", resource(text).scope("notes:read")).unwrap();
    server.mcp().notify_resource_updated("first://1");
    server.mcp().shutdown(std::time::Duration::ZERO).await;
    assert_eq!(told(&mut stream).await, "notifications/cancelled", "nothing before it");
}

#[tokio::test]
async fn g1_warnings_of_what_is_added_are_traced_unless_the_suite_keeps_quiet() {
    let (logs, _guard) = Logs::record(tracing::Level::WARN);
    for warns in [false, true] {
        let suite = suite().trace_warnings(warns);
        let handle = suite.handle();
        let _server = serve(suite).await;
        handle.add_tool("dotted.name", text).unwrap();
        assert_eq!(
            logs.text().contains("tool `dotted.name`: the name holds a dot"),
            warns,
            "{}",
            logs.text()
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn tools_come_and_go_while_calls_run() {
    let suite = suite();
    let handle = suite.handle();
    let server = serve(suite).await;
    let done = Arc::new(AtomicBool::new(false));
    let callers: Vec<_> = (0..4)
        .map(|_| {
            let (server, done) = (server.clone(), Arc::clone(&done));
            tokio::spawn(async move {
                let client = client(&server, "alice").await;
                let mut calls = 0;
                while !done.load(Ordering::SeqCst) || calls < 20 {
                    assert_eq!(client.call_tool("first", json!({})).await.text(), "text");
                    let listed = list(&client, "tools/list").await;
                    assert_eq!(listed[0], "first", "{listed:?}");
                    let moving = client.call_tool("moving_3", json!({})).await;
                    assert!(moving.response().get("result").is_some() || moving.code() == -32602, "{moving}");
                    calls += 1;
                }
            })
        })
        .collect();
    let changers: Vec<_> = (0..4)
        .map(|n| {
            let handle = handle.clone();
            tokio::spawn(async move {
                let name = format!("moving_{n}");
                for _ in 0..50 {
                    handle.add_tool(&name, text).unwrap();
                    tokio::task::yield_now().await;
                    assert!(handle.remove_tool(&name));
                }
                handle.add_tool(&name, text).unwrap();
            })
        })
        .collect();
    for changer in changers {
        changer.await.unwrap();
    }
    done.store(true, Ordering::SeqCst);
    for caller in callers {
        caller.await.unwrap();
    }
    let mut listed = list(&client(&server, "alice").await, "tools/list").await;
    listed.sort();
    assert_eq!(listed, ["first", "moving_0", "moving_1", "moving_2", "moving_3"], "no change was lost");
}

/// A handler of the application's own that tells changes by itself.
#[derive(Default)]
struct Own {
    notifiers: Arc<Mutex<Vec<Notifier>>>,
}

impl Handler for Own {
    type State = ();
    type Message = ();

    async fn init(&self, _: &Channel<()>) -> Result<(), RpcError> {
        Ok(())
    }

    async fn handle_request(
        &self,
        request: Request,
        _: &Channel<()>,
        (): &mut (),
    ) -> Result<Reply, RpcError> {
        match request {
            Request::Listen(listen) => Ok(Reply::subscribe(listen.notifications)),
            other => Err(RpcError::method_not_found(other.method())),
        }
    }

    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::new().tools(true).prompts(true).resources(true, true)
    }

    fn started(&self, notifier: Notifier) {
        self.notifiers.lock().unwrap().push(notifier);
    }
}

#[tokio::test(start_paused = true)]
async fn any_handler_is_given_what_tells_its_streams() {
    let handler = Own::default();
    let notifiers = Arc::clone(&handler.notifiers);
    let server = serve(handler).await;
    let notifier = notifiers.lock().unwrap().pop().expect("given at the start");
    assert!(notifiers.lock().unwrap().is_empty(), "once");
    let mut lists = all_lists(&server).await;
    let mut resources = stream(&server, json!({"resourceSubscriptions": ["a://1", "a://2"]})).await;
    assert_eq!(
        (notifier.tools_changed(), notifier.prompts_changed(), notifier.resources_changed()),
        (1, 1, 1)
    );
    for list in ["tools", "prompts", "resources"] {
        assert_eq!(told(&mut lists).await, format!("notifications/{list}/list_changed"));
    }
    assert_eq!(notifier.resource_updated("a://1"), 1);
    assert_eq!(resources.next_event().await.unwrap()["params"]["uri"], "a://1");
    assert_eq!(notifier.resources_updated(["a://2", "b://1"]), 1);
    assert_eq!(resources.next_event().await.unwrap()["params"]["uri"], "a://2");
    server.mcp().shutdown(std::time::Duration::ZERO).await;
    drop((server, lists, resources));
    assert_eq!(notifier.tools_changed(), 0);
}

/// Passes on to a suite what it has to, and no more: not `check`.
struct Wraps(Suite);

impl Handler for Wraps {
    type State = <Suite as Handler>::State;
    type Message = <Suite as Handler>::Message;

    async fn init(&self, channel: &Channel<Self::Message>) -> Result<Self::State, RpcError> {
        self.0.init(channel).await
    }

    async fn handle_request(
        &self,
        request: Request,
        channel: &Channel<Self::Message>,
        state: &mut Self::State,
    ) -> Result<Reply, RpcError> {
        self.0.handle_request(request, channel, state).await
    }

    fn capabilities(&self) -> ServerCapabilities {
        self.0.capabilities()
    }

    fn started(&self, notifier: Notifier) {
        self.0.started(notifier);
    }
}

#[tokio::test(start_paused = true)]
async fn disc_04_what_a_suite_behind_another_handler_offers_is_fixed_when_it_serves_too() {
    let suite = Suite::new("s", "1").tool("first", text);
    let handle = suite.handle();
    let server = serve(Wraps(suite)).await;
    let refused = handle.add_prompt("late", text).unwrap_err().to_string();
    assert!(refused.contains("started without prompts"), "{refused}");
    let discovered = server.connect().await.request("server/discover", json!({})).await;
    assert_eq!(discovered.result()["capabilities"].get("prompts"), None);
}

#[tokio::test(start_paused = true)]
async fn a_check_changes_nothing() {
    let suite = Suite::new("s", "1").tool("first", text);
    let handle = suite.handle();
    let (logs, _guard) = Logs::record(tracing::Level::WARN);
    suite.check().unwrap();
    assert_eq!(logs.text(), "", "nothing is traced");
    handle.add_prompt("late", text).unwrap();
    assert!(suite.capabilities().prompts.is_some(), "it has not started");
}
