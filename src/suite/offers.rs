//! What a suite answers about what it offers: lists in pages, resources read, prompts filled in, arguments completed.

use crate::handler::{Channel, Reply, RpcError};
use crate::wire::{
    CacheHints, CompleteRequest, CompleteResult, CompletionRef, GetPromptRequest, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, ReadResourceRequest, ToolList,
};

use super::completion::texts;
use super::page::{Cursors, Lists};
use super::{Call, Completing, PromptArguments, Rounds, Suite, SuiteMessage, ToolError, cache};

impl Suite {
    /// What the channel of a request that may not ask its client offers to a function.
    fn call_of(&self, channel: &Channel<SuiteMessage>, name: &str) -> Call {
        Call::new(channel.clone(), name.into(), Rounds::none(&self.keys, channel))
    }

    /// The same for a request that may.
    fn asking_call(&self, channel: &Channel<SuiteMessage>, name: &str, rounds: Rounds) -> Call {
        Call::new(channel.clone(), name.into(), rounds.expiring_after(self.question_time))
    }

    fn cursors<'a>(&'a self, call: &Call, method: &str) -> Cursors<'a> {
        Cursors::new(&self.keys, call, method, self.page_size)
    }

    pub(super) fn list_tools(
        &self,
        cursor: Option<&str>,
        channel: &Channel<SuiteMessage>,
    ) -> Result<Reply, RpcError> {
        let call = self.call_of(channel, channel.method());
        let (page, next) = self.cursors(&call, channel.method()).slice(&self.listed, cursor)?;
        // The whole list is written as JSON once, however often it is sent.
        let page =
            if page.len() == self.listed.len() { self.listed.clone() } else { ToolList::from(page.to_vec()) };
        let mut result = ListToolsResult::new(page).cache(self.cache);
        result.next_cursor = next;
        Ok(result.into())
    }

    pub(super) fn list_templates(
        &self,
        cursor: Option<&str>,
        channel: &Channel<SuiteMessage>,
    ) -> Result<Reply, RpcError> {
        let call = self.call_of(channel, channel.method());
        let repos = &self.resources.repos;
        let (page, next) = self.cursors(&call, channel.method()).slice(repos, cursor)?;
        let templates = page.iter().map(|repo| repo.listed.clone()).collect();
        let mut result = ListResourceTemplatesResult::new(templates).cache(self.cache);
        result.next_cursor = next;
        Ok(result.into())
    }

    pub(super) async fn list_resources(
        &self,
        cursor: Option<&str>,
        channel: &Channel<SuiteMessage>,
    ) -> Result<Reply, ToolError> {
        let call = self.call_of(channel, channel.method());
        let offered = &self.resources;
        let repos: Vec<&dyn Lists<_>> = offered.repos.iter().map(|repo| repo as _).collect();
        let cursors = self.cursors(&call, channel.method());
        let (page, next) = cursors.page(&offered.listed, &repos, cursor, &call).await?;
        let hints = offered.repos.iter().map(|repo| repo.cache);
        let mut result = ListResourcesResult::new(page).cache(self.hints(offered.has_fixed(), hints));
        result.next_cursor = next;
        Ok(result.into())
    }

    pub(super) async fn list_prompts(
        &self,
        cursor: Option<&str>,
        channel: &Channel<SuiteMessage>,
    ) -> Result<Reply, ToolError> {
        let call = self.call_of(channel, channel.method());
        let offered = &self.prompts;
        let repos: Vec<&dyn Lists<_>> = offered.repos.iter().map(|repo| repo as _).collect();
        let cursors = self.cursors(&call, channel.method());
        let (page, next) = cursors.page(&offered.listed, &repos, cursor, &call).await?;
        let hints = offered.repos.iter().map(|repo| repo.cache);
        let mut result = ListPromptsResult::new(page).cache(self.hints(offered.has_fixed(), hints));
        result.next_cursor = next;
        Ok(result.into())
    }

    /// The hints of a list, the same on all its pages (CACHE-04).
    fn hints(&self, has_fixed: bool, repos: impl Iterator<Item = CacheHints>) -> CacheHints {
        let own = has_fixed.then_some(self.cache);
        cache::combined(own.into_iter().chain(repos)).unwrap_or_default()
    }

    pub(super) async fn read_resource(
        &self,
        request: ReadResourceRequest,
        channel: &Channel<SuiteMessage>,
    ) -> Result<Reply, ToolError> {
        let rounds = Rounds::of_resource(&self.keys, channel, &request)?;
        let call = self.asking_call(channel, &request.uri, rounds);
        let rounds = call.rounds().clone();
        let read = self.resources.read(&request.uri, call).await;
        let mut result = read.map_err(|error| error.or_question(|| rounds.stuck()))?;
        // What the answers of one person went into is for no one else (CACHE-10).
        if request.input_responses.is_some() || request.request_state.is_some() {
            result.cache = CacheHints::NONE;
        }
        Ok(result.into())
    }

    pub(super) async fn get_prompt(
        &self,
        request: GetPromptRequest,
        channel: &Channel<SuiteMessage>,
    ) -> Result<Reply, ToolError> {
        let rounds = Rounds::of_prompt(&self.keys, channel, &request)?;
        let call = self.asking_call(channel, &request.name, rounds);
        let arguments = PromptArguments::new(texts(request.arguments));
        let rounds = call.rounds().clone();
        let filled = self.prompts.get(arguments, call).await;
        Ok(filled.map_err(|error| error.or_question(|| rounds.stuck()))?.into())
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
                self.prompts.complete(completing, self.call_of(channel, &name)).await?
            }
            CompletionRef::Resource(template) => {
                let call = self.call_of(channel, &template);
                self.resources.complete(&template, completing, &call).await?
            }
        };
        Ok(CompleteResult::new(values).into())
    }
}
