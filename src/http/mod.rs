//! Floor 4: Streamable HTTP. One POST becomes one request actor; its response is one JSON object or one SSE stream.
//!
//! | file | holds |
//! |---|---|
//! | `endpoint.rs` | one request in, one response out: the checks in order, then the actor |
//! | `caller.rs` | who calls: the `connect` hook and its refusals |
//! | `metadata.rs` | the protected resource metadata document |
//! | `intake.rs` | reading a body within its limits |
//! | `delivery.rs` | the response's hold on its actor: dropped unfinished, it cancels |
//! | `body.rs` | the response body: empty, JSON or SSE with keep-alives |
//! | `connection.rs` | driving one connection with hyper |
//! | `deadlines.rs` | one timer for the deadlines of a connection |
//! | `preface.rs` | HTTP/1.1 or HTTP/2, by the first bytes |
//! | `socket.rs` | the TCP socket, and the watch that sees the client leave |
//! | `stall.rs` | a client that stops reading |
//! | `taking.rs` | a client that takes nothing of one HTTP/2 stream |
//! | `limits.rs` | the limits of this transport |

mod body;
mod caller;
mod connection;
mod deadlines;
mod delivery;
mod endpoint;
mod intake;
mod limits;
mod metadata;
mod preface;
mod socket;
mod stall;
#[cfg(feature = "http2")]
mod taking;

pub use body::ResponseBody;
pub(crate) use caller::Gate;
pub(crate) use connection::drive;
use deadlines::Deadlines;
pub(crate) use endpoint::{Caller, Endpoint, unavailable};
pub(crate) use limits::Limits;
pub use metadata::ProtectedResource;
pub(crate) use metadata::{Metadata, nothing};
pub(crate) use socket::Socket;
pub(crate) use stall::Stalled;
