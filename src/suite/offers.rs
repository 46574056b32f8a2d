//! What a suite answers about what it offers: lists in pages, resources read, prompts filled in, arguments completed.

use std::sync::Arc;

use crate::handler::{Channel, Reply, RpcError};
use crate::wire::{
    CacheHints, CompleteRequest, CompleteResult, CompletionRef, GetPromptRequest, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, ReadResourceRequest,
};

use super::catalog::Kind;
use super::completion::texts;
use super::entry::Entry;
use super::page::{Cursors, Fixed, Lists, Repos};
use super::view::Found;
use super::{
    Call, Completing, PromptArguments, PromptSpec, ResourceSpec, Rounds, Suite, SuiteMessage, ToolError,
    cache, prompt, resource,
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

    fn cursors(&self, call: &Call) -> Cursors<'_> {
        Cursors::new(&self.keys, call, call.name(), self.page_size)
    }

    pub(super) async fn list_tools(
        &self,
        cursor: Option<&str>,
        channel: &Channel<SuiteMessage>,
    ) -> Result<Reply, ToolError> {
        let call = self.call_of(channel, channel.method());
        let whole = self.providers.view(call.principal()).whole(Kind::Tools, &call).await?;
        let shows = |tool: &Arc<Entry>| whole.shows_tool(tool);
        let added = whole.added(|catalog| &catalog.tools.order, |tool| shows(tool));
        let all = &whole.own.tools;
        let (page, next) =
            self.cursors(&call).slice(&Fixed { own: &all.order, added, shows: &shows }, cursor)?;
        // The whole list is written as JSON once, however often it is sent.
        let tools = if page.len() == all.order.len() && whole.is_all_tools() {
            all.whole()
        } else {
            page.iter().map(|tool| tool.definition.clone()).collect::<Vec<_>>().into()
        };
        let mut result = ListToolsResult::new(tools).cache(self.own_hints(Kind::Tools, all.hides()));
        result.next_cursor = next;
        Ok(result.into())
    }

    pub(super) async fn list_templates(
        &self,
        cursor: Option<&str>,
        channel: &Channel<SuiteMessage>,
    ) -> Result<Reply, ToolError> {
        let call = self.call_of(channel, channel.method());
        let whole = self.providers.view(call.principal()).whole(Kind::Resources, &call).await?;
        let shows = |repo: &Arc<resource::Repo>| whole.shows_template(repo);
        let added = whole.added(|catalog| &catalog.resources.repos, |repo| shows(repo));
        let own = &whole.own.resources.repos;
        let (page, next) = self.cursors(&call).slice(&Fixed { own, added, shows: &shows }, cursor)?;
        let templates = page.iter().map(|repo| repo.listed.clone()).collect();
        let hints = self.own_hints(Kind::Resources, false);
        let mut result = ListResourceTemplatesResult::new(templates).cache(hints);
        result.next_cursor = next;
        Ok(result.into())
    }

    pub(super) async fn list_resources(
        &self,
        cursor: Option<&str>,
        channel: &Channel<SuiteMessage>,
    ) -> Result<Reply, ToolError> {
        let call = self.call_of(channel, channel.method());
        let whole = self.providers.view(call.principal()).whole(Kind::Resources, &call).await?;
        let shows = |one: &Arc<ResourceSpec>| whole.shows_resource(one);
        let added = whole.added(|catalog| &catalog.resources.order, |one| shows(one));
        let own = &whole.own.resources;
        let leads_to = |prefix: &str, uri: &str| matches!(whole.resource(uri), Some(resource::Named::Family(repo)) if repo.prefix() == prefix);
        let lists = whole.resource_repos().into_iter().map(|repo| &**repo as &dyn Lists<_>).collect();
        let (page, next) = self
            .cursors(&call)
            .page(
                &Fixed { own: &own.order, added, shows: &shows },
                |one| one.listed.clone(),
                &Repos { lists, leads_to: &leads_to },
                cursor,
                &call,
            )
            .await?;
        let repos = own.repos.iter().map(|repo| repo.cache);
        let hints = self.hints(Kind::Resources, !own.order.is_empty(), own.hides(), repos);
        let mut result = ListResourcesResult::new(page).cache(hints);
        result.next_cursor = next;
        Ok(result.into())
    }

    pub(super) async fn list_prompts(
        &self,
        cursor: Option<&str>,
        channel: &Channel<SuiteMessage>,
    ) -> Result<Reply, ToolError> {
        let call = self.call_of(channel, channel.method());
        let whole = self.providers.view(call.principal()).whole(Kind::Prompts, &call).await?;
        let shows = |one: &Arc<PromptSpec>| whole.shows_prompt(one);
        let added = whole.added(|catalog| &catalog.prompts.order, |one| shows(one));
        let own = &whole.own.prompts;
        let leads_to = |prefix: &str, name: &str| matches!(whole.prompt(name), Some(prompt::Named::Family(repo)) if repo.prefix() == prefix);
        let lists = whole.prompt_repos().into_iter().map(|repo| &**repo as &dyn Lists<_>).collect();
        let (page, next) = self
            .cursors(&call)
            .page(
                &Fixed { own: &own.order, added, shows: &shows },
                |one| one.listed.clone(),
                &Repos { lists, leads_to: &leads_to },
                cursor,
                &call,
            )
            .await?;
        let repos = own.repos.iter().map(|repo| repo.cache);
        let hints = self.hints(Kind::Prompts, !own.order.is_empty(), own.hides(), repos);
        let mut result = ListPromptsResult::new(page).cache(hints);
        result.next_cursor = next;
        Ok(result.into())
    }

    /// The hints of what the suite lists one by one (CACHE-10).
    fn own_hints(&self, kind: Kind, hides: bool) -> CacheHints {
        if hides || self.providers.depend_on_caller(kind) { cache::private(self.cache) } else { self.cache }
    }

    /// The hints of a list, the same on all its pages (CACHE-04).
    fn hints(
        &self,
        kind: Kind,
        has_fixed: bool,
        hides: bool,
        repos: impl Iterator<Item = CacheHints>,
    ) -> CacheHints {
        let own = self.own_hints(kind, hides);
        let fixed = (has_fixed || self.providers.depend_on_caller(kind)).then_some(own);
        cache::combined(fixed.into_iter().chain(repos)).unwrap_or_default()
    }

    pub(super) async fn read_resource(
        &self,
        request: ReadResourceRequest,
        channel: &Channel<SuiteMessage>,
    ) -> Result<Reply, ToolError> {
        let view = self.providers.view(channel.principal());
        let found = view.resource(&request.uri, || self.call_of(channel, &request.uri)).await?;
        let Some(Found { item: resource, is_for_all }) = found else {
            return Err(RpcError::resource_not_found(request.uri).into());
        };
        resource.access().check(channel.principal())?;
        let rounds = Rounds::of_resource(&self.keys, channel, &request)?;
        let call = self.asking_call(channel, &request.uri, rounds);
        let rounds = call.rounds().clone();
        let read = resource.read(call).await;
        let mut result = read.map_err(|error| error.or_question(|| rounds.stuck()))?;
        if !is_for_all {
            result.cache = cache::private(result.cache);
        }
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
        let prompt = self.usable_prompt(&request.name, channel).await?;
        let rounds = Rounds::of_prompt(&self.keys, channel, &request)?;
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
        let view = self.providers.view(channel.principal());
        let found = view.template(template, || self.call_of(channel, template)).await?;
        let unknown = "unknown template; resources/templates/list has those that exist";
        let repo = found.ok_or_else(|| RpcError::invalid_params(unknown))?;
        repo.access.check(channel.principal())?;
        if !repo.has_variable(&completing.name) {
            return Err(RpcError::invalid_params("the template has no such variable to complete").into());
        }
        repo.complete(completing, &self.call_of(channel, template)).await
    }
}
