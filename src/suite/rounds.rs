//! Multi round-trip requests: what one request knows of its earlier rounds, and what it asks for the next one (MRTR).

use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::handler::{Channel, RequestContext, RpcError};
use crate::rules::errors::Shown;
use crate::rules::input_request;
use crate::wire::{
    CallToolRequest, ClientCapabilities, GetPromptRequest, InputRequiredResult, ReadResourceRequest,
};

use super::book::{self, Book};
use super::{Binding, Elicited, InvalidToken, KeyRing, Question, Questions, SealError, form};

/// The rounds of one request: asks the client, and knows its answers.
///
/// A question that has no answer yet comes back as an error; `?` carries it out, and the client reads it as a result
/// `input_required`. The client then sends **the whole request again** with the answers, and the handler runs again from
/// the top: what was answered is known, and the next question is asked. So whatever comes before a question runs in each
/// round. What must not, such as a payment, goes through [`once`](Rounds::once).
///
/// The answers and the outcomes of earlier rounds travel in a sealed `requestState`, bound to the caller, the method,
/// the tool, prompt or resource, and its arguments. It expires after 20 minutes, by the [clock](crate::Options::clock) of
/// the server, and has at most 16 KiB: longer answers, if more is asked behind them, are refused with `-32602`. So is a
/// state that does not fit, whatever is wrong with it (MRTR-10, MRTR-12). Answers may also come without a state, in a first request
/// (MRTR-16): they are the client's word, as its arguments are.
///
/// Keys are chosen by the author and stand for one question: the same key with another question, in the same or in a
/// later round, is a bug, answered with `-32603` and traced. So the text of a question follows from the arguments and from
/// earlier answers, and not from the clock.
///
/// A client that did not declare what a question needs gets `-32021` before anything is asked (MRTR-07), with HTTP
/// status 400 as long as nothing was sent before; ask before reporting progress.
///
/// Tools have all of this on their [`Call`](super::Call). A [`Handler`](crate::Handler) makes the rounds of a request
/// itself:
///
/// ```
/// use ractor_mcp::prelude::*;
/// use ractor_mcp::suite::{KeyRing, Rounds};
/// use ractor_mcp::wire::{CallToolResult, Request, ServerCapabilities};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Name { name: String }
///
/// struct Greeter { keys: KeyRing }
///
/// impl Handler for Greeter {
///     type State = ();
///     type Message = ();
///
///     async fn init(&self, _: &Channel<()>) -> Result<(), RpcError> {
///         Ok(())
///     }
///
///     async fn handle_request(&self, request: Request, channel: &Channel<()>, _: &mut ()) -> Result<Reply, RpcError> {
///         let Request::CallTool(call) = request else {
///             return Err(RpcError::method_not_found(request.method()));
///         };
///         let rounds = Rounds::of_tool(&self.keys, channel, &call)?;
///         let name = rounds.elicit::<Name>("name", "What is your name?")?.accepted();
///         let greeting = name.map_or("Hello!".to_owned(), |Name { name }| format!("Hello, {name}!"));
///         Ok(CallToolResult::text(greeting).into())
///     }
///
///     fn capabilities(&self) -> ServerCapabilities {
///         ServerCapabilities::new().tools(false)
///     }
/// }
/// ```
#[derive(Clone)]
pub struct Rounds(Arc<Inner>);

struct Inner {
    keys: KeyRing,
    lifetime: Duration,
    /// What the state is bound to. None for a client that can answer no question, since it never gets a state.
    binding: Option<Binding>,
    context: Arc<RequestContext>,
    /// The answers of this request, as they came. Keys that nobody asks for are never looked at (MRTR-19).
    given: Map<String, Value>,
    is_retry: bool,
    book: Mutex<Book>,
    stuck: Mutex<Option<Stuck>>,
}

/// Why a request cannot go on.
#[derive(Clone, Debug)]
enum Stuck {
    /// Questions are open.
    Asks(InputRequiredResult),
    /// The client cannot be asked.
    Lacks(ClientCapabilities),
    /// An answer is none.
    Misfit(String),
    /// Whoever asks does it wrongly.
    Bug(String),
}

impl From<Stuck> for RpcError {
    fn from(stuck: Stuck) -> Self {
        match stuck {
            Stuck::Asks(result) => Self::input_required(result),
            Stuck::Lacks(capabilities) => Self::missing_capability(&capabilities),
            Stuck::Misfit(what) => Self::invalid_params(what),
            Stuck::Bug(what) => Self::internal(what),
        }
    }
}

/// What one request came with.
struct Sent<'a> {
    name: &'a str,
    arguments: Option<&'a Map<String, Value>>,
    responses: Option<&'a Map<String, Value>>,
    state: Option<&'a str>,
}

impl Sent<'_> {
    /// What a state of this request is bound to.
    fn binding(&self, context: &RequestContext) -> Binding {
        let binding = Binding::new("requestState", &context.principal, &context.method).with(self.name);
        match self.arguments.filter(|arguments| !arguments.is_empty()) {
            Some(arguments) => binding.with(book::digest_members(arguments)),
            None => binding,
        }
    }
}

impl Rounds {
    /// The rounds of a `tools/call`.
    ///
    /// # Errors
    ///
    /// `-32602` for a `requestState` that was not sealed for this very request, or has expired.
    pub fn of_tool<M: Send + 'static>(
        keys: &KeyRing,
        channel: &Channel<M>,
        request: &CallToolRequest,
    ) -> Result<Self, RpcError> {
        let sent = Sent {
            name: &request.name,
            arguments: Some(&request.arguments),
            responses: request.input_responses.as_ref(),
            state: request.request_state.as_deref(),
        };
        Self::of(keys, channel.context(), &sent)
    }

    /// The rounds of a `prompts/get`.
    ///
    /// # Errors
    ///
    /// As for [`of_tool`](Rounds::of_tool).
    pub fn of_prompt<M: Send + 'static>(
        keys: &KeyRing,
        channel: &Channel<M>,
        request: &GetPromptRequest,
    ) -> Result<Self, RpcError> {
        let sent = Sent {
            name: &request.name,
            arguments: Some(&request.arguments),
            responses: request.input_responses.as_ref(),
            state: request.request_state.as_deref(),
        };
        Self::of(keys, channel.context(), &sent)
    }

    /// The rounds of a `resources/read`.
    ///
    /// # Errors
    ///
    /// As for [`of_tool`](Rounds::of_tool).
    pub fn of_resource<M: Send + 'static>(
        keys: &KeyRing,
        channel: &Channel<M>,
        request: &ReadResourceRequest,
    ) -> Result<Self, RpcError> {
        let sent = Sent {
            name: &request.uri,
            arguments: None,
            responses: request.input_responses.as_ref(),
            state: request.request_state.as_deref(),
        };
        Self::of(keys, channel.context(), &sent)
    }

    /// The rounds of a request that may not ask (MRTR-03): a question in it is a bug, which its answer tells.
    pub(super) fn none<M: Send + 'static>(keys: &KeyRing, channel: &Channel<M>) -> Self {
        Self::with(keys, channel.context(), None, Book::default(), None, false)
    }

    fn with(
        keys: &KeyRing,
        context: &Arc<RequestContext>,
        binding: Option<Binding>,
        book: Book,
        given: Option<Map<String, Value>>,
        is_retry: bool,
    ) -> Self {
        Self(Arc::new(Inner {
            keys: keys.with_clock(&context.clock),
            lifetime: KeyRing::LIFETIME,
            binding,
            context: Arc::clone(context),
            given: given.unwrap_or_default(),
            is_retry,
            book: Mutex::new(book),
            stuck: Mutex::new(None),
        }))
    }

    fn of(keys: &KeyRing, context: &Arc<RequestContext>, sent: &Sent<'_>) -> Result<Self, RpcError> {
        let can_be_asked = !context.meta.client_capabilities.as_map().is_empty();
        // The arguments are digested now, since the call consumes them, and not at all where no state can come of it.
        let binding = (can_be_asked || sent.state.is_some()).then(|| sent.binding(context));
        let book = match (sent.state, &binding) {
            (Some(state), Some(binding)) => {
                Book::from_bytes(&keys.with_clock(&context.clock).open(binding, state)?)
                    .ok_or(InvalidToken)?
            }
            _ => Book::default(),
        };
        let is_retry = sent.responses.is_some() || sent.state.is_some();
        Ok(Self::with(keys, context, binding, book, sent.responses.cloned(), is_retry))
    }

    /// Sets how long the client has for its answers; 20 minutes by default.
    #[must_use]
    pub fn expiring_after(mut self, lifetime: Duration) -> Self {
        // Before the first clone there is one owner, and after it the first word stands.
        if let Some(inner) = Arc::get_mut(&mut self.0) {
            inner.lifetime = lifetime;
        }
        self
    }

    /// Whether the request answers an earlier round. Its result is for nobody else, and not to be cached (CACHE-10).
    pub fn is_retry(&self) -> bool {
        self.0.is_retry
    }

    /// The answer under a key as it came, of this round or an earlier one, whether anybody asks for it or not.
    pub fn given(&self, key: &str) -> Option<Value> {
        let book = self.book();
        book.answers.get(key).or_else(|| self.0.given.get(key)).cloned()
    }

    /// Asks the person to fill in a [form](super::Form).
    ///
    /// # Errors
    ///
    /// The question, as long as it has no answer; see [`ask`](Rounds::ask).
    pub fn elicit<T: DeserializeOwned + JsonSchema + 'static>(
        &self,
        key: &str,
        message: impl Into<String>,
    ) -> Result<Elicited<T>, RpcError> {
        self.ask(key, form::<T>(message))
    }

    /// Asks one question.
    ///
    /// # Errors
    ///
    /// The question, as long as it has no answer: `?` carries it out. `-32021` if the client did not declare that it
    /// can answer, `-32602` for an answer that does not fit, `-32603` if the question is a bug.
    pub fn ask<Q: Question>(&self, key: &str, question: Q) -> Result<Q::Answer, RpcError> {
        let (answer,) = self.ask_all(((key, question),))?;
        Ok(answer)
    }

    /// Asks several questions at once; those that have no answer yet are asked again (MRTR-20).
    ///
    /// # Errors
    ///
    /// As for [`ask`](Rounds::ask).
    pub fn ask_all<Q: Questions>(&self, questions: Q) -> Result<Q::Answers, RpcError> {
        let mut open = Open { rounds: self, result: InputRequiredResult::new() };
        match questions.answers(&mut open)? {
            Some(answers) => Ok(answers),
            None => {
                let result = open.result;
                Err(self.put(result))
            }
        }
    }

    /// Runs an effect in one round only: its outcome is remembered in the sealed state, and later rounds get it from
    /// there. The key is chosen by the author, one for each effect of a request.
    ///
    /// It is remembered from the next question on. A request that ends otherwise, in an error too, forgets it, and a
    /// client that sends an old round again repeats it (MRTR-13): what must never happen twice needs a record of its
    /// own. A client that leaves interrupts it at an `.await`, unless
    /// [`uninterrupted`](crate::Channel::uninterrupted) is around it.
    ///
    /// # Errors
    ///
    /// `-32603` if the outcome cannot be written as JSON or read from it, or if the key was used in this round already.
    pub async fn once<T, F>(&self, key: &str, effect: F) -> Result<T, RpcError>
    where
        T: Serialize + DeserializeOwned,
        F: Future<Output = T>,
    {
        if let Some(outcome) = self.remembered(key)? {
            return Ok(outcome);
        }
        let outcome = effect.await;
        self.remember(key, &outcome)?;
        Ok(outcome)
    }

    /// As [`once`](Rounds::once), for an effect that may fail: a failure is not remembered, and the next round tries again.
    ///
    /// # Errors
    ///
    /// The failure, and as for [`once`](Rounds::once).
    pub async fn try_once<T, E, F>(&self, key: &str, effect: F) -> Result<T, E>
    where
        T: Serialize + DeserializeOwned,
        E: From<RpcError>,
        F: Future<Output = Result<T, E>>,
    {
        if let Some(outcome) = self.remembered(key)? {
            return Ok(outcome);
        }
        let outcome = effect.await?;
        self.remember(key, &outcome)?;
        Ok(outcome)
    }

    /// What the last question came to, for errors that hide it.
    pub(super) fn stuck(&self) -> Option<RpcError> {
        let stuck = self.0.stuck.lock().unwrap_or_else(PoisonError::into_inner);
        stuck.clone().map(RpcError::from)
    }

    fn remembered<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, RpcError> {
        let mut book = self.book();
        if !book.want(key) {
            return Err(
                self.bug(format!("the effect `{key}` is wanted twice; each effect has a key of its own"))
            );
        }
        let outcome = book.outcome(key).map(T::deserialize).transpose();
        outcome.map_err(|fault| {
            self.bug(format!("the outcome of `{key}` is of another type than before: {fault}"))
        })
    }

    fn remember<T: Serialize>(&self, key: &str, outcome: &T) -> Result<(), RpcError> {
        let outcome = serde_json::to_value(outcome).map_err(|fault| {
            self.bug(format!("the outcome of `{key}` cannot be written as JSON: {fault}"))
        })?;
        self.book().keep(key, outcome);
        Ok(())
    }

    /// Puts the open questions to the client, if it declared that it can answer them.
    fn put(&self, mut result: InputRequiredResult) -> RpcError {
        let declared = &self.0.context.meta.client_capabilities;
        if let Some(lacking) = input_request::lacking(&result, declared) {
            return self.stop(Stuck::Lacks(lacking));
        }
        let Inner { keys, binding: Some(binding), lifetime, .. } = &*self.0 else {
            return self.bug("a request asks that may not (MRTR-03)".to_owned());
        };
        let (book, own) = {
            let book = self.book();
            (book.to_bytes(), book.own_bytes())
        };
        match keys.seal(binding, &book, *lifetime) {
            Ok(state) => {
                result.request_state = Some(state);
                self.stop(Stuck::Asks(result))
            }
            // Too much is the author's affair only where it is the author's.
            Err(SealError::TooLong) if keys.seal(binding, &own, *lifetime).is_ok() => {
                self.stop(Stuck::Misfit(format!(
                    "params.inputResponses: the answers so far are longer than the {} bytes that a requestState may \
                     have; shorter ones would do",
                    KeyRing::LONGEST_TOKEN
                )))
            }
            Err(fault) => self.bug(format!("the answers and outcomes so far cannot be sealed: {fault}")),
        }
    }

    fn bug(&self, what: String) -> RpcError {
        self.stop(Stuck::Bug(what))
    }

    fn stop(&self, stuck: Stuck) -> RpcError {
        let mut last = self.0.stuck.lock().unwrap_or_else(PoisonError::into_inner);
        last.insert(stuck).clone().into()
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.0.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Rounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Rounds({})", self.0.context)
    }
}

/// The questions of a group that have no answer yet.
#[doc(hidden)]
pub struct Open<'a> {
    rounds: &'a Rounds,
    result: InputRequiredResult,
}

impl Open<'_> {
    /// The answer to a question; without one, the question is open.
    pub(super) fn answer<Q: Question>(
        &mut self,
        key: &str,
        question: &Q,
    ) -> Result<Option<Q::Answer>, RpcError> {
        let rounds = self.rounds;
        let request =
            question.request().map_err(|fault| rounds.bug(format!("the question `{key}` {fault}")))?;
        let written = serde_json::to_value(&request).map_err(|fault| {
            rounds.bug(format!("the question `{key}` cannot be written as JSON: {fault}"))
        })?;
        if !rounds.book().note(key, &written) {
            return Err(rounds.bug(format!(
                "the key `{key}` stands for another question already; each question has a key of its own, and a text that \
                 follows from the arguments and earlier answers"
            )));
        }
        let Some(given) = rounds.given(key) else {
            self.result.input_requests.insert(key.to_owned(), written);
            return Ok(None);
        };
        let answer = question.read(given.clone()).map_err(|fault| {
            rounds.stop(Stuck::Misfit(format!("params.inputResponses.{}: {fault}", Shown(key))))
        })?;
        rounds.book().answers.insert(key.to_owned(), given);
        Ok(Some(answer))
    }
}
