//! Floor 3: running one request or notification.
//!
//! | file | holds |
//! |---|---|
//! | `process.rs` | the actor: one handler's callbacks, one answer |
//! | `outbox.rs` | the bounded queue between the actor and its response |
//! | `stream.rs` | what an open listen stream holds beside its handler |
//! | `registry.rs` | which streams are told of what |
//! | `verification.rs` | whether the caller of a stream may still listen |
//! | `authorization.rs` | the changes that the application has yet to allow |
//! | `admission.rs` | how many streams there may be, of whom |
//! | `changes.rs` | the changes that a stream has yet to tell |
//! | `deadline.rs` | the end of a request's time |
//! | `slots.rs` | how many requests may run at once |
//! | `principals.rs` | how many of them of one principal |
//! | `budget.rs`, `weight.rs` | how many bytes they and their answers may hold, and how many that is |
//! | `drain.rs` | the phases of a shutdown, as every part sees them |
//! | `spawn.rs` | the one place where the handler's type is erased |
//!
//! A stream is a request with a long answer: the same actor serves `subscriptions/listen`.

mod admission;
mod authorization;
mod budget;
mod changes;
mod deadline;
mod drain;
mod outbox;
mod principals;
mod process;
mod registry;
mod slots;
mod spawn;
mod stream;
#[cfg(test)]
mod tests;
mod verification;
pub(crate) mod weight;

pub(crate) use admission::{Place, StreamCaps};
pub(crate) use budget::{Budget, Share};
pub(crate) use drain::{Drain, Phase};
pub(crate) use outbox::{Nowhere, Outbox, OutboxLimits, Outgoing};
pub use registry::Topic;
pub(crate) use slots::{Count, Lane, Slot, Slots};
pub(crate) use spawn::{Call, Held, Message, Spawn, erase};
pub(crate) use stream::{StreamLimits, Streams};
pub(crate) use verification::Verification;
