//! One running call of a tool, whose types are erased: functions and structs go this one way.

use std::any::Any;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::handler::{Channel, Reply, RpcError};
use crate::wire::CallToolResult;

use super::entry::{Entry, Place};
use super::{Call, Rounds, SuiteMessage, Tool, ToolError, ToolOutput, ToolReply, thread};

pub(super) type Step<'a> = Pin<Box<dyn Future<Output = Result<Reply, RpcError>> + Send + 'a>>;

/// A running call of a tool of any type.
pub(super) trait Running: Send {
    fn call(&mut self, arguments: Map<String, Value>) -> Step<'_>;

    fn handle_message(&mut self, message: Box<dyn Any + Send>) -> Step<'_>;

    fn handle_close(&mut self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}

/// A running call of a tool.
pub(super) struct Active<T: Tool> {
    tool: Arc<T>,
    entry: Arc<Entry>,
    call: Call<T::Message>,
    state: T::State,
    place: Place,
}

impl<T: Tool> Active<T> {
    pub(super) fn new(
        tool: Arc<T>,
        entry: Arc<Entry>,
        channel: Channel<SuiteMessage>,
        rounds: Rounds,
        place: Place,
    ) -> Self {
        let call = Call::new(channel, Arc::clone(&entry.name), rounds);
        Self { tool, entry, call, state: T::State::default(), place }
    }

    async fn answer(&mut self, arguments: Map<String, Value>) -> Result<ToolReply<T::Output>, ToolError> {
        let args = self.entry.arguments.decode(arguments)?;
        if self.entry.blocking {
            self.answer_on_a_thread(args).await
        } else {
            self.tool.call(args, &self.call, &mut self.state).await
        }
    }

    /// The call takes along what it needs: when it is interrupted, its thread runs on without this actor, and its place
    /// is free only when the thread is.
    async fn answer_on_a_thread(&mut self, args: T::Args) -> Result<ToolReply<T::Output>, ToolError> {
        let (tool, call, place) = (Arc::clone(&self.tool), self.call.clone(), self.place.clone());
        let mut state = std::mem::take(&mut self.state);
        let working = self.call.works();
        let work = move || async move {
            let (_place, _working) = (place, working);
            let reply = tool.call(args, &call, &mut state).await;
            (reply, state)
        };
        let whose = thread::Whose { tool: Arc::clone(&self.entry.name), request: self.call.pid() };
        let (reply, state) = thread::run(whose, work).await?;
        self.state = state;
        reply
    }

    /// The place is free before the client has its answer: whoever asks again at once finds it.
    fn reply(&mut self, outcome: Result<ToolReply<T::Output>, ToolError>) -> Result<Reply, RpcError> {
        let result = match outcome {
            Ok(ToolReply::Stream) => return Ok(Reply::Stream),
            Ok(ToolReply::Answer(output)) => output.into_result().or_else(|error| self.failure(error)),
            Err(error) => self.failure(error),
        };
        self.place = None;
        let result = result?;
        Ok(self.entry.conform(result)?.into())
    }
}

impl<T: Tool> Active<T> {
    fn failure(&self, error: ToolError) -> Result<CallToolResult, RpcError> {
        let error = error.or_question(|| self.call.rounds().stuck());
        // Protocol errors are traced where they are answered.
        if let Some(error) = error.text() {
            tracing::debug!(target: "ractor_mcp", tool = %self.entry.name, error, "the tool failed");
        }
        error.into_answer()
    }
}

impl<T: Tool> Running for Active<T> {
    fn call(&mut self, arguments: Map<String, Value>) -> Step<'_> {
        Box::pin(async move {
            let outcome = self.answer(arguments).await;
            self.reply(outcome)
        })
    }

    fn handle_message(&mut self, message: Box<dyn Any + Send>) -> Step<'_> {
        Box::pin(async move {
            // Only this call's own address makes messages for it, so the type is always right.
            let Ok(message) = message.downcast::<T::Message>() else {
                return Ok(Reply::Stream);
            };
            let outcome = self.tool.handle_message(*message, &self.call, &mut self.state).await;
            self.reply(outcome)
        })
    }

    fn handle_close(&mut self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(self.tool.handle_close(&self.call, &mut self.state))
    }
}
