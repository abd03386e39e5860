//! Workloads of a mix on any system under test, with any number of drivers.

use super::{Change, JudgedTransaction, Transactions};
use crate::check::ledger::{GrowthAmount, Ledger, Totals};
use crate::check::recorded::after_run;
use crate::check::{CheckResult, ledger::SOURCE};
use crate::sut::{BegunRound, DriverCounts, RoundBegin, RunError, Share, SharedWorkload};
use crate::workload::Size;
use bourse_driver::{Backoff, Clock};
use bourse_engine::{Engine, EngineError, Result, Session};
use bourse_record::Check;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Counts of transactions and of the amounts that they have written.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct MixCounts {
    /// Transactions that ended without an error.
    answered: u64,
    /// Transactions of which it is unknown whether they were committed.
    in_doubt: u64,
    /// Amounts, in the order of [`Transactions::AMOUNTS`].
    amounts: Vec<Amount>,
}

/// Amount that transactions have written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
struct Amount {
    /// Sum of the transactions that were answered.
    sure: i128,
    /// Negative and positive sum of those in doubt.
    in_doubt: [i128; 2],
}

impl MixCounts {
    /// Counts for so many amounts.
    pub(super) fn new(amounts: usize) -> Self {
        Self { amounts: vec![Amount::default(); amounts], ..Self::default() }
    }

    /// Counts a transaction that was judged.
    pub(super) fn judged(&mut self, judged: &JudgedTransaction) {
        self.answered += 1;
        if let Some((at, amount)) = judged.change {
            self.amount_mut(at).sure += i128::from(amount);
        }
    }

    /// Counts a transaction of unknown outcome, with the change that it made if it was committed.
    pub(super) fn doubt(&mut self, change: Option<Change>) {
        self.in_doubt += 1;
        if let Some((at, amount)) = change {
            self.amount_mut(at).doubt([amount.min(0).into(), amount.max(0).into()]);
        }
    }

    pub(super) fn add(&mut self, others: &Self) {
        self.answered += others.answered;
        for (at, amount) in others.amounts.iter().enumerate() {
            self.amount_mut(at).sure += amount.sure;
        }
        self.add_doubts(others);
    }

    fn add_doubts(&mut self, others: &Self) {
        self.in_doubt += others.in_doubt;
        for (at, amount) in others.amounts.iter().enumerate() {
            self.amount_mut(at).doubt(amount.in_doubt);
        }
    }

    fn amount_mut(&mut self, at: usize) -> &mut Amount {
        if self.amounts.len() <= at {
            self.amounts.resize(at + 1, Amount::default());
        }
        &mut self.amounts[at]
    }

    /// Least and most of an amount.
    fn amount(&self, at: usize) -> RangeInclusive<i128> {
        let Amount { sure, in_doubt: [less, more] } = self.amounts.get(at).copied().unwrap_or_default();
        sure + less..=sure + more
    }
}

impl Amount {
    fn doubt(&mut self, by: [i128; 2]) {
        let [less, more] = &mut self.in_doubt;
        (*less, *more) = (*less + by[0], *more + by[1]);
    }
}

/// Follow-up of transactions that have none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum NoFollowUp {}

impl<T: Transactions> SharedWorkload for T {
    type Request = T::Input;
    type Answer = T::Output;
    type Error = EngineError;
    type FollowUp = NoFollowUp;
    type State = ();
    type Totals = Totals;
    type Opening = ();
    type Counts = MixCounts;

    const AGREEMENT: &'static str =
        "the driver received an answer for each transaction that the server performed for it, and for no other";

    fn open(engine: &dyn Engine, _: &Size, _: &dyn Clock) -> Result<((), RoundBegin<Self>), RunError> {
        let before = T::totals(&mut *engine.session()?)?;
        Ok(((), BegunRound { before, opening: () }))
    }

    fn join(_: &dyn Engine, _: &Size, _: Share, _: &RoundBegin<Self>) -> Result<(), RunError> {
        Ok(())
    }

    fn totals(session: &mut dyn Session) -> Result<Totals> {
        T::growths().before(session)
    }

    fn perform(
        (): &(),
        session: &mut dyn Session,
        backoff: &Backoff<'_>,
        input: &T::Input,
        _: &dyn Fn(&NoFollowUp),
    ) -> Result<T::Output> {
        // If even the rollback fails the next statement will say so; the first error is the one to report.
        backoff.retrying(|| <T as Transactions>::perform(session, input).inspect_err(|_| drop(session.rollback())))
    }

    fn error(_: &T::Input, cause: EngineError) -> EngineError {
        cause
    }

    fn count(counts: &mut MixCounts, input: &T::Input, output: &T::Output) {
        counts.judged(&T::judge(input, output));
    }

    fn count_failed(counts: &mut MixCounts, input: &T::Input, in_doubt: bool) {
        if in_doubt {
            counts.doubt(T::doubtful(input));
        }
    }

    fn add(counts: &mut MixCounts, others: &MixCounts) {
        counts.add(others);
    }

    fn add_doubts(counts: &mut MixCounts, others: &MixCounts) {
        counts.add_doubts(others);
    }

    fn limited(mut reported: MixCounts) -> MixCounts {
        const MOST: u64 = 1 << 40;
        const MOST_WRITTEN: i128 = 1 << 56;
        reported.amounts.truncate(T::AMOUNTS.len());
        for Amount { sure, in_doubt: [less, more] } in &mut reported.amounts {
            *sure = (*sure).clamp(-MOST_WRITTEN, MOST_WRITTEN);
            (*less, *more) = ((*less).clamp(-MOST_WRITTEN, 0), (*more).clamp(0, MOST_WRITTEN));
        }
        MixCounts { answered: reported.answered.min(MOST), in_doubt: reported.in_doubt.min(MOST), ..reported }
    }

    fn agreement(reported: &MixCounts, performed: &MixCounts) -> (bool, String) {
        let transactions = |counts: &MixCounts| {
            let answered = i128::from(counts.answered);
            answered..=answered + i128::from(counts.in_doubt)
        };
        let mut pairs = vec![("transactions", transactions(reported), transactions(performed))];
        let amounts = T::AMOUNTS.iter().enumerate();
        pairs.extend(amounts.map(|(at, name)| (*name, reported.amount(at), performed.amount(at))));
        let holds = pairs.iter().all(|(_, one, other)| one.start() <= other.end() && other.start() <= one.end());
        let words = pairs.into_iter().map(|(name, reported, performed)| {
            format!("{name}: {} reported, {} performed", in_words(&reported), in_words(&performed))
        });
        (holds, words.collect::<Vec<_>>().join("; "))
    }

    fn in_words(counts: &MixCounts) -> String {
        format!("{} transactions answered", counts.answered)
    }

    fn check(
        engine: &dyn Engine,
        size: &Size,
        run: Option<(&Totals, &MixCounts)>,
        clock: &dyn Clock,
        progress: &mut dyn FnMut(&Check),
    ) -> Result<Vec<Check>> {
        let mut reconcile = |session: &mut dyn Session| {
            run.map_or(Ok(Vec::new()), |(before, counts)| T::growths().compare(session, before, &ledger::<T>(counts)))
        };
        after_run(engine, &T::default(), size, &mut reconcile, clock, progress)
    }

    fn check_drivers(
        engine: &dyn Engine,
        size: &Size,
        begun: &RoundBegin<Self>,
        drivers: &[DriverCounts<MixCounts>],
        clock: &dyn Clock,
    ) -> Result<Vec<Check>> {
        let mut sum = MixCounts::default();
        drivers.iter().filter_map(|driver| driver.acknowledged.as_ref()).for_each(|counts| sum.add(counts));
        let Some(lost) = drivers.iter().find(|driver| driver.acknowledged.is_none()) else {
            return T::check(engine, size, Some((&begun.before, &sum)), clock, &mut |_| {});
        };
        // Rows do not show which driver wrote them.
        let why = format!("driver {} was lost, and what it has committed is unknown", lost.share);
        let known = T::growths().growths.iter().filter(|it| matches!(it.by, GrowthAmount::Acknowledged(_)));
        let mut reconcile = |_: &mut dyn Session| {
            Ok(known.clone().map(|it| CheckResult::not_run(it.name, SOURCE, it.words, &why)).collect())
        };
        after_run(engine, &T::default(), size, &mut reconcile, clock, &mut |_| {})
    }
}

/// The amounts that the database must have gained.
fn ledger<T: Transactions>(counts: &MixCounts) -> Ledger {
    let mut ledger = Ledger::default();
    for (at, name) in T::AMOUNTS.iter().enumerate() {
        ledger.set(name, counts.amount(at));
    }
    ledger
}

fn in_words(range: &RangeInclusive<i128>) -> String {
    let (least, most) = (range.start(), range.end());
    if least == most { least.to_string() } else { format!("{least} to {most}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bourse_record::Outcome;

    #[test]
    fn doubts_widen_an_amount_to_their_side_and_are_added_alone() {
        let judged = |amount| JudgedTransaction { outcome: Outcome::Completed, code: 0, change: Some((0, amount)) };
        let mut counts = MixCounts::new(1);
        counts.judged(&judged(3));
        counts.judged(&judged(-1));
        counts.doubt(Some((0, -1)));
        counts.doubt(None);
        assert_eq!((counts.amount(0), counts.answered, counts.in_doubt), (1..=2, 2, 2));
        let mut sum = MixCounts::default();
        sum.add(&counts);
        assert_eq!(sum, counts);
        sum.add_doubts(&counts);
        assert_eq!((sum.amount(0), sum.answered, sum.in_doubt), (0..=2, 2, 4));
        assert_eq!(sum.amount(7), 0..=0);
    }
}
