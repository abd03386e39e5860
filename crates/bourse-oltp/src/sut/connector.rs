//! One user's way to the system under test.

use super::SharedWorkload;
use bourse_driver::{OperationCx, ServerTime};
use std::sync::Arc;

/// Performs one user's transactions, one at a time: the specifications' connector between driver and SUT.
pub enum Connector<W: SharedWorkload> {
    /// Session that the driver has given the user.
    OnSession(Arc<W::State>),
    /// Another system, such as a server.
    Elsewhere(Box<dyn Performer<W>>),
}

/// Performs transactions elsewhere than on the driver's session.
pub trait Performer<W: SharedWorkload>: Send {
    /// Performs a transaction; see [`Connector::perform`].
    ///
    /// # Errors
    /// The failure.
    fn perform(
        &mut self,
        cx: &mut OperationCx<'_>,
        request: &W::Request,
        send: &dyn Fn(&W::FollowUp),
    ) -> Result<Answered<W::Answer>, W::Error>;
}

/// Result of a transaction that was performed.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered<A> {
    /// The transaction's result.
    pub answer: A,
    /// Time in an application server, if there is one.
    pub server: Option<ServerTime>,
}

impl<W: SharedWorkload> Connector<W> {
    /// Performs a transaction; what follows from it goes to `send` once it is committed. Retries and back-offs are recorded in
    /// `cx`.
    ///
    /// # Errors
    /// The failure. After kind [`ConnectionLost`](bourse_engine::ErrorKind::ConnectionLost) or
    /// [`InDoubt`](bourse_engine::ErrorKind::InDoubt) it is unknown whether the transaction was committed.
    pub fn perform(
        &mut self,
        cx: &mut OperationCx<'_>,
        request: &W::Request,
        send: &dyn Fn(&W::FollowUp),
    ) -> Result<Answered<W::Answer>, W::Error> {
        match self {
            Self::OnSession(state) => {
                let session = cx.connection.sql().map_err(|error| W::error(request, error))?;
                let answer = W::perform(state, session, &cx.backoff, request, send)?;
                Ok(Answered { answer, server: None })
            }
            Self::Elsewhere(performer) => performer.perform(cx, request, send),
        }
    }
}
