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

use crate::handler::RpcError;
use crate::wire::{GetPromptResult, Prompt};

use crate::suite::page::Lists;
use crate::suite::resource::overlap;
use crate::suite::{Call, Completing, ToolError};

pub use arguments::{PromptArguments, prompt_arguments};
pub use function::{IntoPrompt, PromptSpec, Proposed, prompt};
pub use output::PromptOutput;
pub use repo::PromptRepo;
pub(super) use repo::Repo;

/// What is registered, in the order of registration.
#[derive(Default)]
pub(super) struct Prompts {
    pub(super) listed: Vec<Prompt>,
    pub(super) repos: Vec<Repo>,
    fixed: HashMap<String, PromptSpec>,
}

impl Prompts {
    pub(super) fn is_empty(&self) -> bool {
        self.fixed.is_empty() && self.repos.is_empty()
    }

    pub(super) fn has_fixed(&self) -> bool {
        !self.fixed.is_empty()
    }

    /// Whether anything may have proposals.
    pub(super) fn completes(&self) -> bool {
        !self.repos.is_empty() || self.fixed.values().any(|spec| !spec.completers.is_empty())
    }

    /// Registers one prompt.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it.
    pub(super) fn add(&mut self, name: &str, mut spec: PromptSpec) -> Result<(), Vec<String>> {
        let mut faults: Vec<String> = spec.fault.take().into_iter().collect();
        if name.is_empty() {
            faults.push("the name is empty; any text would do".to_owned());
        }
        if self.fixed.contains_key(name) {
            faults.push("registered twice; each name means one prompt".to_owned());
        }
        let is_declared =
            |name: &&String| spec.listed.arguments.iter().any(|argument| argument.name == **name);
        let strange = spec.completers.keys().filter(|name| !is_declared(name));
        faults.extend(strange.map(|name| format!("it completes `{name}`, which is none of its arguments")));
        if !faults.is_empty() {
            return Err(faults);
        }
        name.clone_into(&mut spec.listed.name);
        self.listed.push(spec.listed.clone());
        self.fixed.insert(name.to_owned(), spec);
        Ok(())
    }

    /// Registers a family of prompts.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub(super) fn add_repo(&mut self, repo: impl PromptRepo) -> Result<(), String> {
        let repo = Repo::register(repo)?;
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

    /// Fills in a prompt: the one of this name, or else of the repository whose prefix it starts with.
    ///
    /// # Errors
    ///
    /// `-32602` if there is none, or its arguments do not fit (PRM-05).
    pub(super) async fn get(
        &self,
        arguments: PromptArguments,
        call: Call,
    ) -> Result<GetPromptResult, ToolError> {
        if let Some(spec) = self.fixed.get(call.name()) {
            return spec.get(arguments, call).await;
        }
        self.repo_of(call.name())?.get(arguments, &call).await
    }

    /// Proposals for an argument of a prompt.
    ///
    /// # Errors
    ///
    /// `-32602` if there is no such prompt, or it has no such argument (CMP-04).
    pub(super) async fn complete(
        &self,
        completing: Completing,
        call: Call,
    ) -> Result<Vec<String>, ToolError> {
        let Some(spec) = self.fixed.get(call.name()) else {
            return self.repo_of(call.name())?.complete(completing, &call).await;
        };
        let mut declared = spec.listed.arguments.iter();
        if !declared.any(|argument| argument.name == completing.name) {
            return Err(RpcError::invalid_params("the prompt has no such argument to complete").into());
        }
        match spec.completers.get(&completing.name) {
            Some(completer) => completer(completing, call).await,
            None => Ok(Vec::new()),
        }
    }

    fn repo_of(&self, name: &str) -> Result<&Repo, RpcError> {
        let repo = self.repos.iter().find(|repo| name.starts_with(repo.prefix()));
        repo.ok_or_else(output::unknown_prompt)
    }
}
