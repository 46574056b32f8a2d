//! A call on a thread of tokio's blocking pool.

use std::future::Future;
use std::panic::resume_unwind;
use std::pin::pin;
use std::sync::Arc;

use ractor_otp::{Crash, Pid};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::spawn_blocking;

use crate::handler::{RpcError, contained};

use super::ToolError;

/// Whose work it is, for the trace.
#[derive(Clone)]
pub(super) struct Whose {
    pub(super) tool: Arc<str>,
    pub(super) request: Pid,
}

impl Whose {
    /// Nobody is left to be answered, so the trace alone has it (B9).
    fn tell(&self, crash: &Crash) {
        tracing::error!(target: "ractor_mcp", tool = %self.tool, request = %self.request.label(), %crash,
            "the blocking work of a tool panicked after its call had ended");
    }
}

/// Runs a future on a thread where it may block. Dropping this drops that future at its next `.await`; a panic in it
/// is one here, or is traced if nobody waits any more.
pub(super) async fn run<T, F>(whose: Whose, work: impl FnOnce() -> F + Send + 'static) -> Result<T, ToolError>
where
    T: Send + 'static,
    F: Future<Output = T>,
{
    let (mut answer, answered) = oneshot::channel();
    let (runtime, span, owner) = (Handle::current(), tracing::Span::current(), whose.clone());
    let mut waiting = Waiting { whose, answered, done: false };
    spawn_blocking(move || {
        let _entered = span.enter();
        let worked = runtime.block_on(async {
            let work = pin!(contained(async move { work().await }));
            tokio::select! {
                biased;
                () = answer.closed() => None,
                output = work => Some(output),
            }
        });
        let unread = worked.and_then(|worked| answer.send(worked).err());
        if let Some(Err(crash)) = unread {
            owner.tell(&crash);
        }
    });
    let worked = (&mut waiting.answered).await;
    waiting.done = true;
    match worked {
        Ok(Ok(output)) => Ok(output),
        Ok(Err(crash)) => resume_unwind(Box::new(crash.message().to_owned())),
        Err(_) => Err(RpcError::internal("a blocking call did not run: the runtime is ending").into()),
    }
}

/// Waits for the thread. Dropped before, it tells the thread that nobody does any more, and the trace that the thread may
/// still work (C7).
struct Waiting<T> {
    whose: Whose,
    answered: oneshot::Receiver<Result<T, Crash>>,
    done: bool,
}

impl<T> Drop for Waiting<T> {
    fn drop(&mut self) {
        if self.done {
            return;
        }
        self.answered.close();
        match self.answered.try_recv() {
            // It came between the last look and now.
            Ok(Err(crash)) => self.whose.tell(&crash),
            Ok(Ok(_)) => {}
            Err(_) => tracing::warn!(target: "ractor_mcp", tool = %self.whose.tool,
                "the call has ended, and its blocking work runs on until its next `.await` or its return"),
        }
    }
}
