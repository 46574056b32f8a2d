//! A call on a thread of tokio's blocking pool.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::spawn_blocking;

use crate::handler::RpcError;

use super::ToolError;

/// Runs a future on a thread where it may block. Dropping this drops that future at its next `.await`; a panic in it
/// is one here.
pub(super) async fn run<T, F>(
    tool: &Arc<str>,
    work: impl FnOnce() -> F + Send + 'static,
) -> Result<T, ToolError>
where
    T: Send + 'static,
    F: Future<Output = T>,
{
    let (waiting, left) = oneshot::channel::<()>();
    let (runtime, span) = (Handle::current(), tracing::Span::current());
    let mut leaving = Leaving { tool, done: false, _waiting: waiting };
    let joined = spawn_blocking(move || {
        let _entered = span.enter();
        runtime.block_on(async move {
            let work = pin!(async move { work().await });
            tokio::select! {
                biased;
                _ = left => None,
                output = work => Some(output),
            }
        })
    })
    .await;
    leaving.done = true;
    match joined {
        Ok(Some(output)) => Ok(output),
        Ok(None) => Err(stopped("its caller left").into()),
        Err(ended) if ended.is_panic() => std::panic::resume_unwind(ended.into_panic()),
        Err(ended) => Err(stopped(ended).into()),
    }
}

fn stopped(why: impl std::fmt::Display) -> RpcError {
    RpcError::internal(format!("a blocking call did not run to its end: {why}"))
}

/// Tells the thread that nobody waits any more, and the trace that the thread may still work (C7).
struct Leaving<'a> {
    tool: &'a Arc<str>,
    done: bool,
    _waiting: oneshot::Sender<()>,
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        if !self.done {
            tracing::warn!(target: "ractor_mcp", tool = %self.tool,
                "the call has ended, and its blocking work runs on until its next `.await` or its return");
        }
    }
}
