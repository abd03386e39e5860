//! What each detector finds of each bug.

use crate::detectors::{Detector, Found, Length};
use crate::matrix::{Cell, name};
use bourse_tpce::planted::Bug;

/// What is expected of a detector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Want {
    /// It fails, for this reason first; for any where the reason is empty.
    Caught(&'static str),
    /// It shows this, and passes.
    Shown(&'static str),
    /// It finds nothing.
    Silent,
}

use Want::{Caught, Shown, Silent};

/// What is expected of `run`, `check`, `verify` and `acid`, in that order.
#[rustfmt::skip]
const EXPECTED: &[(Option<Bug>, [Want; 4])] = &[
    (None, [Silent, Silent, Silent, Silent]),
    (Some(Bug::BrokerNotPaid), [Caught("brokers' trades"), Caught("C1 brokers' trades"), Caught("Trade-Result"), Caught("")]),
    (Some(Bug::OrderWithoutHistory), [Caught("trades and their history"), Caught("trades and their history"), Caught("Trade-Order"), Caught("")]),
    (Some(Bug::CashNotMoved), [Caught("cash, cents"), Silent, Caught("Trade-Result"), Caught("")]),
    (Some(Bug::HistoryOfClosedLots), [Silent, Silent, Caught("Trade-Result"), Silent]),
    (Some(Bug::LotsInWrongOrder), [Silent, Silent, Caught("Trade-Order"), Silent]),
    (Some(Bug::TaxAtHalfRate), [Silent, Silent, Caught("Trade-Order"), Silent]),
    (Some(Bug::CommissionAtHalfRate), [Silent, Silent, Caught("Trade-Result"), Silent]),
    (Some(Bug::CommissionOfMarketPrice), [Silent, Silent, Caught("Trade-Order"), Silent]),
    (Some(Bug::ChargeOfOtherTier), [Silent, Silent, Caught("Trade-Order"), Silent]),
    (Some(Bug::SettlementLate), [Silent, Silent, Caught("Trade-Result"), Silent]),
    (Some(Bug::MarginAsCash), [Silent, Silent, Caught("Trade-Result"), Silent]),
    (Some(Bug::OrderTwice), [Caught("orders"), Silent, Caught("Trade-Order"), Caught("")]),
    (Some(Bug::FeedTriggersNothing), [Silent, Silent, Caught("Market-Feed"), Silent]),
    (Some(Bug::FeedTriggersWrongWay), [Silent, Silent, Caught("Market-Feed"), Silent]),
    (Some(Bug::FeedLosesPrice), [Silent, Silent, Caught("Market-Feed"), Silent]),
    (Some(Bug::UpdateWrongRow), [Silent, Silent, Caught("Trade-Update"), Silent]),
    (Some(Bug::MaintenanceIdle), [Silent, Silent, Caught("Data-Maintenance"), Silent]),
    (Some(Bug::CleanupLeavesSubmitted), [Silent, Silent, Caught("before the first transaction"), Silent]),
    (Some(Bug::BrokerVolumeShort), [Silent, Silent, Caught("Broker-Volume"), Silent]),
    (Some(Bug::PositionShort), [Shown("Customer-Position fails"), Silent, Caught("Customer-Position"), Caught("")]),
    (Some(Bug::WatchAnswers42), [Silent, Silent, Caught("Market-Watch"), Silent]),
    (Some(Bug::WatchStalePrice), [Silent, Silent, Caught("Market-Watch"), Silent]),
    (Some(Bug::SecurityDaysReversed), [Silent, Silent, Caught("Security-Detail"), Silent]),
    (Some(Bug::LookupWrongRow), [Silent, Silent, Caught("Trade-Lookup"), Silent]),
    (Some(Bug::StatusReversed), [Silent, Silent, Caught("Trade-Status"), Silent]),
    (Some(Bug::NoBegin), [Caught("cannot begin"), Silent, Caught("Trade-Cleanup"), Caught("")]),
    (Some(Bug::Autocommit), [Caught("orders"), Silent, Caught("Trade-Cleanup"), Caught("")]),
    (Some(Bug::CommitRolledBack), [Caught("results"), Silent, Caught("Trade-Result"), Caught("")]),
    (Some(Bug::IsolationLowered), [Silent, Silent, Silent, Silent]),
    (Some(Bug::WriteLost), [Caught("C3 holding summaries"), Caught("C3 holding summaries"), Caught("Trade-Result"), Caught("")]),
    (Some(Bug::SyncOff), [Shown("durability class process"), Silent, Silent, Silent]),
    (Some(Bug::FailureCompleted), [Caught("orders"), Silent, Silent, Silent]),
    (Some(Bug::MixWithoutWatch), [Shown("mix"), Silent, Silent, Silent]),
    (Some(Bug::OverchargedGenerator), [Silent, Silent, Silent, Silent]),
    (Some(Bug::LoaderLosesRowEarly), [Caught("load"), Silent, Caught("load"), Caught("")]),
    (Some(Bug::LoaderLosesRowLate), [Silent, Silent, Caught("before the first transaction"), Silent]),
    (Some(Bug::LoaderAltersPrices), [Silent, Silent, Caught("before the first transaction"), Silent]),
    (Some(Bug::IndexMissing), [Silent, Silent, Silent, Silent]),
    (Some(Bug::IndexIncomplete), [Silent, Silent, Caught("Trade-Status"), Silent]),
    (Some(Bug::RecorderCountsTwice), [Silent, Silent, Silent, Silent]),
    (Some(Bug::RecorderDropsSlow), [Silent, Silent, Silent, Silent]),
    (Some(Bug::RecorderDropsSome), [Silent, Silent, Silent, Silent]),
    (Some(Bug::ServiceAsResponse), [Silent, Silent, Silent, Silent]),
];

/// What is expected of a detector; none for a bug without a line in the table.
pub fn expected(bug: Option<Bug>, detector: Detector) -> Option<Want> {
    let (_, wants) = EXPECTED.iter().find(|(of, _)| *of == bug)?;
    Some(wants[detector as usize])
}

/// Where something else was found than is expected. In a run of full length another check may be the first to fail.
pub fn misses(cells: &[Cell], length: Length) -> Vec<String> {
    let is_met = |cell: &&Cell| match (expected(cell.bug, cell.detector), &cell.found) {
        (Some(Caught(want)), Found::Caught(why)) | (Some(Shown(want)), Found::Shown(why)) => {
            want.is_empty() || want == why || length != Length::SHORT
        }
        (Some(Silent), Found::Silent) => true,
        _ => false,
    };
    let missed = cells.iter().filter(|cell| !is_met(cell));
    missed
        .map(|cell| {
            let want = expected(cell.bug, cell.detector);
            format!("{} {}: {want:?} expected, {:?} found", name(cell.bug), cell.detector.name(), cell.found)
        })
        .collect()
}
