//! A response as it comes in: head, then events or one JSON object, then the end of the body or of the connection.

use std::pin::Pin;

use http::header::CONTENT_TYPE;
use http::{HeaderMap, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming;

use super::events::Events;

/// The connection ended before the response was whole: the server was killed, or gave up on this client.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the connection ended before the response was whole: {0}")]
pub struct Lost(String);

pub(super) type Responding = Pin<Box<dyn Future<Output = hyper::Result<http::Response<Incoming>>> + Send>>;

/// Status and headers.
#[derive(Clone, Debug)]
pub(super) struct Head {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
}

impl Head {
    pub(super) fn is_stream(&self) -> bool {
        let media_type = self.headers.get(CONTENT_TYPE);
        media_type.is_some_and(|media_type| media_type.as_bytes().starts_with(b"text/event-stream"))
    }
}

pub(super) struct Reading {
    state: State,
    events: Events,
}

enum State {
    Sent(Responding),
    Body(Head, Incoming),
    Whole(Head),
    Lost(Lost),
}

impl Reading {
    pub(super) fn new(responding: Responding) -> Self {
        Self {
            state: State::Sent(responding),
            events: Events::default(),
        }
    }

    pub(super) async fn head(&mut self) -> Result<&Head, Lost> {
        if let State::Sent(responding) = &mut self.state {
            self.state = match responding.await {
                Ok(response) => {
                    let (parts, body) = response.into_parts();
                    let (status, headers) = (parts.status, parts.headers);
                    State::Body(Head { status, headers }, body)
                }
                Err(error) => State::Lost(lost(&error)),
            };
        }
        match &self.state {
            State::Body(head, _) | State::Whole(head) => Ok(head),
            State::Lost(lost) => Err(lost.clone()),
            State::Sent(_) => Err(Lost("no response".to_owned())),
        }
    }

    /// The next event as it was written, or the whole body if it is no stream; `None` at the end.
    pub(super) async fn next(&mut self) -> Result<Option<String>, Lost> {
        let is_stream = self.head().await?.is_stream();
        loop {
            if is_stream && let Some(event) = self.events.next() {
                return Ok(Some(event));
            }
            let State::Body(head, body) = &mut self.state else {
                return self.head().await.map(|_| None);
            };
            match body.frame().await {
                Some(Ok(frame)) => frame.into_data().iter().for_each(|data| self.events.push(data)),
                Some(Err(error)) => self.state = State::Lost(lost(&error)),
                None => {
                    self.state = State::Whole(head.clone());
                    return match self.events.rest() {
                        rest if rest.is_empty() => Ok(None),
                        rest if is_stream => Err(Lost(format!("its last event is cut: {rest:?}"))),
                        whole => Ok(Some(whole)),
                    };
                }
            }
        }
    }
}

fn lost(error: &hyper::Error) -> Lost {
    Lost(error.to_string())
}
