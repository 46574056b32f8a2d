//! The prompts of a suite.
//!
//! | file | holds |
//! |---|---|
//! | `mod.rs` | what is registered, and which of it a name means |
//! | `function.rs` | functions as prompts, [`prompt`], its options |
//! | `repo.rs` | [`PromptRepo`], families of prompts |
//! | `arguments.rs` | [`PromptArguments`]: texts by name, checked, and read as a type |
//! | `output.rs` | from what a prompt returns to JSON |

mod arguments;
mod function;
mod output;
mod repo;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crate::handler::RpcError;
use crate::suite::access::{Access, Sight};
use crate::suite::page::Lists;
use crate::suite::resource::overlap;
use crate::suite::{Call, Completing, Item, ToolError};
use crate::wire::GetPromptResult;

pub use arguments::{PromptArguments, prompt_arguments};
pub use function::{IntoPrompt, PromptSpec, Proposed, prompt};
pub use output::PromptOutput;
pub(super) use output::unknown_prompt;
pub use repo::PromptRepo;
pub(super) use repo::Repo;

/// What is registered, in the order of registration.
#[derive(Clone, Default)]
pub(super) struct Prompts {
    pub(super) order: Vec<Arc<PromptSpec>>,
    pub(super) repos: Vec<Arc<Repo>>,
    by_name: HashMap<String, Arc<PromptSpec>>,
}

/// What answers for a name.
pub(super) enum Named {
    One(Arc<PromptSpec>),
    Family(Arc<Repo>),
}

impl Prompts {
    pub(super) fn is_empty(&self) -> bool {
        self.order.is_empty() && self.repos.is_empty()
    }

    /// Whether anything may have proposals.
    pub(super) fn completes(&self) -> bool {
        !self.repos.is_empty() || self.order.iter().any(|prompt| !prompt.completers.is_empty())
    }

    pub(super) fn add(&mut self, prompt: Arc<PromptSpec>) -> Result<(), String> {
        if self.by_name.contains_key(&prompt.listed.name) {
            return Err("registered twice; each name means one prompt".to_owned());
        }
        self.by_name.insert(prompt.listed.name.clone(), Arc::clone(&prompt));
        self.order.push(prompt);
        Ok(())
    }

    pub(super) fn remove(&mut self, name: &str) -> Option<Arc<PromptSpec>> {
        let removed = self.by_name.remove(name)?;
        self.order.retain(|prompt| !Arc::ptr_eq(prompt, &removed));
        Some(removed)
    }

    pub(super) fn add_repo(&mut self, repo: Arc<Repo>) -> Result<(), String> {
        if let Some(other) = self.repos.iter().find(|other| overlap(other.prefix(), repo.prefix())) {
            return Err(format!(
                "overlaps with the prefix `{}`, so that a name could belong to both; prefixes that do not start with \
                 each other would do",
                other.prefix(),
            ));
        }
        self.repos.push(repo);
        Ok(())
    }

    pub(super) fn remove_repo(&mut self, prefix: &str) -> Option<Arc<Repo>> {
        let place = self.repos.iter().position(|repo| repo.prefix() == prefix)?;
        Some(self.repos.remove(place))
    }

    /// Whether the list is not the same for everyone.
    pub(super) fn hides(&self) -> bool {
        self.order.iter().any(|prompt| prompt.access.hides())
            || self.repos.iter().any(|repo| repo.access.restricts())
    }

    /// The prompt of this name, or else the repository whose prefix it starts with.
    pub(super) fn named(&self, name: &str, sight: Sight<'_>) -> Option<Named> {
        let one = self.by_name.get(name).filter(|one| sight.sees(Item::Prompt(name), &one.access));
        one.map(Arc::clone).map(Named::One).or_else(|| {
            let family = self.family(name)?;
            sight.sees(Item::Prompt(name), &family.access).then(|| Named::Family(Arc::clone(family)))
        })
    }

    /// The repository whose prefix this starts with: a name, or the prefix of another repository.
    pub(super) fn family(&self, name: &str) -> Option<&Arc<Repo>> {
        self.repos.iter().find(|repo| name.starts_with(repo.prefix()))
    }
}

impl Named {
    pub(super) fn access(&self) -> &Access {
        match self {
            Self::One(prompt) => &prompt.access,
            Self::Family(repo) => &repo.access,
        }
    }

    pub(super) fn timeout(&self) -> Option<Duration> {
        match self {
            Self::One(prompt) => prompt.timeout,
            Self::Family(repo) => repo.timeout,
        }
    }

    /// Fills in the prompt that the call names.
    ///
    /// # Errors
    ///
    /// `-32602` if the repository has none, or its arguments do not fit (PRM-05).
    pub(super) async fn get(
        &self,
        arguments: PromptArguments,
        call: Call,
    ) -> Result<GetPromptResult, ToolError> {
        match self {
            Self::One(prompt) => prompt.get(arguments, call).await,
            Self::Family(repo) => repo.get(arguments, &call).await,
        }
    }

    /// Proposals for an argument.
    ///
    /// # Errors
    ///
    /// `-32602` if it has no such argument (CMP-04).
    pub(super) async fn complete(
        &self,
        completing: Completing,
        call: Call,
    ) -> Result<Vec<String>, ToolError> {
        let prompt = match self {
            Self::One(prompt) => prompt,
            Self::Family(repo) => return repo.complete(completing, &call).await,
        };
        if !prompt.has_argument(&completing.name) {
            return Err(RpcError::invalid_params("the prompt has no such argument to complete").into());
        }
        match prompt.completers.get(&completing.name) {
            Some(completer) => completer(completing, call).await,
            None => Ok(Vec::new()),
        }
    }
}
