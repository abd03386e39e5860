//! Workloads of a mix on any system under test, with any number of drivers.

use super::{JudgedTransaction, Transactions};
use crate::check::ledger::{GrowthAmount, Ledger, Totals};
use crate::check::recorded::after_run;
use crate::check::{CheckResult, ledger::SOURCE};
use crate::sut::{BegunRound, DriverLedger, RoundBegin, RunError, Share, SharedWorkload};
use crate::workload::Size;
use bourse_driver::{Backoff, Clock};
use bourse_engine::{Engine, EngineError, Result, Session};
use bourse_record::Check;
use serde::{Deserialize, Serialize};

/// Place of the number of transactions that ended without an error, in the ledger of a mix.
pub const TRANSACTIONS: usize = 0;

impl Ledger {
    /// Adds a transaction that was judged.
    pub fn judged(&mut self, judged: &JudgedTransaction) {
        self.add(TRANSACTIONS, 1);
        judged.change.into_iter().for_each(|(at, amount)| self.add(at, amount));
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
    type Opening = ();

    const AGREEMENT: &'static str =
        "the driver received an answer for each transaction that the server performed for it, and for no other";

    fn open(engine: &dyn Engine, _: &Size, _: &dyn Clock) -> Result<((), RoundBegin<Self>), RunError> {
        let before = T::default().growths().before(&mut *engine.session()?)?;
        Ok(((), BegunRound { before, opening: () }))
    }

    fn join(_: &dyn Engine, _: &Size, _: Share, _: &RoundBegin<Self>) -> Result<(), RunError> {
        Ok(())
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

    fn count(ledger: &mut Ledger, input: &T::Input, output: &T::Output) {
        ledger.judged(&T::judge(input, output));
    }

    fn count_failed(ledger: &mut Ledger, input: &T::Input, in_doubt: bool) {
        if in_doubt {
            ledger.doubt(TRANSACTIONS, 1);
            T::doubtful(input).into_iter().for_each(|(at, amount)| ledger.doubt(at, amount));
        }
    }

    fn in_words(ledger: &Ledger) -> String {
        format!("{} transactions answered", ledger.sure(TRANSACTIONS))
    }

    fn check(
        engine: &dyn Engine,
        size: &Size,
        run: Option<(&Totals, &Ledger)>,
        clock: &dyn Clock,
        progress: &mut dyn FnMut(&Check),
    ) -> Result<Vec<Check>> {
        let mut reconcile = |session: &mut dyn Session| {
            run.map_or(Ok(Vec::new()), |(before, ledger)| T::default().growths().compare(session, before, ledger))
        };
        after_run(engine, &T::default(), size, &mut reconcile, clock, progress)
    }

    fn check_drivers(
        engine: &dyn Engine,
        size: &Size,
        begun: &RoundBegin<Self>,
        drivers: &[DriverLedger],
        clock: &dyn Clock,
    ) -> Result<Vec<Check>> {
        let mut sum = Ledger::default();
        drivers.iter().filter_map(|driver| driver.acknowledged.as_ref()).for_each(|ledger| sum.merge(ledger));
        let Some(lost) = drivers.iter().find(|driver| driver.acknowledged.is_none()) else {
            return T::check(engine, size, Some((&begun.before, &sum)), clock, &mut |_| {});
        };
        // Rows do not show which driver wrote them.
        let why = format!("driver {} was lost, and what it has committed is unknown", lost.share);
        let known = T::default().growths().growths.iter().filter(|it| matches!(it.by, GrowthAmount::Acknowledged(_)));
        let mut reconcile = |_: &mut dyn Session| {
            Ok(known.clone().map(|it| CheckResult::not_run(it.name, SOURCE, it.words, &why)).collect())
        };
        after_run(engine, &T::default(), size, &mut reconcile, clock, &mut |_| {})
    }
}
