//! Expected findings of each detector for each bug.

use crate::detectors::{Detector, Found, Length};
use crate::matrix::{Cell, name};
use bourse_tpce::planted::Bug;

/// Expected finding of a detector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expected {
    /// The detector fails with this first reason; an empty one matches any.
    Caught(&'static str),
    /// The detector passes and shows this sign.
    Shown(&'static str),
    /// The detector finds nothing.
    Silent,
}

use Expected::{Caught, Shown, Silent};

/// Expected findings of `run`, `check`, `verify` and `acid`, in that order.
#[rustfmt::skip]
const EXPECTED: &[(Option<Bug>, [Expected; 4])] = &[
    (None, [Silent, Silent, Silent, Silent]),
    (Some(Bug::BrokerNotPaid), [Caught("brokers' trades"), Caught("C1 brokers' trades"), Caught("Trade-Result"), Caught("")]),
    (Some(Bug::OrderWithoutHistory), [Caught("trades and their history"), Caught("trades and their history"), Caught("Trade-Order"), Caught("")]),
    (Some(Bug::CashNotMoved), [Caught("cash, cents"), Silent, Caught("Trade-Result"), Caught("")]),
    (Some(Bug::HistoryOfClosedLots), [Caught("taxes"), Caught("taxes"), Caught("Trade-Result"), Silent]),
    (Some(Bug::LotsInWrongOrder), [Caught("order of lots"), Caught("order of lots"), Caught("Trade-Order"), Silent]),
    (Some(Bug::TaxAtHalfRate), [Caught("taxes"), Caught("taxes"), Caught("Trade-Order"), Silent]),
    (Some(Bug::CommissionAtHalfRate), [Caught("commissions"), Caught("commissions"), Caught("Trade-Result"), Silent]),
    (Some(Bug::CommissionOfMarketPrice), [Caught("commissions"), Caught("commissions"), Caught("Trade-Order"), Silent]),
    (Some(Bug::ChargeOfOtherTier), [Caught("charges"), Caught("charges"), Caught("Trade-Order"), Silent]),
    (Some(Bug::SettlementLate), [Caught("due dates"), Caught("due dates"), Caught("Trade-Result"), Silent]),
    (Some(Bug::MarginAsCash), [Caught("cash types"), Caught("cash types"), Caught("Trade-Result"), Silent]),
    (Some(Bug::OrderTwice), [Caught("orders"), Silent, Caught("Trade-Order"), Caught("")]),
    (Some(Bug::FeedTriggersNothing), [Caught("triggered limit orders"), Caught("triggered limit orders"), Caught("Market-Feed"), Silent]),
    (Some(Bug::FeedTriggersWrongWay), [Caught("triggered limit orders"), Caught("triggered limit orders"), Caught("Market-Feed"), Silent]),
    (Some(Bug::FeedLosesPrice), [Caught("volume"), Silent, Caught("Market-Feed"), Silent]),
    (Some(Bug::UpdateWrongRow), [Caught("lockstep sample"), Silent, Caught("Trade-Update"), Silent]),
    (Some(Bug::MaintenanceIdle), [Caught("lockstep sample"), Silent, Caught("Data-Maintenance"), Silent]),
    (Some(Bug::CleanupLeavesSubmitted), [Caught("trades of earlier runs"), Caught("steps of trades"), Caught("Trade-Cleanup"), Silent]),
    (Some(Bug::BrokerVolumeShort), [Caught("lockstep sample"), Silent, Caught("Broker-Volume"), Silent]),
    (Some(Bug::PositionShort), [Caught("operations failed"), Silent, Caught("Customer-Position"), Caught("")]),
    (Some(Bug::WatchAnswers42), [Caught("lockstep sample"), Silent, Caught("Market-Watch"), Silent]),
    (Some(Bug::WatchStalePrice), [Caught("lockstep sample"), Silent, Caught("Market-Watch"), Silent]),
    (Some(Bug::SecurityDaysReversed), [Caught("lockstep sample"), Silent, Caught("Security-Detail"), Silent]),
    (Some(Bug::LookupWrongRow), [Caught("lockstep sample"), Silent, Caught("Trade-Lookup"), Silent]),
    (Some(Bug::StatusReversed), [Caught("lockstep sample"), Silent, Caught("Trade-Status"), Silent]),
    (Some(Bug::NoBegin), [Caught("cannot begin"), Silent, Caught("Trade-Cleanup"), Caught("")]),
    (Some(Bug::Autocommit), [Caught("orders"), Silent, Caught("Trade-Cleanup"), Caught("")]),
    (Some(Bug::CommitRolledBack), [Caught("results"), Silent, Caught("Trade-Result"), Caught("")]),
    (Some(Bug::IsolationLowered), [Silent, Silent, Silent, Silent]),
    (Some(Bug::WriteLost), [Caught("C3 holding summaries"), Caught("C3 holding summaries"), Caught("Trade-Result"), Caught("")]),
    (Some(Bug::SyncOff), [Shown("durability class process"), Silent, Silent, Silent]),
    (Some(Bug::FailureCompleted), [Caught("orders"), Silent, Silent, Silent]),
    (Some(Bug::MixWithoutWatch), [Caught("mix of requests"), Silent, Silent, Silent]),
    (Some(Bug::OverchargedGenerator), [Caught("charges"), Caught("charges"), Silent, Silent]),
    (Some(Bug::LoaderLosesRowEarly), [Caught("load"), Silent, Caught("load"), Caught("")]),
    (Some(Bug::LoaderLosesRowLate), [Caught("contents of watch_item, before the run"), Caught("contents of watch_item"), Caught("before the first transaction"), Silent]),
    (Some(Bug::LoaderAltersPrices), [Caught("contents of daily_market, before the run"), Caught("contents of daily_market"), Caught("before the first transaction"), Silent]),
    (Some(Bug::IndexMissing), [Caught("schema, before the run"), Caught("schema"), Silent, Silent]),
    (Some(Bug::IndexIncomplete), [Caught("integrity"), Caught("integrity"), Caught("Trade-Status"), Silent]),
    (Some(Bug::RecorderCountsTwice), [Caught("operations of the whole round"), Silent, Silent, Silent]),
    (Some(Bug::RecorderDropsSlow), [Caught("operations of the whole round"), Silent, Silent, Silent]),
    (Some(Bug::RecorderDropsSome), [Caught("operations of the whole round"), Silent, Silent, Silent]),
    (Some(Bug::ServiceAsResponse), [Caught("response times"), Silent, Silent, Silent]),
];

/// Expected findings for bugs for which a [short](Length::SHORT) matrix runs only `run`, to save time.
#[rustfmt::skip]
const OF_RUN_ALONE: &[(Option<Bug>, [Expected; 4])] = &[
    (Some(Bug::BalanceReadEarly), [Caught("contention sample"), Silent, Silent, Caught("")]),
    (Some(Bug::BrokerTradesReadEarly), [Caught("contention sample"), Silent, Silent, Caught("")]),
    (Some(Bug::CommissionsReadEarly), [Caught("contention sample"), Silent, Silent, Caught("")]),
    (Some(Bug::SummaryReadEarly), [Caught("contention sample"), Silent, Silent, Caught("")]),
    (Some(Bug::VolumeReadEarly), [Caught("contention sample"), Silent, Silent, Silent]),
    (Some(Bug::PermissionNotNeeded), [Caught("lockstep sample"), Silent, Caught("Trade-Order"), Silent]),
    (Some(Bug::PermissionOfAnyAccount), [Caught("lockstep sample"), Silent, Caught("Trade-Order"), Silent]),
    (Some(Bug::PermissionWithoutTaxId), [Caught("lockstep sample"), Silent, Caught("Trade-Order"), Silent]),
    (Some(Bug::PermissionWithoutNames), [Caught("lockstep sample"), Silent, Caught("Trade-Order"), Silent]),
    (Some(Bug::LimitPriceCut), [Caught("limit prices, cents"), Silent, Caught("Trade-Order"), Silent]),
    (Some(Bug::CommissionCut), [Caught("commissions"), Caught("commissions"), Caught("Trade-Order"), Silent]),
    (Some(Bug::TaxCut), [Caught("taxes"), Caught("taxes"), Caught("Trade-Order"), Silent]),
    (Some(Bug::PriceInDimes), [Caught("trade prices, cents"), Caught("settled amounts"), Caught("Trade-Result"), Silent]),
    (Some(Bug::CashInSinglePrecision), [Caught("cash, cents"), Silent, Caught("Trade-Result"), Silent]),
    (Some(Bug::CashNameCut), [Caught("lockstep sample"), Silent, Caught("Trade-Result"), Silent]),
    (Some(Bug::TiesOfLots), [Caught("lockstep sample"), Silent, Caught("Trade-Order"), Silent]),
    (Some(Bug::LotsByPrice), [Caught("order of lots"), Caught("order of lots"), Caught("Trade-Order"), Silent]),
    (Some(Bug::OddLotAsHundred), [Caught("lockstep sample"), Silent, Caught("Trade-Order"), Silent]),
    (Some(Bug::EmptySummaryKept), [Caught("no empty holding summary"), Caught("no empty holding summary"), Caught("Trade-Result"), Silent]),
    (Some(Bug::ShortNotOpened), [Caught("C3 holding summaries"), Caught("C3 holding summaries"), Caught("Trade-Result"), Silent]),
    (Some(Bug::MarginMovesCash), [Caught("cash, cents"), Silent, Caught("Trade-Result"), Silent]),
    (Some(Bug::StopLossAsLimit), [Caught("triggered limit orders"), Caught("triggered limit orders"), Caught("Market-Feed"), Silent]),
    (Some(Bug::TaxWithheldOfAll), [Caught("settled amounts"), Caught("settled amounts"), Caught("Trade-Result"), Silent]),
];

/// Expected finding of a detector; `None` for a bug without a line in the table.
pub(crate) fn expected(bug: Option<Bug>, detector: Detector) -> Option<Expected> {
    let (_, wants) = EXPECTED.iter().chain(OF_RUN_ALONE).find(|(of, _)| *of == bug)?;
    Some(wants[detector as usize])
}

/// Whether a matrix of that length runs a detector for a bug; a short one runs no detector that should stay silent, except
/// for the control.
pub(crate) fn is_asked(bug: Option<Bug>, detector: Detector, length: Length) -> bool {
    match detector {
        Detector::Run => true,
        Detector::Acid => length.acid,
        Detector::Check | Detector::Verify if length == Length::SHORT && bug.is_some() => {
            let is_caught = matches!(expected(bug, detector), Some(Caught(_)));
            is_caught && !OF_RUN_ALONE.iter().any(|(of, _)| *of == bug)
        }
        Detector::Check | Detector::Verify => true,
    }
}

/// Differences between actual and expected findings. In a longer run another check may be the first to fail, and more
/// may be detected; nothing may be detected in the control.
pub(crate) fn misses(cells: &[Cell], length: Length) -> Vec<String> {
    let is_met = |cell: &&Cell| match (expected(cell.bug, cell.detector), &cell.found) {
        (Some(Caught(want)), Found::Caught(why)) | (Some(Shown(want)), Found::Shown(why)) => {
            want.is_empty() || want == why || length != Length::SHORT
        }
        (Some(Silent), Found::Silent) => true,
        (Some(Silent | Shown(_)), Found::Caught(_)) => length != Length::SHORT && cell.bug.is_some(),
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
