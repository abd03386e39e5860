//! Transactions of one user, over a connection of its own.

use crate::ServeError;
use crate::protocol::ReplyOf;
use crate::protocol::codec::{self, REPLY_BYTES, REQUEST_BYTES};
use crate::protocol::control::RoundTerms;
use crate::wire::{Wire, at_most};
use bourse_driver::{OperationCx, ServerTime};
use bourse_engine::{EngineError, ErrorKind, server_wait};
use bourse_oltp::sut::{Answered, Performer, SharedWorkload};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Longest wait for a transaction's reply.
const REPLY_TIMEOUT: Duration = Duration::from_secs(120);

/// Limits a time reported by a server to the longest wait for it, so that sums of such times cannot overflow.
fn within_longest(told_ns: u64) -> u64 {
    const MOST_NS: u64 = REPLY_TIMEOUT.as_secs() * 1_000_000_000;
    told_ns.min(MOST_NS)
}

pub(super) struct RemoteConnector {
    pub(super) wire: Wire,
    /// Whether the server no longer answers the driver.
    pub(super) is_silent: Arc<AtomicBool>,
}

impl RemoteConnector {
    fn ask<W: SharedWorkload>(&mut self, request: &W::Request) -> Result<(codec::Times, ReplyOf<W>), ServeError> {
        self.wire.send(request, REQUEST_BYTES)?;
        let mut in_time = at_most(REPLY_TIMEOUT);
        let frame = self.wire.frame(REPLY_BYTES, &mut || {
            if self.is_silent.load(Ordering::Relaxed) && !server_wait::is_interrupted() {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "the server no longer answers").into());
            }
            in_time()
        })?;
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
        let (times, reply) = self.ask::<W>(request).map_err(|error| match error {
            ServeError::Engine(error) => W::error(request, error),
            other => lost(other.to_string()),
        })?;
        cx.backoff.note(reply.retries.min(RoundTerms::MOST_RETRIES), within_longest(reply.back_off_ns));
        reply.follow_ups.iter().for_each(send);
        let answer = reply.outcome?;
        if let Err(why) = W::check_answer(request, &answer) {
            return Err(lost(format!("the server's answer is another one's: {why}")));
        }
        let server =
            ServerTime { server_ns: within_longest(times.server_ns), engine_ns: within_longest(times.engine_ns) };
        Ok(Answered { answer, server: Some(server) })
    }
}
