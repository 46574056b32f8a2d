//! Where to send messages to a leaf.

use std::fmt;
use std::sync::Arc;

use crate::block::{Block, Kind};
use crate::label::Label;
use crate::mailbox::{Inbox, Mailbox, Queue, SendError, TrySendError};
use crate::pid::Pid;

/// The typed address of a leaf process: cheap to clone, and `Sync` even if `M` is not.
///
/// Messages from one sender arrive in the order in which they were sent.
pub struct Address<M>(Arc<Block<Mailbox<M>>>);

impl<M: Send + 'static> Address<M> {
    pub(crate) fn new(label: Label, parent: Option<Pid>, capacity: usize) -> Self {
        Self(Block::new(Kind::Leaf, label, parent, Mailbox::new(capacity)))
    }

    pub(crate) fn block(&self) -> &Block<Mailbox<M>> {
        &self.0
    }

    pub(crate) fn mailbox(&self) -> &Mailbox<M> {
        &self.0.inbox
    }

    /// The process behind the address.
    pub fn pid(&self) -> Pid {
        Pid::new(Arc::clone(&self.0) as Arc<Block<dyn Inbox>>)
    }

    /// Sends a message; waits while the mailbox is full.
    ///
    /// # Errors
    ///
    /// Gives the message back when the process ends first.
    pub async fn send(&self, message: M) -> Result<(), SendError<M>> {
        self.0.inbox.send(message).await
    }

    /// Sends a message if there is room for it.
    ///
    /// # Errors
    ///
    /// Gives the message back when the mailbox is full or the process has ended.
    pub fn try_send(&self, message: M) -> Result<(), TrySendError<M>> {
        self.0.inbox.try_send(message)
    }

    /// Whether the process takes no more messages.
    pub fn is_closed(&self) -> bool {
        self.0.inbox.is_closed()
    }

    /// How full the mailbox is.
    pub fn queue(&self) -> Queue {
        self.0.inbox.queue()
    }
}

impl<M> Clone for Address<M> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<M> fmt::Debug for Address<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({} #{})", self.0.label, self.0.id)
    }
}
