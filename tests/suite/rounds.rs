//! Tools that ask their clients, over the wire (MRTR, INP, K3 to K7).

use std::convert::Infallible;
use std::fmt;

use ractor_mcp::prelude::*;
use ractor_mcp::suite::{Roots, form};
use ractor_mcp::wire::{CreateMessageRequest, InputRequest, SamplingMessage};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::rounds::{accept, everything};
use crate::support::{Post, Response, Server, call};

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Name {
    /// Given and family name
    name: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Colour {
    colour: String,
}

pub(crate) fn hello(name: Elicited<Name>) -> String {
    match name {
        Elicited::Accept(Name { name }) => format!("hello {name}"),
        Elicited::Decline => "declined".to_owned(),
        _ => "cancelled".to_owned(),
    }
}

pub(crate) async fn greet(_: NoArguments, call: Call) -> Result<String, ToolError> {
    Ok(hello(call.elicit("name", "What is your name?")?))
}

async fn two_steps(_: NoArguments, call: Call) -> Result<String, ToolError> {
    let name = hello(call.elicit("name", "What is your name?")?);
    let colour = call.elicit::<Colour>("colour", format!("Which colour, {name}?"))?;
    Ok(format!("{name}, {:?}", colour.accepted().map(|it| it.colour)))
}

async fn at_once(_: NoArguments, call: Call) -> Result<String, ToolError> {
    let greeting = CreateMessageRequest::new(vec![SamplingMessage::user("Greet.")], 50);
    let (name, greeting, roots) =
        call.ask_all((("name", form::<Name>("Who?")), ("greeting", greeting), ("roots", Roots)))?;
    Ok(format!("{}, {}, {}", hello(name), greeting.text(), roots[0].uri))
}

async fn listed(_: NoArguments, call: Call) -> Result<String, ToolError> {
    let questions = ["a", "b"].map(|key| (key, InputRequest::roots())).to_vec();
    let answers = call.ask_all(questions)?;
    Ok(Value::from(answers).to_string())
}

async fn sign_in(_: NoArguments, call: Call) -> Result<&'static str, ToolError> {
    Ok(match call.elicit_url("page", "Sign in", "https://example.com/in")? {
        Elicited::Accept(()) => "opened",
        _ => "not opened",
    })
}

pub(crate) fn ask(tool: &str) -> Post {
    call(tool, json!({})).capable_of(everything())
}

fn ada() -> Value {
    accept(json!({"name": "Ada"}))
}

fn sampled(text: &str) -> Value {
    json!({"role": "assistant", "content": {"type": "text", "text": text}, "model": "m"})
}

fn suite() -> Suite {
    Suite::new("s", "1")
        .tool("greet", greet)
        .tool("two_steps", two_steps)
        .tool("at_once", at_once)
        .tool("listed", listed)
        .tool("sign_in", sign_in)
}

async fn server() -> Server {
    Server::start(suite()).await
}

#[tokio::test]
async fn mrtr_02_to_06_a_question_is_a_result_and_the_answer_comes_with_the_request_again() {
    let server = server().await;
    let asked = server.send(ask("greet")).await;
    assert_eq!(asked.status, 200);
    assert_eq!(
        asked.questions(),
        json!({"name": {"method": "elicitation/create", "params": {
            "message": "What is your name?",
            "requestedSchema": {
                "type": "object",
                "properties": {"name": {"type": "string", "description": "Given and family name"}},
                "required": ["name"],
            },
        }}})
    );
    assert!(asked.result()["_meta"].is_object());
    assert!(asked.result().get("ttlMs").is_none());
    let answered = server.send(ask("greet").answering_round(&asked, json!({"name": ada()}))).await;
    assert_eq!(answered.result()["resultType"], "complete");
    assert_eq!(answered.text(), "hello Ada");
}

#[tokio::test]
async fn mrtr_16_answers_may_come_without_a_state_and_without_a_first_round() {
    let server = server().await;
    let answers = json!({"name": ada(), "other": 12345, "more": {"ignored": true}});
    assert_eq!(server.send(ask("greet").answering(answers)).await.text(), "hello Ada");
}

#[tokio::test]
async fn mrtr_15_earlier_answers_travel_in_the_state() {
    let server = server().await;
    let one = server.send(ask("two_steps")).await;
    assert_eq!(one.asked_keys(), ["name"]);
    let two = server.send(ask("two_steps").answering_round(&one, json!({"name": ada()}))).await;
    assert_eq!(two.asked_keys(), ["colour"]);
    assert_eq!(two.questions()["colour"]["params"]["message"], "Which colour, hello Ada?");
    assert_ne!(one.state(), two.state());
    let colour = json!({"colour": accept(json!({"colour": "blue"}))});
    let done = server.send(ask("two_steps").answering_round(&two, colour)).await;
    assert_eq!(done.text(), "hello Ada, Some(\"blue\")");
}

#[tokio::test]
async fn an_answer_that_was_given_is_not_taken_back() {
    let server = server().await;
    let one = server.send(ask("two_steps")).await;
    let two = server.send(ask("two_steps").answering_round(&one, json!({"name": ada()}))).await;
    let both = json!({"name": accept(json!({"name": "Eve"})), "colour": {"action": "decline"}});
    let done = server.send(ask("two_steps").answering_round(&two, both)).await;
    assert_eq!(done.text(), "hello Ada, None");
}

#[tokio::test]
async fn mrtr_20_and_k5_several_are_asked_at_once_and_missing_ones_again() {
    let server = server().await;
    let one = server.send(ask("at_once")).await;
    assert_eq!(one.asked_keys(), ["name", "greeting", "roots"]);
    assert_eq!(one.questions()["greeting"]["method"], "sampling/createMessage");
    assert_eq!(one.questions()["roots"], json!({"method": "roots/list", "params": {}}));
    let some = json!({"greeting": sampled("hi"), "wrong_key": ada()});
    let two = server.send(ask("at_once").answering_round(&one, some)).await;
    assert_eq!(two.asked_keys(), ["name", "roots"]);
    let rest = json!({"name": ada(), "roots": {"roots": [{"uri": "file:///a", "name": "A"}]}});
    let done = server.send(ask("at_once").answering_round(&two, rest)).await;
    assert_eq!(done.text(), "hello Ada, hi, file:///a");
}

#[tokio::test]
async fn any_request_can_be_asked_and_its_answer_stays_as_it_came() {
    let server = server().await;
    let none = json!({"roots": [], "future": 1});
    let answers = json!({"a": none, "b": none});
    let done = server.send(ask("listed").answering(answers)).await;
    assert_eq!(done.text(), json!([none, none]).to_string());
    let misfit = json!({"a": none, "b": {"roots": [{}]}});
    assert_eq!(server.send(ask("listed").answering(misfit)).await.code(), -32602);
}

#[tokio::test]
async fn inp_03_a_page_is_opened_by_its_url() {
    let server = server().await;
    let asked = server.send(ask("sign_in")).await;
    let params = json!({"mode": "url", "message": "Sign in", "url": "https://example.com/in"});
    assert_eq!(asked.questions()["page"], json!({"method": "elicitation/create", "params": params}));
    for (action, text) in [("accept", "opened"), ("decline", "not opened")] {
        let answers = json!({"page": {"action": action}});
        let answered = server.send(ask("sign_in").answering_round(&asked, answers)).await;
        assert_eq!(answered.text(), text);
    }
}

#[tokio::test]
async fn k4_refusals_are_answers_and_misfits_are_errors_that_name_the_key() {
    let server = server().await;
    let answer = async |answer: Value| {
        let answers = json!({"name": answer});
        server.send(ask("greet").answering(answers)).await
    };
    assert_eq!(answer(json!({"action": "decline"})).await.text(), "declined");
    assert_eq!(answer(json!({"action": "cancel"})).await.text(), "cancelled");
    for misfit in [
        json!({"action": "accept"}),
        accept(json!({"name": 7})),
        accept(json!({})),
        json!({"action": "perhaps"}),
        json!(12345),
        json!(null),
    ] {
        let refused = answer(misfit.clone()).await;
        assert_eq!((refused.status, refused.code()), (200, -32602), "{misfit}");
        let message = refused.answer()["error"]["message"].clone();
        assert!(message.as_str().unwrap().contains("inputResponses.name"), "{message}");
    }
}

#[tokio::test]
async fn a_31_null_is_no_set_of_answers() {
    assert_eq!(server().await.send(ask("greet").answering(json!(null))).await.code(), -32602);
}

/// An error of another crate, as far as the suite can tell.
#[derive(Debug)]
struct Foreign(String);

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<RpcError> for Foreign {
    fn from(error: RpcError) -> Self {
        Self(error.to_string())
    }
}

struct Greeter;

impl Tool for Greeter {
    type Args = NoArguments;
    type Output = String;
    type State = ();
    type Message = Infallible;

    async fn call(&self, _: NoArguments, call: &Call, (): &mut ()) -> Result<ToolReply<String>, ToolError> {
        Ok(ToolReply::Answer(hello(call.elicit("name", "What is your name?")?)))
    }
}

/// The same tool, once for each way to write it.
fn all_ways() -> Vec<Suite> {
    type BoxError = Box<dyn std::error::Error + Send + Sync>;
    const QUESTION: &str = "What is your name?";
    async fn rpc(call: Call) -> Result<String, RpcError> {
        Ok(hello(call.elicit("name", QUESTION)?))
    }
    async fn boxed(_: NoArguments, call: Call) -> Result<String, BoxError> {
        Ok(hello(call.elicit("name", QUESTION)?))
    }
    async fn text(_: NoArguments, call: Call) -> Result<String, String> {
        let name = call.elicit("name", QUESTION).map_err(|error| error.to_string())?;
        Ok(hello(name))
    }
    async fn foreign(_: NoArguments, call: Call) -> Result<String, Foreign> {
        Ok(hello(call.elicit("name", QUESTION)?))
    }
    fn on_a_thread(_: NoArguments, call: Call) -> Result<String, ToolError> {
        Ok(hello(call.elicit("name", QUESTION)?))
    }
    let rpc = |_: NoArguments, call: Call| rpc(call);
    vec![
        Suite::new("s", "1").tool("greet", greet),
        Suite::new("s", "1").tool("greet", rpc),
        Suite::new("s", "1").tool("greet", boxed),
        Suite::new("s", "1").tool("greet", text),
        Suite::new("s", "1").tool("greet", foreign),
        Suite::new("s", "1").tool("greet", blocking(on_a_thread)),
        Suite::new("s", "1").tool("greet", Greeter),
    ]
}

fn without_state(response: &Response) -> Value {
    let mut answer = response.answer();
    if let Some(result) = answer["result"].as_object_mut() {
        result.remove("requestState");
    }
    answer
}

#[tokio::test]
async fn k7_and_n4_the_question_passes_through_every_kind_of_tool_and_error() {
    let mut seen = Vec::new();
    for suite in all_ways() {
        let server = Server::start(suite).await;
        let asked = server.send(ask("greet")).await;
        let answers = json!({"name": ada()});
        let answered = server.send(ask("greet").answering_round(&asked, answers)).await;
        let unable = server.send(call("greet", json!({}))).await;
        seen.push((without_state(&asked), answered.answer(), unable.status, unable.answer()));
    }
    assert_eq!(seen[0].0["result"]["resultType"], "input_required");
    assert_eq!((seen[0].2, &seen[0].3["error"]["code"]), (400, &json!(-32021)));
    for other in &seen[1..] {
        assert_eq!(other, &seen[0]);
    }
}

#[tokio::test]
async fn mrtr_07_and_k3_a_client_is_asked_for_what_it_declares_only() {
    let server = server().await;
    for (tool, capabilities, lacking) in [
        ("greet", json!({}), json!({"elicitation": {"form": {}}})),
        ("greet", json!({"elicitation": {"url": {}}}), json!({"elicitation": {"form": {}}})),
        ("greet", json!({"elicitation": null}), json!({"elicitation": {"form": {}}})),
        ("sign_in", json!({"elicitation": {}}), json!({"elicitation": {"url": {}}})),
        ("at_once", json!({"elicitation": {}}), json!({"sampling": {}, "roots": {}})),
    ] {
        let refused = server.send(call(tool, json!({})).capable_of(capabilities.clone())).await;
        assert_eq!((refused.status, refused.code()), (400, -32021), "{tool} {capabilities}");
        assert_eq!(refused.answer()["error"]["data"], json!({"requiredCapabilities": lacking}));
    }
    let form_only = call("greet", json!({})).capable_of(json!({"elicitation": {}}));
    assert_eq!(server.send(form_only).await.asked_keys(), ["name"]);
}

#[tokio::test]
async fn a_26_a_tool_may_ask_for_what_the_client_can_do() {
    async fn adapts(_: NoArguments, call: Call) -> Result<String, ToolError> {
        match call.elicit("name", "Who?") {
            Err(error) if error.code() == -32021 => Ok("hello stranger".to_owned()),
            name => Ok(hello(name?)),
        }
    }
    let server = Server::start(Suite::new("s", "1").tool("adapts", adapts)).await;
    assert_eq!(server.send(call("adapts", json!({}))).await.text(), "hello stranger");
    assert_eq!(server.send(ask("adapts")).await.asked_keys(), ["name"]);
}

#[tokio::test]
async fn what_a_tool_says_after_it_swallowed_a_question_stands() {
    async fn says(_: NoArguments, call: Call) -> Result<String, ToolError> {
        drop(call.elicit::<Name>("name", "Who?"));
        Err(ToolError::new("in its own words"))
    }
    async fn protocol(_: NoArguments, call: Call) -> Result<String, RpcError> {
        drop(call.elicit::<Name>("name", "Who?"));
        Err(RpcError::new(7, "its own error"))
    }
    async fn succeeds(_: NoArguments, call: Call) -> String {
        drop(call.elicit::<Name>("name", "Who?"));
        "done".to_owned()
    }
    let suite = Suite::new("s", "1").tool("says", says).tool("protocol", protocol).tool("succeeds", succeeds);
    let server = Server::start(suite).await;
    assert_eq!(server.send(ask("says")).await.text(), "in its own words");
    assert_eq!(server.send(ask("protocol")).await.code(), 7);
    assert_eq!(server.send(ask("succeeds")).await.text(), "done");
}

#[tokio::test]
async fn a_question_that_is_a_bug_is_an_internal_error() {
    async fn twice(_: NoArguments, call: Call) -> Result<String, ToolError> {
        let questions = vec![("key", form::<Name>("Who?")), ("key", form::<Name>("Who else?"))];
        call.ask_all(questions)?;
        Ok(String::new())
    }
    async fn nested(_: NoArguments, call: Call) -> Result<String, ToolError> {
        #[derive(Deserialize, JsonSchema)]
        #[allow(dead_code)]
        struct Outer {
            inner: Name,
        }
        call.elicit::<Outer>("key", "?")?;
        Ok(String::new())
    }
    async fn no_url(_: NoArguments, call: Call) -> Result<String, ToolError> {
        call.elicit_url("key", "?", "example.com")?;
        Ok(String::new())
    }
    let suite = Suite::new("s", "1").tool("twice", twice).tool("nested", nested).tool("no_url", no_url);
    let server = Server::start(suite).await;
    for tool in ["twice", "nested", "no_url"] {
        let refused = server.send(ask(tool)).await;
        assert_eq!(refused.code(), -32603, "{tool}");
        assert_eq!(refused.answer()["error"]["message"], "internal error");
    }
}

#[tokio::test]
async fn a_question_may_come_while_the_call_streams() {
    async fn late(_: NoArguments, call: Call) -> Result<String, ToolError> {
        call.progress(1, 2, None).await?;
        Ok(hello(call.elicit("name", "Who?")?))
    }
    let server = Server::start(Suite::new("s", "1").tool("late", late)).await;
    let asked = server.send(ask("late").progress(json!(1))).await;
    assert!(asked.is_stream());
    assert_eq!(asked.asked_keys(), ["name"]);
    // The status is long sent; the error is still the right one.
    let unable = server.send(call("late", json!({})).progress(json!(1))).await;
    assert_eq!((unable.status, unable.code()), (200, -32021));
}
