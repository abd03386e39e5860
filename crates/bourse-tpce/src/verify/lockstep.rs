//! Every subject performs every transaction, and what comes of it is compared.

use super::difference::{Difference, between_outcomes, between_rows, between_tables};
use super::{Performance, Statement, Step, Stream, Subject, TableDigest};
use crate::transactions::{Status, Transaction};
use bourse_egen::Inputs;
use bourse_egen::driver::{ConfigError, Database, UnknownSymbol};
use bourse_engine::EngineError;
use bourse_schema::{Table, tables};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Options of a verification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// The database that every subject begins with.
    pub database: Database,
    /// The seed of the emulators.
    pub seed: u64,
    /// Transactions, the Trade-Cleanups at the beginning and the end among them.
    pub transactions: u64,
    /// Customers' requests in a simulated second: how much happens while prices move.
    pub requests_per_second: u32,
    /// After how many transactions all tables are compared besides before the first and after the last; 0 for never.
    pub digest_every: u64,
}

impl Plan {
    /// A hundred thousand transactions, about an hour of a small brokerage house.
    pub const fn of(database: Database) -> Self {
        Self { database, seed: 1, transactions: 100_000, requests_per_second: 20, digest_every: 0 }
    }

    /// The sample that is verified together with a run: so few requests a second that maintenance comes to each of its
    /// twelve tables, and that prices reach the limits of orders.
    pub const fn of_sample(database: Database) -> Self {
        Self { transactions: 2_000, requests_per_second: 2, ..Self::of(database) }
    }
}

/// Progress of a verification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// So many transactions have been compared.
    Transactions(u64),
    /// A table is being compared after so many transactions.
    Table(&'static str, u64),
}

/// Result of a verification.
#[derive(Debug, Clone, Default)]
pub struct Verdict {
    /// Transactions that all subjects performed alike.
    pub transactions: u64,
    /// Transactions by kind and status.
    pub outcomes: BTreeMap<(Transaction, Status), u64>,
    /// Rows that were compared right after the transaction that changed them.
    pub rows_compared: u64,
    /// Digests of all tables when they were last compared and alike.
    pub digests: Vec<(&'static Table, TableDigest)>,
    /// The first difference; nothing was run after it.
    pub difference: Option<Box<Difference>>,
    /// Whether it was ended before the last transaction, without a difference.
    pub interrupted: bool,
}

impl Verdict {
    /// The transactions that were never performed.
    pub fn missing(&self) -> Vec<Transaction> {
        let done = |kind: &Transaction| self.outcomes.keys().any(|(done, _)| done == kind);
        Transaction::ALL.into_iter().filter(|kind| !done(kind)).collect()
    }
}

/// Failure that ends a verification. A failed transaction is a difference or an outcome like any other, and not among these.
#[derive(Debug, Clone, thiserror::Error)]
pub enum VerifyError {
    /// The emulators cannot work with such a database.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A subject could not show its rows.
    #[error("{subject}: {cause}")]
    Rows {
        /// Name of the subject.
        subject: String,
        /// The engine's error.
        cause: EngineError,
    },
    /// An order that all subjects sent names no security.
    #[error(transparent)]
    Order(#[from] UnknownSymbol),
    /// Fewer than two subjects.
    #[error("{0} subjects: at least two are needed to compare")]
    Subjects(usize),
}

impl VerifyError {
    pub(super) fn rows(subject: &dyn Subject, cause: EngineError) -> Self {
        Self::Rows { subject: subject.name().to_owned(), cause }
    }
}

/// Runs the plan on all subjects until the first difference between the first subject and another.
///
/// `progress` is called now and then, and can end the run.
///
/// # Errors
/// [`VerifyError`].
pub fn verify(
    subjects: &mut [Box<dyn Subject>],
    inputs: &Inputs,
    plan: &Plan,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Verdict, VerifyError> {
    run(subjects, inputs, plan, true, progress)
}

/// [`verify`] without comparing whole tables: outputs, and the rows that transactions change. Before the Trade-Cleanup at the
/// end, which may come up to [`LATER`] transactions after its time, an order is on its way to the market.
///
/// # Errors
/// [`VerifyError`].
pub fn sample(
    subjects: &mut [Box<dyn Subject>],
    inputs: &Inputs,
    plan: &Plan,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Verdict, VerifyError> {
    run(subjects, inputs, plan, false, progress)
}

/// Largest number of transactions added to a sample until one sends an order to the market.
pub const LATER: u64 = 500;

fn run(
    subjects: &mut [Box<dyn Subject>],
    inputs: &Inputs,
    plan: &Plan,
    whole_tables: bool,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Verdict, VerifyError> {
    if subjects.len() < 2 {
        return Err(VerifyError::Subjects(subjects.len()));
    }
    let mut stream = Stream::new(inputs, plan.database, plan.seed, plan.requests_per_second)?.with_rare_requests();
    let mut verdict = Verdict::default();
    if whole_tables && compare_tables(subjects, &mut verdict, None, progress)?.is_break() {
        return Ok(verdict);
    }
    // Whether the transaction before has sent a market order.
    let mut ordered = false;
    loop {
        let number = verdict.transactions + 1;
        let last = number >= plan.transactions && (whole_tables || ordered || number >= plan.transactions + LATER);
        let step = if last { stream.cleanup() } else { stream.next_step() };
        let performances: Vec<_> =
            subjects.iter_mut().map(|subject| subject.perform(&step.request, step.now)).collect();
        verdict.difference = compare_step(subjects, &step, &performances, &mut verdict.rows_compared)?.map(Box::new);
        if verdict.difference.is_some() {
            return Ok(verdict);
        }
        verdict.transactions += 1;
        let Performance { outcome, sent } = &performances[0];
        if let Ok(output) = outcome {
            *verdict.outcomes.entry((step.request.transaction(), output.status())).or_default() += 1;
        }
        ordered = sent.iter().any(|order| order.trade_type.is_market());
        stream.send(sent)?;
        let due = plan.digest_every > 0 && verdict.transactions.is_multiple_of(plan.digest_every);
        if whole_tables && (due || last) && compare_tables(subjects, &mut verdict, Some(&step), progress)?.is_break() {
            return Ok(verdict);
        }
        if progress(Progress::Transactions(verdict.transactions)).is_break() {
            verdict.interrupted = !last;
            return Ok(verdict);
        }
        if last {
            return Ok(verdict);
        }
    }
}

/// Compares what came of one transaction, and the rows that it changed.
fn compare_step(
    subjects: &mut [Box<dyn Subject>],
    step: &Step,
    performances: &[Performance],
    rows_compared: &mut u64,
) -> Result<Option<Difference>, VerifyError> {
    let (first, others) = performances.split_first().expect("there are two subjects at least");
    for (at, other) in others.iter().enumerate() {
        if let Some(what) = between_outcomes(first, other) {
            return Ok(Some(Difference::new(step, subjects, at + 1, what)));
        }
    }
    let changed: Vec<_> = subjects.iter().flat_map(|subject| subject.changed()).collect();
    for key in &changed {
        let mut rows = Vec::with_capacity(subjects.len());
        for subject in &mut *subjects {
            rows.push(subject.row(key).map_err(|cause| VerifyError::rows(&**subject, cause))?);
        }
        *rows_compared += 1;
        for (at, other) in rows.iter().enumerate().skip(1) {
            if let Some(what) = between_rows(key, rows[0].as_deref(), other.as_deref()) {
                return Ok(Some(Difference::new(step, subjects, at, what)));
            }
        }
    }
    Ok(None)
}

/// Compares all tables; stops at a difference or when `progress` requests it.
fn compare_tables(
    subjects: &mut [Box<dyn Subject>],
    verdict: &mut Verdict,
    step: Option<&Step>,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<ControlFlow<()>, VerifyError> {
    let mut digests = Vec::with_capacity(tables::NAMES.len());
    for &table in tables::all() {
        if progress(Progress::Table(table.name, verdict.transactions)).is_break() {
            verdict.interrupted = true;
            return Ok(ControlFlow::Break(()));
        }
        let mut of_table = Vec::with_capacity(subjects.len());
        for subject in &mut *subjects {
            of_table.push(subject.digest(table).map_err(|cause| VerifyError::rows(&**subject, cause))?);
        }
        if let Some(at) = of_table.iter().position(|digest| *digest != of_table[0]) {
            let what = between_tables(subjects, at, table)?;
            verdict.difference = Some(Box::new(Difference::of_tables(step, subjects, at, what)));
            return Ok(ControlFlow::Break(()));
        }
        digests.push((table, of_table[0]));
    }
    verdict.digests = digests;
    Ok(ControlFlow::Continue(()))
}

/// A transaction run alone, after those before it have been run without comparing.
#[derive(Debug, Clone)]
pub struct Replayed {
    /// The transaction.
    pub step: Step,
    /// Each subject's name, what came of it there, and its statements.
    pub subjects: Vec<(String, Performance, Vec<Statement>)>,
}

/// Runs the plan up to transaction `number` and shows that one.
///
/// # Errors
/// [`VerifyError`].
pub fn replay(
    subjects: &mut [Box<dyn Subject>],
    inputs: &Inputs,
    plan: &Plan,
    number: u64,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Option<Replayed>, VerifyError> {
    let mut stream = Stream::new(inputs, plan.database, plan.seed, plan.requests_per_second)?.with_rare_requests();
    for at in 1..=number.clamp(1, plan.transactions) {
        let step = if at == plan.transactions { stream.cleanup() } else { stream.next_step() };
        let performances: Vec<_> =
            subjects.iter_mut().map(|subject| subject.perform(&step.request, step.now)).collect();
        if at == number {
            let shown = subjects.iter().zip(performances);
            let subjects =
                shown.map(|(subject, performance)| (subject.name().to_owned(), performance, subject.trace().to_vec()));
            return Ok(Some(Replayed { step, subjects: subjects.collect() }));
        }
        stream.send(&performances[0].sent)?;
        if progress(Progress::Transactions(at)).is_break() {
            break;
        }
    }
    Ok(None)
}
