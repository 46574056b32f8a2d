//! What a suite answers when something that it offers is used: resources read, prompts filled in, arguments completed.

use crate::handler::{Channel, Reply, RpcError};
use crate::wire::{
    CacheHints, CompleteRequest, CompleteResult, CompletionRef, GetPromptRequest, ReadResourceRequest,
};

use super::completion::texts;
use super::view::Found;
use super::{
    Call, Completing, PromptArguments, Rounds, Suite, SuiteMessage, ToolError, cache, prompt, resource,
    timeout,
};

impl Suite {
    /// What the channel of a request that may not ask its client offers to a function.
    pub(super) fn call_of(&self, channel: &Channel<SuiteMessage>, name: &str) -> Call {
        Call::new(channel.clone(), name.into(), Rounds::none(&self.keys, channel))
    }

    /// The same for a request that may.
    fn asking_call(&self, channel: &Channel<SuiteMessage>, name: &str, rounds: Rounds) -> Call {
        Call::new(channel.clone(), name.into(), rounds.expiring_after(self.question_time))
    }

    pub(super) async fn read_resource(
        &self,
        request: ReadResourceRequest,
        channel: &Channel<SuiteMessage>,
    ) -> Result<Reply, ToolError> {
        // Before the look-up: what is hidden must not be told from what is not there by a state that fits neither.
        let rounds = Rounds::of_resource(&self.keys, channel, &request)?;
        let Found { item: resource, is_for_all } = self.usable_resource(&request.uri, channel).await?;
        timeout::fail_after(timeout::of(resource.timeout(), channel), channel, &self.late, "resource");
        let call = self.asking_call(channel, &request.uri, rounds);
        let rounds = call.rounds().clone();
        let read = resource.read(call).await;
        let mut result = read.map_err(|error| error.or_question(|| rounds.stuck()))?;
        if !is_for_all || self.identity.marks_results() {
            result.cache = cache::private(result.cache);
        }
        // What the answers of one person went into is for no one else (CACHE-10).
        if request.input_responses.is_some() || request.request_state.is_some() {
            result.cache = CacheHints::NONE;
        }
        Ok(result.into())
    }

    /// What answers for a URI, for a caller who may read it.
    async fn usable_resource(
        &self,
        uri: &str,
        channel: &Channel<SuiteMessage>,
    ) -> Result<Found<resource::Named>, ToolError> {
        let view = self.providers.view(channel.principal());
        let found = view.resource(uri, || self.call_of(channel, uri)).await?;
        let found = found.ok_or_else(|| RpcError::resource_not_found(uri))?;
        found.item.access().check(channel.principal())?;
        Ok(found)
    }

    pub(super) async fn get_prompt(
        &self,
        request: GetPromptRequest,
        channel: &Channel<SuiteMessage>,
    ) -> Result<Reply, ToolError> {
        // Before the look-up, as for resources.
        let rounds = Rounds::of_prompt(&self.keys, channel, &request)?;
        let prompt = self.usable_prompt(&request.name, channel).await?;
        timeout::fail_after(timeout::of(prompt.timeout(), channel), channel, &self.late, "prompt");
        let call = self.asking_call(channel, &request.name, rounds);
        let arguments = PromptArguments::new(texts(request.arguments));
        let rounds = call.rounds().clone();
        let filled = prompt.get(arguments, call).await;
        Ok(filled.map_err(|error| error.or_question(|| rounds.stuck()))?.into())
    }

    /// The prompt of a name, for a caller who may use it.
    async fn usable_prompt(
        &self,
        name: &str,
        channel: &Channel<SuiteMessage>,
    ) -> Result<prompt::Named, ToolError> {
        let view = self.providers.view(channel.principal());
        let found = view.prompt(name, || self.call_of(channel, name)).await?;
        let prompt = found.ok_or_else(prompt::unknown_prompt)?;
        prompt.access().check(channel.principal())?;
        Ok(prompt)
    }

    pub(super) async fn complete(
        &self,
        request: CompleteRequest,
        channel: &Channel<SuiteMessage>,
    ) -> Result<Reply, ToolError> {
        let reference = request.reference.clone();
        let completing = Completing::from(request);
        let values = match reference {
            CompletionRef::Prompt(name) => {
                let prompt = self.usable_prompt(&name, channel).await?;
                prompt.complete(completing, self.call_of(channel, &name)).await?
            }
            CompletionRef::Resource(template) => self.complete_uri(&template, completing, channel).await?,
        };
        Ok(CompleteResult::new(values).into())
    }

    /// Proposals for a variable of a template.
    ///
    /// # Errors
    ///
    /// `-32602` if there is no such template, or it has no such variable (CMP-04).
    async fn complete_uri(
        &self,
        template: &str,
        completing: Completing,
        channel: &Channel<SuiteMessage>,
    ) -> Result<Vec<String>, ToolError> {
        let call = self.call_of(channel, template);
        let found = self.providers.view(channel.principal()).template(template, &call).await?;
        let unknown = "unknown template; resources/templates/list has those that exist";
        let repo = found.ok_or_else(|| RpcError::invalid_params(unknown))?;
        repo.access.check(channel.principal())?;
        if !repo.has_variable(&completing.name) {
            return Err(RpcError::invalid_params("the template has no such variable to complete").into());
        }
        repo.complete(completing, &call).await
    }
}
