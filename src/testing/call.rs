//! One request under way.

use std::fmt;

use ractor_otp::Pid;
use serde_json::Value;

use super::failure::Asked;
use super::line::Line;
use super::reading::{Lost, Reading};
use super::{TestClient, TestResponse, events};

/// A request that was sent. Its response is read as it comes, whether or not the test looks at it, unless the test makes
/// the client [`stall`](TestCall::stall). It has a connection for itself; dropping it in the middle is
/// [`hang_up`](TestCall::hang_up).
#[must_use = "dropping a call hangs up"]
pub struct TestCall {
    client: TestClient,
    asked: Asked,
    connection: Pid,
    /// Given back to the client at the end of the response.
    line: Option<Line>,
    reading: Reading,
    seen: Vec<Value>,
}

impl TestCall {
    pub(super) fn new(client: TestClient, asked: Asked, line: Line, reading: Reading) -> Self {
        Self {
            client,
            asked,
            connection: line.connection.clone(),
            line: Some(line),
            reading,
            seen: Vec::new(),
        }
    }

    /// The actor of its connection, whose child the request is.
    pub fn connection(&self) -> &Pid {
        &self.connection
    }

    /// The HTTP status, once the response has begun: with the first thing streamed, or with the answer.
    ///
    /// # Panics
    ///
    /// When it does not begin.
    pub async fn status(&mut self) -> u16 {
        match self.asked.within("a response", self.reading.head()).await {
            Ok(head) => head.status.as_u16(),
            Err(lost) => self.asked.fail("a response", lost),
        }
    }

    /// The next message of the response: a notification, or the answer. `None` at the end of the response.
    ///
    /// # Panics
    ///
    /// When none comes, or what comes is no JSON.
    pub async fn next_event(&mut self) -> Option<Value> {
        let asked = self.asked.clone();
        match asked.within("an event", self.next_message()).await {
            Ok(message) => message,
            Err(lost) => asked.fail("an event, or the end of the response", lost),
        }
    }

    /// The next event as it was written, comments too, without the empty line that ends it; the whole body if the
    /// response is no stream. `None` at the end of the response.
    ///
    /// # Panics
    ///
    /// When none comes.
    pub async fn next_raw_event(&mut self) -> Option<String> {
        let asked = self.asked.clone();
        match asked.within("an event", self.next()).await {
            Ok(raw) => raw,
            Err(lost) => asked.fail("an event, or the end of the response", lost),
        }
    }

    /// Reads the response to its end.
    ///
    /// # Panics
    ///
    /// When it does not end, or the connection ends before.
    pub async fn answer(self) -> TestResponse {
        let asked = self.asked.clone();
        match self.try_answer().await {
            Ok(response) => response,
            Err(lost) => asked.fail("an answer", lost),
        }
    }

    /// Reads the response to its end, where the connection may end before.
    ///
    /// # Errors
    ///
    /// [`Lost`] if it does.
    ///
    /// # Panics
    ///
    /// When neither ends.
    pub async fn try_answer(mut self) -> Result<TestResponse, Lost> {
        let asked = self.asked.clone();
        asked
            .within("an answer", async {
                while self.next_message().await?.is_some() {}
                let head = self.reading.head().await?.clone();
                Ok(TestResponse::new(self.asked, head, self.seen))
            })
            .await
    }

    /// The client leaves in the middle: its connection is gone, and with it the request is cancelled (SSE-07).
    pub fn hang_up(self) {}

    /// Stops to read. The server can still write what the pipe holds, 1 KiB, and fills its own buffers; then its handler
    /// waits, and after [`Options::write_stall`](crate::Options::write_stall) the server gives up on the client.
    pub fn stall(&self) {
        if let Some(line) = &self.line {
            line.gate.shut();
        }
    }

    /// Reads again.
    pub fn resume(&self) {
        if let Some(line) = &self.line {
            line.gate.open();
        }
    }

    async fn next_message(&mut self) -> Result<Option<Value>, Lost> {
        while let Some(raw) = self.next().await? {
            let is_stream = self.reading.head().await?.is_stream();
            if !is_stream || events::data(&raw).is_some() {
                return Ok(self.seen.last().cloned());
            }
        }
        Ok(None)
    }

    async fn next(&mut self) -> Result<Option<String>, Lost> {
        let next = self.reading.next().await?;
        let is_stream = self.reading.head().await?.is_stream();
        match &next {
            Some(event) if is_stream => self.see(events::data(event)),
            Some(body) => self.see(Some(body.clone())),
            None => self.line.take().into_iter().for_each(|line| self.client.keep(line)),
        }
        Ok(next)
    }

    fn see(&mut self, json: Option<String>) {
        let Some(json) = json else { return };
        match serde_json::from_str(&json) {
            Ok(message) => self.seen.push(message),
            Err(error) => self.asked.fail("a message in JSON", format_args!("{error} in {json:?}")),
        }
    }
}

impl fmt::Debug for TestCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TestCall({})", self.asked)
    }
}
