//! Expected findings of each detector for each bug.

use crate::detectors::{Detector, Found, Length};
use crate::matrix::{Cell, ISOLATION, WORKLOADS, is_control};

/// Expected finding of a detector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expected {
    /// The detector fails with this first reason; an empty one matches any.
    Caught(&'static str),
    /// The detector passes and shows this sign.
    Shown(&'static str),
    /// The detector finds nothing.
    Silent,
    /// The workload has no such command.
    NotRun,
}

use Expected::{Caught, NotRun, Shown, Silent};

/// Expected findings of `run`, `check`, `verify` and `acid`, in that order.
#[rustfmt::skip]
const EXPECTED: &[(&str, [Expected; 4])] = &[
    ("control-tpce", [Silent, Silent, Silent, Silent]),
    ("BrokerNotPaid", [Caught("brokers' trades"), Caught("C1 brokers' trades"), Caught("Trade-Result"), Caught("")]),
    ("OrderWithoutHistory", [Caught("trades and their history"), Caught("trades and their history"), Caught("Trade-Order"), Caught("")]),
    ("CashNotMoved", [Caught("cash, cents"), Silent, Caught("Trade-Result"), Caught("")]),
    ("HistoryOfClosedLots", [Caught("taxes"), Caught("taxes"), Caught("Trade-Result"), Silent]),
    ("LotsInWrongOrder", [Caught("order of lots"), Caught("order of lots"), Caught("Trade-Order"), Silent]),
    ("TaxAtHalfRate", [Caught("taxes"), Caught("taxes"), Caught("Trade-Order"), Silent]),
    ("CommissionAtHalfRate", [Caught("commissions"), Caught("commissions"), Caught("Trade-Result"), Silent]),
    ("CommissionOfMarketPrice", [Caught("commissions"), Caught("commissions"), Caught("Trade-Order"), Silent]),
    ("ChargeOfOtherTier", [Caught("charges"), Caught("charges"), Caught("Trade-Order"), Silent]),
    ("SettlementLate", [Caught("due dates"), Caught("due dates"), Caught("Trade-Result"), Silent]),
    ("MarginAsCash", [Caught("cash types"), Caught("cash types"), Caught("Trade-Result"), Silent]),
    ("OrderTwice", [Caught("orders"), Silent, Caught("Trade-Order"), Caught("")]),
    ("FeedTriggersNothing", [Caught("triggered limit orders"), Caught("triggered limit orders"), Caught("Market-Feed"), Silent]),
    ("FeedTriggersWrongWay", [Caught("triggered limit orders"), Caught("triggered limit orders"), Caught("Market-Feed"), Silent]),
    ("FeedLosesPrice", [Caught("volume"), Silent, Caught("Market-Feed"), Silent]),
    ("UpdateWrongRow", [Caught("lockstep sample"), Silent, Caught("Trade-Update"), Silent]),
    ("MaintenanceIdle", [Caught("lockstep sample"), Silent, Caught("Data-Maintenance"), Silent]),
    ("CleanupLeavesSubmitted", [Caught("trades of earlier runs"), Caught("steps of trades"), Caught("Trade-Cleanup"), Silent]),
    ("BrokerVolumeShort", [Caught("lockstep sample"), Silent, Caught("Broker-Volume"), Silent]),
    ("PositionShort", [Caught("operations failed"), Silent, Caught("Customer-Position"), Caught("")]),
    ("WatchAnswers42", [Caught("lockstep sample"), Silent, Caught("Market-Watch"), Silent]),
    ("WatchStalePrice", [Caught("lockstep sample"), Silent, Caught("Market-Watch"), Silent]),
    ("SecurityDaysReversed", [Caught("lockstep sample"), Silent, Caught("Security-Detail"), Silent]),
    ("LookupWrongRow", [Caught("lockstep sample"), Silent, Caught("Trade-Lookup"), Silent]),
    ("StatusReversed", [Caught("lockstep sample"), Silent, Caught("Trade-Status"), Silent]),
    ("NoBegin", [Caught("cannot begin"), Silent, Caught("Trade-Cleanup"), Caught("")]),
    ("Autocommit", [Caught("orders"), Silent, Caught("Trade-Cleanup"), Caught("")]),
    ("CommitRolledBack", [Caught("results"), Silent, Caught("Trade-Result"), Caught("")]),
    ("IsolationLowered", [Silent, Silent, Silent, Silent]),
    ("WriteLost", [Caught("C3 holding summaries"), Caught("C3 holding summaries"), Caught("Trade-Result"), Caught("")]),
    ("SyncOff", [Shown("durability class process"), Silent, Silent, Silent]),
    ("FailureCompleted", [Caught("orders"), Silent, Silent, Silent]),
    ("MixWithoutWatch", [Caught("mix of requests"), Silent, Silent, Silent]),
    ("OverchargedGenerator", [Caught("charges"), Caught("charges"), Silent, Silent]),
    ("LoaderLosesRowEarly", [Caught("load"), Silent, Caught("load"), Caught("")]),
    ("LoaderLosesRowLate", [Caught("contents of watch_item, before the run"), Caught("contents of watch_item"), Caught("before the first transaction"), Silent]),
    ("LoaderAltersPrices", [Caught("contents of daily_market, before the run"), Caught("contents of daily_market"), Caught("before the first transaction"), Silent]),
    ("IndexMissing", [Caught("schema, before the run"), Caught("schema"), Silent, Silent]),
    ("IndexIncomplete", [Caught("integrity"), Caught("integrity"), Caught("Trade-Status"), Silent]),
    ("RecorderCountsTwice", [Caught("operations of the whole round"), Silent, Silent, Silent]),
    ("RecorderDropsSlow", [Caught("operations of the whole round"), Silent, Silent, Silent]),
    ("RecorderDropsSome", [Caught("operations of the whole round"), Silent, Silent, Silent]),
    ("ServiceAsResponse", [Caught("response times"), Silent, Silent, Silent]),
];

/// Expected findings for TATP's bugs.
#[rustfmt::skip]
const OF_TATP: &[(&str, [Expected; 4])] = &[
    ("control-tatp", [Silent, Silent, Silent, NotRun]),
    ("LocationLost", [Caught("lockstep sample"), Silent, Caught(""), NotRun]),
    ("LocationRounded", [Caught("lockstep sample"), Silent, Caught("Update-Location"), NotRun]),
    ("SettingInOtherColumn", [Caught("contents of subscriber"), Caught("contents of subscriber"), Caught("Update-Subscriber-Data"), NotRun]),
    ("AllHoursDeleted", [Caught("call forwardings"), Silent, Caught(""), NotRun]),
    ("MissedDeleteCounted", [Caught("call forwardings"), Silent, Caught("Delete-Call-Forwarding"), NotRun]),
    ("EarlySearchTrusted", [Caught("contention sample"), Silent, Silent, NotRun]),
    ("ServiceNotNeeded", [Caught("operations failed"), Silent, Caught("Insert-Call-Forwarding"), NotRun]),
    ("InactiveServiceFound", [Caught("lockstep sample"), Silent, Caught("Get-New-Destination"), NotRun]),
    ("LastHourIncluded", [Caught("lockstep sample"), Silent, Caught("Get-New-Destination"), NotRun]),
    ("ChangeRolledBack", [Caught("call forwardings"), Silent, Caught(""), NotRun]),
    ("MissCommitted", [Caught("lockstep sample"), Silent, Caught(""), NotRun]),
    ("MixWithoutDelete", [Caught("lockstep sample"), Silent, Silent, NotRun]),
];

/// Expected findings for TPC-C's bugs.
#[rustfmt::skip]
const OF_TPCC: &[(&str, [Expected; 4])] = &[
    ("control-tpcc", [Silent, Silent, Silent, Silent]),
    ("WarehouseNotPaid", [Caught("payments to warehouses, cents"), Caught("C1 warehouses and districts"), Caught("Payment"), Caught("")]),
    ("DistrictNotPaid", [Caught("payments to districts, cents"), Caught("C1 warehouses and districts"), Caught("Payment"), Caught("")]),
    ("BadCreditIgnored", [Caught("lockstep sample"), Silent, Caught("Payment"), Silent]),
    ("PayerReadEarly", [Caught("contention sample"), Silent, Silent, Caught("")]),
    ("FirstNamesake", [Caught("lockstep sample"), Silent, Caught(""), Silent]),
    ("OrderNumberReadEarly", [Caught("contention sample"), Silent, Silent, Caught("")]),
    ("NoSuchItemCommitted", [Caught("orders"), Caught("C4 lines of districts"), Caught("New-Order"), Caught("")]),
    ("LineOfOnePiece", [Caught("lockstep sample"), Silent, Caught("New-Order"), Caught("")]),
    ("StockNotTaken", [Caught("lockstep sample"), Silent, Caught("New-Order"), Caught("")]),
    ("StockRefilledWithHundred", [Caught("lockstep sample"), Silent, Caught("New-Order"), Silent]),
    ("RemoteOrderLocal", [Caught("lockstep sample"), Silent, Caught("New-Order"), Caught("")]),
    ("RemoteNotCounted", [Caught("lockstep sample"), Silent, Caught("New-Order"), Caught("")]),
    ("NewestDelivered", [Caught("C2 next orders"), Caught("C2 next orders"), Caught("Delivery"), Caught("")]),
    ("LinesNotDelivered", [Caught("C7 dates of delivery"), Caught("C7 dates of delivery"), Caught("Delivery"), Caught("")]),
    ("DeliveryNotCharged", [Caught("deliveries"), Caught("C10 balances"), Caught("Delivery"), Caught("")]),
    ("FirstOrderShown", [Caught("lockstep sample"), Silent, Caught("Order-Status"), Caught("")]),
    ("LowStockTwice", [Caught("lockstep sample"), Silent, Caught("Stock-Level"), Silent]),
    ("MixWithoutStockLevel", [Caught("lockstep sample"), Silent, Silent, Silent]),
];

/// Expected findings for bugs for which a [short](Length::SHORT) matrix runs only `run`, to save time.
#[rustfmt::skip]
const OF_RUN_ALONE: &[(&str, [Expected; 4])] = &[
    ("BalanceReadEarly", [Caught("contention sample"), Silent, Silent, Caught("")]),
    ("BrokerTradesReadEarly", [Caught("contention sample"), Silent, Silent, Caught("")]),
    ("CommissionsReadEarly", [Caught("contention sample"), Silent, Silent, Caught("")]),
    ("SummaryReadEarly", [Caught("contention sample"), Silent, Silent, Caught("")]),
    ("VolumeReadEarly", [Caught("contention sample"), Silent, Silent, Silent]),
    ("PermissionNotNeeded", [Caught("lockstep sample"), Silent, Caught("Trade-Order"), Silent]),
    ("PermissionOfAnyAccount", [Caught("lockstep sample"), Silent, Caught("Trade-Order"), Silent]),
    ("PermissionWithoutTaxId", [Caught("lockstep sample"), Silent, Caught("Trade-Order"), Silent]),
    ("PermissionWithoutNames", [Caught("lockstep sample"), Silent, Caught("Trade-Order"), Silent]),
    ("LimitPriceCut", [Caught("limit prices, cents"), Silent, Caught("Trade-Order"), Silent]),
    ("CommissionCut", [Caught("commissions"), Caught("commissions"), Caught("Trade-Order"), Silent]),
    ("TaxCut", [Caught("taxes"), Caught("taxes"), Caught("Trade-Order"), Silent]),
    ("PriceInDimes", [Caught("trade prices, cents"), Caught("settled amounts"), Caught("Trade-Result"), Silent]),
    ("CashInSinglePrecision", [Caught("cash, cents"), Silent, Caught("Trade-Result"), Silent]),
    ("CashNameCut", [Caught("lockstep sample"), Silent, Caught("Trade-Result"), Silent]),
    ("TiesOfLots", [Caught("lockstep sample"), Silent, Caught("Trade-Order"), Silent]),
    ("LotsByPrice", [Caught("order of lots"), Caught("order of lots"), Caught("Trade-Order"), Silent]),
    ("OddLotAsHundred", [Caught("lockstep sample"), Silent, Caught("Trade-Order"), Silent]),
    ("EmptySummaryKept", [Caught("no empty holding summary"), Caught("no empty holding summary"), Caught("Trade-Result"), Silent]),
    ("ShortNotOpened", [Caught("C3 holding summaries"), Caught("C3 holding summaries"), Caught("Trade-Result"), Silent]),
    ("MarginMovesCash", [Caught("cash, cents"), Silent, Caught("Trade-Result"), Silent]),
    ("StopLossAsLimit", [Caught("triggered limit orders"), Caught("triggered limit orders"), Caught("Market-Feed"), Silent]),
    ("TaxWithheldOfAll", [Caught("settled amounts"), Caught("settled amounts"), Caught("Trade-Result"), Silent]),
];

/// Expected finding of `isolation` for an engine that breaks its promise.
const OF_ISOLATION: Expected = Caught("isolation");

/// Expected finding of a detector; `None` for a bug without a line in the tables.
pub(crate) fn expected(bug: &str, detector: Detector) -> Option<Expected> {
    if let Some(bugs) = WORKLOADS.iter().find(|bugs| bugs.workload == ISOLATION && bugs.names().any(|name| name == bug))
    {
        let wants = if bug == bugs.control { Silent } else { OF_ISOLATION };
        return Some(if detector == Detector::Isolation { wants } else { NotRun });
    }
    let (_, wants) = EXPECTED.iter().chain(OF_TATP).chain(OF_TPCC).chain(OF_RUN_ALONE).find(|(of, _)| *of == bug)?;
    Some(wants.get(detector as usize).copied().unwrap_or(NotRun))
}

/// Whether a matrix of that length runs a detector for a bug. Except for the controls, a short one runs no detector that should stay
/// silent, and no `check` that should fail at the check that already failed in `run`.
pub(crate) fn is_asked(bug: &str, detector: Detector, length: Length) -> bool {
    match (detector, expected(bug, detector)) {
        (_, Some(NotRun)) => false,
        (Detector::Run | Detector::Isolation, _) => true,
        (Detector::Acid, _) => length.acid,
        (Detector::Check | Detector::Verify, wanted) if length == Length::SHORT && !is_control(bug) => {
            matches!(wanted, Some(Caught(_)))
                && (detector == Detector::Verify || wanted != expected(bug, Detector::Run))
                && !OF_RUN_ALONE.iter().any(|(of, _)| *of == bug)
        }
        (Detector::Check | Detector::Verify, _) => true,
    }
}

/// Differences between actual and expected findings. In a longer run another check may be the first to fail, and more
/// may be detected; nothing may be detected in a control.
pub(crate) fn misses(cells: &[Cell], length: Length) -> Vec<String> {
    let is_met = |cell: &&Cell| match (expected(cell.bug, cell.detector), &cell.found) {
        (Some(Caught(want)), Found::Caught(why)) | (Some(Shown(want)), Found::Shown(why)) => {
            want.is_empty() || want == why || length != Length::SHORT
        }
        (Some(Silent), Found::Silent) => true,
        (Some(Silent | Shown(_)), Found::Caught(_)) => length != Length::SHORT && !is_control(cell.bug),
        _ => false,
    };
    let missed = cells.iter().filter(|cell| !is_met(cell));
    missed
        .map(|cell| {
            let want = expected(cell.bug, cell.detector);
            format!("{} {}: {want:?} expected, {:?} found", cell.bug, cell.detector.name(), cell.found)
        })
        .collect()
}
