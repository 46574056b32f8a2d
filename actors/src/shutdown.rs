//! Ending a process from outside: ask, wait, kill, wait a little.

use std::time::Duration;

use tokio::time::timeout;

use crate::block::Mark;
use crate::exit::ExitReason;
use crate::pid::Pid;

/// How long a killed process may take to die before it counts as a zombie.
pub(crate) const KILL_WAIT: Duration = Duration::from_secs(2);

/// How a process is brought to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shutdown {
    /// It is killed at once; no `terminate` runs.
    BrutalKill,
    /// It is asked to exit and killed if it has not ended after this time.
    After(Duration),
    /// It is asked to exit and waited for. A process that never ends holds up whoever ends it.
    Infinity,
}

/// What became of a process that was shut down.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ended {
    /// It ended with this reason.
    Exited(ExitReason),
    /// It was killed and is still there 2 s later: it blocks its thread. The tree shows it as a zombie.
    Zombie,
}

impl Pid {
    /// Ends the process with the reason [`ExitReason::Shutdown`] and waits for it; kills it when its time is over.
    pub async fn shutdown(&self, how: Shutdown) -> Ended {
        match how {
            Shutdown::Infinity => {
                self.exit(ExitReason::Shutdown);
                return Ended::Exited(self.join().await);
            }
            Shutdown::After(limit) => {
                self.exit(ExitReason::Shutdown);
                if let Ok(reason) = timeout(limit, self.join()).await {
                    return Ended::Exited(reason);
                }
                self.log_overdue(limit);
            }
            Shutdown::BrutalKill => {}
        }
        self.kill();
        self.ended_after_kill().await
    }

    /// Waits for a killed process, but not for ever.
    async fn ended_after_kill(&self) -> Ended {
        if let Ok(reason) = timeout(KILL_WAIT, self.join()).await {
            return Ended::Exited(reason);
        }
        self.leave_as_zombie();
        Ended::Zombie
    }

    pub(crate) fn leave_as_zombie(&self) {
        self.block().mark(Mark::Zombie);
        tracing::error!(target: "ractor_otp", id = self.id(), label = %self.label(),
            "a killed process does not end: it blocks its thread and is left behind as a zombie");
    }

    fn log_overdue(&self, limit: Duration) {
        tracing::error!(target: "ractor_otp", id = self.id(), label = %self.label(), ?limit,
            "a process did not end in time and is killed");
    }
}
