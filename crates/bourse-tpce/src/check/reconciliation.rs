//! Reconciliation of a run with its database: the database must have gained exactly the acknowledged commits.

use super::CheckResult;
use crate::sut::{TRADES_OF_A_DRIVER, first_trade};
use crate::transactions::Request;
use bourse_egen::txn::TradeOrder;
use bourse_engine::{Access, Isolation, Result, Session};
use bourse_oltp::check::ledger::{Growth, GrowthAmount, Growths, Ledger, Query, TotalUnit, Totals, read, read_one};
use bourse_oltp::check::{number, offences};
use bourse_oltp::sut::{DriverCounts, Share};
use bourse_schema::{Balance, TradeId};

/// Totals of a database while no transaction runs. Cheap: only small tables and the end of an index are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct TotalsSnapshot {
    /// The largest trade number; 0 without trades.
    pub last_trade: TradeId,
    /// Cash of all accounts.
    pub cash: Balance,
    /// Trades of all brokers.
    pub broker_trades: i64,
    /// Commissions of all brokers.
    pub commissions: Balance,
    /// Shares of all securities traded.
    pub volume: i64,
    /// Orders placed after the snapshot and before the users began, to [age](crate::aged) the market; none on a server.
    #[serde(skip)]
    pub placed: AcknowledgedCommits,
}

/// Commits acknowledged to the run's users, over the whole run and not only its measurement interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct AcknowledgedCommits {
    /// Trade-Orders that were committed.
    pub orders: u64,
    /// Trade-Orders of unknown outcome: the connection was lost, or the run was killed.
    pub orders_in_doubt: u64,
    /// Trade-Results that were committed.
    pub results: u64,
    /// Trade-Results of unknown outcome.
    pub results_in_doubt: u64,
    /// Sums of what the committed transactions were to write.
    pub written: WrittenSums,
    /// Sums of what the transactions of unknown outcome were to write.
    pub written_in_doubt: WrittenSums,
}

/// Sums of what transactions are to write, by their inputs alone: neither the engine nor the transactions compute them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct WrittenSums {
    /// Shares that orders ask for.
    pub shares: u64,
    /// Limit prices of orders, in cents.
    pub limits: u64,
    /// Prices at which the market executed trades, in cents.
    pub prices: u64,
    /// Shares on the ticker tape.
    pub volume: u64,
}

impl WrittenSums {
    fn of(request: &Request) -> Self {
        let nothing = Self::default();
        let shares = |quantity: i32| u64::from(quantity.unsigned_abs());
        match request {
            Request::TradeOrder(input) => {
                Self { shares: shares(input.trade_qty), limits: limit_cents(input), ..nothing }
            }
            Request::TradeResult(input) => Self { prices: input.trade_price.units().unsigned_abs(), ..nothing },
            Request::MarketFeed(input) => {
                Self { volume: input.entries.iter().map(|entry| shares(entry.trade_qty)).sum(), ..nothing }
            }
            _ => nothing,
        }
    }

    /// Adds another's.
    pub fn add(&mut self, other: &Self) {
        self.shares += other.shares;
        self.limits += other.limits;
        self.prices += other.prices;
        self.volume += other.volume;
    }

    /// These sums, each limited to `most`.
    #[must_use]
    pub fn at_most(self, most: u64) -> Self {
        let Self { shares, limits, prices, volume } = self;
        Self { shares: shares.min(most), limits: limits.min(most), prices: prices.min(most), volume: volume.min(most) }
    }
}

/// Limit price of an order in cents, 0 for a market order: to the nearest cent, and not by the transaction's own rounding.
fn limit_cents(input: &TradeOrder) -> u64 {
    if input.trade_type.is_market() { 0 } else { (input.requested_price * 100.0).round() as u64 }
}

impl AcknowledgedCommits {
    /// Counts a request that was committed.
    pub fn committed(&mut self, request: &Request) {
        match request {
            Request::TradeOrder(_) => self.orders += 1,
            Request::TradeResult(_) => self.results += 1,
            _ => {}
        }
        self.written.add(&WrittenSums::of(request));
    }

    /// Counts a request of unknown outcome.
    pub fn in_doubt(&mut self, request: &Request) {
        match request {
            Request::TradeOrder(_) => self.orders_in_doubt += 1,
            Request::TradeResult(_) => self.results_in_doubt += 1,
            _ => {}
        }
        self.written_in_doubt.add(&WrittenSums::of(request));
    }

    /// Counts a request that failed. Entries of a Market-Feed are committed one by one: those before the one that failed stay.
    pub fn failed(&mut self, request: &Request) {
        if matches!(request, Request::MarketFeed(_)) {
            self.in_doubt(request);
        }
    }

    /// Adds what was acknowledged to others.
    pub fn add(&mut self, others: &Self) {
        self.orders += others.orders;
        self.results += others.results;
        self.written.add(&others.written);
        self.add_doubts(others);
    }

    /// Adds what is of unknown outcome for others.
    pub fn add_doubts(&mut self, others: &Self) {
        self.orders_in_doubt += others.orders_in_doubt;
        self.results_in_doubt += others.results_in_doubt;
        self.written_in_doubt.add(&others.written_in_doubt);
    }

    /// These counts, each limited to a value that a round can have.
    #[must_use]
    pub fn limited(self) -> Self {
        const MOST: u64 = 1 << 40;
        const MOST_WRITTEN: u64 = 1 << 56;
        let Self { orders, orders_in_doubt, results, results_in_doubt, written, written_in_doubt } = self;
        Self {
            orders: orders.min(MOST),
            orders_in_doubt: orders_in_doubt.min(MOST),
            results: results.min(MOST),
            results_in_doubt: results_in_doubt.min(MOST),
            written: written.at_most(MOST_WRITTEN),
            written_in_doubt: written_in_doubt.at_most(MOST_WRITTEN),
        }
    }
}

/// SQL condition for the trades of one of several drivers, in a round whose first trade has that number.
fn trades_of(share: Share, first: TradeId) -> String {
    let first = first_trade(share, first).0;
    format!("t_id >= {first} AND t_id < {}", first + TRADES_OF_A_DRIVER)
}

impl TotalsSnapshot {
    /// Reads the totals from a database.
    ///
    /// # Errors
    /// The engine's.
    pub fn take(db: &mut dyn Session) -> Result<Self> {
        db.begin(Isolation::RepeatableRead, Access::Read)?;
        let taken = Self::read_totals(db);
        db.rollback()?;
        taken
    }

    fn read_totals(db: &mut dyn Session) -> Result<Self> {
        let totals = read(db, &[LAST_TRADE], "")?;
        let last_trade = TradeId(totals.of("last trade"));
        let totals = read(db, GROWTHS.before_and_after, "")?;
        Ok(Self {
            last_trade,
            cash: Balance::from_units(totals.of("cash")),
            broker_trades: totals.of("brokers' trades"),
            commissions: Balance::from_units(totals.of("brokers' commissions")),
            volume: totals.of("volume"),
            placed: AcknowledgedCommits::default(),
        })
    }

    /// The totals that grow, by name.
    fn totals(&self) -> Totals {
        let totals = [
            ("cash", self.cash.units()),
            ("brokers' trades", self.broker_trades),
            ("brokers' commissions", self.commissions.units()),
            ("volume", self.volume),
        ];
        Totals(totals.map(|(name, total)| (name.to_owned(), total)).into())
    }

    /// Whether the Trade-Cleanup that was run before this snapshot has left anything: no trade of before may be pending or
    /// submitted, since no market will execute it any more.
    ///
    /// # Errors
    /// The engine's; what a check finds is no error.
    pub fn cleaned(&self, db: &mut dyn Session) -> Result<CheckResult> {
        let last = self.last_trade;
        let sql = format!("SELECT t_id, t_st_id FROM trade WHERE t_id <= {last} AND t_st_id IN ('PNDG', 'SBMT')");
        let words = "Trade-Cleanup has left no trade of an earlier run pending or submitted";
        offences(db, "trades of earlier runs", "Clause 3.3.12.3", words, &sql)
    }

    /// Compares what the database has gained since this snapshot with what was acknowledged. The run's trades are those
    /// with larger numbers than were there before.
    ///
    /// # Errors
    /// The engine's; what a check finds is no error.
    pub fn compare(&self, db: &mut dyn Session, acknowledged: &AcknowledgedCommits) -> Result<Vec<CheckResult>> {
        db.begin(Isolation::RepeatableRead, Access::Read)?;
        let compared = self.compare_in(db, acknowledged);
        db.rollback()?;
        compared
    }

    /// Compares what the database has gained since this snapshot with the counts of several drivers, each of which has numbers of
    /// trades of its own from `first` on: each driver's orders with the trades in its numbers, then the sum of all.
    ///
    /// # Errors
    /// The engine's; what a check finds is no error.
    pub fn compare_drivers(
        &self,
        db: &mut dyn Session,
        first: TradeId,
        drivers: &[DriverCounts<AcknowledgedCommits>],
    ) -> Result<Vec<CheckResult>> {
        db.begin(Isolation::RepeatableRead, Access::Read)?;
        let compared = self.compare_drivers_in(db, first, drivers);
        db.rollback()?;
        compared
    }

    fn compare_drivers_in(
        &self,
        db: &mut dyn Session,
        first: TradeId,
        drivers: &[DriverCounts<AcknowledgedCommits>],
    ) -> Result<Vec<CheckResult>> {
        let mut sum = AcknowledgedCommits::default();
        let mut checks = Vec::new();
        for driver in drivers {
            let own = new_trades(db, &trades_of(driver.share, first))?;
            let ordered = own.of("ordered");
            let Some(told) = &driver.acknowledged else {
                // A lost driver: its orders are known by their numbers, but not how many of them were acknowledged to it.
                sum.orders += ordered.unsigned_abs();
                sum.written.shares += own.of("shares").unsigned_abs();
                sum.written.limits += own.of("limit prices").unsigned_abs();
                continue;
            };
            sum.add(told);
            checks.push(number(
                &format!("orders of driver {}", driver.share),
                "reconciliation with the database",
                "as many trades have this driver's numbers as Trade-Orders were acknowledged to it",
                i128::from(told.orders)..=i128::from(told.orders) + i128::from(told.orders_in_doubt),
                ordered.into(),
            ));
        }
        let lost = drivers.iter().filter(|it| it.acknowledged.is_none());
        let lost: Vec<String> = lost.map(|driver| trades_of(driver.share, first)).collect();
        if !lost.is_empty() {
            // The most that lost drivers may have completed: their own trades, and limit orders of all, which any driver's
            // market may trigger and execute. No table has the content of their ticker tapes.
            let (last, own) = (self.last_trade, lost.join(" OR "));
            let theirs = new_trades(db, &format!("t_id > {last} AND ({own} OR {LIMIT_ORDERS})"))?;
            sum.results_in_doubt += theirs.of("completed").unsigned_abs();
            sum.written_in_doubt.prices += theirs.of("prices").unsigned_abs();
            sum.written_in_doubt.volume = u64::MAX;
        }
        checks.extend(self.compare_in(db, &sum)?);
        Ok(checks)
    }

    fn compare_in(&self, db: &mut dyn Session, acknowledged: &AcknowledgedCommits) -> Result<Vec<CheckResult>> {
        let mut all = self.placed;
        all.add(acknowledged);
        GROWTHS.compare_in(db, &self.totals(), self.last_trade.0, &all.ledger())
    }
}

impl AcknowledgedCommits {
    /// The amounts that the database must have gained.
    fn ledger(&self) -> Ledger {
        // A doubtful amount without bound leaves the sum without one.
        let up_to = |sure: u64, doubtful: u64| {
            let most = if doubtful == u64::MAX { i128::MAX } else { i128::from(sure) + i128::from(doubtful) };
            i128::from(sure)..=most
        };
        let Self { written, written_in_doubt: doubtful, .. } = self;
        let mut ledger = Ledger::default();
        ledger.set("orders", up_to(self.orders, self.orders_in_doubt));
        ledger.set("results", up_to(self.results, self.results_in_doubt));
        ledger.set("shares", up_to(written.shares, doubtful.shares));
        ledger.set("limits", up_to(written.limits, doubtful.limits));
        ledger.set("prices", up_to(written.prices, doubtful.prices));
        ledger.set("volume", up_to(written.volume, doubtful.volume));
        ledger
    }
}

/// SQL condition for limit orders.
const LIMIT_ORDERS: &str = "t_tt_id IN ('TLB', 'TLS', 'TSL')";

const LAST_TRADE: Query =
    Query { sql: "SELECT coalesce(max(t_id), 0) FROM trade", totals: &[("last trade", TotalUnit::Whole)] };

/// Counts and sums of the new trades: of all, and of the completed.
const NEW_TRADES: Query = Query {
    sql: "SELECT count(*), sum(t_qty), sum(CASE WHEN t_tt_id IN ('TLB', 'TLS', 'TSL') THEN t_bid_price END),
                 sum(CASE WHEN t_st_id = 'CMPT' THEN 1 ELSE 0 END),
                 sum(CASE WHEN t_st_id = 'CMPT' THEN t_trade_price END), sum(CASE WHEN t_st_id = 'CMPT' THEN t_comm END)
            FROM trade
           WHERE t_id > {last}",
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
    read_one(db, &NEW_TRADES.sql.replace("t_id > {last}", condition), NEW_TRADES.totals)
}

/// Growths: name, the total that grows, the amount by which it does, and the sentence.
macro_rules! growths {
    ($($name:literal = $total:literal by $by:ident($of:literal): $words:literal;)+) => {
        [$(Growth { name: $name, words: $words, total: $total, by: GrowthAmount::$by($of) }),+]
    };
}

/// Growth that the transactions of a run cause.
static GROWTHS: Growths = Growths {
    before_and_after: &[
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
            sql: "SELECT count(*) FROM settlement WHERE se_t_id > {last}",
            totals: &[("settled", TotalUnit::Whole)],
        },
        Query {
            sql: "SELECT sum(ct_amt) FROM cash_transaction WHERE ct_t_id > {last}",
            totals: &[("cash moved", TotalUnit::Cents)],
        },
    ],
    growths: &growths![
        "orders" = "ordered" by Acknowledged("orders"):
            "as many new trades as Trade-Orders were committed, beside those placed to age the market";
        "shares ordered" = "shares" by Acknowledged("shares"):
            "new trades are of as many shares as their Trade-Orders asked for";
        "limit prices, cents" = "limit prices" by Acknowledged("limits"):
            "prices of new limit orders add up to those that their Trade-Orders asked for";
        "results" = "completed" by Acknowledged("results"):
            "as many new trades completed as Trade-Results were committed";
        "trade prices, cents" = "prices" by Acknowledged("prices"):
            "prices of new trades completed add up to those of their Trade-Results";
        "settlements" = "settled" by Acknowledged("results"): "as many settlements of new trades as Trade-Results";
        "brokers' trades" = "brokers' trades" by Total("completed"):
            "brokers' trades have grown by the new trades completed";
        "brokers' commissions, cents" = "brokers' commissions" by Total("commissions"):
            "brokers' commissions have grown by those of the new trades";
        "cash, cents" = "cash" by Total("cash moved"):
            "accounts' cash has grown by the cash transactions of the new trades";
        "volume" = "volume" by Acknowledged("volume"):
            "securities' volumes have grown by the quantities of the Market-Feeds";
    ],
};
