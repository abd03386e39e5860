//! Transactions of a mix as samples at the end of a run: the reference, and two sessions at once.

use super::sequence::retrying;
use super::{OnSession, Sequence, TRANSACTIONS, Transactions};
use crate::check::ledger::Ledger;
use crate::verify::contention::{ATTEMPTS, SteppedSession, contend};
use crate::verify::{
    Cell, Contention, MODEL, OutputValue, Performance, ReferenceTables, RowKey, Sampled, SqlSubject, Subject,
    VerifyError,
};
use crate::workload::{Generator, Size, Workload};
use bourse_engine::{Access, Engine, Result, Session};
use bourse_record::Outcome;
use bourse_schema::{Table, Timestamp};
use std::marker::PhantomData;
use std::sync::atomic::AtomicBool;

/// Seeds of the inputs of each sample. Those of the second must be others: the first has made its changes.
const SEEDS: [u64; 2] = [1, 2];
/// Inputs of each writing transaction that both sessions perform.
const CONTENDED: usize = 16;
/// Inputs among which these are looked for.
const DRAWN: usize = 20_000;

/// The transactions on plain collections.
#[derive(Debug, Clone)]
pub struct Reference<T> {
    tables: ReferenceTables,
    transactions: PhantomData<fn() -> T>,
}

impl<T: Transactions> Reference<T> {
    /// Creates it with the rows of a database of that size.
    pub fn load(generator: &T, size: &Size) -> Self {
        Self { tables: ReferenceTables::load(generator, size), transactions: PhantomData }
    }
}

impl<T: Transactions> Subject<T::Input> for Reference<T> {
    fn name(&self) -> &str {
        MODEL
    }

    fn perform(&mut self, request: &T::Input, _: Timestamp) -> Performance {
        self.tables.settle();
        let (code, output) = T::expected(&mut self.tables, request);
        Performance { outcome: Ok(OutputValue::of(code, &output)), sent: Vec::new() }
    }

    fn changed(&self) -> Vec<RowKey> {
        self.tables.changed().to_vec()
    }

    fn row(&mut self, key: &RowKey) -> Result<Option<Vec<Cell>>> {
        Ok(self.tables.row(key).map(<[Cell]>::to_vec))
    }

    fn each_row(&mut self, table: &'static Table, each: &mut dyn FnMut(&[Cell])) -> Result<()> {
        self.tables.rows(table).for_each(each);
        Ok(())
    }
}

impl<T: Transactions> Sampled for T {
    type Script = Sequence<T>;
    type Reference = Reference<T>;

    const SOURCES: [&'static str; 2] = [T::SOURCE; 2];
    const WHOLE_TABLES: bool = true;

    fn workload(&self) -> &dyn Workload {
        self
    }

    fn generator(&self) -> &dyn Generator {
        self
    }

    fn size(&self) -> Size {
        T::smallest()
    }

    fn reference(&self) -> Reference<T> {
        Reference::load(self, &T::smallest())
    }

    fn subject(&self, name: &str, session: Box<dyn Session>) -> Box<dyn Subject<T::Input>> {
        Box::new(SqlSubject::new(name, session, OnSession::<T>::new()))
    }

    fn script(&self) -> Result<Sequence<T>, VerifyError> {
        Ok(Sequence::new(&T::smallest(), SEEDS[0]))
    }

    fn contend(&self, engine: &dyn Engine, interrupted: &AtomicBool) -> Result<Contention> {
        let size = T::smallest();
        let inputs = contended::<T>(&size);
        let perform = |session: &mut SteppedSession<'_>, at: usize, ledger: &mut Ledger| {
            let (participant, input) = (session.participant(), &inputs[at]);
            participant.begin();
            let output = retrying::<T>(session, input, ATTEMPTS, &mut |attempt| participant.back_off(attempt));
            let output = output.map_err(|error| (error.kind(), error.to_string()))?;
            let judged = T::judge(input, &output);
            // What is missed or rolled back as designed shows nothing.
            ledger.add(TRANSACTIONS, u64::from(judged.outcome == Outcome::Completed));
            judged.change.into_iter().for_each(|(at, amount)| ledger.add(at, amount));
            Ok(())
        };
        contend(engine, (self, &size, ""), inputs.len(), interrupted, &perform, |ledger| {
            let commits = ledger.sure(TRANSACTIONS);
            (format!("{commits} transactions"), commits)
        })
    }
}

/// The first inputs of each writing transaction, as a user draws them.
fn contended<T: Transactions>(size: &Size) -> Vec<T::Input> {
    let mut drawn = vec![0; T::NAMES.len()];
    let inputs = T::emulator(size, SEEDS[1], 0).take(DRAWN).filter(|input| {
        let kind = T::kind(input);
        drawn[kind] += 1;
        T::demands(kind).1 == Access::Write && drawn[kind] <= CONTENDED
    });
    inputs.collect()
}
