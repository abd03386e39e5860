//! Transactions of one user, over a connection of its own.

use crate::ServeError;
use crate::protocol::codec::{self, REPLY_BYTES, REQUEST_BYTES};
use crate::protocol::control::RoundTerms;
use crate::protocol::{Reply, Request};
use crate::wire::{Wire, at_most};
use bourse_driver::{OperationCx, ServerTime};
use bourse_engine::{EngineError, ErrorKind};
use bourse_tpce::sut::{Answer, Connector};
use bourse_tpce::transactions::{SendToMarket, TxnError};
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

    fn ask(&mut self, request: &Request) -> Result<(codec::Times, Reply), ServeError> {
        self.wire.send(request, REQUEST_BYTES)?;
        let frame = self.wire.frame(REPLY_BYTES, &mut at_most(REPLY_TIMEOUT))?;
        Ok(codec::timed_message(frame)?)
    }
}

impl Connector for RemoteConnector {
    fn perform(
        &mut self,
        cx: &mut OperationCx<'_>,
        request: &Request,
        market: &dyn SendToMarket,
    ) -> Result<Answer, TxnError> {
        let asked = request.transaction();
        let lost = |why: String| {
            let cause = EngineError::new(ErrorKind::ConnectionLost, why);
            TxnError { transaction: asked, frame: None, attempts: 1, cause: cause.into() }
        };
        if let Some(why) = &self.broken {
            return Err(lost(why.clone()));
        }
        let (times, reply) = self.ask(request).map_err(|error| {
            let why = error.to_string();
            self.broken = Some(why.clone());
            lost(why)
        })?;
        cx.backoff.note(reply.retries.min(RoundTerms::MOST_RETRIES), within_longest(reply.back_off_ns));
        reply.orders.iter().for_each(|order| market.send(order));
        let (output, excused) = reply.outcome?;
        if output.transaction() != asked {
            let why = format!("the server answers a {asked} with a {}", output.transaction());
            self.broken = Some(why.clone());
            return Err(lost(why));
        }
        let server =
            ServerTime { server_ns: within_longest(times.server_ns), engine_ns: within_longest(times.engine_ns) };
        Ok(Answer { output, excused, server: Some(server) })
    }
}
