//! Market-Feed (Clause 3.3.3): the exchange's ticker tape. Notes the last price of each security on it, and submits the
//! limit orders that the price triggers.

use super::error::{InFrame, WithFrame as _};
use super::perform::{TransactionResult, commit, in_transaction, retrying};
use super::routines::market;
use super::rows::{self, rows};
use super::{Context, FrameError, Status, Transaction, TxnError};
#[cfg(feature = "planted-bug")]
use crate::planted::early;
use bourse_egen::txn::{MarketFeed, TickerEntry, TradeAction, TradeRequest, TradeType};
use bourse_engine::{EngineError, ErrorKind, Session, Sql};
use bourse_oltp::planted;
use bourse_schema::{Price, Quantity, TradeId, TradeTypeId};

/// Output of Market-Feed.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct MarketFeedOutput {
    /// -311 if fewer prices were noted than the feed has different securities.
    pub status: Status,
    /// Prices noted.
    pub num_updated: i32,
    /// Limit orders sent to the market.
    pub send_len: i32,
}

/// Runs Market-Feed: each entry in a database transaction of its own, whose orders are sent once it is committed.
///
/// Conflicts are retried entry by entry, so that no order is sent twice.
///
/// # Errors
/// The engine's. Entries before the one that failed stay done.
pub fn market_feed(
    db: &mut dyn Session,
    context: &Context<'_>,
    input: &MarketFeed,
) -> Result<TransactionResult<MarketFeedOutput>, TxnError> {
    let mut output = MarketFeedOutput { status: Status::SUCCESS, num_updated: 0, send_len: 0 };
    let mut retries = 0;
    for entry in &input.entries {
        let done = retrying(&context.retry, || feed_entry(db, context, entry))?;
        output.add(&done.output);
        retries += done.retries;
    }
    output.check(input);
    Ok(TransactionResult { output, retries })
}

/// Output of one entry of a feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct FedEntry {
    /// Prices noted: 1, or 0 for a security that does not exist.
    pub updated: i32,
    /// Limit orders sent to the market.
    pub sent: i32,
}

impl MarketFeedOutput {
    /// Counts an entry.
    pub fn add(&mut self, entry: &FedEntry) {
        self.num_updated += entry.updated;
        self.send_len += entry.sent;
    }

    /// The harness's check, once all entries are counted.
    pub fn check(&mut self, input: &MarketFeed) {
        self.status.raise_if(self.num_updated < input.unique_symbols, -311);
    }
}

/// Runs one entry of a feed in its own database transaction, then sends the orders that it triggered.
///
/// # Errors
/// The engine's. Nothing was changed then and nothing sent, so that the entry can be run again.
pub fn feed_entry(db: &mut dyn Session, context: &Context<'_>, entry: &TickerEntry) -> Result<FedEntry, TxnError> {
    let harness = |db: &mut dyn Session, _: &mut Status| -> Result<_, InFrame> { frame1(db, context, entry).frame(1) };
    planted!(VolumeReadEarly: early::before_feed(db, &entry.symbol)?; ());
    let ((updated, triggered), _) = in_transaction(db, Transaction::MarketFeed, harness)?;
    for order in &triggered {
        context.market.send(order);
    }
    Ok(FedEntry { updated, sent: triggered.len() as i32 })
}

pub(super) static NOTE_PRICE: Sql = Sql::new(
    "UPDATE last_trade SET lt_price = ?2, lt_vol = lt_vol + ?3, lt_dts = ?4
      WHERE lt_s_symb = ?1",
);
// Three ranges of one index, which has all the columns.
pub(super) static TRIGGERED: Sql = Sql::new(
    "SELECT tr_t_id, tr_bid_price, tr_tt_id, tr_qty
       FROM trade_request
      WHERE tr_s_symb = ?1 AND tr_tt_id = 'TSL' AND tr_bid_price >= ?2
     UNION ALL
     SELECT tr_t_id, tr_bid_price, tr_tt_id, tr_qty
       FROM trade_request
      WHERE tr_s_symb = ?1 AND tr_tt_id = 'TLS' AND tr_bid_price <= ?2
     UNION ALL
     SELECT tr_t_id, tr_bid_price, tr_tt_id, tr_qty
       FROM trade_request
      WHERE tr_s_symb = ?1 AND tr_tt_id = 'TLB' AND tr_bid_price >= ?2",
);
pub(super) static SUBMIT: Sql = Sql::new("UPDATE trade SET t_dts = ?2, t_st_id = 'SBMT' WHERE t_id = ?1");
pub(super) static NO_LONGER_PENDING: Sql = Sql::new("DELETE FROM trade_request WHERE tr_t_id = ?1");
pub(super) static NOTE_SUBMITTED: Sql =
    Sql::new("INSERT INTO trade_history (th_t_id, th_dts, th_st_id) VALUES (?1, ?2, 'SBMT')");

rows! {
    pub(super) struct TriggeredOrder {
        trade_id: TradeId,
        bid_price: Price,
        trade_type: TradeTypeId,
        qty: Quantity,
    }
}

/// Frame 1, one entry of its loop (Clause 3.3.3.3): rows changed, and the orders to send after the commit.
fn frame1(
    db: &mut dyn Session,
    context: &Context<'_>,
    entry: &TickerEntry,
) -> Result<(i32, Vec<TradeRequest>), FrameError> {
    let now = (context.now)();
    if db.has_routines() {
        let (updated, mut pending) = market::feed(db, entry, now)?;
        pending.sort_by_key(|order| order.trade_id);
        let orders = pending.iter().map(|order| to_market(order, entry)).collect::<Result<_, _>>()?;
        commit(db)?;
        return Ok((updated as i32, orders));
    }
    let now = now.into();
    let (symbol, quote) = ((&entry.symbol).into(), entry.price_quote.into());
    let updated = if planted!(FeedLosesPrice) {
        1
    } else {
        rows::change(db, &NOTE_PRICE, &[symbol, quote, entry.trade_qty.into(), now])?
    };
    planted!(VolumeReadEarly: early::note_volume(db, &entry.symbol, entry.trade_qty)?; ());
    let triggered = planted!(FeedTriggersWrongWay: crate::planted::wrong_way(); &TRIGGERED);
    let triggered = planted!(StopLossAsLimit: crate::planted::stop_loss_as_limit(); triggered);
    let mut pending: Vec<TriggeredOrder> = rows::all(db, triggered, &[symbol, quote])?;
    if planted!(FeedTriggersNothing) {
        pending.clear();
    }
    // The oldest order first, on every engine.
    pending.sort_by_key(|order| order.trade_id);
    let mut orders = Vec::with_capacity(pending.len());
    for order in &pending {
        let id = order.trade_id.into();
        rows::change_one(db, &SUBMIT, &[id, now])?;
        rows::change_one(db, &NO_LONGER_PENDING, &[id])?;
        rows::change_one(db, &NOTE_SUBMITTED, &[id, now])?;
        orders.push(to_market(order, entry)?);
    }
    commit(db)?;
    Ok((updated as i32, orders))
}

fn to_market(order: &TriggeredOrder, entry: &TickerEntry) -> Result<TradeRequest, FrameError> {
    let trade_type = TradeType::from_id(order.trade_type.as_str()).ok_or_else(|| {
        EngineError::new(ErrorKind::Other, format!("trade {} has unknown type {:?}", order.trade_id, order.trade_type))
    })?;
    Ok(TradeRequest {
        action: TradeAction::ProcessOrder,
        trade_id: order.trade_id,
        trade_type,
        symbol: entry.symbol,
        trade_qty: order.qty,
        price_quote: order.bid_price,
    })
}

pub(super) static STATEMENTS: &[&Sql] = &[&NOTE_PRICE, &TRIGGERED, &SUBMIT, &NO_LONGER_PENDING, &NOTE_SUBMITTED];
