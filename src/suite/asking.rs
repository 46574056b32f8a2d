//! The methods that ask, on a running call.

use std::future::Future;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::handler::RpcError;

use super::{Call, Elicited, Question, Questions, web_page};

/// Asking the client, in the middle of a call (multi round-trip requests). A question without an answer is an error that
/// `?` carries out; the client answers by sending the call again, and the tool runs again from the top. See
/// [`Rounds`](super::Rounds) for what that means.
///
/// ```
/// use ractor_mcp::prelude::*;
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Book { title: String }
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Address { street: String, city: String }
///
/// async fn order(Book { title }: Book, call: Call) -> Result<String, ToolError> {
///     let Elicited::Accept(to) = call.elicit::<Address>("address", format!("Where shall {title} be sent?"))? else {
///         return Ok("Nothing was ordered.".into());
///     };
///     Ok(format!("{title} is on its way to {}.", to.city))
/// }
/// ```
impl<M: Send + 'static> Call<M> {
    /// Asks the person to fill in a [form](super::Form): a flat struct.
    ///
    /// # Errors
    ///
    /// The question, as long as it has no answer; see [`ask`](Call::ask).
    pub fn elicit<T: DeserializeOwned + JsonSchema + 'static>(
        &self,
        key: &str,
        message: impl Into<String>,
    ) -> Result<Elicited<T>, RpcError> {
        self.rounds().elicit(key, message)
    }

    /// Asks the person to open a web [page](super::WebPage), for what no client should see.
    ///
    /// # Errors
    ///
    /// As for [`ask`](Call::ask).
    pub fn elicit_url(
        &self,
        key: &str,
        message: impl Into<String>,
        url: impl Into<String>,
    ) -> Result<Elicited<()>, RpcError> {
        self.ask(key, web_page(message, url))
    }

    /// Asks one question: a [form](fn@super::form), a [page](fn@super::web_page), a
    /// [`CreateMessageRequest`](crate::wire::CreateMessageRequest), [`Roots`](super::Roots), or any
    /// [`InputRequest`](crate::wire::InputRequest).
    ///
    /// # Errors
    ///
    /// The question, as long as it has no answer: `?` carries it out, whatever the error type of the tool. `-32021` if
    /// the client did not declare that it can answer, `-32602` for an answer that does not fit, or for answers that are
    /// too long for the state in which they travel, `-32603` if the question is a bug.
    pub fn ask<Q: Question>(&self, key: &str, question: Q) -> Result<Q::Answer, RpcError> {
        self.rounds().ask(key, question)
    }

    /// Asks several questions at once: a tuple of up to six pairs of key and question, or a `Vec` of pairs. Those that
    /// have no answer yet are asked again.
    ///
    /// ```
    /// use ractor_mcp::prelude::*;
    /// use ractor_mcp::suite::{Roots, form};
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Name { name: String }
    ///
    /// async fn introduce(_: NoArguments, call: Call) -> Result<String, ToolError> {
    ///     let (name, roots) = call.ask_all((("name", form::<Name>("Who are you?")), ("roots", Roots)))?;
    ///     let name = name.accepted().map_or("Somebody".to_owned(), |Name { name }| name);
    ///     Ok(format!("{name} has {} roots.", roots.len()))
    /// }
    ///
    /// let suite = Suite::new("example", "1.0.0").tool("introduce", introduce);
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`ask`](Call::ask).
    pub fn ask_all<Q: Questions>(&self, questions: Q) -> Result<Q::Answers, RpcError> {
        self.rounds().ask_all(questions)
    }

    /// Runs an effect in one round only, and remembers its outcome for the later ones; see [`Rounds::once`](super::Rounds::once).
    ///
    /// # Errors
    ///
    /// As for [`Rounds::once`](super::Rounds::once).
    pub async fn once<T, F>(&self, key: &str, effect: F) -> Result<T, RpcError>
    where
        T: Serialize + DeserializeOwned,
        F: Future<Output = T>,
    {
        self.rounds().once(key, effect).await
    }

    /// As [`once`](Call::once), for an effect that may fail: a failure is not remembered.
    ///
    /// # Errors
    ///
    /// The failure, and as for [`Rounds::once`](super::Rounds::once).
    pub async fn try_once<T, E, F>(&self, key: &str, effect: F) -> Result<T, E>
    where
        T: Serialize + DeserializeOwned,
        E: From<RpcError>,
        F: Future<Output = Result<T, E>>,
    {
        self.rounds().try_once(key, effect).await
    }
}
