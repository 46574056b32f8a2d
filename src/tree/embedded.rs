//! `embedded`: a supervisor of the parents of requests that come without a connection of ours, one a worker thread.

use std::convert::Infallible;
use std::fmt;
use std::future::{Future, Ready, ready};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use ::http::{Request, Response};
use http_body::Body;

use ractor_otp::{
    ChildSpec, DynamicOptions, DynamicSupervisor, Pid, StartError, Supervisor, SupervisorOptions,
};
use tokio::runtime::Handle;
use tower_service::Service;

use crate::http::{self, Caller, Endpoint, Metadata, ResponseBody};

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
        self.shards.lock().unwrap_or_else(PoisonError::into_inner).iter().flatten().cloned().collect()
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
                let count = Handle::current().metrics().num_workers();
                *embedded.shards.lock().unwrap_or_else(PoisonError::into_inner) = vec![None; count];
                let children = (0..count).map(|number| shard_spec(&embedded, number, shutdown)).collect();
                let started =
                    Supervisor::start(parent, "embedded", SupervisorOptions::default(), children).await?;
                Ok(started.pid().clone())
            }
        })
    }
}

/// A server as a `tower` service; see [`McpSupervisor::service`](super::McpSupervisor::service).
#[derive(Clone)]
pub struct McpService {
    embedded: Arc<Embedded>,
    endpoint: Arc<Endpoint>,
}

impl McpService {
    pub(super) fn new(embedded: Arc<Embedded>, endpoint: Arc<Endpoint>) -> Self {
        Self { embedded, endpoint }
    }
}

impl fmt::Debug for McpService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("McpService")
    }
}

impl<B> Service<Request<B>> for McpService
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<ResponseBody>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let (endpoint, shard) = (Arc::clone(&self.endpoint), self.embedded.shard());
        Box::pin(async move {
            let Ok(shard) = shard else {
                return Ok(http::unavailable());
            };
            let peer = request.extensions().get::<SocketAddr>().copied();
            let caller = Caller::new(shard, endpoint.limits(), peer);
            Ok(endpoint.answer(request, &caller).await)
        })
    }
}

/// The protected resource metadata document as a `tower` service; see
/// [`McpSupervisor::well_known`](super::McpSupervisor::well_known).
#[derive(Clone, Debug)]
pub struct WellKnown(Option<Metadata>);

impl WellKnown {
    pub(super) fn new(metadata: Option<Metadata>) -> Self {
        Self(metadata)
    }
}

impl<B> Service<Request<B>> for WellKnown {
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    type Future = Ready<Result<Response<ResponseBody>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let (head, _) = request.into_parts();
        let document = self.0.as_ref().and_then(|metadata| metadata.answer_mounted(&head));
        ready(Ok(document.unwrap_or_else(http::nothing)))
    }
}

fn shard_spec(embedded: &Arc<Embedded>, number: usize, shutdown: Duration) -> ChildSpec {
    let embedded = Arc::clone(embedded);
    let label = format!("shard {number}");
    ChildSpec::new(label.clone(), move |parent| {
        let (embedded, label) = (Arc::clone(&embedded), label.clone());
        async move {
            let options = DynamicOptions { shutdown, ..DynamicOptions::default() };
            Ok(embedded.set(number, DynamicSupervisor::start(parent, label, options).await?))
        }
    })
}
