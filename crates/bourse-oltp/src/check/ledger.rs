//! Growth of a database during a run, against what was acknowledged to the run's users. Both are data.

use super::{CheckResult, number};
use bourse_engine::{Access, Isolation, Result, RowExt as _, Session};
use bourse_schema::Balance;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// Source of the checks that compare growths.
pub const SOURCE: &str = "reconciliation with the database";

/// Unit of a total.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TotalUnit {
    /// A whole number.
    Whole,
    /// Money, counted in cents.
    Cents,
}

/// Totals that one query reads.
#[derive(Debug, Clone, Copy)]
pub struct Query {
    /// A query of one row. `{last}` is replaced with the last number of before the run, if the workload numbers its rows.
    pub sql: &'static str,
    /// Name and unit of each column. NULL, the sum of no rows, is 0.
    pub totals: &'static [(&'static str, TotalUnit)],
}

/// Growth that a run must have caused.
#[derive(Debug, Clone, Copy)]
pub struct Growth {
    /// Short name.
    pub name: &'static str,
    /// The condition, as a sentence.
    pub words: &'static str,
    /// The total that grows.
    pub total: &'static str,
    /// The amount by which it must have grown.
    pub by: GrowthAmount,
}

/// Amount of a growth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrowthAmount {
    /// The ledger's amount of that name.
    Acknowledged(&'static str),
    /// The growth of that total.
    Total(&'static str),
}

/// Growths that a workload's runs cause, and the queries for them.
#[derive(Debug, Clone, Copy)]
pub struct Growths {
    /// Queries made before a run and after it; the growth is the difference.
    pub before_and_after: &'static [Query],
    /// Queries made after a run for the rows that it has added; the growth is the total itself.
    pub after: &'static [Query],
    /// The growths.
    pub growths: &'static [Growth],
}

/// Totals of a database, by name.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Totals(pub BTreeMap<String, i64>);

impl Totals {
    /// A total; 0 for one that was not read.
    pub fn of(&self, name: &str) -> i64 {
        self.0.get(name).copied().unwrap_or_default()
    }
}

/// Amounts that committed transactions are to have written, by name: the least and the most, since it is unknown of some whether
/// they were committed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ledger {
    amounts: BTreeMap<&'static str, [i128; 2]>,
}

impl Ledger {
    /// Sets an amount; [`i128::MAX`] as the most sets no limit.
    pub fn set(&mut self, name: &'static str, amount: RangeInclusive<i128>) {
        self.amounts.insert(name, [*amount.start(), *amount.end()]);
    }

    /// Adds to an amount what a committed transaction wrote.
    pub fn add(&mut self, name: &'static str, amount: i128) {
        let [least, most] = self.amounts.entry(name).or_default();
        (*least, *most) = (*least + amount, *most + amount);
    }

    /// Adds to an amount what a transaction wrote if it was committed, which is unknown.
    pub fn doubt(&mut self, name: &'static str, amount: i128) {
        let [least, most] = self.amounts.entry(name).or_default();
        (*least, *most) = (*least + amount.min(0), *most + amount.max(0));
    }

    /// Adds another ledger's amounts.
    pub fn merge(&mut self, other: &Self) {
        for (name, [least, most]) in &other.amounts {
            let sum = self.amounts.entry(name).or_default();
            *sum = [sum[0] + least, sum[1] + most];
        }
    }

    /// The least and the most of an amount; 0 for one that no transaction wrote.
    pub fn amount(&self, name: &str) -> RangeInclusive<i128> {
        let [least, most] = self.amounts.get(name).copied().unwrap_or_default();
        least..=most
    }
}

impl Growths {
    /// Reads the totals of before a run.
    ///
    /// # Errors
    /// The engine's.
    pub fn before(&self, db: &mut dyn Session) -> Result<Totals> {
        in_snapshot(db, |db| read(db, self.before_and_after, ""))
    }

    /// Compares the growth since `before` with a ledger.
    ///
    /// # Errors
    /// The engine's; what a check finds is no error.
    pub fn compare(&self, db: &mut dyn Session, before: &Totals, acknowledged: &Ledger) -> Result<Vec<CheckResult>> {
        in_snapshot(db, |db| self.compare_in(db, before, 0, acknowledged))
    }

    /// [`compare`](Self::compare) inside a database transaction of the caller; `last` is the last number of before the run.
    ///
    /// # Errors
    /// The engine's; what a check finds is no error.
    pub fn compare_in(
        &self,
        db: &mut dyn Session,
        before: &Totals,
        last: i64,
        acknowledged: &Ledger,
    ) -> Result<Vec<CheckResult>> {
        let last = last.to_string();
        let mut grown = read(db, self.before_and_after, &last)?;
        for (name, total) in &mut grown.0 {
            *total -= before.of(name);
        }
        grown.0.extend(read(db, self.after, &last)?.0);
        let compared = |growth: &Growth| {
            let wanted = match growth.by {
                GrowthAmount::Acknowledged(name) => acknowledged.amount(name),
                GrowthAmount::Total(name) => i128::from(grown.of(name))..=i128::from(grown.of(name)),
            };
            number(growth.name, SOURCE, growth.words, wanted, grown.of(growth.total).into())
        };
        Ok(self.growths.iter().map(compared).collect())
    }
}

fn in_snapshot<T>(db: &mut dyn Session, read: impl FnOnce(&mut dyn Session) -> Result<T>) -> Result<T> {
    db.begin(Isolation::RepeatableRead, Access::Read)?;
    let done = read(db);
    db.rollback()?;
    done
}

/// Reads the totals of some queries.
///
/// # Errors
/// The engine's.
pub fn read(db: &mut dyn Session, queries: &[Query], last: &str) -> Result<Totals> {
    let mut totals = Totals::default();
    for query in queries {
        totals.0.extend(read_one(db, &query.sql.replace("{last}", last), query.totals)?.0);
    }
    Ok(totals)
}

/// Reads the totals of one query.
///
/// # Errors
/// The engine's.
pub fn read_one(db: &mut dyn Session, sql: &str, totals: &[(&'static str, TotalUnit)]) -> Result<Totals> {
    let mut found = Totals::default();
    db.query_text(sql, &[], &mut |row| {
        for (at, (name, unit)) in totals.iter().enumerate() {
            let total = match unit {
                TotalUnit::Whole => row.get::<Option<i64>>(at)?.unwrap_or_default(),
                TotalUnit::Cents => row.get::<Option<Balance>>(at)?.unwrap_or_default().units(),
            };
            found.0.insert((*name).to_owned(), total);
        }
        Ok(())
    })?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_doubtful_amount_widens_a_ledger_to_its_side() {
        let mut ledger = Ledger::default();
        ledger.add("rows", 3);
        ledger.add("rows", -1);
        ledger.doubt("rows", 1);
        assert_eq!(ledger.amount("rows"), 2..=3);
        ledger.doubt("rows", -1);
        assert_eq!((ledger.amount("rows"), ledger.amount("others")), (1..=3, 0..=0));
        let mut sum = Ledger::default();
        sum.merge(&ledger);
        sum.merge(&ledger);
        assert_eq!(sum.amount("rows"), 2..=6);
    }
}
