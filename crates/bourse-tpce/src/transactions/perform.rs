//! Performs a transaction of any kind, and repeats it after conflicts.

use super::broker_volume::{BrokerVolumeOutput, broker_volume};
use super::customer_position::{CustomerPositionOutput, customer_position};
use super::data_maintenance::{DataMaintenanceOutput, data_maintenance};
use super::error::InFrame;
use super::market_feed::{MarketFeedOutput, market_feed};
use super::market_watch::{MarketWatchOutput, market_watch};
use super::security_detail::{SecurityDetailOutput, security_detail};
use super::trade_cleanup::{TradeCleanupOutput, trade_cleanup};
use super::trade_lookup::{TradeLookupOutput, trade_lookup};
use super::trade_order::{TradeOrderOutput, trade_order};
use super::trade_result::{TradeResultOutput, trade_result};
use super::trade_status::{TradeStatusOutput, trade_status};
use super::trade_update::{TradeUpdateOutput, trade_update};
use super::{Context, FrameError, Retry, Status, Transaction, TxnError, routines};
use bourse_egen::txn::{self, CustomerRequest, MarketRequest};
use bourse_engine::{ErrorKind, Isolation, Session};
use bourse_oltp::planted;

macro_rules! kinds {
    ($($kind:ident => $output:ty),+ $(,)?) => {
        /// A transaction's input: a request of the customers, the market or maintenance.
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[expect(missing_docs, reason = "each variant is documented at its content")]
        pub enum Request {
            $($kind(txn::$kind),)+
        }

        /// A transaction's output, with its status.
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[expect(missing_docs, reason = "each variant is documented at its content")]
        pub enum Output {
            $($kind($output),)+
        }

        impl Request {
            /// The requested transaction.
            pub const fn transaction(&self) -> Transaction {
                match self {
                    $(Self::$kind(_) => Transaction::$kind,)+
                }
            }
        }

        impl Output {
            /// The transaction that produced the output.
            pub const fn transaction(&self) -> Transaction {
                match self {
                    $(Self::$kind(_) => Transaction::$kind,)+
                }
            }

            /// The harness's verdict.
            pub fn status(&self) -> Status {
                match self {
                    $(Self::$kind(output) => output.status,)+
                }
            }
        }

        $(impl From<txn::$kind> for Request {
            fn from(input: txn::$kind) -> Self {
                Self::$kind(input)
            }
        })+
    };
}

kinds! {
    BrokerVolume => BrokerVolumeOutput,
    CustomerPosition => Box<CustomerPositionOutput>,
    MarketFeed => MarketFeedOutput,
    MarketWatch => MarketWatchOutput,
    SecurityDetail => Box<SecurityDetailOutput>,
    TradeLookup => TradeLookupOutput,
    TradeOrder => Box<TradeOrderOutput>,
    TradeResult => TradeResultOutput,
    TradeStatus => TradeStatusOutput,
    TradeUpdate => TradeUpdateOutput,
    DataMaintenance => DataMaintenanceOutput,
    TradeCleanup => TradeCleanupOutput,
}

impl From<CustomerRequest> for Request {
    fn from(request: CustomerRequest) -> Self {
        match request {
            CustomerRequest::BrokerVolume(input) => input.into(),
            CustomerRequest::CustomerPosition(input) => input.into(),
            CustomerRequest::MarketWatch(input) => input.into(),
            CustomerRequest::SecurityDetail(input) => input.into(),
            CustomerRequest::TradeLookup(input) => input.into(),
            CustomerRequest::TradeOrder(input) => input.into(),
            CustomerRequest::TradeStatus(input) => input.into(),
            CustomerRequest::TradeUpdate(input) => input.into(),
        }
    }
}

impl From<MarketRequest> for Request {
    fn from(request: MarketRequest) -> Self {
        match request {
            MarketRequest::TradeResult(input) => input.into(),
            MarketRequest::MarketFeed(input) => input.into(),
        }
    }
}

/// Result of a transaction.
#[derive(Debug, Clone, PartialEq)]
pub struct TransactionResult<T = Output> {
    /// The transaction's output.
    pub output: T,
    /// Number of restarts after conflicts with other transactions.
    pub retries: u32,
}

impl<T> TransactionResult<T> {
    fn map<U>(self, f: impl FnOnce(T) -> U) -> TransactionResult<U> {
        TransactionResult { output: f(self.output), retries: self.retries }
    }
}

/// Runs a transaction, again and again with the same input while it conflicts with others.
///
/// Orders go to the market only after the commit, so a retry sends nothing twice.
///
/// # Errors
/// The failure, and its frame; a conflict only after [`Retry::attempts`]. The transaction is rolled back.
pub fn perform(db: &mut dyn Session, context: &Context<'_>, request: &Request) -> Result<TransactionResult, TxnError> {
    let retry = &context.retry;
    Ok(match request {
        Request::BrokerVolume(input) => retrying(retry, || broker_volume(db, input))?.map(Output::BrokerVolume),
        Request::CustomerPosition(input) => {
            retrying(retry, || customer_position(db, input))?.map(Output::CustomerPosition)
        }
        // Each entry of a feed is a transaction of its own, retried on its own.
        Request::MarketFeed(input) => market_feed(db, context, input)?.map(Output::MarketFeed),
        Request::MarketWatch(input) => retrying(retry, || market_watch(db, input))?.map(Output::MarketWatch),
        Request::SecurityDetail(input) => retrying(retry, || security_detail(db, input))?.map(Output::SecurityDetail),
        Request::TradeLookup(input) => retrying(retry, || trade_lookup(db, input))?.map(Output::TradeLookup),
        Request::TradeOrder(input) => {
            if planted!(OrderTwice) {
                trade_order(db, context, input)?;
            }
            retrying(retry, || trade_order(db, context, input))?.map(Output::TradeOrder)
        }
        Request::TradeResult(input) => retrying(retry, || trade_result(db, context, input))?.map(Output::TradeResult),
        Request::TradeStatus(input) => retrying(retry, || trade_status(db, input))?.map(Output::TradeStatus),
        Request::TradeUpdate(input) => retrying(retry, || trade_update(db, input))?.map(Output::TradeUpdate),
        Request::DataMaintenance(input) => {
            retrying(retry, || data_maintenance(db, context, input))?.map(Output::DataMaintenance)
        }
        Request::TradeCleanup(input) => {
            retrying(retry, || trade_cleanup(db, context, input))?.map(Output::TradeCleanup)
        }
    })
}

/// Repeats an attempt while it conflicts, pausing in between.
///
/// # Errors
/// The last attempt's.
pub fn retrying<T>(
    retry: &Retry<'_>,
    mut attempt: impl FnMut() -> Result<T, TxnError>,
) -> Result<TransactionResult<T>, TxnError> {
    let mut attempts = 1;
    loop {
        match attempt() {
            Ok(output) => return Ok(TransactionResult { output, retries: attempts - 1 }),
            Err(error)
                if error.kind() == ErrorKind::Conflict
                    && attempts < retry.attempts
                    && (retry.back_off)(attempts + 1) =>
            {
                attempts += 1;
            }
            Err(error) => return Err(TxnError { attempts, ..error }),
        }
    }
}

/// Opens a database transaction of the kind's isolation and runs the harness in it; the last frame ends it.
///
/// A transaction still open when the harness stops early, because of an error or a check that failed, is rolled back.
pub(super) fn in_transaction<T>(
    db: &mut dyn Session,
    transaction: Transaction,
    harness: impl FnOnce(&mut dyn Session, &mut Status) -> Result<T, InFrame>,
) -> Result<(T, Status), TxnError> {
    let failed = |frame, cause| TxnError { transaction, frame, attempts: 1, cause };
    let isolation = if planted!(IsolationLowered) { Isolation::ReadCommitted } else { transaction.isolation() };
    let never = [planted!(NoBegin), planted!(Autocommit)].contains(&true);
    let begun =
        if never { Ok(()) } else { db.install(routines::ALL).and_then(|()| db.begin(isolation, transaction.access())) };
    if let Err(error) = begun {
        return Err(failed(None, error.into()));
    }
    let mut status = Status::SUCCESS;
    match harness(db, &mut status) {
        Ok(output) => {
            if status.is_error() && !never {
                db.rollback().map_err(|error| failed(None, error.into()))?;
            }
            Ok((output, status))
        }
        Err(InFrame { frame, cause }) => {
            // The first error is reported; if the roll-back fails too, the engine is lost and the next call reports it.
            let _ = db.rollback();
            Err(failed(Some(frame), cause))
        }
    }
}

/// Commits, as last frames do.
pub(super) fn commit(db: &mut dyn Session) -> Result<(), FrameError> {
    if planted!(Autocommit) {
        return Ok(());
    }
    if planted!(CommitRolledBack) {
        return Ok(db.rollback()?);
    }
    Ok(db.commit()?)
}
