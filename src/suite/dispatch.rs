//! What a suite does with a request. Another handler can do the same: of a request a suite knows what a [`Channel`] tells,
//! and what the protocol asks of it beyond plain comparisons is public: [`MirroredSchema`](crate::MirroredSchema),
//! [`Rounds`], [`KeyRing`](super::KeyRing).

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use crate::handler::{Channel, Handler, Misconfigured, Notifier, Reply, RpcError};
use crate::rules::errors::Shown;
use crate::wire::{CallToolRequest, Implementation, Request, ServerCapabilities};

use super::catalog::Kind;
use super::entry::Entry;
use super::running::Running;
use super::subscriptions::Streaming;
use super::{Rounds, Suite, ToolError};

/// What a running request of a suite remembers: the call of a tool, or the stream of a subscription handler, if it is one.
#[derive(Default)]
pub struct SuiteState {
    call: Option<Box<dyn Running>>,
    pub(super) stream: Option<Box<dyn Streaming>>,
}

impl fmt::Debug for SuiteState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self { call: Some(_), .. } => "SuiteState(call)",
            Self { stream: Some(_), .. } => "SuiteState(stream)",
            Self { .. } => "SuiteState",
        })
    }
}

/// What a running request of a suite is sent: a message for its tool or its subscription handler, by way of a
/// [`ToolAddress`](super::ToolAddress), or the news that a task of it has ended.
pub struct SuiteMessage(Option<Box<dyn Any + Send>>);

impl SuiteMessage {
    pub(super) fn new(message: impl Send + 'static) -> Self {
        Self(Some(Box::new(message)))
    }

    pub(super) fn task_ended() -> Self {
        Self(None)
    }

    /// The message, if it is one of this type.
    pub(super) fn open<M: 'static>(self) -> Option<M> {
        self.0?.downcast().ok().map(|message| *message)
    }
}

impl fmt::Debug for SuiteMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SuiteMessage(..)")
    }
}

impl Suite {
    /// What follows from everything that is registered and promised.
    fn offered(&self) -> ServerCapabilities {
        let own = self.providers.current.catalog().capabilities();
        let extensions = self.providers.extensions.iter().map(|extension| extension.capabilities.clone());
        let mut offered = extensions.fold(own, ServerCapabilities::and).and(self.promises.clone());
        // What completes may be added by a handle; until then there are no proposals.
        if self.providers.current.has_handle() && (offered.prompts.is_some() || offered.resources.is_some()) {
            offered = offered.completions();
        }
        let can_log = Kind::ALL.into_iter().any(|kind| kind.is_in(&offered));
        if self.logging && can_log {
            offered = offered.logging();
        }
        self.promised(offered)
    }

    fn warn(&self) {
        if self.providers.current.warns() {
            for warning in &self.warnings {
                tracing::warn!(target: "ractor_mcp", "{warning}");
            }
            self.warn_of_undescribed_tools();
        }
    }

    /// A model chooses a tool by its description.
    fn warn_of_undescribed_tools(&self) {
        let catalog = self.providers.current.catalog();
        let undescribed = catalog.tools.order.iter().filter(|tool| tool.is_undescribed());
        let names: Vec<_> = undescribed.map(|tool| format!("`{}`", tool.name)).collect();
        if !names.is_empty() {
            tracing::warn!(
                target: "ractor_mcp",
                "without a description, by which models choose: {}; write `tool(..).description(\"..\")`, or a doc comment \
                 on the struct of the arguments (a doc comment on a function cannot be read)",
                names.join(", ")
            );
        }
    }

    async fn call_tool(
        &self,
        request: CallToolRequest,
        channel: &Channel<SuiteMessage>,
        state: &mut SuiteState,
    ) -> Result<Reply, RpcError> {
        let tool = self.usable_tool(&request.name, channel).await.map_err(ToolError::into_protocol)?;
        tool.check_headers(&request, channel)?;
        let rounds = Rounds::of_tool(&self.keys, channel, &request)?.expiring_after(self.question_time);
        let running = state.call.insert(tool.start(channel, rounds, &self.late)?);
        running.call(request.arguments).await
    }

    /// The tool of a name, for a caller who may use it. The look at the catalog ends here, so that a long call keeps
    /// nothing of it but its tool.
    async fn usable_tool(
        &self,
        name: &str,
        channel: &Channel<SuiteMessage>,
    ) -> Result<Arc<Entry>, ToolError> {
        let view = self.providers.view(channel.principal());
        let found = view.tool(name, || self.call_of(channel, name)).await?;
        let unknown = || {
            RpcError::invalid_params(format!(
                "unknown tool `{}`; tools/list names those that exist",
                Shown(name)
            ))
        };
        let tool = found.ok_or_else(unknown)?;
        tool.access.check(channel.principal())?;
        Ok(tool)
    }

    /// Everything but calls of tools and streams: lists, and what functions and repositories of the author's answer.
    async fn handle_offer(
        &self,
        request: Request,
        channel: &Channel<SuiteMessage>,
    ) -> Result<Reply, ToolError> {
        match request {
            Request::ListTools(request) => self.list_tools(request.cursor.as_deref(), channel).await,
            Request::ListResources(request) => self.list_resources(request.cursor.as_deref(), channel).await,
            Request::ListResourceTemplates(request) => {
                self.list_templates(request.cursor.as_deref(), channel).await
            }
            Request::ReadResource(request) => self.read_resource(request, channel).await,
            Request::ListPrompts(request) => self.list_prompts(request.cursor.as_deref(), channel).await,
            Request::GetPrompt(request) => self.get_prompt(request, channel).await,
            Request::Complete(request) => self.complete(request, channel).await,
            other => Err(RpcError::method_not_found(other.method()).into()),
        }
    }
}

impl Handler for Suite {
    type State = SuiteState;
    type Message = SuiteMessage;

    async fn init(&self, _: &Channel<SuiteMessage>) -> Result<SuiteState, RpcError> {
        Ok(SuiteState::default())
    }

    async fn handle_request(
        &self,
        request: Request,
        channel: &Channel<SuiteMessage>,
        state: &mut SuiteState,
    ) -> Result<Reply, RpcError> {
        self.identify(matches!(request, Request::Discover), channel);
        match request {
            Request::Discover => Ok(self.discover(channel).into()),
            Request::CallTool(request) => self.call_tool(request, channel, state).await,
            // In boxes: the actor of every call would have room for these too, and most requests are calls.
            Request::Listen(request) => {
                Box::pin(self.listen(request, channel, state)).await.map_err(ToolError::into_protocol)
            }
            other => Box::pin(self.handle_offer(other, channel)).await.map_err(ToolError::into_protocol),
        }
    }

    async fn handle_message(
        &self,
        message: SuiteMessage,
        _: &Channel<SuiteMessage>,
        state: &mut SuiteState,
    ) -> Result<Reply, RpcError> {
        match (message.0, state) {
            (Some(message), SuiteState { call: Some(running), .. }) => running.handle_message(message).await,
            (Some(message), SuiteState { stream: Some(stream), .. }) => stream.handle_message(message).await,
            _ => Ok(Reply::Stream),
        }
    }

    async fn handle_close(&self, _: &Channel<SuiteMessage>, state: &mut SuiteState) {
        if let Some(running) = &mut state.call {
            running.handle_close().await;
        }
        if let Some(stream) = &mut state.stream {
            stream.handle_close().await;
        }
    }

    fn capabilities(&self) -> ServerCapabilities {
        match self.providers.current.settled() {
            Some(capabilities) => capabilities.clone(),
            None => self.offered(),
        }
    }

    fn server_info(&self) -> Option<Implementation> {
        self.identity.in_results.then(|| self.identity.info.clone())
    }

    fn check(&self) -> Result<(), Misconfigured> {
        let faults = self.identity.faults().chain(self.faults.iter().cloned());
        let faults = faults.chain(self.subscriptions.fault());
        Misconfigured::unless_empty(faults.collect())
    }

    fn scopes(&self) -> Vec<String> {
        self.providers.current.catalog().scopes().map(str::to_owned).collect()
    }

    /// From here on what is offered stays as it is, so that a handle adds nothing that the server would refuse.
    fn started(&self, notifier: Notifier) {
        self.warn();
        self.providers.current.settle(|| self.offered());
        self.providers.current.started(notifier);
    }
}
