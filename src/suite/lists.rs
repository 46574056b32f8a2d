//! What a suite answers about lists: in pages, of what the caller sees, each with how long it may be kept.

use std::sync::Arc;

use crate::handler::{Channel, Reply};
use crate::wire::{
    CacheHints, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
};

use super::catalog::Kind;
use super::entry::Entry;
use super::page::{Cursors, Fixed, Repos};
use super::{Call, PromptSpec, ResourceSpec, Suite, SuiteMessage, ToolError, cache, resource};

impl Suite {
    fn cursors(&self, call: &Call) -> Cursors {
        Cursors::new(&self.keys, call, call.name(), self.page_size, self.cursor_time)
    }

    pub(super) async fn list_tools(
        &self,
        cursor: Option<&str>,
        channel: &Channel<SuiteMessage>,
    ) -> Result<Reply, ToolError> {
        let call = self.call_of(channel, channel.method());
        let whole = self.providers.view(call.principal()).whole(Kind::Tools, &call).await?;
        let sees_all = whole.is_all_tools();
        let shows = |tool: &Arc<Entry>| sees_all || whole.shows_tool(tool);
        let added = whole.added(|catalog| &catalog.tools.order, |tool| shows(tool));
        let all = &whole.own.tools;
        let (page, next) =
            self.cursors(&call).slice(&Fixed { own: &all.order, added, shows: &shows }, cursor)?;
        // The whole list is written as JSON once, however often it is sent.
        let tools = if sees_all && page.len() == all.order.len() {
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
        let fixed = Fixed { own: &own.order, added, shows: &shows };
        let leads_to = |prefix: &str, uri: &str| whole.leads_to_resources(prefix, uri);
        let repos = Repos { lists: whole.resource_repos(), leads_to: &leads_to };
        let cursors = self.cursors(&call);
        let (page, next) = cursors.page(&fixed, |one| one.listed.clone(), &repos, cursor, &call).await?;
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
        let fixed = Fixed { own: &own.order, added, shows: &shows };
        let leads_to = |prefix: &str, name: &str| whole.leads_to_prompts(prefix, name);
        let repos = Repos { lists: whole.prompt_repos(), leads_to: &leads_to };
        let cursors = self.cursors(&call);
        let (page, next) = cursors.page(&fixed, |one| one.listed.clone(), &repos, cursor, &call).await?;
        let repos = own.repos.iter().map(|repo| repo.cache);
        let hints = self.hints(Kind::Prompts, !own.order.is_empty(), own.hides(), repos);
        let mut result = ListPromptsResult::new(page).cache(hints);
        result.next_cursor = next;
        Ok(result.into())
    }

    /// The hints of what the suite lists one by one.
    fn own_hints(&self, kind: Kind, hides: bool) -> CacheHints {
        self.hints(kind, true, hides, std::iter::empty())
    }

    /// The hints of a list, the same on all its pages (CACHE-04). A list that is not the same for everyone is private,
    /// whatever its repositories say of themselves (CACHE-10).
    fn hints(
        &self,
        kind: Kind,
        has_fixed: bool,
        hides: bool,
        repos: impl Iterator<Item = CacheHints>,
    ) -> CacheHints {
        // The result names the server, which may be another to each caller.
        let depends = self.providers.depend_on_caller(kind) || self.identity.marks_results();
        let fixed = (has_fixed || depends).then_some(self.cache);
        let hints = cache::combined(fixed.into_iter().chain(repos)).unwrap_or_default();
        if hides || depends { cache::private(hints) } else { hints }
    }
}
