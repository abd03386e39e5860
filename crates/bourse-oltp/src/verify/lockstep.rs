//! Every subject performs every transaction, and what comes of it is compared.

use super::difference::{Difference, between_outcomes, between_rows, between_tables};
use super::{Performance, Statement, Subject, TableDigest};
use bourse_engine::EngineError;
use bourse_schema::{Table, Timestamp};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::ops::ControlFlow;

/// A transaction of a sequence.
#[derive(Debug, Clone, PartialEq)]
pub struct Step<R> {
    /// Number of the transaction, counted from 1.
    pub number: u64,
    /// Simulated time, which does not pass during the transaction.
    pub now: Timestamp,
    /// Name of the transaction, one of [`Script::KINDS`].
    pub name: &'static str,
    /// Input of the transaction.
    pub request: R,
}

/// A sequence of transactions: the same for the same seed and the same messages sent.
pub trait Script {
    /// Input of a transaction.
    type Request: Clone + Debug;

    /// Names of the transactions, in the order of reports.
    const KINDS: &'static [&'static str];

    /// The next transaction.
    fn next_step(&mut self) -> Step<Self::Request>;

    /// The last transaction; none follows it.
    fn last_step(&mut self) -> Step<Self::Request> {
        self.next_step()
    }

    /// Takes the messages that the last transaction has sent.
    ///
    /// # Errors
    /// The reason why no transaction can follow such a message.
    fn take(&mut self, sent: &[Value]) -> Result<(), String> {
        let _ = sent;
        Ok(())
    }

    /// Whether a sample may end now. One that may not is continued by at most [`LATER`] transactions.
    fn may_end(&self) -> bool {
        true
    }
}

/// Extent of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Number of transactions, the last one among them.
    pub transactions: u64,
    /// Number of transactions after which all tables are compared again; 0 for never.
    pub digest_every: u64,
    /// Whether all tables are compared before the first transaction and after the last.
    pub whole_tables: bool,
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
#[derive(Debug, Clone)]
pub struct Verdict<R> {
    /// Transactions that all subjects performed alike.
    pub transactions: u64,
    /// Count of transactions by name, as a place in `kinds`, and status code.
    pub outcomes: BTreeMap<(usize, i32), u64>,
    /// Names of the transactions.
    pub kinds: &'static [&'static str],
    /// Rows that were compared right after the transaction that changed them.
    pub rows_compared: u64,
    /// Digests of all tables when they were last compared and alike.
    pub digests: Vec<(&'static Table, TableDigest)>,
    /// The first difference; nothing was run after it.
    pub difference: Option<Box<Difference<R>>>,
    /// Whether it was ended before the last transaction, without a difference.
    pub interrupted: bool,
}

impl<R> Verdict<R> {
    fn new(kinds: &'static [&'static str]) -> Self {
        Self {
            transactions: 0,
            outcomes: BTreeMap::new(),
            kinds,
            rows_compared: 0,
            digests: Vec::new(),
            difference: None,
            interrupted: false,
        }
    }

    /// Names of the transactions that were never performed.
    pub fn missing(&self) -> Vec<&'static str> {
        let done = |kind: usize| self.outcomes.keys().any(|(done, _)| *done == kind);
        (0..self.kinds.len()).filter(|kind| !done(*kind)).map(|kind| self.kinds[kind]).collect()
    }

    /// Whether a transaction of that name ended with that status code.
    pub fn has(&self, name: &str, status: i32) -> bool {
        self.outcomes.keys().any(|(kind, code)| self.kinds[*kind] == name && *code == status)
    }
}

/// Reason why a comparison could not continue. A failed transaction is a difference or an outcome like any other, and not among
/// these.
#[derive(Debug, Clone, thiserror::Error)]
pub enum VerifyError {
    /// There is no sequence of transactions for such a database.
    #[error("{0}")]
    Script(String),
    /// A subject could not show its rows.
    #[error("{subject}: {cause}")]
    Rows {
        /// Name of the subject.
        subject: String,
        /// Error of the engine.
        cause: EngineError,
    },
    /// A message that all subjects sent cannot be followed.
    #[error("{0}")]
    Message(String),
    /// Fewer than two subjects.
    #[error("{0} subjects: at least two are needed to compare")]
    Subjects(usize),
}

impl VerifyError {
    pub(super) fn rows(subject: &str, cause: EngineError) -> Self {
        Self::Rows { subject: subject.to_owned(), cause }
    }
}

/// Most transactions by which a sample is continued until it [may end](Script::may_end).
pub const LATER: u64 = 500;

/// Performs a sequence of transactions on all subjects until the first difference between the first subject and another.
///
/// Calls `progress` after each transaction and before each table; it can end the comparison.
///
/// # Errors
/// [`VerifyError`].
pub fn verify<S: Script>(
    subjects: &mut [Box<dyn Subject<S::Request>>],
    script: &mut S,
    tables: &[&'static Table],
    extent: &Extent,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Verdict<S::Request>, VerifyError> {
    if subjects.len() < 2 {
        return Err(VerifyError::Subjects(subjects.len()));
    }
    let &Extent { transactions, digest_every, whole_tables } = extent;
    let mut verdict = Verdict::new(S::KINDS);
    if whole_tables && compare_tables(subjects, tables, &mut verdict, None, progress)?.is_break() {
        return Ok(verdict);
    }
    loop {
        let number = verdict.transactions + 1;
        let may_end = whole_tables || script.may_end() || number >= transactions + LATER;
        let last = number >= transactions && may_end;
        let step = if last { script.last_step() } else { script.next_step() };
        let performances: Vec<_> =
            subjects.iter_mut().map(|subject| subject.perform(&step.request, step.now)).collect();
        verdict.difference = compare_step(subjects, &step, &performances, &mut verdict.rows_compared)?.map(Box::new);
        if verdict.difference.is_some() {
            return Ok(verdict);
        }
        verdict.transactions += 1;
        let Performance { outcome, sent } = &performances[0];
        let kind = S::KINDS.iter().position(|name| *name == step.name).expect("a step has one of the names");
        if let Ok(answer) = outcome {
            *verdict.outcomes.entry((kind, answer.status)).or_default() += 1;
        }
        script.take(sent).map_err(VerifyError::Message)?;
        let due = digest_every > 0 && verdict.transactions.is_multiple_of(digest_every);
        if whole_tables
            && (due || last)
            && compare_tables(subjects, tables, &mut verdict, Some(&step), progress)?.is_break()
        {
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

/// Compares the results of one transaction, and the rows that it changed.
fn compare_step<R: Clone>(
    subjects: &mut [Box<dyn Subject<R>>],
    step: &Step<R>,
    performances: &[Performance],
    rows_compared: &mut u64,
) -> Result<Option<Difference<R>>, VerifyError> {
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
            rows.push(subject.row(key).map_err(|cause| VerifyError::rows(subject.name(), cause))?);
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
fn compare_tables<R: Clone>(
    subjects: &mut [Box<dyn Subject<R>>],
    tables: &[&'static Table],
    verdict: &mut Verdict<R>,
    step: Option<&Step<R>>,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<ControlFlow<()>, VerifyError> {
    let mut digests = Vec::with_capacity(tables.len());
    for &table in tables {
        if progress(Progress::Table(table.name, verdict.transactions)).is_break() {
            verdict.interrupted = true;
            return Ok(ControlFlow::Break(()));
        }
        let mut of_table = Vec::with_capacity(subjects.len());
        for subject in &mut *subjects {
            of_table.push(subject.digest(table).map_err(|cause| VerifyError::rows(subject.name(), cause))?);
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
pub struct ReplayedTransaction<R> {
    /// The transaction.
    pub step: Step<R>,
    /// Each subject's name, its result of the transaction, and its statements.
    pub subjects: Vec<(String, Performance, Vec<Statement>)>,
}

/// Performs a sequence of so many transactions up to number `number` without comparing, and returns that one; `None` if it was not
/// reached.
///
/// # Errors
/// [`VerifyError`].
pub fn replay<S: Script>(
    subjects: &mut [Box<dyn Subject<S::Request>>],
    script: &mut S,
    transactions: u64,
    number: u64,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Option<ReplayedTransaction<S::Request>>, VerifyError> {
    for at in 1..=number.clamp(1, transactions) {
        let step = if at == transactions { script.last_step() } else { script.next_step() };
        let performances: Vec<_> =
            subjects.iter_mut().map(|subject| subject.perform(&step.request, step.now)).collect();
        if at == number {
            let shown = subjects.iter().zip(performances);
            let subjects =
                shown.map(|(subject, performance)| (subject.name().to_owned(), performance, subject.trace().to_vec()));
            return Ok(Some(ReplayedTransaction { step, subjects: subjects.collect() }));
        }
        script.take(&performances[0].sent).map_err(VerifyError::Message)?;
        if progress(Progress::Transactions(at)).is_break() {
            break;
        }
    }
    Ok(None)
}
