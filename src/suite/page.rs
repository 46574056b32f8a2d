//! Lists in pages: what is registered one by one comes first, then what each repository lists (PAGE-01 to PAGE-04).
//!
//! A cursor is a sealed [`Position`], bound to the caller and the method. It names a repository by its prefix, so that
//! it stays right, or is refused, when others come or go.

use std::collections::HashSet;
use std::future::Future;
use std::pin::Pin;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::handler::RpcError;
use crate::wire::{Prompt, Resource};

use super::{Binding, Call, InvalidToken, KeyRing, ToolError};

/// How many pages of repositories one request may ask for before it answers with what it has: a repository may well give
/// empty pages, and a client has to get an answer.
const MOST_ASKED: usize = 100;

/// The longest cursor that clients can send back (bytes).
const LONGEST_CURSOR: usize = 8 * 1024;

/// One page of what a repository lists.
///
/// An empty page with a `next` does not end a list, and a page may hold more than clients get at once: the suite cuts it
/// to the [page size](super::Suite::page_size). A repository of few things gives all of them, with `vec.into()`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T, C> {
    /// What is on the page.
    pub items: Vec<T>,
    /// Where the next page starts; `None` ends the list. Clients get it sealed.
    pub next: Option<C>,
}

impl<T, C> Page<T, C> {
    /// A page, and where the next one starts.
    pub fn new(items: Vec<T>, next: Option<C>) -> Self {
        Self { items, next }
    }
}

impl<T, C> From<Vec<T>> for Page<T, C> {
    fn from(items: Vec<T>) -> Self {
        Self::new(items, None)
    }
}

/// What can be listed: it has a key, which no other of its kind has.
pub(super) trait Keyed {
    fn key(&self) -> &str;
}

impl Keyed for Resource {
    fn key(&self) -> &str {
        &self.uri
    }
}

impl Keyed for Prompt {
    fn key(&self) -> &str {
        &self.name
    }
}

pub(super) type Listing<'a, T> = Pin<Box<dyn Future<Output = Result<Page<T, Value>, ToolError>> + Send + 'a>>;

/// A repository, seen as a list.
pub(super) trait Lists<T>: Send + Sync {
    fn prefix(&self) -> &str;

    fn list<'a>(&'a self, cursor: Option<Value>, call: &'a Call) -> Listing<'a, T>;
}

/// The cursor of a repository, in its own type.
///
/// # Errors
///
/// `-32602` if it is one of another type, from before the repository was changed.
pub(super) fn typed<C: DeserializeOwned>(cursor: Option<Value>) -> Result<Option<C>, ToolError> {
    let typed = cursor.map(serde_json::from_value).transpose();
    typed.map_err(|_| RpcError::from(InvalidToken).into())
}

/// A page of a repository with a cursor of any type.
///
/// # Errors
///
/// The repository's own bug: a cursor that cannot be written.
pub(super) fn untyped<T, C: Serialize>(page: Page<T, C>) -> Result<Page<T, Value>, ToolError> {
    let next = page.next.map(serde_json::to_value).transpose();
    Ok(Page::new(page.items, next.map_err(ToolError::internal)?))
}

/// Where a page starts.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Position {
    /// The prefix of the repository; none for what is registered one by one.
    repo: Option<String>,
    /// The repository's own cursor; in an array, since it may be null.
    cursor: Option<[Value; 1]>,
    /// How much of what that page holds was listed before.
    skip: usize,
}

impl Position {
    fn of(repo: &str, cursor: Option<Value>, skip: usize) -> Self {
        Self { repo: Some(repo.to_owned()), cursor: cursor.map(|cursor| [cursor]), skip }
    }

    /// A place in a list without repositories.
    fn at(skip: usize) -> Self {
        Self { skip, ..Self::default() }
    }
}

/// Seals and opens the cursors of one list for one caller.
pub(super) struct Cursors<'a> {
    keys: &'a KeyRing,
    binding: Binding,
    /// The most items that a page holds.
    size: usize,
}

impl<'a> Cursors<'a> {
    pub(super) fn new(keys: &'a KeyRing, call: &Call, method: &str, size: usize) -> Self {
        let binding = Binding::new("cursor", call.principal(), method);
        Self { keys, binding, size }
    }

    fn open(&self, cursor: Option<&str>) -> Result<Position, InvalidToken> {
        let Some(cursor) = cursor else {
            return Ok(Position::default());
        };
        let position = self.keys.open(&self.binding, cursor)?;
        serde_json::from_slice(&position).map_err(|_| InvalidToken)
    }

    fn seal(&self, position: &Position) -> Result<String, RpcError> {
        let payload = serde_json::to_vec(position).map_err(RpcError::internal)?;
        let cursor = self.keys.seal(&self.binding, &payload, KeyRing::LIFETIME)?;
        if cursor.len() > LONGEST_CURSOR {
            return Err(RpcError::internal(format!(
                "bug of the repository `{}`: its cursor takes {} bytes sealed; at most {LONGEST_CURSOR} can be sent back",
                position.repo.as_deref().unwrap_or_default(),
                cursor.len(),
            )));
        }
        Ok(cursor)
    }

    /// One page of a list that is as it is.
    ///
    /// # Errors
    ///
    /// `-32602` for a cursor that is not one of this list and caller.
    pub(super) fn slice<'l, T>(
        &self,
        all: &'l [T],
        cursor: Option<&str>,
    ) -> Result<(&'l [T], Option<String>), RpcError> {
        let start = self.open(cursor)?.skip;
        let rest = all.get(start..).ok_or(InvalidToken)?;
        let page = rest.get(..self.size).unwrap_or(rest);
        let next = (page.len() < rest.len()).then(|| self.seal(&Position::at(start + page.len())));
        Ok((page, next.transpose()?))
    }

    /// One page of a list that goes on in repositories.
    ///
    /// # Errors
    ///
    /// `-32602` for a cursor that is not one of this list and caller or names a repository that is gone, and whatever a
    /// repository fails with.
    pub(super) async fn page<T: Keyed + Clone>(
        &self,
        fixed: &[T],
        repos: &[&dyn Lists<T>],
        cursor: Option<&str>,
        call: &Call,
    ) -> Result<(Vec<T>, Option<String>), ToolError> {
        let walk = Walk { fixed, repos, size: self.size };
        let start = self.open(cursor).map_err(RpcError::from)?;
        let (items, next) = walk.from(start, call).await?;
        let next = next.map(|position| self.seal(&position)).transpose();
        Ok((items, next?))
    }
}

/// A walk through a list, as far as one page goes.
struct Walk<'a, T> {
    fixed: &'a [T],
    repos: &'a [&'a dyn Lists<T>],
    size: usize,
}

impl<T: Keyed + Clone> Walk<'_, T> {
    async fn from(&self, start: Position, call: &Call) -> Result<(Vec<T>, Option<Position>), ToolError> {
        let mut items = Vec::new();
        let mut position = Some(start);
        for _ in 0..MOST_ASKED {
            let Some(at) = position else { break };
            position = match at.repo.clone() {
                None => self.fixed(at.skip, &mut items)?,
                Some(prefix) => self.repo(&prefix, at, &mut items, call).await?,
            };
            if items.len() >= self.size {
                break;
            }
        }
        Ok((items, position))
    }

    /// Takes what is registered one by one, and returns where it goes on.
    fn fixed(&self, skip: usize, items: &mut Vec<T>) -> Result<Option<Position>, RpcError> {
        let rest = self.fixed.get(skip..).ok_or(InvalidToken)?;
        items.extend(rest.iter().take(self.size).cloned());
        if items.len() < rest.len() {
            return Ok(Some(Position::at(skip + items.len())));
        }
        Ok(self.first_of(self.repos))
    }

    /// Takes from one page of a repository, and returns where it goes on.
    async fn repo(
        &self,
        prefix: &str,
        at: Position,
        items: &mut Vec<T>,
        call: &Call,
    ) -> Result<Option<Position>, ToolError> {
        let place = self.repos.iter().position(|repo| repo.prefix() == prefix);
        let (repo, later) = place
            .and_then(|place| self.repos.get(place..)?.split_first())
            .ok_or_else(|| RpcError::from(InvalidToken))?;
        let cursor = at.cursor.map(|[cursor]| cursor);
        let page = repo.list(cursor.clone(), call).await?;
        let mut rest = self.its_own(*repo, page.items).into_iter().skip(at.skip);
        let before = items.len();
        items.extend(rest.by_ref().take(self.size - before));
        if rest.next().is_some() {
            let skip = at.skip + items.len() - before;
            return Ok(Some(Position::of(prefix, cursor, skip)));
        }
        Ok(match page.next {
            Some(next) => Some(Position::of(prefix, Some(next), 0)),
            None => self.first_of(later),
        })
    }

    fn first_of(&self, repos: &[&dyn Lists<T>]) -> Option<Position> {
        repos.first().map(|repo| Position::of(repo.prefix(), None, 0))
    }

    /// The items that lead to this repository when a client uses them: those with another prefix are a bug of it, and
    /// those registered one by one are served from there.
    fn its_own(&self, repo: &dyn Lists<T>, items: Vec<T>) -> Vec<T> {
        let fixed: HashSet<&str> = self.fixed.iter().map(T::key).collect();
        let (own, strange): (Vec<T>, Vec<T>) = items
            .into_iter()
            .filter(|item| !fixed.contains(item.key()))
            .partition(|item| item.key().starts_with(repo.prefix()));
        for item in strange {
            tracing::error!(target: "ractor_mcp", prefix = repo.prefix(), item = item.key(),
                "a repository lists what does not start with its prefix; it is left out");
        }
        own
    }
}
