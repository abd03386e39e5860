//! Transactions of one user, over a connection of its own.

use crate::ServeError;
use crate::protocol::ReplyOf;
use crate::protocol::codec::{self, REPLY_BYTES, REQUEST_BYTES};
use crate::protocol::control::RoundTerms;
use crate::wire::{Wire, at_most};
use bourse_driver::{OperationCx, ServerTime};
use bourse_engine::{EngineError, ErrorKind};
use bourse_oltp::sut::{Answered, Performer, SharedWorkload};
use std::time::Duration;

/// Longest wait for a transaction's reply.
const REPLY_TIMEOUT: Duration = Duration::from_secs(120);

/// Limits a time reported by a server to the longest wait for it, so that sums of such times cannot overflow.
fn within_longest(told_ns: u64) -> u64 {
    const MOST_NS: u64 = REPLY_TIMEOUT.as_secs() * 1_000_000_000;
    told_ns.min(MOST_NS)
}

pub(super) struct RemoteConnector {
    wire: Wire,
    /// Error on the wire, after which a reply can no longer be matched with its request.
    broken: Option<String>,
}

impl RemoteConnector {
    pub(super) fn new(wire: Wire) -> Self {
        Self { wire, broken: None }
    }

    fn ask<W: SharedWorkload>(&mut self, request: &W::Request) -> Result<(codec::Times, ReplyOf<W>), ServeError> {
        self.wire.send(request, REQUEST_BYTES)?;
        let frame = self.wire.frame(REPLY_BYTES, &mut at_most(REPLY_TIMEOUT))?;
        Ok(codec::timed_message(frame)?)
    }
}

impl<W: SharedWorkload> Performer<W> for RemoteConnector {
    fn perform(
        &mut self,
        cx: &mut OperationCx<'_>,
        request: &W::Request,
        send: &dyn Fn(&W::FollowUp),
    ) -> Result<Answered<W::Answer>, W::Error> {
        let lost = |why: String| W::error(request, EngineError::new(ErrorKind::ConnectionLost, why));
        if let Some(why) = &self.broken {
            return Err(lost(why.clone()));
        }
        let (times, reply) = self.ask::<W>(request).map_err(|error| {
            let why = error.to_string();
            self.broken = Some(why.clone());
            lost(why)
        })?;
        cx.backoff.note(reply.retries.min(RoundTerms::MOST_RETRIES), within_longest(reply.back_off_ns));
        reply.follow_ups.iter().for_each(send);
        let answer = reply.outcome?;
        if let Err(why) = W::check_answer(request, &answer) {
            let why = format!("the server's answer is another one's: {why}");
            self.broken = Some(why.clone());
            return Err(lost(why));
        }
        let server =
            ServerTime { server_ns: within_longest(times.server_ns), engine_ns: within_longest(times.engine_ns) };
        Ok(Answered { answer, server: Some(server) })
    }
}
