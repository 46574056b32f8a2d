//! What a process is called in trees and logs. A label is never looked at on the hot path: it is formatted when
//! somebody reads it.

use std::fmt::{self, Display};
use std::sync::Arc;

/// The name of a process for people. Labels need not be unique; a child id within one supervisor must be.
#[derive(Clone)]
pub struct Label(Repr);

#[derive(Clone)]
enum Repr {
    Static(&'static str),
    Shared(Arc<str>),
    Lazy(Arc<dyn Display + Send + Sync>),
}

impl From<&'static str> for Label {
    fn from(text: &'static str) -> Self {
        Self(Repr::Static(text))
    }
}

impl From<String> for Label {
    fn from(text: String) -> Self {
        Self(Repr::Shared(text.into()))
    }
}

/// Formatted each time it is read.
impl From<Arc<dyn Display + Send + Sync>> for Label {
    fn from(value: Arc<dyn Display + Send + Sync>) -> Self {
        Self(Repr::Lazy(value))
    }
}

impl Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Static(text) => f.write_str(text),
            Repr::Shared(text) => f.write_str(text),
            Repr::Lazy(value) => value.fmt(f),
        }
    }
}

impl fmt::Debug for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Label({:?})", self.to_string())
    }
}

/// Labels are equal when they read the same.
impl PartialEq for Label {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Repr::Static(one), Repr::Static(two)) => one == two,
            (Repr::Shared(one), Repr::Shared(two)) => one == two,
            _ => self.to_string() == other.to_string(),
        }
    }
}

impl Eq for Label {}
