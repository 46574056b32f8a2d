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
use std::sync::Arc;
use std::time::Duration;

use crate::suite::access::{Access, Sight};
use crate::suite::page::Lists;
use crate::suite::{Call, Item, ToolError};
use crate::wire::ReadResourceResult;

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
#[derive(Clone, Default)]
pub(super) struct Resources {
    pub(super) order: Vec<Arc<ResourceSpec>>,
    pub(super) repos: Vec<Arc<Repo>>,
    by_uri: HashMap<String, Arc<ResourceSpec>>,
    /// Whether any of it is not for everyone. Kept, since each stream asks for each batch.
    pub(super) restricts: bool,
}

/// What answers for a URI.
pub(super) enum Named {
    One(Arc<ResourceSpec>),
    Family(Arc<Repo>),
}

impl Resources {
    pub(super) fn is_empty(&self) -> bool {
        self.order.is_empty() && self.repos.is_empty()
    }

    pub(super) fn add(&mut self, resource: Arc<ResourceSpec>) -> Result<(), String> {
        if self.by_uri.contains_key(&resource.listed.uri) {
            return Err("registered twice; each URI names one resource".to_owned());
        }
        self.by_uri.insert(resource.listed.uri.clone(), Arc::clone(&resource));
        self.restricts |= resource.access.restricts();
        self.order.push(resource);
        Ok(())
    }

    pub(super) fn remove(&mut self, uri: &str) -> Option<Arc<ResourceSpec>> {
        let removed = self.by_uri.remove(uri)?;
        self.order.retain(|resource| !Arc::ptr_eq(resource, &removed));
        self.restricts = self.any_restricts();
        Some(removed)
    }

    pub(super) fn add_repo(&mut self, repo: Arc<Repo>) -> Result<(), String> {
        let (prefix, overlaps) = (repo.prefix(), |other: &&Arc<Repo>| overlap(other.prefix(), repo.prefix()));
        if let Some(other) = self.repos.iter().find(overlaps) {
            return Err(format!(
                "its prefix `{prefix}` overlaps with `{}` of `{}`, so that a URI could belong to both; prefixes that do \
                 not start with each other would do",
                other.prefix(),
                other.listed.uri_template
            ));
        }
        self.restricts |= repo.access.restricts();
        self.repos.push(repo);
        Ok(())
    }

    pub(super) fn remove_repo(&mut self, template: &str) -> Option<Arc<Repo>> {
        let place = self.repos.iter().position(|repo| repo.listed.uri_template == template)?;
        let removed = self.repos.remove(place);
        self.restricts = self.any_restricts();
        Some(removed)
    }

    /// Whether the list is not the same for everyone.
    pub(super) fn hides(&self) -> bool {
        self.order.iter().any(|resource| resource.access.hides())
            || self.repos.iter().any(|repo| repo.access.restricts())
    }

    fn any_restricts(&self) -> bool {
        self.hides() || self.order.iter().any(|resource| resource.access.restricts())
    }

    /// The resource of this URI, or else the repository whose prefix it starts with.
    pub(super) fn named(&self, uri: &str, sight: Sight<'_>) -> Option<Named> {
        let one = self.by_uri.get(uri).filter(|one| sight.sees(Item::Resource(uri), &one.access));
        one.map(Arc::clone).map(Named::One).or_else(|| {
            let family = self.family(uri, sight)?;
            sight.sees(Item::Resource(uri), &family.access).then(|| Named::Family(Arc::clone(family)))
        })
    }

    /// The repository whose prefix this starts with: a URI, or the prefix of another repository.
    pub(super) fn family(&self, uri: &str, sight: Sight<'_>) -> Option<&Arc<Repo>> {
        let family = self.repos.iter().find(|repo| uri.starts_with(repo.prefix()))?;
        sight.sees(Item::ResourceTemplate(&family.listed.uri_template), &family.access).then_some(family)
    }

    /// The repository with this template.
    pub(super) fn template(&self, template: &str, sight: Sight<'_>) -> Option<&Arc<Repo>> {
        let family = self.repos.iter().find(|repo| repo.listed.uri_template == template)?;
        sight.sees(Item::ResourceTemplate(template), &family.access).then_some(family)
    }
}

impl Named {
    pub(super) fn access(&self) -> &Access {
        match self {
            Self::One(resource) => &resource.access,
            Self::Family(repo) => &repo.access,
        }
    }

    pub(super) fn timeout(&self) -> Option<Duration> {
        match self {
            Self::One(resource) => resource.timeout,
            Self::Family(repo) => repo.timeout,
        }
    }

    /// Whether this is a resource, or may be one: existence in a repository is not checked.
    pub(super) fn serves(&self, uri: &str) -> bool {
        match self {
            Self::One(_) => true,
            Self::Family(repo) => repo.serves(uri),
        }
    }

    /// Reads the resource that the call names.
    ///
    /// # Errors
    ///
    /// `-32602` with the URI in `data` if the repository has none (RES-08, RES-10), and whatever reading fails with.
    pub(super) async fn read(&self, call: Call) -> Result<ReadResourceResult, ToolError> {
        match self {
            Self::One(resource) => resource.read(call).await,
            Self::Family(repo) => repo.read(call.name(), &call).await,
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
