//! Growth of a database during a run, against what was acknowledged to the run's users. Both are data.

use super::{CheckResult, in_snapshot, number};
use bourse_engine::{Result, RowExt as _, Session};
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
    /// A query of one row. The name of a total in braces is replaced with its value of before the run.
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
    /// The ledger's amount at that place.
    Acknowledged(usize),
    /// The growth of that total.
    Total(&'static str),
}

/// Growths that a workload's runs cause, and the queries for them.
#[derive(Debug, Clone, Copy)]
pub struct Growths {
    /// Names of the amounts that a run's ledger has.
    pub amounts: &'static [&'static str],
    /// Queries made before a run and after it; the growth is the difference.
    pub before_and_after: &'static [Query],
    /// Queries made after a run for the rows that it has added; the growth is the total itself.
    pub after: &'static [Query],
    /// The growths.
    pub growths: &'static [Growth],
}

/// Totals of a database, by name. Two reads are equal if no transaction was committed in between.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Totals(pub BTreeMap<String, i64>);

impl Totals {
    /// A total; 0 for one that was not read.
    pub fn of(&self, name: &str) -> i64 {
        self.0.get(name).copied().unwrap_or_default()
    }
}

/// Amounts that transactions have written, by their places in [`Growths::amounts`]: those acknowledged to a driver, or those
/// performed for it by a server.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Ledger {
    amounts: Vec<Amount>,
}

/// Amount that transactions have written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
struct Amount {
    /// Sum of the transactions that were committed.
    sure: i128,
    /// Negative and positive sum of those of which it is unknown whether they were committed.
    in_doubt: [i128; 2],
}

impl Ledger {
    /// Adds to an amount what a committed transaction wrote.
    pub fn add(&mut self, at: usize, amount: impl Into<i128>) {
        self.amount_mut(at).sure += amount.into();
    }

    /// Adds to an amount what a transaction wrote if it was committed, which is unknown; [`i128::MAX`] sets no limit.
    pub fn doubt(&mut self, at: usize, amount: impl Into<i128>) {
        let amount = amount.into();
        self.amount_mut(at).doubt([amount.min(0), amount.max(0)]);
    }

    /// Adds another ledger's amounts.
    pub fn merge(&mut self, other: &Self) {
        other.amounts.iter().enumerate().for_each(|(at, amount)| self.add(at, amount.sure));
        self.merge_doubts(other);
    }

    /// Adds only what is in doubt of another ledger's amounts.
    pub fn merge_doubts(&mut self, other: &Self) {
        other.amounts.iter().enumerate().for_each(|(at, amount)| self.amount_mut(at).doubt(amount.in_doubt));
    }

    fn amount_mut(&mut self, at: usize) -> &mut Amount {
        if self.amounts.len() <= at {
            self.amounts.resize(at + 1, Amount::default());
        }
        &mut self.amounts[at]
    }

    /// The least and the most of an amount; 0 for one that no transaction wrote.
    pub fn amount(&self, at: usize) -> RangeInclusive<i128> {
        let Amount { sure, in_doubt: [less, more] } = self.amounts.get(at).copied().unwrap_or_default();
        sure + less..=sure.saturating_add(more)
    }

    /// The amount of the committed transactions, for one that only grows.
    pub fn sure(&self, at: usize) -> u64 {
        self.amounts.get(at).map_or(0, |amount| amount.sure.try_into().unwrap_or_default())
    }

    /// A ledger that another process reports, limited to values that a round can have, so that sums of those of all drivers
    /// cannot overflow.
    #[must_use]
    pub fn limited(mut self, growths: &Growths) -> Self {
        const MOST: i128 = 1 << 56;
        self.amounts.truncate(growths.amounts.len());
        for Amount { sure, in_doubt: [less, more] } in &mut self.amounts {
            *sure = (*sure).clamp(-MOST, MOST);
            (*less, *more) = ((*less).clamp(-MOST, 0), (*more).clamp(0, MOST));
        }
        self
    }

    /// Whether the amounts that a driver reports may be those of the server for it, and the numbers as a sentence.
    pub fn agreement(&self, performed: &Self, growths: &Growths) -> (bool, String) {
        let pairs = (0..growths.amounts.len()).map(|at| (self.amount(at), performed.amount(at)));
        let holds = pairs.clone().all(|(one, other)| one.start() <= other.end() && other.start() <= one.end());
        let words = growths.amounts.iter().zip(pairs).map(|(name, (reported, performed))| {
            format!("{name}: {} reported, {} performed", in_words(&reported), in_words(&performed))
        });
        (holds, words.collect::<Vec<_>>().join("; "))
    }
}

impl Amount {
    fn doubt(&mut self, by: [i128; 2]) {
        let [less, more] = &mut self.in_doubt;
        (*less, *more) = (*less + by[0], more.saturating_add(by[1]));
    }
}

fn in_words(range: &RangeInclusive<i128>) -> String {
    let (least, most) = (range.start(), range.end());
    if least == most { least.to_string() } else { format!("{least} to {most}") }
}

impl Growths {
    /// Reads the totals of before a run.
    ///
    /// # Errors
    /// The engine's.
    pub fn before(&self, db: &mut dyn Session) -> Result<Totals> {
        in_snapshot(db, |db| read(db, self.before_and_after, &Totals::default()))
    }

    /// Compares the growth since `before` with a ledger.
    ///
    /// # Errors
    /// The engine's; what a check finds is no error.
    pub fn compare(&self, db: &mut dyn Session, before: &Totals, acknowledged: &Ledger) -> Result<Vec<CheckResult>> {
        in_snapshot(db, |db| self.compare_in(db, before, acknowledged))
    }

    /// [`compare`](Self::compare) inside a database transaction of the caller.
    ///
    /// # Errors
    /// The engine's; what a check finds is no error.
    pub fn compare_in(&self, db: &mut dyn Session, before: &Totals, acknowledged: &Ledger) -> Result<Vec<CheckResult>> {
        let mut grown = read(db, self.before_and_after, before)?;
        for (name, total) in &mut grown.0 {
            *total -= before.of(name);
        }
        grown.0.extend(read(db, self.after, before)?.0);
        let compared = |growth: &Growth| {
            let wanted = match growth.by {
                GrowthAmount::Acknowledged(at) => acknowledged.amount(at),
                GrowthAmount::Total(name) => i128::from(grown.of(name))..=i128::from(grown.of(name)),
            };
            number(growth.name, SOURCE, growth.words, wanted, grown.of(growth.total).into())
        };
        Ok(self.growths.iter().map(compared).collect())
    }
}

fn read(db: &mut dyn Session, queries: &[Query], before: &Totals) -> Result<Totals> {
    let mut totals = Totals::default();
    for query in queries {
        let filled =
            |sql: String, (name, total): (&String, &i64)| sql.replace(&format!("{{{name}}}"), &total.to_string());
        let sql = before.0.iter().fold(query.sql.to_owned(), filled);
        totals.0.extend(read_one(db, &sql, query.totals)?.0);
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
    fn a_doubtful_amount_widens_a_ledger_to_its_side_and_is_added_alone() {
        let mut ledger = Ledger::default();
        ledger.add(0, 3);
        ledger.add(0, -1);
        ledger.doubt(0, 1);
        assert_eq!(ledger.amount(0), 2..=3);
        ledger.doubt(0, -1);
        assert_eq!((ledger.amount(0), ledger.amount(7)), (1..=3, 0..=0));
        let mut sum = Ledger::default();
        sum.merge(&ledger);
        assert_eq!(sum, ledger);
        sum.merge(&ledger);
        assert_eq!((sum.amount(0), sum.sure(0)), (2..=6, 4));
        sum.merge_doubts(&ledger);
        assert_eq!(sum.amount(0), 1..=7);
        sum.doubt(0, i128::MAX);
        sum.merge_doubts(&ledger);
        assert_eq!(sum.amount(0), 0..=i128::MAX);
    }
}
