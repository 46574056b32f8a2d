//! The process tree as data and as text, read from the process blocks alone: no process has to answer.

use std::fmt::{self, Display};

use serde::Serialize;

use crate::block::{Block, Mark, lock};
use crate::mailbox::{Inbox, Queue};
use crate::pid::Pid;

/// A snapshot of a process and everything under it.
///
/// As text, one line a process; what is usual is left out:
///
/// ```text
/// mcp
/// ├─ listeners
/// │  └─ listener 127.0.0.1:3000 (restarts: 1)
/// └─ worker idle (exiting, queue: 3/64)
/// ```
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Tree {
    /// What the process is called.
    pub label: String,
    /// Its pid's id.
    pub id: u64,
    /// Where it is in its life.
    pub state: ProcessState,
    /// Since its start, in milliseconds.
    pub age_ms: u64,
    /// How full its mailbox is; none for a supervisor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<Queue>,
    /// What it says about itself: see `describe`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// How often its supervisor has restarted it.
    pub restarts: u32,
    /// Its children in the order of their start.
    pub children: Vec<Tree>,
}

/// Where a process is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ProcessState {
    /// Its init is not done.
    Starting,
    /// It works or waits for a message.
    Running,
    /// It was asked to exit, or has decided to, and is not done.
    Exiting,
    /// It was killed and did not end: it blocks its thread.
    Zombie,
    /// It has ended.
    Ended,
}

impl Display for ProcessState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Exiting => "exiting",
            Self::Zombie => "zombie",
            Self::Ended => "ended",
        })
    }
}

impl ProcessState {
    fn of(block: &Block<dyn Inbox>) -> Self {
        if block.exit.get().is_some() {
            Self::Ended
        } else if block.is(Mark::Zombie) {
            Self::Zombie
        } else if block.is(Mark::Ending) {
            Self::Exiting
        } else if block.is(Mark::Started) {
            Self::Running
        } else {
            Self::Starting
        }
    }
}

impl Tree {
    pub(crate) fn read(pid: &Pid) -> Self {
        let block = pid.block();
        let detail = lock(&block.detail).clone();
        Self {
            label: block.label.to_string(),
            id: block.id,
            state: ProcessState::of(block),
            age_ms: u64::try_from(block.born.elapsed().as_millis()).unwrap_or(u64::MAX),
            queue: pid.queue(),
            detail: detail.map(|detail| detail.to_string()),
            restarts: pid.restarts(),
            children: pid.children().iter().map(Self::read).collect(),
        }
    }

    /// Itself: whatever has a `tree` is compared by [`assert_tree!`](crate::assert_tree), a snapshot too.
    pub fn tree(&self) -> &Self {
        self
    }

    /// How many processes the snapshot holds, this one included.
    pub fn size(&self) -> usize {
        1 + self.children.iter().map(Self::size).sum::<usize>()
    }

    fn write_line(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label)?;
        if let Some(detail) = &self.detail {
            write!(f, " {detail}")?;
        }
        let mut notes = Vec::new();
        if self.state != ProcessState::Running {
            notes.push(self.state.to_string());
        }
        if self.restarts > 0 {
            notes.push(format!("restarts: {}", self.restarts));
        }
        if let Some(Queue { len, capacity }) = self.queue.filter(|queue| queue.len > 0) {
            notes.push(format!("queue: {len}/{capacity}"));
        }
        if notes.is_empty() { Ok(()) } else { write!(f, " ({})", notes.join(", ")) }
    }

    fn write_children(&self, f: &mut fmt::Formatter<'_>, indent: &str) -> fmt::Result {
        let last = self.children.len().saturating_sub(1);
        for (index, child) in self.children.iter().enumerate() {
            let (branch, below) = if index == last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
            write!(f, "\n{indent}{branch}")?;
            child.write_line(f)?;
            child.write_children(f, &format!("{indent}{below}"))?;
        }
        Ok(())
    }
}

impl Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_line(f)?;
        self.write_children(f, "")
    }
}
