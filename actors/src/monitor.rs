//! Monitors: the end of another process as a message of one's own type.

use std::collections::BTreeMap;

use crate::address::Address;
use crate::block::{lock, next_id};
use crate::exit::ExitReason;
use crate::pid::Pid;
use crate::tasks::Belonging;

/// A monitored process has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Down {
    /// Which one.
    pub pid: Pid,
    /// Why. For a process that was dead before it was monitored, the reason it had then.
    pub reason: ExitReason,
}

/// Keeps a monitor up; dropping it takes the monitor down. A `Down` that is already in the mailbox still arrives.
#[derive(Debug)]
#[must_use = "dropping the reference takes the monitor down"]
pub struct MonitorRef {
    watcher: Pid,
    target: Pid,
    key: u64,
}

impl MonitorRef {
    /// The monitored process.
    pub fn pid(&self) -> &Pid {
        &self.target
    }

    /// Takes the monitor down.
    pub fn demonitor(self) {}
}

impl Drop for MonitorRef {
    fn drop(&mut self) {
        let _ = lock(&self.watcher.block().owned).remove(self.key);
        let watcher = lock(&self.target.block().watchers).remove(self.key);
        drop(watcher);
    }
}

/// Told of the end of the process that it watches.
pub(crate) type Watcher = Box<dyn FnOnce(&Pid, &ExitReason) + Send>;

#[derive(Default)]
pub(crate) struct Watchers {
    list: BTreeMap<u64, Watcher>,
    closed: bool,
}

impl Watchers {
    /// Gives the watcher back when the process has already ended.
    fn insert(&mut self, key: u64, watcher: Watcher) -> Result<(), Watcher> {
        if self.closed {
            return Err(watcher);
        }
        self.list.insert(key, watcher);
        Ok(())
    }

    pub(crate) fn remove(&mut self, key: u64) -> Option<Watcher> {
        self.list.remove(&key)
    }

    pub(crate) fn close(&mut self) -> Vec<Watcher> {
        self.closed = true;
        std::mem::take(&mut self.list).into_values().collect()
    }
}

pub(crate) fn monitor<M: Send + 'static>(
    watcher: &Address<M>,
    target: &Pid,
    map: impl FnOnce(Down) -> M + Send + 'static,
) -> MonitorRef {
    let key = next_id();
    let reference = MonitorRef { watcher: watcher.pid(), target: target.clone(), key };
    let owned = lock(&watcher.block().owned).insert(key, Belonging::Monitor(target.clone(), key));
    if !owned {
        return reference;
    }
    let address = watcher.clone();
    let tell: Watcher = Box::new(move |pid, reason| {
        let _ = lock(&address.block().owned).remove(key);
        let down = Down { pid: pid.clone(), reason: reason.clone() };
        address.mailbox().send_exempt(move || map(down));
    });
    let refused = lock(&target.block().watchers).insert(key, tell).err();
    if let (Some(tell), Some(reason)) = (refused, target.exit_reason()) {
        tell(target, &reason);
    }
    reference
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::{Process, SpawnOptions, spawn};
    use crate::{Me, Next, Parent};

    struct Idle;

    impl Process for Idle {
        type Message = Down;

        async fn handle(&mut self, _: Down, _: &Me<Down>) -> Next {
            Next::Receive
        }
    }

    async fn idle() -> Address<Down> {
        spawn(Parent::none(), "idle", Idle, SpawnOptions::default()).await.unwrap().address
    }

    fn entries(watcher: &Address<Down>, target: &Address<Down>) -> (usize, usize) {
        (lock(&watcher.block().owned).len(), lock(&target.block().watchers).list.len())
    }

    #[tokio::test]
    async fn nothing_is_left_on_either_side_when_the_target_the_watcher_or_the_reference_is_gone() {
        let (watcher, target) = (idle().await, idle().await);
        let one = monitor(&watcher, &target.pid(), |down| down);
        let two = monitor(&watcher, &target.pid(), |down| down);
        assert_eq!(entries(&watcher, &target), (2, 2));
        drop(one);
        assert_eq!(entries(&watcher, &target), (1, 1));
        target.pid().kill();
        target.pid().join().await;
        assert_eq!(entries(&watcher, &target), (0, 0));
        drop(two);

        let target = idle().await;
        let three = monitor(&watcher, &target.pid(), |down| down);
        assert_eq!(entries(&watcher, &target), (1, 1));
        watcher.pid().kill();
        watcher.pid().join().await;
        assert_eq!(entries(&watcher, &target), (0, 0));
        drop(three);
    }
}
