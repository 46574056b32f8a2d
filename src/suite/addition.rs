//! Something that is to be offered, found to be in order by itself: the same for a suite, for its handle at run time, and
//! for an offer of an extension.
//!
//! Here the author's code is asked for names, templates and prefixes, and schemas are compiled: all that takes time, or
//! may panic, comes before a catalog is touched.

use std::sync::Arc;

use super::catalog::Kind;
use super::entry::{self, Entry};
use super::{PromptRepo, PromptSpec, ResourceRepo, ResourceSpec, ToolSpec, prompt, resource};

/// Something new for a catalog.
pub(super) struct Addition {
    /// What a fault is about, such as "tool `add`".
    pub(super) what: String,
    pub(super) new: New,
    /// What clients in use may stumble over.
    pub(super) warnings: Vec<String>,
}

#[derive(Clone)]
pub(super) enum New {
    Tool(Arc<Entry>),
    Resource(Arc<ResourceSpec>),
    ResourceRepo(Arc<resource::Repo>),
    Prompt(Arc<PromptSpec>),
    PromptRepo(Arc<prompt::Repo>),
}

/// All that is wrong with an addition by itself, each with what it is about.
type Faults = Vec<String>;

impl Addition {
    pub(super) fn tool(name: &str, spec: ToolSpec) -> Result<Self, Faults> {
        let tool = Entry::register(name, spec);
        let warnings = tool.as_ref().map(|tool| entry::warnings(&tool.definition)).unwrap_or_default();
        let mut addition = Self::new("tool", name, tool.map(|tool| New::Tool(Arc::new(tool))))?;
        addition.warnings = warnings.iter().map(|warning| format!("{}: {warning}", addition.what)).collect();
        Ok(addition)
    }

    pub(super) fn resource(uri: &str, spec: ResourceSpec) -> Result<Self, Faults> {
        let resource = spec.register(uri).map(|spec| New::Resource(Arc::new(spec)));
        Self::new("resource", uri, resource)
    }

    pub(super) fn resource_repo(repo: impl ResourceRepo) -> Result<Self, Faults> {
        let template = repo.template().uri_template;
        let repo = resource::Repo::register(repo).map(|repo| New::ResourceRepo(Arc::new(repo)));
        Self::new("resource template", &template, repo)
    }

    pub(super) fn prompt(name: &str, spec: PromptSpec) -> Result<Self, Faults> {
        let prompt = spec.register(name).map(|spec| New::Prompt(Arc::new(spec)));
        Self::new("prompt", name, prompt)
    }

    pub(super) fn prompt_repo(repo: impl PromptRepo) -> Result<Self, Faults> {
        let prefix = repo.prefix();
        let repo = prompt::Repo::register(repo).map(|repo| New::PromptRepo(Arc::new(repo)));
        Self::new("prompt prefix", &prefix, repo)
    }

    fn new(kind: &str, name: &str, new: Result<New, Vec<String>>) -> Result<Self, Faults> {
        let what = format!("{kind} `{name}`");
        match new {
            Ok(new) => Ok(Self { what, new, warnings: Vec::new() }),
            Err(faults) => Err(faults.iter().map(|fault| format!("{what}: {fault}")).collect()),
        }
    }

    pub(super) fn kind(&self) -> Kind {
        match self.new {
            New::Tool(_) => Kind::Tools,
            New::Resource(_) | New::ResourceRepo(_) => Kind::Resources,
            New::Prompt(_) | New::PromptRepo(_) => Kind::Prompts,
        }
    }
}
