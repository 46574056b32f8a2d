//! What is offered, as one value: by a suite, or by one [`Offer`](super::Offer) of an extension.
//!
//! A request takes a snapshot of it and uses that throughout. A change is a new catalog; cloning one copies pointers.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

use crate::wire::{ServerCapabilities, ToolList};

use super::access::{Access, Sight};
use super::addition::{Addition, New};
use super::entry::Entry;
use super::prompt::Prompts;
use super::resource::Resources;
use super::{Item, prompt, resource};

/// What can be offered, each with a list of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Tools,
    Resources,
    Prompts,
}

impl Kind {
    pub(super) const ALL: [Self; 3] = [Self::Tools, Self::Resources, Self::Prompts];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Resources => "resources",
            Self::Prompts => "prompts",
        }
    }

    /// Whether a server with these capabilities offers it.
    pub(super) fn is_in(self, capabilities: &ServerCapabilities) -> bool {
        match self {
            Self::Tools => capabilities.tools.is_some(),
            Self::Resources => capabilities.resources.is_some(),
            Self::Prompts => capabilities.prompts.is_some(),
        }
    }
}

/// What is offered, in the order of registration.
#[derive(Clone, Default)]
pub(super) struct Catalog {
    pub(super) tools: Tools,
    pub(super) resources: Resources,
    pub(super) prompts: Prompts,
}

impl Catalog {
    /// Adds what was found to be in order by itself.
    ///
    /// # Errors
    ///
    /// How it clashes with what is there; nothing is changed then.
    pub(super) fn add(&mut self, addition: Addition) -> Result<(), String> {
        let added = match addition.new {
            New::Tool(tool) => self.tools.add(tool),
            New::Resource(resource) => self.resources.add(resource),
            New::ResourceRepo(repo) => self.resources.add_repo(repo),
            New::Prompt(prompt) => self.prompts.add(prompt),
            New::PromptRepo(repo) => self.prompts.add_repo(repo),
        };
        added.map_err(|fault| format!("{}: {fault}", addition.what))
    }

    pub(super) fn has(&self, kind: Kind) -> bool {
        match kind {
            Kind::Tools => !self.tools.order.is_empty(),
            Kind::Resources => !self.resources.is_empty(),
            Kind::Prompts => !self.prompts.is_empty(),
        }
    }

    /// What follows from it for the capabilities (DISC-04).
    pub(super) fn capabilities(&self) -> ServerCapabilities {
        let mut offered = ServerCapabilities::new();
        if self.has(Kind::Tools) {
            offered = offered.tools(false);
        }
        if self.has(Kind::Resources) {
            offered = offered.resources(false, false);
        }
        if self.has(Kind::Prompts) {
            offered = offered.prompts(false);
        }
        if self.prompts.completes() || !self.resources.repos.is_empty() {
            offered = offered.completions();
        }
        offered
    }

    /// The scopes that the use of any of it needs, each once.
    pub(super) fn scopes(&self) -> impl Iterator<Item = &str> {
        let tools = self.tools.order.iter().map(|tool| &tool.access);
        let resources = self.resources.order.iter().map(|resource| &resource.access);
        let resources = resources.chain(self.resources.repos.iter().map(|repo| &repo.access));
        let prompts = self.prompts.order.iter().map(|prompt| &prompt.access);
        let prompts = prompts.chain(self.prompts.repos.iter().map(|repo| &repo.access));
        let scopes = tools.chain(resources).chain(prompts).flat_map(Access::scopes);
        scopes.collect::<BTreeSet<_>>().into_iter()
    }

    /// The tool of this name.
    pub(super) fn tool(&self, name: &str, sight: Sight<'_>) -> Option<&Arc<Entry>> {
        let tool = self.tools.by_name.get(name)?;
        sight.sees(Item::Tool(name), &tool.access).then_some(tool)
    }

    /// The resource of this URI, or the repository that answers for it.
    pub(super) fn resource(&self, uri: &str, sight: Sight<'_>) -> Option<resource::Named> {
        self.resources.named(uri, sight)
    }

    /// The prompt of this name, or the repository that answers for it.
    pub(super) fn prompt(&self, name: &str, sight: Sight<'_>) -> Option<prompt::Named> {
        self.prompts.named(name, sight)
    }
}

/// The tools of a catalog.
#[derive(Clone, Default)]
pub(super) struct Tools {
    pub(super) order: Vec<Arc<Entry>>,
    by_name: HashMap<Arc<str>, Arc<Entry>>,
    /// All of them as they are listed to those who see all: made when the first one asks.
    whole: OnceLock<ToolList>,
}

impl Tools {
    fn add(&mut self, tool: Arc<Entry>) -> Result<(), String> {
        if self.by_name.contains_key(&tool.name) {
            return Err("registered twice; each name serves one tool".to_owned());
        }
        self.by_name.insert(Arc::clone(&tool.name), Arc::clone(&tool));
        self.order.push(tool);
        self.whole = OnceLock::new();
        Ok(())
    }

    pub(super) fn remove(&mut self, name: &str) -> Option<Arc<Entry>> {
        let removed = self.by_name.remove(name)?;
        self.order.retain(|tool| !Arc::ptr_eq(tool, &removed));
        self.whole = OnceLock::new();
        Some(removed)
    }

    /// Whether the list is not the same for everyone.
    pub(super) fn hides(&self) -> bool {
        self.order.iter().any(|tool| tool.access.hides())
    }

    pub(super) fn whole(&self) -> ToolList {
        let listed = || self.order.iter().map(|tool| tool.definition.clone()).collect::<Vec<_>>().into();
        self.whole.get_or_init(listed).clone()
    }
}
