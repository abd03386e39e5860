//! Consistency: conditions before and after the work of several sessions at once.

use crate::scenario::{Performing, on_sessions};
use crate::test_bed::{AcidError, TestBed};
use crate::tests::{finished, judged};
use bourse_engine::{Result, Session};
use bourse_oltp::acid::TestSpec;
use bourse_oltp::check::ledger::Ledger;
use bourse_oltp::check::{CheckResult, in_snapshot};
use bourse_oltp::{Size, Workload};
use bourse_record::acid::{AcidCase, AcidFinding, AcidStep, AcidTest, AcidVerdict};
use std::time::Instant;

/// Number of concurrent sessions.
pub(crate) const SESSIONS: usize = 4;
/// Upper limit of attempts at a transaction that meets conflicts.
pub(crate) const MAX_ATTEMPTS: u32 = 100;

/// Work of several sessions, and what was found before and after it.
pub(crate) struct SessionObservation {
    /// The conditions before the work.
    pub(crate) before: Vec<CheckResult>,
    /// The conditions after it.
    pub(crate) after: Vec<CheckResult>,
    /// The reconciliation.
    pub(crate) books: Vec<CheckResult>,
    /// Findings of the workload's own before it.
    pub(crate) further: Vec<AcidFinding>,
    pub(crate) steps: Vec<AcidStep>,
    /// Description of the work.
    pub(crate) words: String,
}

/// Work of a session: what it wrote, its step, and what else the workload looks for.
pub(crate) type SessionWork<T> = Result<(Ledger, AcidStep, T), AcidError>;

/// Observes a database before and after the work of several sessions, which `work` performs for one of them. Returns what they
/// wrote in all, and the others' results of each.
pub(crate) fn observed<P: Performing, T: Send>(
    bed: &TestBed<'_, P>,
    workload: &dyn Workload,
    size: &Size,
    work: &(dyn Fn(usize, &mut dyn Session) -> SessionWork<T> + Sync),
) -> Result<(SessionObservation, Ledger, Vec<T>), AcidError> {
    let check_all = |db: &mut dyn Session| {
        in_snapshot(db, |db| workload.conditions().iter().map(|it| it.run(db, &workload.holes(size))).collect())
    };
    let before = bed.with_observer(check_all)?;
    let totals = bed.with_observer(|db| workload.growths().before(db))?;
    let (mut ledger, mut steps, mut others) = (Ledger::default(), Vec::new(), Vec::new());
    for (wrote, step, other) in on_sessions(bed, SESSIONS, work)? {
        ledger.merge(&wrote);
        steps.push(step);
        others.push(other);
    }
    let after = bed.with_observer(check_all)?;
    let books = bed.with_observer(|db| workload.growths().compare(db, &totals, &ledger))?;
    let (further, words) = (Vec::new(), String::new());
    Ok((SessionObservation { before, after, books, further, steps, words }, ledger, others))
}

/// Tests of consistency after the same work: a condition belongs to the test whose name its own begins with, conditions without
/// one to the test without one, and the reconciliation to the last.
pub(crate) fn conditions(
    specs: &[&TestSpec],
    observe: impl FnOnce() -> Result<SessionObservation, AcidError>,
) -> Vec<AcidTest> {
    let began = Instant::now();
    let observed = observe();
    let took_s = began.elapsed().as_secs_f64();
    let observed = match observed {
        Ok(observed) => observed,
        Err(error) => return specs.iter().map(|spec| judged(spec, |_| Err(error.clone()))).collect(),
    };
    let id_of = |checked: &CheckResult| checked.name.split(' ').next().unwrap_or_default().to_owned();
    let of_it = |spec: &TestSpec, checked: &CheckResult| match specs.iter().find(|one| one.id == id_of(checked)) {
        Some(of) => of.id == spec.id,
        None => !observed.after.iter().any(|checked| id_of(checked) == spec.id),
    };
    let mut tests = Vec::new();
    for (at, spec) in specs.iter().enumerate() {
        let mut test = judged(spec, |cases| {
            let after = AcidCase { steps: observed.steps.clone(), ..AcidCase::default() };
            if at + 1 == specs.len() {
                let books = observed.books.iter().map(finding);
                let findings = observed.further.iter().cloned().chain(books).collect();
                cases.push(AcidCase { label: "books".to_owned(), findings, ..after });
                return Ok(());
            }
            let found = |all: &[CheckResult]| all.iter().filter(|one| of_it(spec, one)).map(finding).collect();
            let (label, findings) = ("before the work".to_owned(), found(&observed.before));
            cases.push(AcidCase { label, findings, ..AcidCase::default() });
            cases.push(AcidCase { label: "after the work".to_owned(), findings: found(&observed.after), ..after });
            Ok(())
        });
        // The work and the checks are one for all.
        test.took_s = took_s / specs.len() as f64;
        if test.verdict == AcidVerdict::Passed {
            test = finished(spec, test.verdict, observed.words.clone(), test.cases, test.took_s);
        }
        tests.push(test);
    }
    tests
}

/// Finding of a check.
pub(crate) fn finding(checked: &CheckResult) -> AcidFinding {
    // A number that is compared says in its evidence what it is; a query's offences are the rows it found.
    let found = match checked.offences {
        0 => "none".to_owned(),
        offences => format!("{offences}: {}", checked.evidence.join("; ")),
    };
    AcidFinding {
        what: format!("offences against: {}", checked.words),
        wanted: "none".to_owned(),
        holds: checked.passed(),
        found,
    }
}
