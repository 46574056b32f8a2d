//! Test kit: wait for an end, a process or a shape of the tree, and compare a tree with its picture.
//!
//! Each wait listens for the change that it waits for and looks at no clock meanwhile. Its limit is by the wall clock:
//! under a paused clock of tokio the processes under test may sleep for days.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::task::Poll;
use std::time::Duration;

use tokio::sync::futures::Notified;
use tokio::sync::oneshot;

use crate::block::lock;
use crate::exit::ExitReason;
use crate::pid::Pid;

/// How long the functions here wait, by the wall clock.
pub const LIMIT: Duration = Duration::from_secs(20);

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
        Self { pid: pid.to_string(), wanted, found: pid.tree().to_string() }
    }
}

/// Waits for the end of a process.
///
/// # Errors
///
/// When it is still there after [`LIMIT`].
pub async fn await_exit(pid: &Pid) -> Result<ExitReason, NotInTime> {
    within(LIMIT, pid.join()).await.ok_or_else(|| NotInTime::new(pid, "its end".to_owned()))
}

/// Waits until a process has exactly this many children.
///
/// # Errors
///
/// When it has another number after [`LIMIT`].
pub async fn await_children(pid: &Pid, count: usize) -> Result<(), NotInTime> {
    let block = pid.block();
    let reached = block.child_news.until(|| (lock(&block.children).list.len() == count).then_some(()));
    within(LIMIT, reached).await.ok_or_else(|| NotInTime::new(pid, format!("{count} children")))
}

/// The first process under `root`, or `root` itself, that is called this: its label is `name`, or goes on after it with
/// a space, as `request tools/call slow #7` does after `request tools/call slow`.
pub fn find(root: &Pid, name: &str) -> Option<Pid> {
    if is_called(&root.label().to_string(), name) {
        return Some(root.clone());
    }
    root.children().iter().find_map(|child| find(child, name))
}

/// Whether a label is `name`, or goes on after it with a space.
pub fn is_called(label: &str, name: &str) -> bool {
    label.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// Waits until there is a process that [`find`] finds.
///
/// # Errors
///
/// When there is none after [`LIMIT`].
pub async fn await_process(root: &Pid, name: &str) -> Result<Pid, NotInTime> {
    within(LIMIT, until(root, |root| find(root, name)))
        .await
        .ok_or_else(|| NotInTime::new(root, format!("a process `{name}`")))
}

/// Waits until there is no process that [`find`] finds.
///
/// # Errors
///
/// When there is one after [`LIMIT`].
pub async fn await_no_process(root: &Pid, name: &str) -> Result<(), NotInTime> {
    let gone = |root: &Pid| find(root, name).is_none().then_some(());
    within(LIMIT, until(root, gone)).await.ok_or_else(|| NotInTime::new(root, format!("no process `{name}`")))
}

/// Waits until the tree under a process looks like a picture, as [`compare`] understands it. Starts, ends and states are
/// waited for; a detail or a queue length alone is not.
///
/// # Errors
///
/// When it looks otherwise after [`LIMIT`]: how.
pub async fn await_tree(root: &Pid, picture: &str) -> Result<(), String> {
    let look = |root: &Pid| compare(&root.tree().to_string(), picture);
    let same = until(root, |root| look(root).ok());
    within(LIMIT, same).await.map_or_else(|| look(root), Ok)
}

/// Waits until `found` finds something; it is asked again after all news of any process in the tree.
async fn until<T>(root: &Pid, found: impl Fn(&Pid) -> Option<T>) -> T {
    loop {
        let all = everybody(root);
        // Listen first and look second: what happens in between must not be missed.
        let mut news: Vec<Pin<Box<Notified<'_>>>> =
            all.iter().flat_map(|pid| pid.block().everything()).map(|news| Box::pin(news.listen())).collect();
        news.iter_mut().for_each(|news| {
            news.as_mut().enable();
        });
        // Nobody listens yet to a process that started meanwhile.
        if everybody(root) != all {
            continue;
        }
        if let Some(it) = found(root) {
            return it;
        }
        poll_fn(|cx| {
            let any = news.iter_mut().any(|news| news.as_mut().poll(cx).is_ready());
            if any { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
}

fn everybody(root: &Pid) -> Vec<Pid> {
    let mut all = vec![root.clone()];
    for child in root.children() {
        all.extend(everybody(&child));
    }
    all
}

/// Waits for a future, at most so long by the wall clock; `None` when it is late.
pub async fn within<T>(limit: Duration, future: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        biased;
        output = future => Some(output),
        () = wall_clock(limit) => None,
    }
}

/// Neither a timer of tokio, which a paused clock would leap to, nor a blocking task, which would stop it from leaping.
async fn wall_clock(limit: Duration) {
    let (running, watched) = channel::<()>();
    let (late, is_late) = oneshot::channel();
    std::thread::spawn(move || {
        if watched.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
            let _ = late.send(());
        }
    });
    let _ = is_late.await;
    drop(running);
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
    let used = lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
    let indent = |line: &&str| line.len() - line.trim_start().len();
    let common = lines.iter().filter(|line| !line.is_empty()).map(indent).min().unwrap_or(0);
    lines.into_iter().take(used).map(|line| line.get(common..).unwrap_or_default()).collect()
}

/// The fixed parts of a pattern: between them anything may stand.
fn wildcards(pattern: &str) -> Vec<&str> {
    let mut fixed = Vec::new();
    let mut rest = pattern;
    while let Some(start) = rest.find(['*', '{']) {
        let (before, wild) = rest.split_at(start);
        let length = if wild.starts_with('*') { 1 } else { wild.find('}').map_or(1, |end| end + 1) };
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
        assert_eq!(compare("listener 127.0.0.1:3000 (queue: 1/2)", "listener *:{port} (queue: *)"), Ok(()));
        assert_eq!(compare("a", "*"), Ok(()));
        assert!(compare("a1c", "a*b").is_err());
        assert!(compare("ab", "ab*b").is_err());
    }

    #[test]
    fn a_name_ends_where_a_word_of_the_label_ends() {
        assert!(is_called("request tools/call slow #7", "request tools/call slow"));
        assert!(is_called("acceptor", "acceptor"));
        assert!(!is_called("request tools/call slower #7", "request tools/call slow"));
        assert!(!is_called("acceptor", "connection"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_limit_is_by_the_wall_clock_not_by_the_paused_one() {
        let days = tokio::time::sleep(Duration::from_secs(1_000_000));
        assert_eq!(within(LIMIT, days).await, Some(()));
        let never = std::future::pending::<()>();
        assert_eq!(within(Duration::from_millis(1), never).await, None);
    }

    #[test]
    fn the_difference_shows_both_sides() {
        let difference = compare("a\n├─ b\n└─ d", "a\n├─ c\n└─ d\nmore").unwrap_err();
        let expected =
            "the tree differs from its picture (- wanted, + found):\n  a\n- ├─ c\n+ ├─ b\n  └─ d\n- more";
        assert_eq!(difference, expected);
    }
}
