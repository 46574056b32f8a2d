//! What one caller sees in one request: a snapshot of the suite's own catalog, and what its extensions offer.
//!
//! First match wins: the suite's own, then the extensions in the order of registration, then the offers of one extension
//! in the order in which it gave them. What is hidden matches nothing. Lists and uses go through the same look-ups, so
//! that what is listed is what is used.

use std::iter::once;
use std::sync::Arc;

use crate::handler::Principal;
use crate::wire::{Prompt, Resource};

use super::access::{Sight, Visible};
use super::catalog::{Catalog, Kind};
use super::current::Current;
use super::entry::Entry;
use super::extension::{Extended, Offer};
use super::page::{Keyed, Lists};
use super::{Call, ToolError, prompt, resource};

/// Where everything comes from that a suite offers, and who sees it.
#[derive(Clone, Default)]
pub(super) struct Providers {
    pub(super) current: Arc<Current>,
    pub(super) extensions: Arc<Vec<Extended>>,
    pub(super) visible: Option<Arc<Visible>>,
}

/// What a caller sees, with extensions that were not asked yet.
pub(super) struct View<'a> {
    own: Arc<Catalog>,
    extensions: &'a [Extended],
    sight: Sight<'a>,
}

/// What a caller sees, all of it.
pub(super) struct Whole<'a> {
    pub(super) own: Arc<Catalog>,
    offers: Vec<Offer>,
    sight: Sight<'a>,
}

/// What answers a use, and whether what it answers may be kept for others.
pub(super) struct Found<T> {
    pub(super) item: T,
    pub(super) is_for_all: bool,
}

impl Providers {
    pub(super) fn view<'a>(&'a self, principal: &'a Principal) -> View<'a> {
        let sight = Sight { principal, visible: self.visible.as_deref() };
        View { own: self.current.catalog(), extensions: &self.extensions, sight }
    }

    /// Whether a list depends on the caller beyond what the items themselves say. The same for all callers, so that it
    /// is on all pages.
    pub(super) fn depend_on_caller(&self, kind: Kind) -> bool {
        self.visible.is_some() || self.extensions.iter().any(|extension| extension.may_offer(kind))
    }
}

impl<'a> View<'a> {
    pub(super) async fn tool(
        &self,
        name: &str,
        call: impl Fn() -> Call,
    ) -> Result<Option<Arc<Entry>>, ToolError> {
        let find = |catalog: &Catalog| catalog.tool(name, self.sight).cloned();
        Ok(self.first(Kind::Tools, call, find).await?.map(|found| found.item))
    }

    pub(super) async fn resource(
        &self,
        uri: &str,
        call: impl Fn() -> Call,
    ) -> Result<Option<Found<resource::Named>>, ToolError> {
        let found = self.first(Kind::Resources, call, |catalog| catalog.resource(uri, self.sight)).await?;
        Ok(found.map(|found| Found {
            is_for_all: found.is_for_all && !found.item.access().restricts(),
            item: found.item,
        }))
    }

    /// The repository with a template that is listed. Of extensions all are asked, since one may stand in front of
    /// another's URIs without having the template.
    pub(super) async fn template(
        self,
        template: &str,
        call: &Call,
    ) -> Result<Option<Arc<resource::Repo>>, ToolError> {
        if let Some(own) = self.own.resources.template(template, self.sight) {
            return Ok(Some(Arc::clone(own)));
        }
        let whole = self.whole(Kind::Resources, call).await?;
        let mut all =
            whole.catalogs().filter_map(|catalog| catalog.resources.template(template, whole.sight));
        Ok(all.find(|repo| whole.shows_template(repo)).cloned())
    }

    pub(super) async fn prompt(
        &self,
        name: &str,
        call: impl Fn() -> Call,
    ) -> Result<Option<prompt::Named>, ToolError> {
        let found = self.first(Kind::Prompts, call, |catalog| catalog.prompt(name, self.sight)).await?;
        Ok(found.map(|found| found.item))
    }

    /// The first match. Extensions behind it are not asked.
    async fn first<T>(
        &self,
        kind: Kind,
        call: impl Fn() -> Call,
        find: impl Fn(&Catalog) -> Option<T>,
    ) -> Result<Option<Found<T>>, ToolError> {
        if let Some(item) = find(&self.own) {
            return Ok(Some(Found { item, is_for_all: self.sight.visible.is_none() }));
        }
        for extension in self.extensions.iter().filter(|extension| extension.may_offer(kind)) {
            let offers = extension.ask(&call()).await?;
            if let Some(item) = offers.iter().find_map(|offer| find(offer.catalog())) {
                return Ok(Some(Found { item, is_for_all: false }));
            }
        }
        Ok(None)
    }

    /// Everything of a kind: all extensions are asked that may offer it.
    pub(super) async fn whole(self, kind: Kind, call: &Call) -> Result<Whole<'a>, ToolError> {
        let mut offers = Vec::new();
        for extension in self.extensions.iter().filter(|extension| extension.may_offer(kind)) {
            offers.extend(extension.ask(call).await?);
        }
        Ok(Whole { own: self.own, offers, sight: self.sight })
    }
}

impl Whole<'_> {
    fn catalogs(&self) -> impl Iterator<Item = &Catalog> {
        once(&*self.own).chain(self.offers.iter().map(Offer::catalog))
    }

    /// Whether every caller sees just the suite's own tools, all of them.
    pub(super) fn is_all_tools(&self) -> bool {
        self.offers.is_empty() && self.sight.visible.is_none() && !self.own.tools.hides()
    }

    pub(super) fn resource(&self, uri: &str) -> Option<resource::Named> {
        self.catalogs().find_map(|catalog| catalog.resource(uri, self.sight))
    }

    pub(super) fn prompt(&self, name: &str) -> Option<prompt::Named> {
        self.catalogs().find_map(|catalog| catalog.prompt(name, self.sight))
    }

    pub(super) fn shows_tool(&self, tool: &Arc<Entry>) -> bool {
        let first = self.catalogs().find_map(|catalog| catalog.tool(&tool.name, self.sight));
        first.is_some_and(|first| Arc::ptr_eq(first, tool))
    }

    pub(super) fn shows_resource(&self, one: &Arc<resource::ResourceSpec>) -> bool {
        matches!(self.resource(one.key()), Some(resource::Named::One(first)) if Arc::ptr_eq(&first, one))
    }

    pub(super) fn shows_prompt(&self, one: &Arc<prompt::PromptSpec>) -> bool {
        matches!(self.prompt(one.key()), Some(prompt::Named::One(first)) if Arc::ptr_eq(&first, one))
    }

    /// Whether who reads this URI is led to the repository with this prefix.
    pub(super) fn leads_to_resources(&self, prefix: &str, uri: &str) -> bool {
        matches!(self.resource(uri), Some(resource::Named::Family(repo)) if repo.prefix() == prefix)
    }

    /// Whether who gets the prompt of this name is led to the repository with this prefix.
    pub(super) fn leads_to_prompts(&self, prefix: &str, name: &str) -> bool {
        matches!(self.prompt(name), Some(prompt::Named::Family(repo)) if repo.prefix() == prefix)
    }

    /// Whether a template is listed: if some of its URIs lead to it.
    pub(super) fn shows_template(&self, repo: &Arc<resource::Repo>) -> bool {
        let first = self.catalogs().find_map(|catalog| catalog.resources.family(repo.prefix(), self.sight));
        first.is_some_and(|first| Arc::ptr_eq(first, repo))
    }

    /// The repositories of resources that are listed: behind those of the suite, what extensions add by prefix.
    pub(super) fn resource_repos(&self) -> Vec<&dyn Lists<Resource>> {
        let lists = |repo: &&Arc<resource::Repo>| {
            repo.access.allows(self.sight.principal) && self.shows_template(repo)
        };
        let own = self.own.resources.repos.iter().filter(lists);
        let all = own.chain(self.added(|catalog| &catalog.resources.repos, lists));
        all.map(|repo| &**repo as &dyn Lists<_>).collect()
    }

    /// The repositories of prompts that are listed, in the same order.
    pub(super) fn prompt_repos(&self) -> Vec<&dyn Lists<Prompt>> {
        let lists = |repo: &&Arc<prompt::Repo>| {
            let first = self.catalogs().find_map(|catalog| catalog.prompts.family(repo.prefix()));
            repo.access.allows(self.sight.principal) && first.is_some_and(|first| Arc::ptr_eq(first, repo))
        };
        let own = self.own.prompts.repos.iter().filter(lists);
        let all = own.chain(self.added(|catalog| &catalog.prompts.repos, lists));
        all.map(|repo| &**repo as &dyn Lists<_>).collect()
    }

    /// What extensions add and is shown, each once, in the order of keys.
    pub(super) fn added<'w, E: Keyed>(
        &'w self,
        of: impl Fn(&'w Catalog) -> &'w [Arc<E>],
        shows: impl Fn(&&'w Arc<E>) -> bool,
    ) -> Vec<&'w Arc<E>> {
        let all = self.offers.iter().flat_map(|offer| of(offer.catalog()));
        let mut added: Vec<&Arc<E>> = all.filter(shows).collect();
        added.sort_by(|one, other| one.key().cmp(other.key()));
        added.dedup_by(|one, other| one.key() == other.key());
        added
    }
}
