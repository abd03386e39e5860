//! The system under test as its driver sees it (Clause 4.3): the work before and after a round, and for each user a
//! connector that performs transactions.
//!
//! Three of them: [`InProcess`], where driver and database share a process; one of several drivers on the same database, on
//! any machines or as processes of one; and an application server across a network. The driver, its customers, the market and
//! the reports are the same for all.
//!
//! | file | contents |
//! |---|---|
//! | `house` | the brokerage house: numbers of trades, Trade-Cleanup, reconciliation snapshot, transactions on a session |
//! | `in_process` | the house in the driver's own process |
//! | `short` | rows that a database of few days is known to lack |

mod house;
mod in_process;
mod short;

pub use house::BrokerageHouse;
pub use in_process::InProcess;
pub use short::ShortDatabase;

use crate::aged::PendingOrder;
use crate::check::reconciliation::{AcknowledgedCommits, TotalsSnapshot};
use crate::transactions::trade_cleanup::TradeCleanupOutput;
use crate::transactions::{FrameError, Output, Request, SendToMarket, TxnError};
use bourse_driver::{Clock, Nanos, OperationCx, RetryPolicy, ServerTime};
use bourse_egen::Part;
use bourse_egen::driver::Partition;
use bourse_engine::{Engine, EngineError};
use bourse_schema::TradeId;
use std::fmt;
use std::sync::atomic::AtomicBool;

/// A system under test.
pub trait Sut: Sync {
    /// The database: its description, its size once a second, the driver's sessions.
    fn engine(&self) -> &dyn Engine;

    /// Begins a round, before any transaction of it: Trade-Cleanup, and the snapshot for reconciliation. May wait for other
    /// drivers of the same round; `interrupt` ends the wait.
    ///
    /// # Errors
    /// [`OpenError`].
    fn open(&self, terms: &Terms, clock: &dyn Clock, interrupt: &AtomicBool) -> Result<BegunRound, OpenError>;

    /// Places orders from before the round that was opened last, while no user has a connector: the market has an age when
    /// the round begins. Returns the placed orders' sums; stops early once `interrupt` is set.
    ///
    /// # Errors
    /// [`OpenError`].
    fn place(
        &self,
        orders: &[PendingOrder],
        clock: &dyn Clock,
        interrupt: &AtomicBool,
    ) -> Result<AcknowledgedCommits, OpenError> {
        let _ = (orders, clock, interrupt);
        Err(OpenError::Refused(
            "the market cannot be aged: orders are placed in bulk on an engine in process".to_owned(),
        ))
    }

    /// A user's connector, for the round that was opened last.
    ///
    /// # Errors
    /// The engine's, or the network's.
    fn connector(&self) -> Result<Box<dyn Connector>, EngineError>;

    /// Sessions that other processes have on the same database during the round.
    fn sessions_elsewhere(&self) -> usize {
        0
    }

    /// Waits until the round begins, once all of this driver's users are ready, and returns the time of its begin.
    ///
    /// # Errors
    /// [`OpenError`].
    fn begin(&self, clock: &dyn Clock) -> Result<Nanos, OpenError> {
        Ok(clock.now())
    }

    /// Limit orders that are pending now.
    ///
    /// # Errors
    /// The engine's, or the network's.
    fn pending_orders(&self) -> Result<u64, EngineError>;
}

/// Performs one user's transactions, one at a time: the specification's connector between driver and SUT.
pub trait Connector: Send {
    /// Performs a transaction; orders it makes go to `market` once they are committed. Retries and back-offs are recorded in
    /// `cx`.
    ///
    /// # Errors The failure, and the frame in which it occurred. After kind
    /// [`ConnectionLost`](bourse_engine::ErrorKind::ConnectionLost) or [`InDoubt`](bourse_engine::ErrorKind::InDoubt) it is
    /// unknown whether the transaction was committed.
    fn perform(
        &mut self,
        cx: &mut OperationCx<'_>,
        request: &Request,
        market: &dyn SendToMarket,
    ) -> Result<Answer, TxnError>;
}

/// Result of a transaction.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The transaction's output.
    pub output: Output,
    /// Whether a check of the harness that failed is explained by a [`ShortDatabase`].
    pub excused: bool,
    /// Time in an application server, if there is one.
    pub server: Option<ServerTime>,
}

/// Parameters of a round that the system under test needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// The database.
    pub part: Part,
    /// This driver's place among the round's drivers.
    pub share: Share,
    /// Warm-up before the measurement interval.
    pub warm_up_ns: Nanos,
    /// The measurement interval.
    pub measure_ns: Nanos,
    /// Retries after conflicts.
    pub retry: RetryPolicy,
    /// Sessions of this driver.
    pub sessions: u32,
}

/// A round has begun.
#[derive(Debug, Clone, PartialEq)]
pub struct BegunRound {
    /// Output of Trade-Cleanup.
    pub cleaned: TradeCleanupOutput,
    /// Time that Trade-Cleanup took.
    pub cleanup_ns: Nanos,
    /// Reconciliation after it.
    pub before: TotalsSnapshot,
}

/// Error of a round that cannot begin.
#[derive(Debug, Clone, thiserror::Error)]
pub enum OpenError {
    /// The engine's, or the network's.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A statement found another number of rows than required.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// Trade-Cleanup failed.
    #[error(transparent)]
    Cleanup(#[from] TxnError),
    /// An application server refuses this driver, or this round.
    #[error("{0}")]
    Refused(String),
    /// The caller's flag was raised while waiting for other drivers.
    #[error("interrupted while waiting for the other drivers")]
    Interrupted,
}

/// Place of a driver among the drivers of a round: number `number` of `of`, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Share {
    number: u32,
    of: u32,
    /// Whether it speaks for all customers alike, like one process of several on a machine.
    for_all: bool,
}

impl Share {
    /// The only driver.
    pub const WHOLE: Self = Self { number: 1, of: 1, for_all: false };
    /// The most drivers of one round.
    pub const MOST: u32 = 64;
    /// Numbers of trades reserved for each driver of a round whose drivers send their statements to the engine: at ten
    /// thousand orders a second they last for a day.
    pub const TRADES: i64 = 1_000_000_000;

    /// Driver `number` of `of`; `None` if there is no such driver.
    pub const fn new(number: u32, of: u32) -> Option<Self> {
        if number >= 1 && number <= of && of <= Self::MOST { Some(Self { number, of, for_all: false }) } else { None }
    }

    /// Process `number` of `of` on one machine, which speaks for all customers; `None` if there is no such process.
    pub const fn process(number: u32, of: u32) -> Option<Self> {
        match Self::new(number, of) {
            Some(share) => Some(Self { for_all: true, ..share }),
            None => None,
        }
    }

    /// Its number, counted from 1.
    pub const fn number(self) -> u32 {
        self.number
    }

    /// Number of drivers of the round.
    pub const fn of(self) -> u32 {
        self.of
    }

    /// The first number of this driver's trades, in a round whose first number is `first`.
    pub const fn first_trade(self, first: TradeId) -> TradeId {
        TradeId(first.0 + (self.number as i64 - 1) * Self::TRADES)
    }

    /// Whether other processes of this machine have the rest of the round.
    pub const fn is_process(self) -> bool {
        self.for_all
    }

    /// Whether there is one driver only.
    pub const fn is_whole(self) -> bool {
        self.of == 1
    }

    /// The customers that this driver mostly speaks for: whole load units, shared out as evenly as they can be. `None` for
    /// the only driver, and if there are fewer load units than drivers: then each speaks for all.
    ///
    /// Half of the requests speak for any customer, like in the reference's partitions.
    pub fn customers(self, part: Part) -> Option<Partition> {
        const PERCENT: u32 = 50;
        const LOAD_UNIT: i64 = 1_000;
        let (units, of) = (part.load_units(), i64::from(self.of));
        if self.is_whole() || self.for_all || units < of {
            return None;
        }
        let begin = |number: u32| units * i64::from(number) / of;
        let (from, to) = (begin(self.number - 1), begin(self.number));
        let first = part.first_customer() + from * LOAD_UNIT;
        Some(Partition { first, count: (to - from) * LOAD_UNIT, percent: PERCENT })
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_cover_every_customer_once() {
        for (customers, of) in [(7_000, 3), (5_000, 5), (2_000, 2)] {
            let part = Part::whole(customers, 1).unwrap();
            let mut next = 1;
            for number in 1..=of {
                let partition = Share::new(number, of).unwrap().customers(part).unwrap();
                assert_eq!(partition.first, next);
                assert!(partition.count >= 1_000 && partition.count % 1_000 == 0);
                next += partition.count;
            }
            assert_eq!(next, customers + 1);
        }
    }

    #[test]
    fn too_few_customers_are_everybodys() {
        let part = Part::whole(1_000, 1).unwrap();
        assert_eq!(Share::new(2, 2).unwrap().customers(part), None);
        assert_eq!(Share::WHOLE.customers(part), None);
        let part = Part::whole(4_000, 1).unwrap();
        assert!(Share::new(2, 2).unwrap().customers(part).is_some());
        assert_eq!(Share::process(2, 2).unwrap().customers(part), None, "as the users of one process");
        assert_eq!((Share::new(0, 2), Share::new(3, 2), Share::new(1, 65)), (None, None, None));
    }
}
