//! Reconciliation of a run with its database: what the database gained is what was acknowledged to its users.

use super::{Checked, number, offences};
use crate::sut::Share;
use bourse_engine::{Access, EngineError, Isolation, RowExt as _, Session};
use bourse_schema::{Balance, TradeId};

/// Totals of a database at a moment when nothing is going on. Cheap: only small tables and the end of an index are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Snapshot {
    /// The largest trade number; 0 without trades.
    pub last_trade: TradeId,
    /// Cash of all accounts.
    pub cash: Balance,
    /// Trades of all brokers.
    pub broker_trades: i64,
    /// Commissions of all brokers.
    pub commissions: Balance,
    /// Orders that were placed after it and before the users began, to [age](crate::aged) the market; none on a server.
    #[serde(skip)]
    pub placed: u64,
}

/// Commits acknowledged to the run's users, over the whole run and not only its measurement interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct Acknowledged {
    /// Trade-Orders that were committed.
    pub orders: u64,
    /// Trade-Orders of which nobody knows whether they were: the connection was lost, or the run was killed.
    pub orders_in_doubt: u64,
    /// Trade-Results that were committed.
    pub results: u64,
    /// Trade-Results of which nobody knows.
    pub results_in_doubt: u64,
}

/// What one of several drivers has to say of a round, in which it sent its statements to the engine itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DriverLedger {
    /// Which driver.
    pub share: Share,
    /// The first of its numbers of trades.
    pub first_trade: TradeId,
    /// Commits acknowledged to its users; none of a driver that was lost.
    pub acknowledged: Option<Acknowledged>,
}

impl DriverLedger {
    /// The condition that a trade has a number of this driver's.
    fn own_trades(&self) -> String {
        let first = self.first_trade.0;
        format!("t_id >= {first} AND t_id < {}", first + Share::TRADES)
    }
}

impl Snapshot {
    /// Reads the totals from a database.
    ///
    /// # Errors
    /// The engine's.
    pub fn take(db: &mut dyn Session) -> Result<Self, EngineError> {
        db.begin(Isolation::RepeatableRead, Access::Read)?;
        let taken = Self::take_in(db);
        db.rollback()?;
        taken
    }

    fn take_in(db: &mut dyn Session) -> Result<Self, EngineError> {
        Ok(Self {
            last_trade: TradeId(whole(db, "SELECT coalesce(max(t_id), 0) FROM trade")?),
            cash: money(db, "SELECT sum(ca_bal) FROM customer_account")?,
            broker_trades: whole(db, "SELECT coalesce(sum(b_num_trades), 0) FROM broker")?,
            commissions: money(db, "SELECT sum(b_comm_total) FROM broker")?,
            placed: 0,
        })
    }

    /// Whether the Trade-Cleanup that was run before this snapshot has left anything: no trade of before may be pending or
    /// submitted, since nobody executes it any more.
    ///
    /// # Errors
    /// The engine's; what a check finds is no error.
    pub fn cleaned(&self, db: &mut dyn Session) -> Result<Checked, EngineError> {
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
    pub fn compare(&self, db: &mut dyn Session, acknowledged: &Acknowledged) -> Result<Vec<Checked>, EngineError> {
        db.begin(Isolation::RepeatableRead, Access::Read)?;
        let compared = self.compare_in(db, acknowledged);
        db.rollback()?;
        compared
    }

    /// Compares what the database has gained since this snapshot with the ledgers of several drivers, each of which has numbers of
    /// trades of its own: each driver's orders with the trades in its numbers, then the sum of all.
    ///
    /// # Errors
    /// The engine's; what a check finds is no error.
    pub fn compare_drivers(&self, db: &mut dyn Session, drivers: &[DriverLedger]) -> Result<Vec<Checked>, EngineError> {
        db.begin(Isolation::RepeatableRead, Access::Read)?;
        let compared = self.compare_drivers_in(db, drivers);
        db.rollback()?;
        compared
    }

    fn compare_drivers_in(&self, db: &mut dyn Session, drivers: &[DriverLedger]) -> Result<Vec<Checked>, EngineError> {
        let mut sum = Acknowledged::default();
        let mut checks = Vec::new();
        for driver in drivers {
            let ordered = whole(db, &format!("SELECT count(*) FROM trade WHERE {}", driver.own_trades()))?;
            let Some(told) = &driver.acknowledged else {
                // What it has ordered its numbers tell; how much of that it has heard of, nobody knows.
                sum.orders += ordered.unsigned_abs();
                continue;
            };
            sum.add(told);
            checks.push(number(
                &format!("orders of driver {}/{}", driver.share.number(), driver.share.of()),
                "reconciliation with the database",
                "as many trades have this driver's numbers as Trade-Orders were acknowledged to it",
                i128::from(told.orders)..=i128::from(told.orders) + i128::from(told.orders_in_doubt),
                ordered.into(),
            ));
        }
        sum.results_in_doubt += self.results_of_the_lost(db, drivers)?;
        checks.extend(self.compare_in(db, &sum)?);
        Ok(checks)
    }

    /// The most trades that drivers which were lost may have completed: their own, and limit orders of all, which any driver's
    /// market may trigger and execute.
    fn results_of_the_lost(&self, db: &mut dyn Session, drivers: &[DriverLedger]) -> Result<u64, EngineError> {
        let lost: Vec<String> =
            drivers.iter().filter(|it| it.acknowledged.is_none()).map(DriverLedger::own_trades).collect();
        if lost.is_empty() {
            return Ok(0);
        }
        let (last, own) = (self.last_trade, lost.join(" OR "));
        let limit = "t_tt_id IN ('TLB', 'TLS', 'TSL')";
        let sql = format!("SELECT count(*) FROM trade WHERE t_id > {last} AND t_st_id = 'CMPT' AND ({own} OR {limit})");
        Ok(whole(db, &sql)?.unsigned_abs())
    }

    fn compare_in(&self, db: &mut dyn Session, acknowledged: &Acknowledged) -> Result<Vec<Checked>, EngineError> {
        let now = Self::take_in(db)?;
        let last = self.last_trade;
        let ordered = whole(db, &format!("SELECT count(*) FROM trade WHERE t_id > {last}"))?;
        let completed = format!("FROM trade WHERE t_id > {last} AND t_st_id = 'CMPT'");
        let trades = whole(db, &format!("SELECT count(*) {completed}"))?;
        let commissions = money(db, &format!("SELECT sum(t_comm) {completed}"))?;
        let settled = whole(db, &format!("SELECT count(*) FROM settlement WHERE se_t_id > {last}"))?;
        let moved = money(db, &format!("SELECT sum(ct_amt) FROM cash_transaction WHERE ct_t_id > {last}"))?;

        let up_to = |sure: u64, doubtful: u64| i128::from(sure)..=i128::from(sure) + i128::from(doubtful);
        let exactly = |wanted: i64| i128::from(wanted)..=i128::from(wanted);
        let results = up_to(acknowledged.results, acknowledged.results_in_doubt);
        let compared = |name, words, wanted, found: i64| {
            number(name, "reconciliation with the database", words, wanted, found.into())
        };
        Ok(vec![
            compared(
                "orders",
                "as many new trades as Trade-Orders were committed, beside those placed to age the market",
                up_to(self.placed + acknowledged.orders, acknowledged.orders_in_doubt),
                ordered,
            ),
            compared(
                "results",
                "as many new trades completed as Trade-Results were committed",
                results.clone(),
                trades,
            ),
            compared("settlements", "as many settlements of new trades as Trade-Results", results, settled),
            compared(
                "brokers' trades",
                "brokers' trades have grown by the new trades completed",
                exactly(trades),
                now.broker_trades - self.broker_trades,
            ),
            compared(
                "brokers' commissions, cents",
                "brokers' commissions have grown by those of the new trades",
                exactly(commissions.units()),
                now.commissions.units() - self.commissions.units(),
            ),
            compared(
                "cash, cents",
                "accounts' cash has grown by the cash transactions of the new trades",
                exactly(moved.units()),
                now.cash.units() - self.cash.units(),
            ),
        ])
    }
}

fn whole(db: &mut dyn Session, sql: &str) -> Result<i64, EngineError> {
    let mut found = 0;
    db.query_text(sql, &[], &mut |row| {
        found = row.get(0)?;
        Ok(())
    })?;
    Ok(found)
}

/// A sum of money; nothing of no rows.
fn money(db: &mut dyn Session, sql: &str) -> Result<Balance, EngineError> {
    let mut found = None;
    db.query_text(sql, &[], &mut |row| {
        found = row.get(0)?;
        Ok(())
    })?;
    Ok(found.unwrap_or_default())
}
