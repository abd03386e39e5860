//! Writing the pending orders.

use super::PendingOrder;
use crate::check::reconciliation;
use crate::transactions::order_rows::{INSERT_HISTORY, INSERT_REQUEST, INSERT_TRADE, OrderRows};
use crate::transactions::rates::commission;
use crate::transactions::trade_order::{executor, limit};
use crate::transactions::{TradeIds, Transaction};
use bourse_engine::{EngineError, ErrorKind, Result, RowExt as _, Runs, Session};
use bourse_oltp::check::ledger::Ledger;
use bourse_schema::{
    AccountId, Amount, BrokerId, CommissionRate, ExchangeId, Quantity, Symbol, Text, Timestamp, TradeTypeId,
};
use std::collections::HashMap;

/// Orders per database transaction.
const AT_ONCE: usize = 2_000;

/// Writes orders that were placed before `now`, numbered in their order: the rows of TRADE, TRADE_REQUEST and TRADE_HISTORY
/// that Trade-Order would have left. Returns the committed orders' sums; stops between two database transactions once `stop`
/// is set.
///
/// # Errors
/// The engine's. Orders of earlier database transactions stay, for Trade-Cleanup to cancel.
pub fn place(
    db: &mut dyn Session,
    trade_ids: &TradeIds,
    orders: &[PendingOrder],
    now: Timestamp,
    stop: &dyn Fn() -> bool,
) -> Result<Ledger> {
    let known = KnownRows::read(db)?;
    let mut placed = Ledger::default();
    for some in orders.chunks(AT_ONCE) {
        if stop() {
            break;
        }
        let rows: Vec<OrderRows> =
            some.iter().map(|order| known.rows(order, trade_ids, now)).collect::<Result<_, _>>()?;
        db.begin(Transaction::TradeOrder.isolation(), Transaction::TradeOrder.access())?;
        if let Err(error) = write(db, &rows) {
            db.rollback()?;
            return Err(error);
        }
        db.commit()?;
        some.iter().for_each(|order| reconciliation::committed(&mut placed, &order.input.clone().into()));
    }
    Ok(placed)
}

fn write(db: &mut dyn Session, rows: &[OrderRows]) -> Result<()> {
    let trades: Vec<_> = rows.iter().flat_map(OrderRows::trade).collect();
    db.run_each(&INSERT_TRADE, Runs { params: &trades, width: trades.len() / rows.len() }, None)?;
    let requests: Vec<_> = rows.iter().flat_map(OrderRows::request).collect();
    db.run_each(&INSERT_REQUEST, Runs { params: &requests, width: requests.len() / rows.len() }, None)?;
    let history: Vec<_> = rows.iter().flat_map(OrderRows::history).collect();
    db.run_each(&INSERT_HISTORY, Runs { params: &history, width: history.len() / rows.len() }, None)
}

/// Lowest and highest quantity, and the commission rate between them.
type RateByQuantity = (Quantity, Quantity, CommissionRate);

/// Rows that frames 1 and 3 of Trade-Order would read from the database, read once for all orders.
struct KnownRows {
    /// Broker and tier of each account.
    accounts: HashMap<AccountId, (BrokerId, u8)>,
    exchanges: HashMap<Symbol, ExchangeId>,
    /// Rates with the least and the largest quantity of each.
    rates: HashMap<(u8, TradeTypeId, ExchangeId), Vec<RateByQuantity>>,
    charges: HashMap<(TradeTypeId, u8), Amount>,
}

impl KnownRows {
    fn read(db: &mut dyn Session) -> Result<Self> {
        let mut known = Self {
            accounts: HashMap::new(),
            exchanges: HashMap::new(),
            rates: HashMap::new(),
            charges: HashMap::new(),
        };
        let accounts = "SELECT ca_id, ca_b_id, c_tier FROM customer_account JOIN customer ON c_id = ca_c_id";
        db.query_text(accounts, &[], &mut |row| {
            known.accounts.insert(row.get(0)?, (row.get(1)?, row.get(2)?));
            Ok(())
        })?;
        db.query_text("SELECT s_symb, s_ex_id FROM security", &[], &mut |row| {
            known.exchanges.insert(row.get(0)?, row.get(1)?);
            Ok(())
        })?;
        let rates = "SELECT cr_c_tier, cr_tt_id, cr_ex_id, cr_from_qty, cr_to_qty, cr_rate FROM commission_rate";
        db.query_text(rates, &[], &mut |row| {
            let bands = known.rates.entry((row.get(0)?, row.get(1)?, row.get(2)?)).or_default();
            bands.push((row.get(3)?, row.get(4)?, row.get(5)?));
            Ok(())
        })?;
        db.query_text("SELECT ch_tt_id, ch_c_tier, ch_chrg FROM charge", &[], &mut |row| {
            known.charges.insert((row.get(0)?, row.get(1)?), row.get(2)?);
            Ok(())
        })?;
        Ok(known)
    }

    fn rows(&self, order: &PendingOrder, trade_ids: &TradeIds, now: Timestamp) -> Result<OrderRows> {
        let input = &order.input;
        let trade_type = input.trade_type.text();
        let found = || {
            let (broker, tier) = *self.accounts.get(&input.acct_id)?;
            let bands = self.rates.get(&(tier, trade_type, *self.exchanges.get(&order.symbol)?))?;
            let band = bands.iter().find(|(from, to, _)| (*from..=*to).contains(&input.trade_qty))?;
            Some((broker, band.2, *self.charges.get(&(trade_type, tier))?))
        };
        let (broker, rate, charge) = found().ok_or_else(|| {
            let text = format!("no account, security, commission rate or charge for an order of {}", input.acct_id);
            EngineError::new(ErrorKind::Other, text)
        })?;
        let price = limit(input);
        Ok(OrderRows {
            trade_id: trade_ids.next(),
            now: Timestamp::from_millis(now.millis() - order.age_ms),
            status: Text::cut("PNDG"),
            trade_type,
            is_cash: !input.type_is_margin,
            symbol: order.symbol,
            qty: input.trade_qty,
            price,
            account: input.acct_id,
            exec_name: executor(input),
            charge,
            commission: commission(rate, input.trade_qty, price),
            is_lifo: input.is_lifo,
            broker,
        })
    }
}
