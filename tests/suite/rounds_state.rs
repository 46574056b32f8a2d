//! The state between rounds: what is done once, and who may come back with what (MRTR-09 to MRTR-13, K1, K5, O5).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use ractor_mcp::prelude::*;
use ractor_mcp::suite::{KeyRing, Rounds};
use ractor_mcp::wire::{
    CallToolResult, ClientCapabilities, InputRequest, InputRequiredResult, Request, ServerCapabilities,
};
use ractor_mcp::{Denied, ManualClock, Principal};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::rounds::{Name, ask, greet, hello};
use crate::support::rounds::{accept, everything};
use crate::support::{Post, Server, call};

#[derive(Deserialize, JsonSchema)]
struct Text {
    #[allow(dead_code)]
    #[serde(default)]
    text: String,
}

async fn greet_with(_: Text, call: Call) -> Result<String, ToolError> {
    Ok(hello(call.elicit("name", "What is your name?")?))
}

fn suite() -> Suite {
    Suite::new("s", "1").keys(keys(1)).tool("greet", greet_with).tool("other", greet_with)
}

fn keys(n: u8) -> KeyRing {
    KeyRing::new([[n; 32]]).unwrap()
}

fn ada() -> Value {
    json!({"name": accept(json!({"name": "Ada"}))})
}

fn as_caller(post: Post, caller: &str) -> Post {
    post.header("Authorization", &format!("Bearer {caller}"))
}

/// A server whose callers are who they say they are.
async fn server(suite: Suite) -> Server {
    let options = Options::new().connect(|request| async move {
        match request.bearer_token() {
            Some(caller) => Ok(Principal::new(caller)),
            None => Ok::<_, Denied>(Principal::anonymous()),
        }
    });
    Server::start_with(suite, options).await
}

fn greet_post(text: &str) -> Post {
    call("greet", json!({"text": text})).capable_of(everything())
}

#[tokio::test]
async fn k1_a_state_comes_back_from_its_caller_with_its_request_or_not_at_all() {
    let server = server(suite()).await;
    let asked = server.send(as_caller(greet_post("x"), "alice")).await;
    let state = asked.state();
    let state = state.as_str().unwrap();
    let with = |post: Post, state: &str| post.answering(ada()).with_param("requestState", json!(state));
    let own = with(as_caller(greet_post("x"), "alice"), state);
    assert_eq!(server.send(own).await.text(), "hello Ada");
    let other_tool = call("other", json!({"text": "x"})).capable_of(everything());
    let mut messages = Vec::new();
    for (what, post) in [
        ("another caller", with(as_caller(greet_post("x"), "bob"), state)),
        ("nobody", with(greet_post("x"), state)),
        ("another tool", with(as_caller(other_tool, "alice"), state)),
        ("other arguments", with(as_caller(greet_post("y"), "alice"), state)),
        ("altered", with(as_caller(greet_post("x"), "alice"), &format!("{state}-TAMPERED"))),
        ("cut", with(as_caller(greet_post("x"), "alice"), &state[1..])),
        ("empty", with(as_caller(greet_post("x"), "alice"), "")),
    ] {
        let refused = server.send(post).await;
        assert_eq!((refused.status, refused.code()), (200, -32602), "{what}");
        messages.push(refused.answer()["error"].clone());
    }
    messages.dedup();
    assert_eq!(messages.len(), 1, "one neutral error: {messages:?}");
}

#[tokio::test]
async fn arguments_are_the_same_in_any_order() {
    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    struct Two {
        a: i64,
        b: Value,
    }
    let tool = |_: Two, call: Call| greet(NoArguments {}, call);
    let server = Server::start(Suite::new("s", "1").tool("two", tool)).await;
    let post = |arguments| call("two", arguments).capable_of(everything());
    let asked = server.send(post(json!({"a": 1, "b": {"x": 1, "y": [1, 2]}}))).await;
    let turned = post(json!({"b": {"y": [1, 2], "x": 1}, "a": 1})).answering_round(&asked, ada());
    assert_eq!(server.send(turned).await.text(), "hello Ada");
    let changed = post(json!({"b": {"y": [2, 1], "x": 1}, "a": 1})).answering_round(&asked, ada());
    assert_eq!(server.send(changed).await.code(), -32602);
}

#[tokio::test]
async fn mrtr_10_a_state_expires_after_20_minutes_unless_the_suite_says_otherwise() {
    async fn asks(call: Call) -> Result<String, ToolError> {
        Ok(hello(call.elicit("name", "Who?")?))
    }
    let offering = || suite().prompt("greet", greet).resource("test://greet", asks);
    let (minute, millisecond) = (Duration::from_secs(60), Duration::from_millis(1));
    for (suite, time) in [(offering(), 20 * minute), (offering().question_time(3 * minute), 3 * minute)] {
        let clock = ManualClock::new(SystemTime::UNIX_EPOCH);
        let server = Server::start_with(suite, Options::new().clock(clock.clone())).await;
        for post in [
            greet_post("x"),
            crate::support::request("prompts/get", json!({"name": "greet"})).capable_of(everything()),
            crate::support::request("resources/read", json!({"uri": "test://greet"}))
                .capable_of(everything()),
        ] {
            let asked = server.send(post.clone()).await;
            let retry = post.answering_round(&asked, ada());
            clock.advance(time - millisecond);
            assert!(server.send(retry.clone()).await.body.contains("hello Ada"), "in time: {retry:?}");
            clock.advance(millisecond);
            assert_eq!(server.send(retry).await.code(), -32602, "too late");
        }
    }
}

#[tokio::test]
async fn o5_another_node_opens_what_its_keys_have_sealed() {
    let asked = Server::start(suite()).await.send(greet_post("x")).await;
    let retry = greet_post("x").answering_round(&asked, ada());
    let same = Server::start(suite()).await;
    assert_eq!(same.send(retry.clone()).await.text(), "hello Ada");
    let rotated = suite().keys(KeyRing::new([[2; 32], [1; 32]]).unwrap());
    assert_eq!(Server::start(rotated).await.send(retry.clone()).await.text(), "hello Ada");
    let stranger = Server::start(suite().keys(keys(2))).await;
    assert_eq!(stranger.send(retry).await.code(), -32602);
    assert_eq!(stranger.send(greet_post("x")).await.asked_keys(), ["name"]);
}

#[tokio::test]
async fn a_key_that_stands_for_another_question_in_a_later_round_is_a_bug() {
    let rounds = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&rounds);
    let moody = move |_: NoArguments, call: Call| {
        let round = counted.fetch_add(1, Ordering::SeqCst);
        async move { Ok::<_, ToolError>(hello(call.elicit("name", format!("Who, for the {round}th time?"))?)) }
    };
    let server = Server::start(Suite::new("s", "1").tool("moody", moody)).await;
    let asked = server.send(ask("moody")).await;
    let answered = server.send(ask("moody").answering_round(&asked, ada())).await;
    assert_eq!(answered.code(), -32603);
}

/// What the tools below did.
#[derive(Clone, Default)]
struct Effects(Arc<AtomicUsize>);

impl Effects {
    fn happen(&self) -> usize {
        self.0.fetch_add(1, Ordering::SeqCst) + 1
    }

    fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

#[tokio::test]
async fn k5_an_effect_happens_in_one_round_and_its_outcome_is_known_in_all() {
    let effects = Effects::default();
    let known = effects.clone();
    let charge = move |_: NoArguments, call: Call| {
        let effects = known.clone();
        async move {
            let receipt = call.once("charge", async { effects.happen() }).await?;
            let name = hello(call.elicit("name", "Who?")?);
            call.elicit::<Name>("again", "Who?")?;
            Ok::<_, ToolError>(format!("{name}, receipt {receipt}"))
        }
    };
    let server = Server::start(Suite::new("s", "1").tool("charge", charge)).await;
    let one = server.send(ask("charge")).await;
    let two = server.send(ask("charge").answering_round(&one, ada())).await;
    let again = json!({"again": {"action": "decline"}});
    let done = server.send(ask("charge").answering_round(&two, again)).await;
    assert_eq!(done.text(), "hello Ada, receipt 1");
    assert_eq!(effects.count(), 1);
    // Without a state there is nothing to remember it by.
    let all = json!({"name": ada()["name"], "again": {"action": "decline"}});
    assert_eq!(server.send(ask("charge").answering(all)).await.text(), "hello Ada, receipt 2");
}

#[tokio::test]
async fn effects_go_by_key_whatever_their_order() {
    let rounds = Arc::new(AtomicUsize::new(0));
    let turns = move |_: NoArguments, call: Call| {
        let round = rounds.fetch_add(1, Ordering::SeqCst);
        async move {
            let mut order = ["a", "b"];
            if round > 0 {
                order.reverse();
            }
            let mut outcomes = Vec::new();
            for key in order {
                outcomes.push(call.once(key, async { format!("{key}{round}") }).await?);
            }
            call.elicit::<Name>("name", "Who?")?;
            Ok::<_, ToolError>(outcomes.join(" "))
        }
    };
    let server = Server::start(Suite::new("s", "1").tool("turns", turns)).await;
    let one = server.send(ask("turns")).await;
    assert_eq!(server.send(ask("turns").answering_round(&one, ada())).await.text(), "b0 a0");
}

#[tokio::test]
async fn an_effect_that_fails_is_tried_again_and_one_key_is_one_effect() {
    let effects = Effects::default();
    let known = effects.clone();
    let fails_first = move |_: NoArguments, call: Call| {
        let effects = known.clone();
        async move {
            let attempt = call.try_once("charge", async {
                match effects.happen() {
                    1 => Err(ToolError::new("no funds")),
                    n => Ok(n),
                }
            });
            let attempt = attempt.await.map_err(|error| error.to_string());
            call.elicit::<Name>("name", "Who?")?;
            Ok::<_, ToolError>(format!("{attempt:?}"))
        }
    };
    async fn twice(_: NoArguments, call: Call) -> Result<u8, ToolError> {
        let one = call.once("key", async { 1 }).await?;
        Ok(one + call.once("key", async { 2 }).await?)
    }
    let suite = Suite::new("s", "1").tool("fails_first", fails_first).tool("twice", twice);
    let server = Server::start(suite).await;
    let one = server.send(ask("fails_first")).await;
    let done = server.send(ask("fails_first").answering_round(&one, ada())).await;
    assert_eq!((done.text().as_str(), effects.count()), ("Ok(2)", 2));
    assert_eq!(server.send(ask("twice")).await.code(), -32603);
}

#[tokio::test]
async fn what_is_too_large_for_a_state_is_a_bug() {
    async fn large(_: NoArguments, call: Call) -> Result<String, ToolError> {
        let text = call.once("large", async { "x".repeat(20_000) }).await?;
        call.elicit::<Name>("name", "Who?")?;
        Ok(text)
    }
    let server = Server::start(Suite::new("s", "1").tool("large", large)).await;
    assert_eq!(server.send(ask("large")).await.code(), -32603);
}

#[tokio::test]
async fn answers_that_are_too_long_for_a_state_are_refused_and_no_bug() {
    async fn two(_: NoArguments, call: Call) -> Result<String, ToolError> {
        let name = hello(call.elicit("name", "Who?")?);
        call.elicit::<Name>("again", "Who else?")?;
        Ok(name)
    }
    let server = Server::start(Suite::new("s", "1").tool("two", two).tool("one", greet)).await;
    let long = json!({"name": accept(json!({"name": "x".repeat(20_000)}))});
    let refused = server.send(ask("two").answering(long.clone())).await;
    assert_eq!((refused.status, refused.code()), (200, -32602));
    let message = refused.answer()["error"]["message"].clone();
    assert!(message.as_str().unwrap().starts_with("params.inputResponses: the answers so far"), "{message}");
    assert!(server.send(ask("one").answering(long)).await.text().len() > 20_000, "nothing more is asked");
}

#[tokio::test]
async fn a_time_that_no_answer_could_keep_is_refused_at_start() {
    let told = McpSupervisor::start(suite().question_time(Duration::ZERO)).await.unwrap_err().to_string();
    assert!(told.contains("the question time is zero"), "{told}");
}

/// The explicit form: a handler with rounds of its own, and one that asks by hand.
struct ByHand(KeyRing);

impl Handler for ByHand {
    type State = ();
    type Message = ();

    async fn init(&self, _: &Channel<()>) -> Result<(), RpcError> {
        Ok(())
    }

    async fn handle_request(
        &self,
        request: Request,
        channel: &Channel<()>,
        (): &mut (),
    ) -> Result<Reply, RpcError> {
        match request {
            Request::CallTool(call) if call.name == "rounds" => {
                let rounds = Rounds::of_tool(&self.0, channel, &call)?;
                let name = hello(rounds.elicit("name", "Who?")?);
                Ok(CallToolResult::text(format!("{name} {}", rounds.is_retry())).into())
            }
            Request::GetPrompt(get) => {
                let rounds = Rounds::of_prompt(&self.0, channel, &get)?;
                rounds.elicit::<Name>("name", "Who?")?;
                Err(RpcError::new(7, "answered"))
            }
            Request::ReadResource(read) => {
                let rounds = Rounds::of_resource(&self.0, channel, &read)?;
                rounds.elicit::<Name>("name", "Who?")?;
                Err(RpcError::new(7, "answered"))
            }
            Request::CallTool(_) => {
                let roots = InputRequiredResult::new().ask("roots", InputRequest::roots());
                Ok(Reply::input_required(roots))
            }
            other => Err(RpcError::method_not_found(other.method())),
        }
    }

    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::new().tools(false).prompts(false).resources(false, false)
    }
}

#[tokio::test]
async fn a_handler_has_the_same_rounds() {
    let server = Server::start(ByHand(keys(1))).await;
    let asked = server.send(ask("rounds")).await;
    assert_eq!(asked.asked_keys(), ["name"]);
    let retry = ask("rounds").answering_round(&asked, ada());
    assert_eq!(server.send(retry).await.text(), "hello Ada true");
}

#[tokio::test]
async fn a_36_prompts_and_resources_ask_as_tools_do() {
    let server = Server::start(ByHand(keys(1))).await;
    for (method, params) in [
        ("prompts/get", json!({"name": "p", "arguments": {"a": "b"}})),
        ("resources/read", json!({"uri": "test://r"})),
    ] {
        let post = || crate::support::request(method, params.clone()).capable_of(everything());
        let asked = server.send(post()).await;
        assert_eq!(asked.asked_keys(), ["name"], "{method}");
        let answered = server.send(post().answering_round(&asked, ada())).await;
        assert_eq!(answered.code(), 7, "{method}");
    }
}

#[tokio::test]
async fn a_26_what_a_handler_asks_by_hand_is_asked_of_clients_that_declare_it() {
    let server = Server::start(ByHand(keys(1))).await;
    let refused = server.send(call("hand", json!({}))).await;
    assert_eq!((refused.status, refused.code()), (400, -32021));
    let required = ClientCapabilities::only_roots();
    assert_eq!(
        refused.answer()["error"]["data"]["requiredCapabilities"],
        serde_json::to_value(required).unwrap()
    );
    assert_eq!(server.send(ask("hand")).await.asked_keys(), ["roots"]);
}
