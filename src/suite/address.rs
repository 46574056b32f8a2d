//! Where to send messages to a running call of a tool, or to a stream.

use std::fmt;
use std::marker::PhantomData;

use ractor_otp::{Address, Pid, SendError, TrySendError};

use super::SuiteMessage;

/// The address of a call that streams, or of a subscription: what application code keeps to message it. Cheap to clone.
pub struct ToolAddress<M> {
    process: Address<SuiteMessage>,
    messages: PhantomData<fn(M)>,
}

impl<M: Send + 'static> ToolAddress<M> {
    pub(super) fn new(process: Address<SuiteMessage>) -> Self {
        let messages = PhantomData;
        Self { process, messages }
    }

    /// Sends a message; waits while the mailbox is full.
    ///
    /// # Errors
    ///
    /// Gives the message back when the call ends first.
    pub async fn send(&self, message: M) -> Result<(), SendError<M>> {
        match self.process.send(SuiteMessage::new(message)).await {
            Ok(()) => Ok(()),
            // What comes back is what was sent, so there is a message and its type is right.
            Err(SendError(back)) => back.open().map_or(Ok(()), |message| Err(SendError(message))),
        }
    }

    /// Sends a message if there is room for it.
    ///
    /// # Errors
    ///
    /// Gives the message back when the mailbox is full or the call has ended.
    pub fn try_send(&self, message: M) -> Result<(), TrySendError<M>> {
        match self.process.try_send(SuiteMessage::new(message)) {
            Ok(()) => Ok(()),
            Err(TrySendError::Full(back)) => {
                back.open().map_or(Ok(()), |message| Err(TrySendError::Full(message)))
            }
            Err(TrySendError::Closed(back)) => {
                back.open().map_or(Ok(()), |message| Err(TrySendError::Closed(message)))
            }
        }
    }

    /// Whether the call takes no more messages.
    pub fn is_closed(&self) -> bool {
        self.process.is_closed()
    }

    /// The actor of the call or stream.
    pub fn pid(&self) -> Pid {
        self.process.pid()
    }
}

impl<M> Clone for ToolAddress<M> {
    fn clone(&self) -> Self {
        Self { process: self.process.clone(), messages: PhantomData }
    }
}

impl<M> fmt::Debug for ToolAddress<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tool{:?}", self.process)
    }
}
