//! A response as it comes in: head, then events or one JSON object, then the end of the body or of the connection.
//!
//! A task of its own reads, as a real client does: a response that the test does not look at holds up nobody.

use http::header::CONTENT_TYPE;
use http::{HeaderMap, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::events::Events;

/// The connection ended before the response was whole: the server was killed, or gave up on this client.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the connection ended before the response was whole: {0}")]
pub struct Lost(String);

impl From<hyper::Error> for Lost {
    fn from(error: hyper::Error) -> Self {
        Self(error.to_string())
    }
}

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

/// What has come in, and what will.
pub(super) struct Reading {
    pieces: UnboundedReceiver<Result<Piece, Lost>>,
    head: Option<Head>,
    lost: Option<Lost>,
}

enum Piece {
    Head(Head),
    /// An event as it was written, or the whole body if it is no stream.
    Text(String),
}

impl Reading {
    pub(super) fn new<R>(response: R) -> Self
    where
        R: Future<Output = hyper::Result<http::Response<Incoming>>> + Send + 'static,
    {
        let (sender, pieces) = unbounded_channel();
        tokio::spawn(async move {
            if let Err(lost) = read(response, &sender).await {
                // Nobody listens once the test has let go of the call.
                let _ = sender.send(Err(lost));
            }
        });
        Self { pieces, head: None, lost: None }
    }

    pub(super) async fn head(&mut self) -> Result<&Head, Lost> {
        if self.head.is_none()
            && let Some(Piece::Head(head)) = self.piece().await?
        {
            self.head = Some(head);
        }
        self.head.as_ref().ok_or_else(|| Lost("no response".to_owned()))
    }

    /// The next event as it was written, or the whole body if it is no stream; `None` at the end.
    pub(super) async fn next(&mut self) -> Result<Option<String>, Lost> {
        self.head().await?;
        Ok(self.piece().await?.and_then(|piece| match piece {
            Piece::Text(text) => Some(text),
            Piece::Head(_) => None,
        }))
    }

    async fn piece(&mut self) -> Result<Option<Piece>, Lost> {
        if let Some(lost) = &self.lost {
            return Err(lost.clone());
        }
        let piece = self.pieces.recv().await.transpose();
        self.lost = piece.as_ref().err().cloned();
        piece
    }
}

async fn read<R>(response: R, pieces: &UnboundedSender<Result<Piece, Lost>>) -> Result<(), Lost>
where
    R: Future<Output = hyper::Result<http::Response<Incoming>>>,
{
    let (parts, mut body) = response.await?.into_parts();
    let (status, headers) = (parts.status, parts.headers);
    let head = Head { status, headers };
    let is_stream = head.is_stream();
    // As above: nobody listens any more.
    let put = |piece| drop(pieces.send(Ok(piece)));
    put(Piece::Head(head));
    let mut events = Events::default();
    while let Some(frame) = body.frame().await {
        frame?.into_data().iter().for_each(|data| events.push(data));
        while is_stream && let Some(event) = events.next() {
            put(Piece::Text(event));
        }
    }
    match events.rest() {
        rest if rest.is_empty() => Ok(()),
        rest if is_stream => Err(Lost(format!("its last event is cut: {rest:?}"))),
        whole => {
            put(Piece::Text(whole));
            Ok(())
        }
    }
}
