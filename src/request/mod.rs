//! Floor 3: running one request or notification.
//!
//! | file | holds |
//! |---|---|
//! | `process.rs` | the actor: one handler's callbacks, one answer |
//! | `outbox.rs` | the bounded queue between the actor and its response |
//! | `slots.rs` | how many requests may run at once |
//! | `drain.rs` | the phases of a shutdown, as every part sees them |
//! | `spawn.rs` | the one place where the handler's type is erased |
//!
//! A stream is a request with a long answer: the same actor serves `subscriptions/listen`.

mod drain;
mod outbox;
mod process;
mod slots;
mod spawn;

pub(crate) use drain::{Drain, Phase};
pub(crate) use outbox::{Nowhere, Outbox, OutboxLimits, Outgoing};
pub(crate) use slots::{Slot, Slots};
pub(crate) use spawn::{Call, Message, Spawn, erase};
