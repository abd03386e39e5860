//! TPC-E as a workload of any system under test ([`bourse_oltp::sut`]; Clause 4.3): what its transactions share outside the
//! database, what crosses a network, what several drivers share.
//!
//! | file | contents |
//! |---|---|
//! | `house` | the brokerage house: numbers of trades, Trade-Cleanup, reconciliation snapshot, transactions on a session |
//! | `short` | rows that a database of few days is known to lack |

mod house;
mod short;

pub use house::BrokerageHouse;
pub use short::ShortDatabase;

use crate::check::reconciliation::{self, RESULTS, cleaned, compare_drivers};
use crate::transactions::trade_cleanup::TradeCleanupOutput;
use crate::transactions::{FrameError, Output, Request, Status, TxnError};
use crate::users::{OptionsError, reconciled};
use crate::workload::{self, Tpce};
use bourse_driver::{Backoff, Clock, Nanos};
use bourse_egen::Part;
use bourse_egen::driver::Partition;
use bourse_egen::txn::TradeRequest;
use bourse_engine::{Engine, EngineError, Result, Session};
use bourse_oltp::Size;
use bourse_oltp::check::ledger::{Ledger, Totals};
use bourse_oltp::check::recorded::after_run;
use bourse_oltp::sut::{DriverLedger, RoundBegin, RunError, Share, SharedWorkload};
use bourse_record::Check;
use bourse_schema::TradeId;
use serde::{Deserialize, Serialize};

/// Result of a transaction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The transaction's output.
    pub output: Output,
    /// Whether a check of the harness that failed is explained by a [`ShortDatabase`].
    pub excused: bool,
}

/// Result of the brokerage house's work before a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Opening {
    /// Output of Trade-Cleanup.
    pub cleaned: TradeCleanupOutput,
    /// Time that Trade-Cleanup took, in nanoseconds.
    pub cleanup_ns: Nanos,
    /// The first number of the round's trades.
    pub first_trade: TradeId,
}

impl SharedWorkload for Tpce {
    type Request = Request;
    type Answer = Answer;
    type Error = TxnError;
    type FollowUp = TradeRequest;
    type State = BrokerageHouse;
    type Opening = Opening;

    const AGREEMENT: &'static str = "the driver received an answer for each Trade-Order and Trade-Result that the server committed for it, and for no other";

    fn open(
        engine: &dyn Engine,
        size: &Size,
        clock: &dyn Clock,
    ) -> Result<(BrokerageHouse, RoundBegin<Self>), RunError> {
        BrokerageHouse::open(engine, part(size)?, clock)
    }

    fn join(
        engine: &dyn Engine,
        size: &Size,
        share: Share,
        begun: &RoundBegin<Self>,
    ) -> Result<BrokerageHouse, RunError> {
        Ok(BrokerageHouse::join(engine, part(size)?, first_trade(share, begun.opening.first_trade))?)
    }

    fn perform(
        house: &BrokerageHouse,
        session: &mut dyn Session,
        backoff: &Backoff<'_>,
        request: &Request,
        send: &dyn Fn(&TradeRequest),
    ) -> Result<Answer, TxnError> {
        house.perform(session, backoff, request, &send)
    }

    fn error(request: &Request, cause: EngineError) -> TxnError {
        TxnError { transaction: request.transaction(), frame: None, attempts: 1, cause: cause.into() }
    }

    fn check_answer(request: &Request, answer: &Answer) -> Result<(), String> {
        let (requested, answered) = (request.transaction(), answer.output.transaction());
        if requested == answered {
            return Ok(());
        }
        Err(format!("a {requested} was answered with a {answered}"))
    }

    fn count(ledger: &mut Ledger, request: &Request, answer: &Answer) {
        match answer.output.status() {
            Status::SUCCESS => reconciliation::committed(ledger, request),
            _ => reconciliation::failed(ledger, request),
        }
    }

    fn count_failed(ledger: &mut Ledger, request: &Request, in_doubt: bool) {
        match in_doubt {
            // The commit may have been the last thing that went through.
            true => reconciliation::in_doubt(ledger, request),
            false => reconciliation::failed(ledger, request),
        }
    }

    fn in_words(ledger: &Ledger) -> String {
        format!("{} Trade-Results committed", ledger.sure(RESULTS))
    }

    fn check(
        engine: &dyn Engine,
        size: &Size,
        run: Option<(&Totals, &Ledger)>,
        clock: &dyn Clock,
        progress: &mut dyn FnMut(&Check),
    ) -> Result<Vec<Check>> {
        let mut reconcile =
            |db: &mut dyn Session| run.map_or(Ok(Vec::new()), |(before, ledger)| reconciled(db, before, ledger));
        after_run(engine, &Self, size, &mut reconcile, clock, progress)
    }

    fn check_drivers(
        engine: &dyn Engine,
        size: &Size,
        begun: &RoundBegin<Self>,
        drivers: &[DriverLedger],
        clock: &dyn Clock,
    ) -> Result<Vec<Check>> {
        let mut reconcile = |db: &mut dyn Session| {
            let mut checks = compare_drivers(db, &begun.before, begun.opening.first_trade, drivers)?;
            checks.push(cleaned(db, &begun.before)?);
            Ok(checks)
        };
        after_run(engine, &Self, size, &mut reconcile, clock, &mut |_| {})
    }

    /// Limit orders that are pending.
    fn pending(engine: &dyn Engine) -> Result<Option<u64>> {
        BrokerageHouse::pending_orders(engine).map(Some)
    }
}

fn part(size: &Size) -> Result<Part, RunError> {
    workload::part(size).map_err(RunError::Options)
}

impl From<FrameError> for RunError {
    fn from(error: FrameError) -> Self {
        Self::Opening(error.to_string())
    }
}

impl From<TxnError> for RunError {
    fn from(error: TxnError) -> Self {
        Self::Opening(error.to_string())
    }
}

impl From<OptionsError> for RunError {
    fn from(error: OptionsError) -> Self {
        Self::Options(error.to_string())
    }
}

/// Numbers of trades reserved for each driver of a round whose drivers send their statements to the engine: at ten thousand
/// orders a second they last for a day.
pub const TRADES_OF_A_DRIVER: i64 = 1_000_000_000;

/// The first number of a driver's trades, in a round whose first number is `first`.
pub const fn first_trade(share: Share, first: TradeId) -> TradeId {
    TradeId(first.0 + (share.number() as i64 - 1) * TRADES_OF_A_DRIVER)
}

/// The customers that a driver mostly speaks for: whole load units, shared out as evenly as they can be. `None` for the only
/// driver, and if there are fewer load units than drivers: then each speaks for all, like one process of several on a machine.
///
/// Half of the requests speak for any customer, like in the reference's partitions.
pub fn customers(share: Share, part: Part) -> Option<Partition> {
    const PERCENT: u32 = 50;
    const LOAD_UNIT: i64 = 1_000;
    let (units, of) = (part.load_units(), i64::from(share.of()));
    if share.is_whole() || share.is_process() || units < of {
        return None;
    }
    let begin = |number: u32| units * i64::from(number) / of;
    let (from, to) = (begin(share.number() - 1), begin(share.number()));
    let first = part.first_customer() + from * LOAD_UNIT;
    Some(Partition { first, count: (to - from) * LOAD_UNIT, percent: PERCENT })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_cover_every_customer_once() {
        for (count, of) in [(7_000, 3), (5_000, 5), (2_000, 2)] {
            let part = Part::whole(count, 1).unwrap();
            let mut next = 1;
            for number in 1..=of {
                let partition = customers(Share::new(number, of).unwrap(), part).unwrap();
                assert_eq!(partition.first, next);
                assert!(partition.count >= 1_000 && partition.count % 1_000 == 0);
                next += partition.count;
            }
            assert_eq!(next, count + 1);
        }
    }

    #[test]
    fn too_few_customers_are_everybodys() {
        let part = Part::whole(1_000, 1).unwrap();
        assert_eq!(customers(Share::new(2, 2).unwrap(), part), None);
        assert_eq!(customers(Share::WHOLE, part), None);
        let part = Part::whole(4_000, 1).unwrap();
        assert!(customers(Share::new(2, 2).unwrap(), part).is_some());
        assert_eq!(customers(Share::process(2, 2).unwrap(), part), None, "as the users of one process");
    }
}
