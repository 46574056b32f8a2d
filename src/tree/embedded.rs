//! `embedded`: a supervisor of the parents of requests that come without a connection of ours, one a worker thread.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ractor_otp::{
    ChildSpec, DynamicOptions, DynamicSupervisor, Pid, StartError, Supervisor, SupervisorOptions,
};

/// The shards, as far as they are up, and whose turn it is.
#[derive(Default)]
pub(super) struct Embedded {
    shards: Mutex<Vec<Option<DynamicSupervisor>>>,
    turn: AtomicUsize,
}

impl Embedded {
    /// A shard to spawn under, each in turn.
    pub(super) fn shard(&self) -> Result<DynamicSupervisor, StartError> {
        let shards = self.shards.lock().unwrap_or_else(PoisonError::into_inner);
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let shard = shards.get(turn.checked_rem(shards.len()).unwrap_or(0));
        shard.cloned().flatten().ok_or(StartError::NoProc)
    }

    /// All shards that are up.
    pub(super) fn shards(&self) -> Vec<DynamicSupervisor> {
        self.shards
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
            .flatten()
            .cloned()
            .collect()
    }

    fn set(&self, number: usize, shard: DynamicSupervisor) -> Pid {
        let pid = shard.pid().clone();
        let mut shards = self.shards.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = shards.get_mut(number) {
            *place = Some(shard);
        }
        pid
    }

    pub(super) fn spec(embedded: &Arc<Self>, shutdown: Duration) -> ChildSpec {
        let embedded = Arc::clone(embedded);
        ChildSpec::new("embedded", move |parent| {
            let embedded = Arc::clone(&embedded);
            async move {
                let count = std::thread::available_parallelism().map_or(1, usize::from);
                *embedded.shards.lock().unwrap_or_else(PoisonError::into_inner) = vec![None; count];
                let children = (0..count)
                    .map(|number| shard_spec(&embedded, number, shutdown))
                    .collect();
                let started =
                    Supervisor::start(parent, "embedded", SupervisorOptions::default(), children).await?;
                Ok(started.pid().clone())
            }
        })
    }
}

fn shard_spec(embedded: &Arc<Embedded>, number: usize, shutdown: Duration) -> ChildSpec {
    let embedded = Arc::clone(embedded);
    let label = format!("shard {number}");
    ChildSpec::new(label.clone(), move |parent| {
        let (embedded, label) = (Arc::clone(&embedded), label.clone());
        async move {
            let options = DynamicOptions {
                shutdown,
                ..DynamicOptions::default()
            };
            Ok(embedded.set(number, DynamicSupervisor::start(parent, label, options).await?))
        }
    })
}
