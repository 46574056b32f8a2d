//! The resources of a suite.
//!
//! | file | holds |
//! |---|---|
//! | `mod.rs` | what is registered, and which of it a URI names |
//! | `function.rs` | functions as resources, [`resource`], its options |
//! | `repo.rs` | [`ResourceRepo`], families of resources |
//! | `template.rs`, `uri.rs` | URI templates that match; what a URI is made of |
//! | `output.rs` | from what is read to JSON |

mod function;
mod output;
mod repo;
mod template;
mod uri;

use std::collections::HashMap;

use crate::handler::RpcError;
use crate::wire::{ReadResourceResult, Resource};

use crate::suite::page::Lists;
use crate::suite::{Call, Completing, ToolError};

pub use function::{IntoResource, ResourceSpec, resource};
pub use output::ResourceOutput;
pub(super) use repo::Repo;
pub use repo::ResourceRepo;

/// The variables of a URI under a template, with their values, for the fuzzer; `None` if it does not match.
///
/// # Errors
///
/// What is wrong with the template.
#[cfg(feature = "fuzzing")]
pub(crate) fn template_values(template: &str, uri: &str) -> Result<Option<template::Values>, String> {
    Ok(template::Template::parse(template)?.matches(uri))
}

/// What is registered, in the order of registration.
#[derive(Default)]
pub(super) struct Resources {
    pub(super) listed: Vec<Resource>,
    pub(super) repos: Vec<Repo>,
    fixed: HashMap<String, ResourceSpec>,
}

impl Resources {
    pub(super) fn is_empty(&self) -> bool {
        self.fixed.is_empty() && self.repos.is_empty()
    }

    pub(super) fn has_fixed(&self) -> bool {
        !self.fixed.is_empty()
    }

    /// Registers one resource.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub(super) fn add(&mut self, uri: &str, mut spec: ResourceSpec) -> Result<(), String> {
        uri::check(uri)?;
        if self.fixed.contains_key(uri) {
            return Err("registered twice; each URI names one resource".to_owned());
        }
        uri.clone_into(&mut spec.listed.uri);
        if spec.listed.name.is_empty() {
            last_part(uri).clone_into(&mut spec.listed.name);
        }
        self.listed.push(spec.listed.clone());
        self.fixed.insert(uri.to_owned(), spec);
        Ok(())
    }

    /// Registers a family of resources.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it.
    pub(super) fn add_repo(&mut self, repo: impl ResourceRepo) -> Result<(), Vec<String>> {
        let repo = Repo::register(repo)?;
        let (prefix, overlaps) = (repo.prefix(), |other: &&Repo| overlap(other.prefix(), repo.prefix()));
        if let Some(other) = self.repos.iter().find(overlaps) {
            return Err(vec![format!(
                "its prefix `{prefix}` overlaps with `{}` of `{}`, so that a URI could belong to both; prefixes that do \
                 not start with each other would do",
                other.prefix(),
                other.listed.uri_template
            )]);
        }
        self.repos.push(repo);
        Ok(())
    }

    /// Reads a resource: the one of this URI, or else of the repository whose prefix it starts with.
    ///
    /// # Errors
    ///
    /// `-32602` with the URI in `data` if there is none (RES-08, RES-10).
    pub(super) async fn read(&self, uri: &str, call: Call) -> Result<ReadResourceResult, ToolError> {
        if let Some(spec) = self.fixed.get(uri) {
            return spec.read(call).await;
        }
        match self.repos.iter().find(|repo| uri.starts_with(repo.prefix())) {
            Some(repo) => repo.read(uri, &call).await,
            None => Err(RpcError::resource_not_found(uri).into()),
        }
    }

    /// Whether a URI is that of a resource here, or may be: existence is not checked.
    pub(super) fn serves(&self, uri: &str) -> bool {
        self.fixed.contains_key(uri) || self.repos.iter().any(|repo| repo.serves(uri))
    }

    /// Proposals for a variable of a template.
    ///
    /// # Errors
    ///
    /// `-32602` if there is no such template, or it has no such variable (CMP-04).
    pub(super) async fn complete(
        &self,
        template: &str,
        completing: Completing,
        call: &Call,
    ) -> Result<Vec<String>, ToolError> {
        let repo = self.repos.iter().find(|repo| repo.listed.uri_template == template);
        match repo {
            Some(repo) if repo.has_variable(&completing.name) => repo.complete(completing, call).await,
            Some(_) => Err(RpcError::invalid_params("the template has no such variable to complete").into()),
            None => Err(RpcError::invalid_params(
                "unknown template; resources/templates/list has those that exist",
            )
            .into()),
        }
    }
}

/// Contents that do not say what they are have the media type of their resource.
fn add_mime_type(result: &mut ReadResourceResult, mime_type: Option<&str>) {
    for contents in &mut result.contents {
        if contents.mime_type.is_none() {
            contents.mime_type = mime_type.map(str::to_owned);
        }
    }
}

/// Whether something could start with both.
pub(super) fn overlap(one: &str, other: &str) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

fn last_part(uri: &str) -> &str {
    uri.rsplit(['/', ':']).find(|part| !part.is_empty()).unwrap_or(uri)
}
