//! Lists in pages: what is registered one by one comes first, then what each repository lists (PAGE-01 to PAGE-04).
//!
//! A cursor is a sealed [`Position`], bound to the caller and the method. It names the last item of a page by its key and
//! a repository by its prefix, so that it stays right, or is refused, when others come or go between two pages: what is
//! there all the time is listed.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

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
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) enum Position {
    /// At the start of the list.
    Start,
    /// Behind this item of the suite itself.
    After(String),
    /// Behind this item of an extension.
    Added(String),
    /// In a repository.
    Repo {
        /// Its prefix.
        prefix: String,
        /// Its own cursor; in an array, since it may be null.
        cursor: Option<[Value; 1]>,
        /// How much of what that page holds was gone through before.
        skip: usize,
    },
}

impl Position {
    fn of(repo: &str, cursor: Option<Value>, skip: usize) -> Self {
        Self::Repo { prefix: repo.to_owned(), cursor: cursor.map(|cursor| [cursor]), skip }
    }

    /// The item or the prefix that it names.
    fn place(&self) -> &str {
        match self {
            Self::Start => "",
            Self::After(key) | Self::Added(key) => key,
            Self::Repo { prefix, .. } => prefix,
        }
    }
}

/// What is listed one by one: what is the suite's own in the order of registration, then what extensions add in the order
/// of keys, since that order holds whatever comes and goes.
pub(super) struct Fixed<'a, E> {
    pub(super) own: &'a [Arc<E>],
    pub(super) added: Vec<&'a Arc<E>>,
    /// Whether one of its own is shown to the caller; of what is added, only that is here.
    pub(super) shows: &'a (dyn Fn(&Arc<E>) -> bool + Sync),
}

impl<'a, E: Keyed> Fixed<'a, E> {
    fn page(
        &self,
        start: &Position,
        size: usize,
    ) -> Result<(Vec<&'a Arc<E>>, Option<Position>), InvalidToken> {
        let own_start = match start {
            Position::Start => 0,
            Position::After(key) => {
                1 + self.own.iter().position(|one| one.key() == key).ok_or(InvalidToken)?
            }
            Position::Added(_) => self.own.len(),
            Position::Repo { .. } => return Err(InvalidToken),
        };
        let added_start = match start {
            Position::Added(key) => self.added.partition_point(|one| one.key() <= key.as_str()),
            _ => 0,
        };
        let own = self.own.iter().skip(own_start).filter(|one| (self.shows)(one)).map(|one| (one, false));
        let mut rest = own.chain(self.added.iter().skip(added_start).map(|one| (*one, true)));
        let page: Vec<_> = rest.by_ref().take(size).collect();
        let next = rest.next().and(page.last()).map(|(last, is_added)| match is_added {
            true => Position::Added(last.key().to_owned()),
            false => Position::After(last.key().to_owned()),
        });
        Ok((page.into_iter().map(|(one, _)| one).collect(), next))
    }
}

/// Repositories that go on where the items listed one by one end.
pub(super) struct Repos<'a, T> {
    /// In the order in which they are listed.
    pub(super) lists: Vec<&'a dyn Lists<T>>,
    /// Whether who uses an item, by its key, is led to the repository with this prefix.
    pub(super) leads_to: &'a (dyn Fn(&str, &str) -> bool + Sync),
}

/// Seals and opens the cursors of one list for one caller.
pub(super) struct Cursors {
    keys: KeyRing,
    binding: Binding,
    /// The most items that a page holds.
    size: usize,
    lifetime: Duration,
}

impl Cursors {
    pub(super) fn new(keys: &KeyRing, call: &Call, method: &str, size: usize, lifetime: Duration) -> Self {
        let binding = Binding::new("cursor", call.principal(), method);
        Self { keys: keys.with_clock(call.clock()), binding, size, lifetime }
    }

    fn open(&self, cursor: Option<&str>) -> Result<Position, InvalidToken> {
        let Some(cursor) = cursor else {
            return Ok(Position::Start);
        };
        let position = self.keys.open(&self.binding, cursor)?;
        serde_json::from_slice(&position).map_err(|_| InvalidToken)
    }

    fn seal(&self, position: &Position) -> Result<String, RpcError> {
        let payload = serde_json::to_vec(position).map_err(RpcError::internal)?;
        let cursor = self.keys.seal(&self.binding, &payload, self.lifetime)?;
        if cursor.len() > LONGEST_CURSOR {
            return Err(RpcError::internal(format!(
                "the cursor behind `{}` takes {} bytes sealed; at most {LONGEST_CURSOR} can be sent back",
                position.place(),
                cursor.len(),
            )));
        }
        Ok(cursor)
    }

    /// One page of a list without repositories.
    ///
    /// # Errors
    ///
    /// `-32602` for a cursor that is not one of this list and caller, or behind an item that is gone.
    pub(super) fn slice<'l, E: Keyed>(
        &self,
        fixed: &Fixed<'l, E>,
        cursor: Option<&str>,
    ) -> Result<(Vec<&'l Arc<E>>, Option<String>), RpcError> {
        let (page, next) = fixed.page(&self.open(cursor)?, self.size)?;
        Ok((page, next.map(|position| self.seal(&position)).transpose()?))
    }

    /// One page of a list that goes on in repositories.
    ///
    /// # Errors
    ///
    /// `-32602` for a cursor that is not one of this list and caller or names an item or a repository that is gone, and
    /// whatever a repository fails with.
    pub(super) async fn page<E: Keyed, T: Keyed>(
        &self,
        fixed: &Fixed<'_, E>,
        listed: impl Fn(&E) -> T,
        repos: &Repos<'_, T>,
        cursor: Option<&str>,
        call: &Call,
    ) -> Result<(Vec<T>, Option<String>), ToolError> {
        let start = self.open(cursor).map_err(RpcError::from)?;
        let (mut items, mut position) = (Vec::new(), Some(start));
        if !matches!(position, Some(Position::Repo { .. })) {
            let (page, next) =
                fixed.page(&position.unwrap_or(Position::Start), self.size).map_err(RpcError::from)?;
            items.extend(page.into_iter().map(|one| listed(one)));
            position = next.or_else(|| first_of(&repos.lists));
        }
        for _ in 0..MOST_ASKED {
            if items.len() >= self.size {
                break;
            }
            let Some(Position::Repo { prefix, cursor, skip }) = position else { break };
            let cursor = cursor.map(|[cursor]| cursor);
            position = repos.walk(&prefix, cursor, skip, (&mut items, self.size), call).await?;
        }
        let next = position.map(|position| self.seal(&position)).transpose();
        Ok((items, next?))
    }
}

impl<T: Keyed> Repos<'_, T> {
    /// Takes from one page of a repository, until there are so many items, and returns where it goes on.
    async fn walk(
        &self,
        prefix: &str,
        cursor: Option<Value>,
        skip: usize,
        (items, size): (&mut Vec<T>, usize),
        call: &Call,
    ) -> Result<Option<Position>, ToolError> {
        let place = self.lists.iter().position(|repo| repo.prefix() == prefix);
        let (repo, later) = place
            .and_then(|place| self.lists.get(place..)?.split_first())
            .ok_or_else(|| RpcError::from(InvalidToken))?;
        let page = repo.list(cursor.clone(), call).await?;
        // What is left out counts too, so that a page goes on at the same place should it be shown then.
        for (place, item) in page.items.into_iter().enumerate().skip(skip) {
            if !self.shows(prefix, item.key()) {
                continue;
            }
            if items.len() >= size {
                return Ok(Some(Position::of(prefix, cursor, place)));
            }
            items.push(item);
        }
        Ok(match page.next {
            Some(next) => Some(Position::of(prefix, Some(next), 0)),
            None => first_of(later),
        })
    }

    /// Whether an item of a repository is listed: if a client that uses it is led there. Another prefix is a bug of the
    /// repository; what else comes first, or is hidden, is not listed from here.
    fn shows(&self, prefix: &str, key: &str) -> bool {
        if !key.starts_with(prefix) {
            tracing::error!(target: "ractor_mcp", prefix, item = key,
                "a repository lists what does not start with its prefix; it is left out");
            return false;
        }
        (self.leads_to)(prefix, key)
    }
}

fn first_of<T>(repos: &[&dyn Lists<T>]) -> Option<Position> {
    repos.first().map(|repo| Position::of(repo.prefix(), None, 0))
}
