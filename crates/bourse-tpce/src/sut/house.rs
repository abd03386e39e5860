//! The brokerage house: state that the transactions of a round share outside the database.

use super::{Answer, Opening, ShortDatabase};
use crate::aged::{self, PendingOrder};
use crate::check::reconciliation::GROWTHS;
use crate::transactions::trade_cleanup::trade_cleanup;
use crate::transactions::{Context, Request, Retry, SendToMarket, TradeIds, TxnError, perform};
use crate::workload::Tpce;
use bourse_driver::{Backoff, Clock};
use bourse_egen::Part;
use bourse_egen::driver::Database;
use bourse_egen::txn::TradeCleanup;
use bourse_engine::{Engine, Result, Session, SessionExt as _};
use bourse_oltp::check::ledger::Ledger;
use bourse_oltp::sut::{BegunRound, RoundBegin, RunError};
use bourse_schema::TradeId;
use std::sync::atomic::{AtomicBool, Ordering};

/// A house open for a round.
#[derive(Debug)]
pub struct BrokerageHouse {
    part: Part,
    trade_ids: TradeIds,
    short: Option<ShortDatabase>,
}

impl BrokerageHouse {
    /// Opens for a round: runs Trade-Cleanup, timed, surveys the rows that the database lacks, and takes the snapshot for
    /// reconciliation.
    ///
    /// # Errors
    /// [`RunError`] of engine and transaction.
    pub fn open(engine: &dyn Engine, part: Part, clock: &dyn Clock) -> Result<(Self, RoundBegin<Tpce>), RunError> {
        let database = Database::of(part.total_customers(), part.scale_factor(), part.days());
        let first_free = database.first_free_trade();
        let mut session = engine.session()?;
        let trade_ids = TradeIds::following(&mut *session, first_free)?;
        let now = || clock.timestamp();
        let retry = Retry { attempts: 1, back_off: &|_| true };
        let context = Context { now: &now, trade_ids: &trade_ids, market: &|_: &_| {}, retry };
        let begin = clock.now();
        let cleaned = trade_cleanup(&mut *session, &context, &TradeCleanup { start_trade_id: first_free })?;
        let cleanup_ns = clock.now() - begin;
        let short = ShortDatabase::survey(&mut *session, part, first_free)?;
        let before = GROWTHS.before(&mut *session)?;
        let opening = Opening { cleaned, cleanup_ns, first_trade: trade_ids.upcoming() };
        Ok((Self { part, trade_ids, short }, BegunRound { before, opening }))
    }

    /// Places orders from before the round, and surveys again the rows that the database lacks. Returns the placed orders'
    /// sums.
    ///
    /// # Errors
    /// The engine's.
    pub fn place(
        &mut self,
        engine: &dyn Engine,
        orders: &[PendingOrder],
        clock: &dyn Clock,
        interrupt: &AtomicBool,
    ) -> Result<Ledger> {
        let mut session = engine.session()?;
        let stop = || interrupt.load(Ordering::Relaxed);
        let placed = aged::place(&mut *session, &self.trade_ids, orders, clock.timestamp(), &stop)?;
        let database = Database::of(self.part.total_customers(), self.part.scale_factor(), self.part.days());
        self.short = ShortDatabase::survey(&mut *session, self.part, database.first_free_trade())?;
        Ok(placed)
    }

    /// Joins a round that another process has opened, with numbers of trades from `first` on, which no other process uses.
    ///
    /// # Errors
    /// The engine's.
    pub fn join(engine: &dyn Engine, part: Part, first: TradeId) -> Result<Self> {
        let first_free = Database::of(part.total_customers(), part.scale_factor(), part.days()).first_free_trade();
        let short = ShortDatabase::survey(&mut *engine.session()?, part, first_free)?;
        Ok(Self { part, trade_ids: TradeIds::starting_at(first), short })
    }

    /// Performs a transaction on a session.
    ///
    /// # Errors
    /// The failure, and its frame; a conflict only after the last attempt.
    pub fn perform(
        &self,
        session: &mut dyn Session,
        backoff: &Backoff<'_>,
        request: &Request,
        market: &dyn SendToMarket,
    ) -> Result<Answer, TxnError> {
        let now = || backoff.clock().timestamp();
        let back_off = |attempt| backoff.back_off(attempt);
        let retry = Retry { attempts: backoff.attempts(), back_off: &back_off };
        let context = Context { now: &now, trade_ids: &self.trade_ids, market, retry };
        let output = perform(session, &context, request)?.output;
        let excused =
            output.status().is_error() && self.short.as_ref().is_some_and(|short| short.explains(request, &output));
        Ok(Answer { output, excused })
    }

    /// Limit orders that are pending.
    ///
    /// # Errors
    /// The engine's.
    pub fn pending_orders(engine: &dyn Engine) -> Result<u64> {
        Ok(engine.session()?.text_value("SELECT count(*) FROM trade_request")?.unwrap_or(0))
    }
}
