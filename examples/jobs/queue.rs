//! A job queue that knows nothing of MCP: whoever waits for a job gets messages.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ractor_mcp::otp::Address;
use tokio::task::JoinHandle;

#[derive(Default)]
pub struct Queue {
    running: AtomicUsize,
}

/// What a job tells the request that waits for it.
pub enum Update {
    Frame(u64),
    Done,
}

impl Queue {
    pub fn running(&self) -> usize {
        self.running.load(Ordering::SeqCst)
    }

    pub fn enqueue(self: &Arc<Self>, frames: u64, delay: Duration, request: Address<Update>) -> Job {
        self.running.fetch_add(1, Ordering::SeqCst);
        let worker = tokio::spawn(async move {
            for frame in 1..=frames {
                tokio::time::sleep(delay).await;
                let _ = request.send(Update::Frame(frame)).await;
            }
            let _ = request.send(Update::Done).await;
        });
        Job { queue: Arc::clone(self), worker, frames }
    }
}

/// A job in the queue. Dropping it takes it out, so that nothing is left behind however its request ends.
pub struct Job {
    queue: Arc<Queue>,
    worker: JoinHandle<()>,
    pub frames: u64,
}

impl Drop for Job {
    fn drop(&mut self) {
        self.worker.abort();
        self.queue.running.fetch_sub(1, Ordering::SeqCst);
    }
}
