//! Reconciliation of a run with its database: the database must have gained exactly the acknowledged commits.

use super::CheckResult;
use crate::sut::{TRADES_OF_A_DRIVER, first_trade};
use crate::transactions::Request;
use bourse_egen::txn::TradeOrder;
use bourse_engine::{Result, Session};
use bourse_oltp::check::ledger::{Growth, GrowthAmount, Growths, Ledger, Query, SOURCE, TotalUnit, Totals, read_one};
use bourse_oltp::check::{in_snapshot, number, offences};
use bourse_oltp::sut::{DriverLedger, Share};
use bourse_schema::TradeId;

/// Name of the largest trade number among the totals; 0 without trades.
pub const LAST_TRADE: &str = "last trade";

/// Place of the Trade-Orders among the ledger's amounts.
pub const ORDERS: usize = 0;
/// Place of the Trade-Results.
pub const RESULTS: usize = 1;
/// Place of the shares that orders ask for.
pub const SHARES: usize = 2;
/// Place of the limit prices of orders, in cents.
pub const LIMITS: usize = 3;
/// Place of the prices at which the market executed trades, in cents.
pub const PRICES: usize = 4;
/// Place of the shares on the ticker tape.
pub const VOLUME: usize = 5;

/// Name of the growth of the brokers' numbers of trades.
pub const BROKERS_TRADES: &str = "brokers' trades";
/// Name of the growth of the brokers' commissions.
pub const BROKERS_COMMISSIONS: &str = "brokers' commissions, cents";

/// Amounts that a transaction is to write, by its input alone: neither the engine nor the transactions compute them.
fn amounts(request: &Request) -> [(usize, i64); 3] {
    let nothing = (ORDERS, 0);
    match request {
        Request::TradeOrder(input) => [(ORDERS, 1), (SHARES, shares(input.trade_qty)), (LIMITS, limit_cents(input))],
        Request::TradeResult(input) => [(RESULTS, 1), (PRICES, input.trade_price.units().abs()), nothing],
        Request::MarketFeed(input) => {
            [(VOLUME, input.entries.iter().map(|entry| shares(entry.trade_qty)).sum()), nothing, nothing]
        }
        _ => [nothing; 3],
    }
}

fn shares(quantity: i32) -> i64 {
    i64::from(quantity).abs()
}

/// Limit price of an order in cents, 0 for a market order: to the nearest cent, and not by the transaction's own rounding.
fn limit_cents(input: &TradeOrder) -> i64 {
    if input.trade_type.is_market() { 0 } else { (input.requested_price * 100.0).round() as i64 }
}

/// Enters a request that was committed.
pub fn committed(ledger: &mut Ledger, request: &Request) {
    amounts(request).into_iter().for_each(|(at, amount)| ledger.add(at, amount));
}

/// Enters a request of unknown outcome.
pub fn in_doubt(ledger: &mut Ledger, request: &Request) {
    amounts(request).into_iter().for_each(|(at, amount)| ledger.doubt(at, amount));
}

/// Enters a request that failed. Entries of a Market-Feed are committed one by one: those before the one that failed stay.
pub fn failed(ledger: &mut Ledger, request: &Request) {
    if matches!(request, Request::MarketFeed(_)) {
        in_doubt(ledger, request);
    }
}

/// SQL condition for the trades of one of several drivers, in a round whose first trade has that number.
fn trades_of(share: Share, first: TradeId) -> String {
    let first = first_trade(share, first).0;
    format!("t_id >= {first} AND t_id < {}", first + TRADES_OF_A_DRIVER)
}

/// Whether the Trade-Cleanup that was run before these totals were read has left anything: no trade of before may be pending
/// or submitted, since no market will execute it any more.
///
/// # Errors
/// The engine's; what a check finds is no error.
pub fn cleaned(db: &mut dyn Session, before: &Totals) -> Result<CheckResult> {
    let last = before.of(LAST_TRADE);
    let sql = format!("SELECT t_id, t_st_id FROM trade WHERE t_id <= {last} AND t_st_id IN ('PNDG', 'SBMT')");
    let words = "Trade-Cleanup has left no trade of an earlier run pending or submitted";
    offences(db, "trades of earlier runs", "Clause 3.3.12.3", words, &sql)
}

/// Compares what the database has gained since these totals were read with the ledgers of several drivers, each of which has
/// numbers of trades of its own from `first` on: each driver's orders with the trades in its numbers, then the sum of all.
///
/// # Errors
/// The engine's; what a check finds is no error.
pub fn compare_drivers(
    db: &mut dyn Session,
    before: &Totals,
    first: TradeId,
    drivers: &[DriverLedger],
) -> Result<Vec<CheckResult>> {
    in_snapshot(db, |db| {
        let mut sum = Ledger::default();
        let mut checks = Vec::new();
        for driver in drivers {
            let own = new_trades(db, &trades_of(driver.share, first))?;
            let ordered = own.of("ordered");
            let Some(told) = &driver.acknowledged else {
                // A lost driver: its orders are known by their numbers, but not how many of them were acknowledged to it.
                sum.add(ORDERS, ordered);
                sum.add(SHARES, own.of("shares"));
                sum.add(LIMITS, own.of("limit prices"));
                continue;
            };
            sum.merge(told);
            checks.push(number(
                &format!("orders of driver {}", driver.share),
                SOURCE,
                "as many trades have this driver's numbers as Trade-Orders were acknowledged to it",
                told.amount(ORDERS),
                ordered.into(),
            ));
        }
        let lost = drivers.iter().filter(|it| it.acknowledged.is_none());
        let lost: Vec<String> = lost.map(|driver| trades_of(driver.share, first)).collect();
        if !lost.is_empty() {
            // The most that lost drivers may have completed: their own trades, and limit orders of all, which any driver's
            // market may trigger and execute. No table has the content of their ticker tapes.
            let (last, own) = (before.of(LAST_TRADE), lost.join(" OR "));
            let theirs = new_trades(db, &format!("t_id > {last} AND ({own} OR {LIMIT_ORDERS})"))?;
            sum.doubt(RESULTS, theirs.of("completed"));
            sum.doubt(PRICES, theirs.of("prices"));
            sum.doubt(VOLUME, i128::MAX);
        }
        checks.extend(GROWTHS.compare_in(db, before, &sum)?);
        Ok(checks)
    })
}

/// SQL condition for limit orders.
const LIMIT_ORDERS: &str = "t_tt_id IN ('TLB', 'TLS', 'TSL')";

/// Counts and sums of the new trades: of all, and of the completed.
const NEW_TRADES: Query = Query {
    sql: "SELECT count(*), sum(t_qty), sum(CASE WHEN t_tt_id IN ('TLB', 'TLS', 'TSL') THEN t_bid_price END),
                 sum(CASE WHEN t_st_id = 'CMPT' THEN 1 ELSE 0 END),
                 sum(CASE WHEN t_st_id = 'CMPT' THEN t_trade_price END), sum(CASE WHEN t_st_id = 'CMPT' THEN t_comm END)
            FROM trade
           WHERE t_id > {last trade}",
    totals: &[
        ("ordered", TotalUnit::Whole),
        ("shares", TotalUnit::Whole),
        ("limit prices", TotalUnit::Cents),
        ("completed", TotalUnit::Whole),
        ("prices", TotalUnit::Cents),
        ("commissions", TotalUnit::Cents),
    ],
};

/// [`NEW_TRADES`] of the trades that meet another condition.
fn new_trades(db: &mut dyn Session, condition: &str) -> Result<Totals> {
    read_one(db, &NEW_TRADES.sql.replace("t_id > {last trade}", condition), NEW_TRADES.totals)
}

/// Growths: name, the total that grows, the amount by which it does, and the sentence.
macro_rules! growths {
    ($($name:tt = $total:literal by $by:ident($of:expr): $words:literal;)+) => {
        [$(Growth { name: $name, words: $words, total: $total, by: GrowthAmount::$by($of) }),+]
    };
}

/// Growth that the transactions of a run cause.
pub static GROWTHS: Growths = Growths {
    amounts: &["Trade-Orders", "Trade-Results", "shares", "limit prices, cents", "trade prices, cents", "volume"],
    before_and_after: &[
        // Cheap: the end of an index.
        Query { sql: "SELECT coalesce(max(t_id), 0) FROM trade", totals: &[(LAST_TRADE, TotalUnit::Whole)] },
        Query { sql: "SELECT sum(ca_bal) FROM customer_account", totals: &[("cash", TotalUnit::Cents)] },
        Query {
            sql: "SELECT coalesce(sum(b_num_trades), 0) FROM broker",
            totals: &[("brokers' trades", TotalUnit::Whole)],
        },
        Query { sql: "SELECT sum(b_comm_total) FROM broker", totals: &[("brokers' commissions", TotalUnit::Cents)] },
        Query { sql: "SELECT coalesce(sum(lt_vol), 0) FROM last_trade", totals: &[("volume", TotalUnit::Whole)] },
    ],
    after: &[
        NEW_TRADES,
        Query {
            sql: "SELECT count(*) FROM settlement WHERE se_t_id > {last trade}",
            totals: &[("settled", TotalUnit::Whole)],
        },
        Query {
            sql: "SELECT sum(ct_amt) FROM cash_transaction WHERE ct_t_id > {last trade}",
            totals: &[("cash moved", TotalUnit::Cents)],
        },
    ],
    growths: &growths![
        "orders" = "ordered" by Acknowledged(ORDERS):
            "as many new trades as Trade-Orders were committed, beside those placed to age the market";
        "shares ordered" = "shares" by Acknowledged(SHARES):
            "new trades are of as many shares as their Trade-Orders asked for";
        "limit prices, cents" = "limit prices" by Acknowledged(LIMITS):
            "prices of new limit orders add up to those that their Trade-Orders asked for";
        "results" = "completed" by Acknowledged(RESULTS):
            "as many new trades completed as Trade-Results were committed";
        "trade prices, cents" = "prices" by Acknowledged(PRICES):
            "prices of new trades completed add up to those of their Trade-Results";
        "settlements" = "settled" by Acknowledged(RESULTS): "as many settlements of new trades as Trade-Results";
        BROKERS_TRADES = "brokers' trades" by Total("completed"):
            "brokers' trades have grown by the new trades completed";
        BROKERS_COMMISSIONS = "brokers' commissions" by Total("commissions"):
            "brokers' commissions have grown by those of the new trades";
        "cash, cents" = "cash" by Total("cash moved"):
            "accounts' cash has grown by the cash transactions of the new trades";
        "volume" = "volume" by Acknowledged(VOLUME):
            "securities' volumes have grown by the quantities of the Market-Feeds";
    ],
};
