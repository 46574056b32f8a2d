//! Why a process ended. This file alone spells reasons and tags, typed, as text and as ractor's strings.

use std::any::Any;
use std::borrow::Cow;
use std::fmt::{self, Display};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use serde::{Serialize, Serializer};

/// Why a process ended, or is asked to end.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExitReason {
    /// It was done. Prints as `normal`.
    Normal,
    /// Its parent ordered it to end. Prints as `shutdown`.
    Shutdown,
    /// An orderly end with a cause. Prints as `shutdown: reply`.
    ShutdownWith(Tag),
    /// It was killed: nothing but destructors ran. Prints as `killed`.
    Killed,
    /// A panic, an error or a failed start. Prints as `crash: <message>`.
    Crash(Crash),
}

impl ExitReason {
    /// Whether the end was orderly: a transient child that ends like this is not restarted.
    pub fn is_clean(&self) -> bool {
        matches!(self, Self::Normal | Self::Shutdown | Self::ShutdownWith(_))
    }

    /// The reason as a ractor stop reason: `None` for a normal end, else the printed form.
    pub fn to_ractor(&self) -> Option<String> {
        match self {
            Self::Normal => None,
            // Put together rather than formatted: every process that was done ends like this.
            Self::ShutdownWith(tag) => Some(["shutdown: ", tag.as_str()].concat()),
            reason => Some(reason.to_string()),
        }
    }

    /// Reads a ractor stop reason. Texts that are not ours become the tag of an orderly end.
    pub fn from_ractor(reason: Option<&str>) -> Self {
        match reason {
            None | Some("normal") => Self::Normal,
            Some("shutdown") => Self::Shutdown,
            Some("killed" | "actor_task_cancelled") => Self::Killed,
            Some("Drained") => Self::ShutdownWith(Tag::new("drained")),
            Some(text) => {
                if let Some(message) = text.strip_prefix("crash: ") {
                    Self::Crash(Crash::error(message))
                } else {
                    let tag = text.strip_prefix("shutdown: ").unwrap_or(text);
                    Self::ShutdownWith(Tag::new(tag.to_owned()))
                }
            }
        }
    }
}

impl Display for ExitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Normal => f.write_str("normal"),
            Self::Shutdown => f.write_str("shutdown"),
            Self::ShutdownWith(tag) => write!(f, "shutdown: {tag}"),
            Self::Killed => f.write_str("killed"),
            Self::Crash(crash) => write!(f, "crash: {crash}"),
        }
    }
}

/// Lets a reason travel as the typed error of a failed ractor actor.
impl std::error::Error for ExitReason {}

impl Serialize for ExitReason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl From<Crash> for ExitReason {
    fn from(crash: Crash) -> Self {
        Self::Crash(crash)
    }
}

impl From<Tag> for ExitReason {
    fn from(tag: Tag) -> Self {
        Self::ShutdownWith(tag)
    }
}

/// The cause of an orderly end: one short word, cheap to clone, compared as text.
#[derive(Clone)]
pub struct Tag(Text);

#[derive(Clone)]
enum Text {
    Static(&'static str),
    Shared(Arc<str>),
}

impl Tag {
    /// The process gave its answer.
    pub const REPLY: Self = Self(Text::Static("reply"));
    /// The client left.
    pub const CLIENT_DISCONNECTED: Self = Self(Text::Static("client_disconnected"));
    /// The process closed what it served, by its own choice.
    pub const CLOSED: Self = Self(Text::Static("closed"));
    /// A newer process took its place.
    pub const SUPERSEDED: Self = Self(Text::Static("superseded"));
    /// Its lifetime was over.
    pub const EXPIRED: Self = Self(Text::Static("expired"));
    /// Nothing happened for too long.
    pub const IDLE: Self = Self(Text::Static("idle"));
    /// The other side read nothing for too long.
    pub const STALLED: Self = Self(Text::Static("stalled"));

    /// A tag of your own.
    pub fn new(text: impl Into<Cow<'static, str>>) -> Self {
        match text.into() {
            Cow::Borrowed(text) => Self(Text::Static(text)),
            Cow::Owned(text) => Self(Text::Shared(text.into())),
        }
    }

    /// The tag as text.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Text::Static(text) => text,
            Text::Shared(text) => text,
        }
    }
}

impl PartialEq for Tag {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Tag {}

impl fmt::Debug for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tag({:?})", self.as_str())
    }
}

impl Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What broke a process. Cheap to clone.
///
/// Every standard error converts with `?`, which is why `Crash` is not an error type itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crash(Arc<Broken>);

#[derive(Debug, PartialEq, Eq)]
struct Broken {
    kind: CrashKind,
    message: String,
}

/// How a process broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CrashKind {
    /// Code panicked.
    Panic,
    /// Code returned an error.
    Error,
    /// The process did not get through its start.
    Init,
}

impl Crash {
    /// A crash by an error.
    pub fn error(message: impl Display) -> Self {
        Self::new(CrashKind::Error, message.to_string())
    }

    /// A crash by a failed start.
    pub fn init(message: impl Display) -> Self {
        Self::new(CrashKind::Init, message.to_string())
    }

    /// A crash by a panic, from what `catch_unwind` or a join handle returned.
    pub fn from_panic(payload: Box<dyn Any + Send>) -> Self {
        let message = match payload.downcast::<String>() {
            Ok(text) => *text,
            Err(payload) => match payload.downcast::<&'static str>() {
                Ok(text) => (*text).to_owned(),
                Err(payload) => {
                    // Its destructor is somebody else's code, and this may run in a destructor already.
                    if let Err(another) = catch_unwind(AssertUnwindSafe(move || drop(payload))) {
                        std::mem::forget(another);
                    }
                    "a panic whose payload is not text".to_owned()
                }
            },
        };
        Self::new(CrashKind::Panic, message)
    }

    fn new(kind: CrashKind, message: String) -> Self {
        Self(Arc::new(Broken { kind, message }))
    }

    /// The same crash seen as another kind.
    pub(crate) fn into_kind(self, kind: CrashKind) -> Self {
        if self.kind() == kind { self } else { Self::new(kind, self.0.message.clone()) }
    }

    /// How it broke.
    pub fn kind(&self) -> CrashKind {
        self.0.kind
    }

    /// The panic or error as text.
    pub fn message(&self) -> &str {
        &self.0.message
    }
}

impl Display for Crash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl<E: std::error::Error> From<E> for Crash {
    fn from(error: E) -> Self {
        Self::error(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> [(ExitReason, &'static str); 5] {
        [
            (ExitReason::Normal, "normal"),
            (ExitReason::Shutdown, "shutdown"),
            (ExitReason::ShutdownWith(Tag::REPLY), "shutdown: reply"),
            (ExitReason::Killed, "killed"),
            (ExitReason::Crash(Crash::error("boom")), "crash: boom"),
        ]
    }

    #[test]
    fn reasons_print_serialise_and_survive_ractor() {
        for (reason, text) in all() {
            assert_eq!(reason.to_string(), text);
            assert_eq!(serde_json::to_value(&reason).unwrap(), text);
            assert_eq!(ExitReason::from_ractor(reason.to_ractor().as_deref()), reason);
        }
        assert_eq!(ExitReason::Normal.to_ractor(), None);
    }

    #[test]
    fn foreign_texts_become_tags_or_what_ractor_means_by_them() {
        assert_eq!(ExitReason::from_ractor(Some("actor_task_cancelled")), ExitReason::Killed);
        assert_eq!(ExitReason::from_ractor(Some("Drained")).to_string(), "shutdown: drained");
        assert_eq!(ExitReason::from_ractor(Some("lunch")), ExitReason::ShutdownWith(Tag::new("lunch")));
    }

    #[test]
    fn only_orderly_ends_are_clean() {
        let clean = all().map(|(reason, _)| reason.is_clean());
        assert_eq!(clean, [true, true, true, false, false]);
    }

    #[test]
    fn a_crash_says_what_kind_it_is() {
        fn fails() -> Result<u8, Crash> {
            Ok("x".parse::<u8>()?)
        }
        assert_eq!(fails().unwrap_err().kind(), CrashKind::Error);
        let panics: [Box<dyn Any + Send>; 3] = [Box::new("text"), Box::new("text".to_owned()), Box::new(1)];
        let messages = panics.map(|payload| Crash::from_panic(payload).to_string());
        assert_eq!(messages, ["text", "text", "a panic whose payload is not text"]);
    }
}
