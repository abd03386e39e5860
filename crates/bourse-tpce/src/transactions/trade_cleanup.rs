//! Trade-Cleanup (Clause 3.3.12): cancels the unfinished orders of an earlier run. Runs alone, before a run.

use super::error::{InFrame, WithFrame as _};
use super::perform::{commit, in_transaction};
use super::routines::market;
use super::{Context, FrameError, Status, Transaction, TxnError, rows};
use bourse_egen::txn::TradeCleanup;
use bourse_engine::{Session, Sql};
use bourse_oltp::planted;

/// Output of Trade-Cleanup.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct TradeCleanupOutput {
    /// Always success.
    pub status: Status,
    /// Pending limit orders that were canceled.
    pub pending_canceled: u64,
    /// Submitted orders that were canceled.
    pub submitted_canceled: u64,
}

/// Runs Trade-Cleanup.
///
/// # Errors
/// The engine's.
pub fn trade_cleanup(
    db: &mut dyn Session,
    context: &Context<'_>,
    input: &TradeCleanup,
) -> Result<TradeCleanupOutput, TxnError> {
    let harness = |db: &mut dyn Session, _: &mut Status| -> Result<_, InFrame> { frame1(db, context, input).frame(1) };
    let ((pending_canceled, submitted_canceled), status) = in_transaction(db, Transaction::TradeCleanup, harness)?;
    Ok(TradeCleanupOutput { status, pending_canceled, submitted_canceled })
}

pub(super) static NOTE_PENDING_AS_SUBMITTED: Sql = Sql::new(
    "INSERT INTO trade_history (th_t_id, th_dts, th_st_id)
     SELECT tr_t_id, ?1, 'SBMT' FROM trade_request",
);
pub(super) static NOTE_PENDING_AS_CANCELED: Sql = Sql::new(
    "INSERT INTO trade_history (th_t_id, th_dts, th_st_id)
     SELECT tr_t_id, ?1, 'CNCL' FROM trade_request",
);
pub(super) static CANCEL_PENDING: Sql = Sql::new(
    "UPDATE trade SET t_st_id = 'CNCL', t_dts = ?1
      WHERE t_id IN (SELECT tr_t_id FROM trade_request)",
);
pub(super) static FORGET_PENDING: Sql = Sql::new("DELETE FROM trade_request");
pub(super) static NOTE_SUBMITTED_AS_CANCELED: Sql = Sql::new(
    "INSERT INTO trade_history (th_t_id, th_dts, th_st_id)
     SELECT t_id, ?1, 'CNCL' FROM trade WHERE t_id >= ?2 AND t_st_id = 'SBMT'",
);
pub(super) static CANCEL_SUBMITTED: Sql = Sql::new(
    "UPDATE trade SET t_st_id = 'CNCL', t_dts = ?1
      WHERE t_id >= ?2 AND t_st_id = 'SBMT'",
);

/// Frame 1: cancels pending orders, then submitted ones from the first trade after the initial ones on (Clause 3.3.12.3).
fn frame1(db: &mut dyn Session, context: &Context<'_>, input: &TradeCleanup) -> Result<(u64, u64), FrameError> {
    let now = (context.now)();
    if db.has_routines() {
        let (pending, forgotten, submitted) = market::cleanup(db, now, input.start_trade_id)?;
        if forgotten != pending {
            return Err(FrameError::rows(&FORGET_PENDING, pending, forgotten));
        }
        commit(db)?;
        return Ok((pending, submitted));
    }
    let now = now.into();
    rows::change(db, &NOTE_PENDING_AS_SUBMITTED, &[now])?;
    rows::change(db, &NOTE_PENDING_AS_CANCELED, &[now])?;
    let pending = rows::change(db, &CANCEL_PENDING, &[now])?;
    let forgotten = rows::change(db, &FORGET_PENDING, &[])?;
    if forgotten != pending {
        return Err(FrameError::rows(&FORGET_PENDING, pending, forgotten));
    }
    let start = input.start_trade_id.into();
    if planted!(CleanupLeavesSubmitted) {
        commit(db)?;
        return Ok((pending, 0));
    }
    rows::change(db, &NOTE_SUBMITTED_AS_CANCELED, &[now, start])?;
    let submitted = rows::change(db, &CANCEL_SUBMITTED, &[now, start])?;
    commit(db)?;
    Ok((pending, submitted))
}

pub(super) static STATEMENTS: &[&Sql] = &[
    &NOTE_PENDING_AS_SUBMITTED,
    &NOTE_PENDING_AS_CANCELED,
    &CANCEL_PENDING,
    &FORGET_PENDING,
    &NOTE_SUBMITTED_AS_CANCELED,
    &CANCEL_SUBMITTED,
];
