//! Test kit: wait for an end or a number of children, and compare a tree with its picture.

use std::time::Duration;

use tokio::time::timeout;

use crate::block::lock;
use crate::exit::ExitReason;
use crate::pid::Pid;

/// How long the functions here wait.
pub const LIMIT: Duration = Duration::from_secs(5);

/// What was waited for did not happen within [`LIMIT`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{pid}: waited {LIMIT:?} for {wanted}, found:\n{found}")]
pub struct NotInTime {
    pid: String,
    wanted: String,
    found: String,
}

impl NotInTime {
    fn new(pid: &Pid, wanted: String) -> Self {
        Self {
            pid: pid.to_string(),
            wanted,
            found: pid.tree().to_string(),
        }
    }
}

/// Waits for the end of a process.
///
/// # Errors
///
/// When it is still there after [`LIMIT`].
pub async fn await_exit(pid: &Pid) -> Result<ExitReason, NotInTime> {
    timeout(LIMIT, pid.join())
        .await
        .map_err(|_| NotInTime::new(pid, "its end".to_owned()))
}

/// Waits until a process has exactly this many children.
///
/// # Errors
///
/// When it has another number after [`LIMIT`].
pub async fn await_children(pid: &Pid, count: usize) -> Result<(), NotInTime> {
    let block = pid.block();
    let reached = block.until(|block| (lock(&block.children).list.len() == count).then_some(()));
    timeout(LIMIT, reached)
        .await
        .map_err(|_| NotInTime::new(pid, format!("{count} children")))
}

/// Compares a tree's text with a picture of it, line by line; used by [`assert_tree!`](crate::assert_tree).
///
/// In the picture `*` and anything in braces, like `{port}`, stand for any text within a line. Its common indentation and
/// its first and last empty lines do not count.
///
/// # Errors
///
/// Both texts, with a mark at the lines that differ.
pub fn compare(found: &str, picture: &str) -> Result<(), String> {
    let wanted = unindented(picture);
    let found: Vec<&str> = found.lines().collect();
    let lines = wanted.len().max(found.len());
    let mut same = true;
    let mut report = String::from("the tree differs from its picture (- wanted, + found):");
    for index in 0..lines {
        match (wanted.get(index), found.get(index)) {
            (Some(pattern), Some(line)) if matches(&wildcards(pattern), line) => {
                report.push_str(&format!("\n  {line}"));
            }
            (pattern, line) => {
                same = false;
                report.extend(pattern.map(|pattern| format!("\n- {pattern}")));
                report.extend(line.map(|line| format!("\n+ {line}")));
            }
        }
    }
    if same { Ok(()) } else { Err(report) }
}

fn unindented(picture: &str) -> Vec<&str> {
    let lines = picture.lines().map(str::trim_end);
    let lines: Vec<&str> = lines.skip_while(|line| line.is_empty()).collect();
    let used = lines
        .iter()
        .rposition(|line| !line.is_empty())
        .map_or(0, |last| last + 1);
    let indent = |line: &&str| line.len() - line.trim_start().len();
    let common = lines
        .iter()
        .filter(|line| !line.is_empty())
        .map(indent)
        .min()
        .unwrap_or(0);
    lines
        .into_iter()
        .take(used)
        .map(|line| line.get(common..).unwrap_or_default())
        .collect()
}

/// The fixed parts of a pattern: between them anything may stand.
fn wildcards(pattern: &str) -> Vec<&str> {
    let mut fixed = Vec::new();
    let mut rest = pattern;
    while let Some(start) = rest.find(['*', '{']) {
        let (before, wild) = rest.split_at(start);
        let length = if wild.starts_with('*') {
            1
        } else {
            wild.find('}').map_or(1, |end| end + 1)
        };
        fixed.push(before);
        rest = wild.get(length..).unwrap_or_default();
    }
    fixed.push(rest);
    fixed
}

fn matches(fixed: &[&str], line: &str) -> bool {
    let [first, between @ .., last] = fixed else {
        return fixed.first().is_some_and(|only| *only == line);
    };
    let Some(mut rest) = line.strip_prefix(first) else {
        return false;
    };
    for part in between {
        let Some((_, after)) = rest.split_once(part) else {
            return false;
        };
        rest = after;
    }
    rest.ends_with(last)
}

/// Asserts that the tree under a pid looks like a picture, where `*` and `{anything}` stand for any text in a line.
///
/// ```
/// # use ractor_otp::{DynamicOptions, DynamicSupervisor, Parent, assert_tree};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), ractor_otp::StartError> {
/// let root = DynamicSupervisor::start(Parent::none(), "connections", DynamicOptions::default()).await?;
/// root.start_supervisor("connection 127.0.0.1:51234".to_owned(), DynamicOptions::default()).await?;
/// assert_tree!(
///     root.pid(),
///     "
///     connections
///     └─ connection 127.0.0.1:{port}
///     "
/// );
/// # Ok(()) }
/// ```
#[macro_export]
macro_rules! assert_tree {
    ($pid:expr, $picture:expr $(,)?) => {
        if let Err(difference) = $crate::testing::compare(&$pid.tree().to_string(), $picture) {
            panic!("{difference}");
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_without_wildcards_is_compared_literally() {
        assert_eq!(compare("a\n└─ b", "\n  a\n  └─ b\n"), Ok(()));
        assert!(compare("a\n└─ b", "a\n└─ bb").is_err());
    }

    #[test]
    fn wildcards_stand_for_anything_within_a_line() {
        assert_eq!(
            compare(
                "listener 127.0.0.1:3000 (queue: 1/2)",
                "listener *:{port} (queue: *)"
            ),
            Ok(())
        );
        assert_eq!(compare("a", "*"), Ok(()));
        assert!(compare("a1c", "a*b").is_err());
        assert!(compare("ab", "ab*b").is_err());
    }

    #[test]
    fn the_difference_shows_both_sides() {
        let difference = compare("a\n├─ b\n└─ d", "a\n├─ c\n└─ d\nmore").unwrap_err();
        let expected =
            "the tree differs from its picture (- wanted, + found):\n  a\n- ├─ c\n+ ├─ b\n  └─ d\n- more";
        assert_eq!(difference, expected);
    }
}
