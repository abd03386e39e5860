//! Market-Feed's entry, and Trade-Cleanup's frame 1.

use super::super::FrameError;
use super::super::market_feed::{NO_LONGER_PENDING, NOTE_PRICE, NOTE_SUBMITTED, SUBMIT, TRIGGERED, TriggeredOrder};
use super::super::trade_cleanup::{
    CANCEL_PENDING, CANCEL_SUBMITTED, FORGET_PENDING, NOTE_PENDING_AS_CANCELED, NOTE_PENDING_AS_SUBMITTED,
    NOTE_SUBMITTED_AS_CANCELED,
};
use super::{add, call, keep, made};
use bourse_egen::txn::TickerEntry;
use bourse_engine::RoutineStep::{Change, ChangeOne, Each, IfAny, Values};
use bourse_engine::{Routine, RoutineStep, Session};
use bourse_schema::{Count, Field as _, Price, Quantity, Symbol, Timestamp, TradeId};

/// Steps for the orders that a price triggers; most prices trigger none.
static TRIGGER: &[RoutineStep] = &[Each(
    "pending",
    &TRIGGERED,
    &["p_symb", "p_price"],
    &[
        ChangeOne(&SUBMIT, &["pending.tr_t_id", "p_dts"]),
        ChangeOne(&NO_LONGER_PENDING, &["pending.tr_t_id"]),
        ChangeOne(&NOTE_SUBMITTED, &["pending.tr_t_id", "p_dts"]),
        Values(1, &["pending.tr_t_id", "pending.tr_bid_price", "pending.tr_tt_id", "pending.tr_qty"]),
    ],
)];

pub(super) static FEED: Routine = Routine::new(
    "bourse_market_feed_1",
    &[("p_symb", Symbol::TYPE), ("p_price", Price::TYPE), ("p_qty", Quantity::TYPE), ("p_dts", Timestamp::TYPE)],
    &[("v_updated", Count::TYPE)],
    &[
        Change(&NOTE_PRICE, &["p_symb", "p_price", "p_qty", "p_dts"], "v_updated"),
        Values(0, &["v_updated"]),
        IfAny(&TRIGGERED, &["p_symb", "p_price"], TRIGGER),
    ],
);

/// One entry of frame 1: rows changed, and the triggered orders, in any order.
pub(in super::super) fn feed(
    db: &mut dyn Session,
    entry: &TickerEntry,
    now: Timestamp,
) -> Result<(u64, Vec<TriggeredOrder>), FrameError> {
    let params = [(&entry.symbol).into(), entry.price_quote.into(), entry.trade_qty.into(), now.into()];
    let (mut updated, mut pending) = (None::<(u64,)>, Vec::new());
    // Each order is a piece of the last set.
    call(db, &FEED, &params, &mut |set, row| if set == 0 { keep(&mut updated, row) } else { add(&mut pending, row) })?;
    Ok((made(updated, &FEED)?.0, pending))
}

pub(super) static CLEANUP: Routine = Routine::new(
    "bourse_trade_cleanup_1",
    &[("p_dts", Timestamp::TYPE), ("p_start", TradeId::TYPE)],
    &[("v_noted", Count::TYPE), ("v_pending", Count::TYPE), ("v_forgotten", Count::TYPE), ("v_submitted", Count::TYPE)],
    &[
        Change(&NOTE_PENDING_AS_SUBMITTED, &["p_dts"], "v_noted"),
        Change(&NOTE_PENDING_AS_CANCELED, &["p_dts"], "v_noted"),
        Change(&CANCEL_PENDING, &["p_dts"], "v_pending"),
        Change(&FORGET_PENDING, &[], "v_forgotten"),
        Change(&NOTE_SUBMITTED_AS_CANCELED, &["p_dts", "p_start"], "v_noted"),
        Change(&CANCEL_SUBMITTED, &["p_dts", "p_start"], "v_submitted"),
        Values(0, &["v_pending", "v_forgotten", "v_submitted"]),
    ],
);

/// Frame 1: numbers of pending orders canceled, of these removed from TRADE_REQUEST, and of submitted orders canceled.
pub(in super::super) fn cleanup(
    db: &mut dyn Session,
    now: Timestamp,
    start: TradeId,
) -> Result<(u64, u64, u64), FrameError> {
    let mut counts = None;
    call(db, &CLEANUP, &[now.into(), start.into()], &mut |_, row| keep(&mut counts, row))?;
    made(counts, &CLEANUP)
}
