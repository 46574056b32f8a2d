//! One request in, one response out: the checks of a POST in the order of the specification, then the actor.
//!
//! Everything up to the spawn needs only the request and the static capabilities, so a refused request costs no actor,
//! no slot and no queue. hyper drops this future when the client leaves, and with it the [`Delivery`].

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use http::header::{
    ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_TYPE, HeaderName, HeaderValue, ORIGIN, RETRY_AFTER,
    WWW_AUTHENTICATE,
};
use http::request::Parts;
use http::{Extensions, HeaderMap, Method, Response, StatusCode, Uri};
use http_body::Body;
use ractor_otp::{DynamicSupervisor, SpawnOptions, StartError};
use tracing::field::{DisplayValue, display};

use crate::handler::{Answer, Principal, RequestContext};
use crate::request::{
    Budget, Call, Count, Drain, Held, Lane, Message, Nowhere, Outbox, Outgoing, Phase, Share, Slot, Slots,
    Spawn, Streams, weight,
};
use crate::rules::accept::Accepts;
use crate::rules::cors;
use crate::rules::errors::{Cause, Refusal, Shown};
use crate::rules::head_size;
use crate::rules::host::HostPolicy;
use crate::rules::methods;
use crate::rules::order::{self, Admitted, AdmittedRequest};
use crate::rules::origin::OriginPolicy;
use crate::rules::rate::Warnings;
use crate::rules::subscription;
use crate::wire::{MirroredParams, Notification, Request, RequestId, RequestMeta};

use super::caller::Gate;
use super::delivery::Delivery;
use super::intake::{self, Intake};
use super::{Deadlines, Limits, ResponseBody, Stalled};

/// What all connections of one listener share.
pub(crate) struct Endpoint {
    pub(crate) handler: Arc<dyn Spawn>,
    /// Where requests are served; `None` leaves that to a router in front.
    pub(crate) path: Option<String>,
    pub(crate) hosts: HostPolicy,
    pub(crate) origins: OriginPolicy,
    pub(crate) gate: Gate,
    pub(crate) limits: Limits,
    pub(crate) slots: Slots,
    pub(crate) budget: Budget,
    pub(crate) streams: Streams,
    pub(crate) drain: Drain,
    /// Of names and origins that are missing in a list.
    pub(crate) strangers: Warnings,
    /// Of limits of the whole server.
    pub(crate) limits_reached: Warnings,
}

/// Where a request came from, and under which supervisor its actor lives.
pub(crate) struct Caller {
    pub(crate) parent: DynamicSupervisor,
    slots: Count,
    pub(crate) peer: Option<SocketAddr>,
    /// Set when the connection ends because its client stopped reading.
    pub(crate) stalled: Stalled,
    pub(super) deadlines: Deadlines,
}

impl Caller {
    pub(crate) fn new(parent: DynamicSupervisor, limits: &Limits, peer: Option<SocketAddr>) -> Self {
        let slots = Count::new(limits.in_flight_per_connection);
        let (stalled, deadlines) = Default::default();
        Self { parent, slots, peer, stalled, deadlines }
    }

    /// Resolves when nothing of it runs any more, streams aside.
    pub(super) async fn all_ended(&self) {
        self.slots.all_free().await;
    }
}

/// Where one message came from, and what it takes up.
struct Arrival {
    principal: Principal,
    extensions: Extensions,
    share: Share,
}

impl Endpoint {
    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(crate) fn drain(&self) -> &Drain {
        &self.drain
    }

    /// Answers one HTTP request.
    pub(crate) async fn answer<B>(&self, request: http::Request<B>, caller: &Caller) -> Response<ResponseBody>
    where
        B: Body,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (mut head, body) = request.into_parts();
        let sized = head_size::check(&head, self.limits.head);
        if sized.is_ok()
            && let Some(document) = self.gate.metadata.as_ref().and_then(|metadata| metadata.answer(&head))
        {
            return document;
        }
        // First: nothing is kept of what comes from elsewhere. The message says which, and the option.
        if let Err(refusal) = order::origin(&head, &self.hosts, &self.origins) {
            return refuse_aloud(refusal, caller.peer, &self.strangers);
        }
        // Browsers are told only if pages of other origins may call at all.
        let page = head.headers.get(ORIGIN).filter(|_| self.origins.lists_any()).cloned();
        let answered = match sized {
            Ok(()) if page.is_some() && cors::is_preflight(&head.method, &head.headers) => {
                Ok(preflight(&head))
            }
            Ok(()) => self.admit(&mut head, body, caller).await,
            Err(refusal) => Err(refusal),
        };
        let mut response = answered.unwrap_or_else(|refusal| self.decline(refusal, caller.peer));
        if let Some(origin) = page {
            cors::answer(origin, response.headers_mut());
        }
        response
    }

    /// A limit of the whole server that was reached is the operator's affair, too.
    fn decline(&self, refusal: Refusal, peer: Option<SocketAddr>) -> Response<ResponseBody> {
        if refusal.cause == Cause::ServerLimit {
            refuse_aloud(refusal, peer, &self.limits_reached)
        } else {
            refuse(refusal, peer)
        }
    }

    /// The checks in order, then the actor. What is large is passed by reference or in a box: hyper keeps room for the whole
    /// future on each connection, for as long as that lives.
    async fn admit<B>(
        &self,
        head: &mut Parts,
        body: B,
        caller: &Caller,
    ) -> Result<Response<ResponseBody>, Refusal>
    where
        B: Body,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let accepts = self.check_head(head)?;
        let principal = self.gate.principal(head, caller.peer).await?;
        let Intake { body, mut share } = intake::read(head, body, &self.limits, &self.budget).await?;
        let serves = |method: &str| self.serves(method);
        let capabilities = self.handler.capabilities();
        let (admitted, values) =
            order::body(&head.headers, &body, capabilities, &serves, &self.limits.message)?;
        if !share.grow(values * weight::VALUE) {
            return Err(admitted.refused(intake::too_many_bytes(&share)));
        }
        if let Admitted::Request(request) = &admitted {
            share.shrink_to(|| weight::of(&request.request, &request.meta));
        }
        let arrival = Arrival { principal, extensions: std::mem::take(&mut head.extensions), share };
        // What was read is dropped, so that the connection reads on into the same buffer. The share of the budget stays with
        // the request, which keeps what was in it.
        drop(body);
        head.uri = Uri::default();
        // The room of the headers stays: the answer's stand in it, and hyper keeps that for the next request.
        head.headers.clear();
        match admitted {
            Admitted::Request(request) => {
                self.run(request, arrival, accepts, caller, &mut head.headers).await
            }
            Admitted::Notification(notification) => self.observe(notification, arrival, caller).await,
        }
    }

    /// Asked before the request has an actor that a panic could end.
    fn serves(&self, method: &str) -> Result<bool, Refusal> {
        self.handler.serves(method).map_err(|crash| {
            let method = Shown(method);
            tracing::error!(target: "ractor_mcp", %method, %crash, "`Handler::serves` panicked: the request is refused");
            Refusal::hook_failed()
        })
    }

    /// The checks that need neither a body nor the application.
    fn check_head(&self, head: &Parts) -> Result<Accepts, Refusal> {
        if let Some(path) = &self.path
            && head.uri.path().strip_suffix('/').unwrap_or(head.uri.path()) != path
        {
            return Err(Refusal::no_such_path(path));
        }
        if head.method != Method::POST {
            return Err(Refusal::method_not_allowed());
        }
        if self.drain.phase() > Phase::Open {
            return Err(Refusal::shutting_down());
        }
        order::media_types(&head.headers)
    }

    /// Spawns the request's actor and waits for its first output, which decides what the response is. An answer is written
    /// into the empty `room`.
    async fn run(
        &self,
        request: Box<AdmittedRequest>,
        arrival: Arrival,
        accepts: Accepts,
        caller: &Caller,
        room: &mut HeaderMap,
    ) -> Result<Response<ResponseBody>, Refusal> {
        let held = self
            .admit_request(&request, arrival.share, accepts, caller, &arrival.principal)
            .map_err(|refusal| request.refused(refusal))?;
        let budget = self.budget.clone();
        let outbox = Arc::new(match &held {
            Held::Slot { .. } => Outbox::new(self.limits.outbox, budget, accepts.sse),
            Held::Place { .. } => Outbox::listening(self.limits.stream_outbox, budget, request.id.clone()),
        });
        let context = RequestContext {
            name: request.request.name().map(Box::from),
            method: Box::from(request.request.method()),
            id: Some(request.id),
            meta: request.meta,
            mirrored_params: request.mirrored_params,
            peer: caller.peer,
            principal: arrival.principal,
            extensions: arrival.extensions,
            received: Instant::now(),
            clock: self.gate.clock.clone(),
        };
        let call = Call {
            message: Message::Request(Box::new(request.request)),
            context: Arc::new(context),
            sink: Arc::clone(&outbox) as _,
            held,
        };
        let id = call.context.id.clone();
        let pid = match self.handler.spawn(&caller.parent, call, self.spawn_options()) {
            Ok(pid) => pid,
            Err(error) => return not_started(&error, id, caller.peer),
        };
        let mut delivery = Delivery::new(outbox, pid, caller.stalled.clone());
        if !accepts.sse {
            loop {
                // Without streaming, only the answer passes the outbox.
                if let Outgoing::Answer(answer) = delivery.next().await {
                    return Ok(self.json(answer, std::mem::take(room)));
                }
            }
        }
        let first = caller.deadlines.within(self.limits.keep_alive, delivery.next()).await;
        Ok(match first {
            Some(Outgoing::Answer(answer)) if accepts.json => self.json(answer, std::mem::take(room)),
            first => self.stream(delivery, first),
        })
    }

    /// Spawns the notification's actor; whatever it does, the client reads 202 (HTTP-09).
    async fn observe(
        &self,
        notification: Notification,
        arrival: Arrival,
        caller: &Caller,
    ) -> Result<Response<ResponseBody>, Refusal> {
        let slot = self.slot(Lane::Lists, caller, &arrival.principal)?;
        if methods::is_known(&notification.method) {
            let (method, peer) = (Shown(&notification.method), caller.peer.map(display));
            tracing::debug!(target: "ractor_mcp", %method, peer,
                "a request without an id is a notification, and is not answered: was its id forgotten?");
        }
        let context = RequestContext {
            id: None,
            method: Box::from(&*notification.method),
            name: None,
            meta: RequestMeta::default(),
            mirrored_params: MirroredParams::default(),
            peer: caller.peer,
            principal: arrival.principal,
            extensions: arrival.extensions,
            received: Instant::now(),
            clock: self.gate.clock.clone(),
        };
        let call = Call {
            message: Message::Notification(notification),
            context: Arc::new(context),
            sink: Arc::new(Nowhere),
            held: Held::slot(slot, arrival.share),
        };
        if let Err(error) = self.handler.spawn(&caller.parent, call, self.spawn_options()) {
            return not_started(&error, None, caller.peer);
        }
        let mut response = Response::new(ResponseBody::empty());
        *response.status_mut() = StatusCode::ACCEPTED;
        Ok(response)
    }

    /// A place for a stream, a slot for anything else; and whether the parameters keep to the limits.
    fn admit_request(
        &self,
        request: &AdmittedRequest,
        share: Share,
        accepts: Accepts,
        caller: &Caller,
        principal: &Principal,
    ) -> Result<Held, Refusal> {
        let Request::Listen(listen) = &request.request else {
            let slot = self.slot(lane(&request.request), caller, principal)?;
            return Ok(Held::slot(slot, share));
        };
        if !accepts.sse {
            return Err(Refusal::needs_a_stream());
        }
        subscription::check_size(&listen.notifications, self.limits.filter)?;
        let place = self.streams.admission.take().ok_or_else(Refusal::too_many_streams)?;
        self.still_open().map(|()| Held::Place { _place: place, _share: share })
    }

    fn slot(&self, lane: Lane, caller: &Caller, principal: &Principal) -> Result<Slot, Refusal> {
        let slot = self.slots.take(lane, &caller.slots, principal)?;
        self.still_open().map(|()| slot)
    }

    /// Asked again once a slot is held: the shutdown waits for all slots that were taken before it began, and a request
    /// whose body, or caller, took its time must not slip in behind.
    fn still_open(&self) -> Result<(), Refusal> {
        if self.drain.phase() > Phase::Open { Err(Refusal::shutting_down()) } else { Ok(()) }
    }

    fn spawn_options(&self) -> SpawnOptions {
        SpawnOptions {
            mailbox: self.limits.mailbox,
            terminate_within: self.limits.close_time,
            long_schedule: self.limits.long_schedule,
        }
    }

    fn json(&self, answer: Answer, room: HeaderMap) -> Response<ResponseBody> {
        let challenge = self.challenge(&answer);
        let mut response = json(answer, room);
        response.headers_mut().extend(challenge);
        response
    }

    /// What a caller that lacks scopes is told, however its answer is written.
    fn challenge(&self, answer: &Answer) -> Option<(HeaderName, HeaderValue)> {
        let Answer { status, lacks, .. } = answer;
        (!lacks.is_empty()).then(|| (WWW_AUTHENTICATE, self.gate.needs_scopes(*status, lacks)))
    }

    fn stream(&self, delivery: Delivery, first: Option<Outgoing>) -> Response<ResponseBody> {
        let (status, challenge) = match &first {
            Some(Outgoing::Answer(answer)) => (answer.status, self.challenge(answer)),
            _ => (StatusCode::OK, None),
        };
        let mut response = Response::new(ResponseBody::stream(delivery, first, self.limits.keep_alive));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.extend(challenge);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        // Neither compressed nor held back on the way (SSE-05).
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
        headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
        response
    }
}

/// Under a connection that is ending nothing starts any more: its client left while the request was on its way, which is no
/// fault of the server, and no overload that an operator is told of.
fn not_started(
    error: &StartError,
    id: Option<RequestId>,
    peer: Option<SocketAddr>,
) -> Result<Response<ResponseBody>, Refusal> {
    if matches!(error, StartError::Draining | StartError::NoProc) {
        return Ok(refuse(Refusal::connection_ending().with_id_option(id), peer));
    }
    let peer = peer.map(display);
    tracing::warn!(target: "ractor_mcp", peer, %error, "the request's actor did not start");
    Err(Refusal::not_started().with_id_option(id))
}

/// Lists and discovery stay quick while calls take all that they may (D7).
fn lane(request: &Request) -> Lane {
    match request {
        Request::CallTool(_) | Request::GetPrompt(_) | Request::ReadResource(_) | Request::Custom { .. } => {
            Lane::Calls
        }
        _ => Lane::Lists,
    }
}

/// 204 with what the browser must know.
fn preflight(head: &Parts) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    cors::preflight(&head.headers, response.headers_mut());
    response
}

fn json(answer: Answer, room: HeaderMap) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::whole(answer.body));
    *response.headers_mut() = room;
    *response.status_mut() = answer.status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// The answer of a server whose tree is going down.
pub(crate) fn unavailable() -> Response<ResponseBody> {
    refuse(Refusal::shutting_down(), None)
}

/// What the trace says of a refused request, as far as it is known. Text of a client is shortened.
struct Traced<'a> {
    id: Option<DisplayValue<Shown<'a>>>,
    method: Option<DisplayValue<Shown<'a>>>,
    peer: Option<DisplayValue<SocketAddr>>,
}

impl<'a> Traced<'a> {
    fn of(refusal: &'a Refusal, peer: Option<SocketAddr>) -> Self {
        Self {
            id: refusal.id.as_ref().map(|id| display(Shown(id.as_json()))),
            method: refusal.method.as_deref().map(|method| display(Shown(method))),
            peer: peer.map(display),
        }
    }
}

fn refuse(refusal: Refusal, peer: Option<SocketAddr>) -> Response<ResponseBody> {
    let Traced { id, method, peer } = Traced::of(&refusal, peer);
    tracing::debug!(
        target: "ractor_mcp",
        id,
        method,
        peer,
        status = refusal.status.as_u16(),
        code = refusal.error.code,
        reason = %refusal.error.message,
        challenge = refusal.challenge.as_ref().map(tracing::field::debug),
        "request refused"
    );
    refused(refusal)
}

/// Refuses what is the operator's affair. Whoever sends a thousand of them gets one warning a second.
fn refuse_aloud(refusal: Refusal, peer: Option<SocketAddr>, warnings: &Warnings) -> Response<ResponseBody> {
    let Some(untold) = warnings.take() else {
        return refuse(refusal, peer);
    };
    let Traced { id, method, peer } = Traced::of(&refusal, peer);
    tracing::warn!(
        target: "ractor_mcp", id, method, peer, untold, reason = %refusal.error.message, "request refused"
    );
    refused(refusal)
}

fn refused(refusal: Refusal) -> Response<ResponseBody> {
    let mut response = json(Answer::new(refusal.status, refusal.to_bytes()), HeaderMap::new());
    let headers = response.headers_mut();
    match refusal.cause {
        Cause::Request => {}
        Cause::Method => {
            headers.insert(ALLOW, HeaderValue::from_static("POST"));
        }
        Cause::ServerLimit | Cause::CallerLimit | Cause::Passing => {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
    }
    if let Some(challenge) = refusal.challenge {
        headers.insert(WWW_AUTHENTICATE, challenge);
    }
    if refusal.closes {
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}
