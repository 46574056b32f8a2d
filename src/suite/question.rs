//! What a tool, prompt or resource can ask its client (MRTR-06), and how the answer is read.

use serde_json::Value;

use crate::handler::RpcError;
use crate::wire::{
    CreateMessageRequest, CreateMessageResult, ElicitAction, InputRequest, ListRootsResult, Root,
};

use super::Elicited;
use super::arguments::typed;
use super::form;
use super::rounds::Open;

/// A question to the client: a [`Form`](super::Form), a [`WebPage`], a [`CreateMessageRequest`], [`Roots`], or any
/// [`InputRequest`], whose answer stays as it came once its shape is found to be right.
pub trait Question {
    /// The answer.
    type Answer;

    /// The question on the wire.
    ///
    /// # Errors
    ///
    /// What is wrong with it, which is a bug of whoever asks. It reads on after "the question `key`".
    fn request(&self) -> Result<InputRequest, String>;

    /// Reads an answer, which may be anything (MRTR-17).
    ///
    /// # Errors
    ///
    /// What does not fit; the client reads it in an error `-32602` (MRTR-18).
    fn read(&self, answer: Value) -> Result<Self::Answer, String>;
}

/// A web page that the person opens: for what no client should see, such as keys and payments (INP-06). Its answer says
/// that the person agreed to open the page, not what became of it there.
///
/// The page has to make sure that whoever opens it is the one who was asked, and its address gives no access by itself
/// (INP-12, INP-15).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebPage {
    message: String,
    url: String,
}

/// A page to open, with a message that says why; see [`WebPage`].
pub fn web_page(message: impl Into<String>, url: impl Into<String>) -> WebPage {
    WebPage { message: message.into(), url: url.into() }
}

impl Question for WebPage {
    type Answer = Elicited<()>;

    fn request(&self) -> Result<InputRequest, String> {
        let is_url = http::Uri::try_from(&*self.url)
            .is_ok_and(|uri| uri.scheme().is_some() && uri.host().is_some_and(|host| !host.is_empty()));
        if is_url {
            Ok(InputRequest::url(&self.message, &self.url))
        } else {
            let url = &self.url;
            Err(format!("leads to `{url}`, which is no URL; one with a scheme and a host would do"))
        }
    }

    fn read(&self, answer: Value) -> Result<Elicited<()>, String> {
        Ok(match form::result(answer)?.action {
            ElicitAction::Accept => Elicited::Accept(()),
            ElicitAction::Decline => Elicited::Decline,
            ElicitAction::Cancel => Elicited::Cancel,
        })
    }
}

/// Asks the client's model. Deprecated in the specification (INP-23).
impl Question for CreateMessageRequest {
    type Answer = CreateMessageResult;

    fn request(&self) -> Result<InputRequest, String> {
        Ok(self.clone().into())
    }

    fn read(&self, answer: Value) -> Result<CreateMessageResult, String> {
        typed(answer)
    }
}

/// Asks for the client's roots. Deprecated in the specification (INP-23).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Roots;

impl Question for Roots {
    type Answer = Vec<Root>;

    fn request(&self) -> Result<InputRequest, String> {
        Ok(InputRequest::roots())
    }

    fn read(&self, answer: Value) -> Result<Vec<Root>, String> {
        typed::<ListRootsResult>(answer).map(|result| result.roots)
    }
}

impl Question for InputRequest {
    type Answer = Value;

    fn request(&self) -> Result<InputRequest, String> {
        Ok(self.clone())
    }

    fn read(&self, answer: Value) -> Result<Value, String> {
        match self {
            Self::Elicit(_) => form::result(answer.clone()).map(drop)?,
            Self::CreateMessage(_) => typed::<CreateMessageResult>(answer.clone()).map(drop)?,
            Self::ListRoots(_) => typed::<ListRootsResult>(answer.clone()).map(drop)?,
        }
        Ok(answer)
    }
}

/// Several questions at once: a tuple of up to six pairs of key and question, or a `Vec` of pairs.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a group of questions",
    note = "several questions are a tuple or a `Vec` of pairs, each of a key (`&str`) and a question: `((\"name\", form::<Name>(\"Who?\")), (\"roots\", Roots))`"
)]
pub trait Questions {
    /// The answers, in the order of the questions.
    type Answers;

    /// Looks for the answers; `None` if one is open.
    #[doc(hidden)]
    fn answers(self, open: &mut Open<'_>) -> Result<Option<Self::Answers>, RpcError>;
}

macro_rules! groups {
    ($($($question:ident $n:tt),+;)+) => {
        $(impl<$($question: Question),+> Questions for ($((&str, $question),)+) {
            type Answers = ($($question::Answer,)+);

            fn answers(self, open: &mut Open<'_>) -> Result<Option<Self::Answers>, RpcError> {
                // All are looked for before any is missed, so that all that are open are asked at once.
                let answers = ($(open.answer(self.$n.0, &self.$n.1)?,)+);
                Ok((|| Some(($(answers.$n?,)+)))())
            }
        })+
    };
}

groups! {
    A 0;
    A 0, B 1;
    A 0, B 1, C 2;
    A 0, B 1, C 2, D 3;
    A 0, B 1, C 2, D 3, E 4;
    A 0, B 1, C 2, D 3, E 4, F 5;
}

impl<K: AsRef<str>, Q: Question> Questions for Vec<(K, Q)> {
    type Answers = Vec<Q::Answer>;

    fn answers(self, open: &mut Open<'_>) -> Result<Option<Self::Answers>, RpcError> {
        let answers = self.iter().map(|(key, question)| open.answer(key.as_ref(), question));
        let answers = answers.collect::<Result<Vec<_>, _>>()?;
        Ok(answers.into_iter().collect())
    }
}
