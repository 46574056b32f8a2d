//! The drain, in phases over all listeners. Each phase has its limit, and what does not keep to one falls to the next.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use ractor_otp::{DynamicSupervisor, ExitReason, Pid, Shutdown};
use tokio::sync::watch;
use tokio::time::{Instant, timeout};
use tracing::instrument::WithSubscriber;

use crate::request::Phase;

use super::server::Server;

/// How long ports may take to close, a kill may take before its actor counts as stuck, and responses may take to go out.
const LAST_WAIT: Duration = Duration::from_secs(2);

/// What became of the requests that ran when the shutdown began.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// Requests that were running; open streams are not counted.
    pub running: usize,
    /// Those that did not finish within the deadline and were interrupted: they answered `-32603`, and `handle_close`
    /// ran.
    pub interrupted: usize,
    /// Those whose `handle_close` did not end in time and that were killed, open streams included.
    pub killed: usize,
    /// Those that could not even be killed, because they block their thread, by label; open streams included. And the threads of
    /// `blocking` tools that still work though their calls have ended, each as `the thread of` its call. A runtime that is dropped
    /// waits for all of them; [`run_until`](super::McpSupervisor::run_until) shows how a process ends without.
    pub stuck: Vec<String>,
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let finished = self.running.saturating_sub(self.interrupted);
        write!(f, "{finished} finished, {} interrupted, {} killed", self.interrupted, self.killed)?;
        if !self.stuck.is_empty() {
            write!(f, ", stuck: {}", self.stuck.join(", "))?;
        }
        Ok(())
    }
}

/// The one drain of a server. It belongs to the server and goes on whatever becomes of those who ordered it: one of the calls
/// that it interrupts may be among them.
#[derive(Default)]
pub(super) struct Ordered(OnceLock<watch::Receiver<Option<Summary>>>);

impl Ordered {
    /// Begins it, unless it was begun before, and waits for its end.
    pub(super) async fn drained(&self, server: &Arc<Server>, deadline: Duration) -> Summary {
        let begin = || {
            let (tell, told) = watch::channel(None);
            let draining = Arc::clone(server);
            let drain = async move { tell.send_replace(Some(run(&draining, deadline).await)) };
            // It runs where the server does, and is traced where it was ordered.
            server.runtime.spawn(drain.with_current_subscriber());
            told
        };
        let mut told = self.0.get_or_init(begin).clone();
        let summary = told.wait_for(Option::is_some).await.ok().and_then(|summary| summary.clone());
        match summary {
            Some(summary) => summary,
            // The task is gone with the server's runtime: whatever is left is for whoever asks to end.
            None => run(server, deadline).await,
        }
    }
}

/// The time runs from here, and not from the phase that waits for its end: the ports, too, take of it.
async fn run(server: &Server, deadline: Duration) -> Summary {
    let began = Instant::now();
    server.drain.enter(Phase::Draining);
    // Streams have no end of their own: they are told at once. One that does not follow is waited for as calls are.
    let told = server.streams.admission.close();
    let streams: HashSet<u64> = told.iter().map(Pid::id).collect();
    let running = requests(server).iter().filter(|request| !streams.contains(&request.id())).count();
    let mut summary = Summary { running, ..Summary::default() };
    tracing::info!(target: "ractor_mcp", running, streams = streams.len(), ?deadline, "shutting down");
    let _ = timeout(LAST_WAIT, stop_accepting(server)).await;
    let mut asked: HashMap<u64, Pid> = told.into_iter().map(|stream| (stream.id(), stream)).collect();
    if timeout(deadline.saturating_sub(began.elapsed()), none_left(server)).await.is_err() {
        let left = interrupt(server, &streams, &mut summary).await;
        asked.extend(left.into_iter().map(|request| (request.id(), request)));
    }
    // Their own limit, too, kills those whose `handle_close` does not end.
    summary.killed =
        asked.values().filter(|request| request.exit_reason() == Some(ExitReason::Killed)).count();
    server.drain.enter(Phase::Closing);
    let _ = timeout(LAST_WAIT, connections_gone(server)).await;
    server.root.pid().shutdown(Shutdown::After(server.options.limits.close_time + LAST_WAIT)).await;
    summary.stuck.extend(server.threads.labels().into_iter().map(|label| format!("the thread of {label}")));
    if summary.stuck.is_empty() {
        tracing::info!(target: "ractor_mcp", %summary, "shut down");
    } else {
        tracing::error!(
            target: "ractor_mcp",
            %summary,
            "shut down, but some handlers and tools block their thread, and a runtime that is dropped waits for them: end the process"
        );
    }
    summary
}

/// The ports close; connections that are open answer 503 to new requests. Each closes in a task of its own: an acceptor on a
/// thread that a handler blocks holds up no other.
async fn stop_accepting(server: &Server) {
    let ports = server.ports().into_iter();
    let closing: Vec<_> = ports.map(|port| tokio::spawn(async move { port.close().await })).collect();
    for port in closing {
        let _ = port.await;
    }
}

/// Resolves when neither calls nor streams are left. None are admitted any more.
async fn none_left(server: &Server) {
    server.slots.all_free().await;
    server.streams.admission.all_ended().await;
}

/// Asks the calls that are left to exit, as the streams were, then kills whatever is left of both. Returns all of them.
async fn interrupt(server: &Server, streams: &HashSet<u64>, summary: &mut Summary) -> Vec<Pid> {
    let left = requests(server);
    for call in left.iter().filter(|request| !streams.contains(&request.id())) {
        summary.interrupted += 1;
        let request = format_args!("{:#}", call.label());
        tracing::warn!(target: "ractor_mcp", %request, "not finished in time: interrupted");
        call.exit(ExitReason::Shutdown);
    }
    if timeout(server.options.limits.close_time, all_ended(&left)).await.is_ok() {
        return left;
    }
    for request in left.iter().filter(|request| request.is_alive()) {
        request.kill();
    }
    let _ = timeout(LAST_WAIT, all_ended(&left)).await;
    summary.stuck = left.iter().filter(|pid| pid.is_alive()).map(|pid| pid.label().to_string()).collect();
    left
}

async fn all_ended(requests: &[Pid]) {
    for request in requests {
        request.join().await;
    }
}

/// All running requests, streams included, wherever they came from: the leaves below connections and shards.
fn requests(server: &Server) -> Vec<Pid> {
    fn leaves(pid: &Pid, found: &mut Vec<Pid>) {
        if pid.queue().is_some() {
            found.push(pid.clone());
        }
        pid.children().iter().for_each(|child| leaves(child, found));
    }
    let mut found = Vec::new();
    parents(server).iter().for_each(|parent| leaves(parent.pid(), &mut found));
    found
}

async fn connections_gone(server: &Server) {
    for parent in parents(server) {
        parent.empty().await;
    }
}

/// The supervisors that connections and embedded requests are started under.
fn parents(server: &Server) -> Vec<DynamicSupervisor> {
    let connections = server.ports().into_iter().filter_map(|port| port.connections().ok());
    connections.chain(server.embedded.shards()).collect()
}
