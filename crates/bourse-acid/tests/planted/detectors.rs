//! Detectors: commands that run, check and compare, and their findings for a bug. The same for each workload.

use crate::databases::{Copy, Databases, Planted};
use crate::expected::is_asked;
use bourse_acid::{AcidSubject, AcidWorkload, TestConfig, run_tests};
use bourse_driver::RealClock;
use bourse_engine::Durability;
use bourse_oltp::check::recorded::before_run;
use bourse_oltp::check::{Depth, check_all};
use bourse_oltp::planted::{Bug, plant};
use bourse_oltp::verify::sample::compare;
use bourse_record::acid::AcidVerdict;
use bourse_record::{Check, CheckStatus, Operation, Round, Warning};
use std::fmt::Display;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// A command that may detect a bug.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Detector {
    /// `bourse WORKLOAD run`: checks before and after a round, and the round itself.
    Run,
    /// `bourse WORKLOAD check` of the database after a run with the bug.
    Check,
    /// `bourse WORKLOAD verify` against the model.
    Verify,
    /// `bourse WORKLOAD acid`, without crashes, where the workload has it.
    Acid,
    /// `bourse isolation`, of an engine with the bug.
    Isolation,
}

impl Detector {
    /// All detectors.
    pub(crate) const ALL: [Self; 5] = [Self::Run, Self::Check, Self::Verify, Self::Acid, Self::Isolation];

    /// Name of the command.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Check => "check",
            Self::Verify => "verify",
            Self::Acid => "acid",
            Self::Isolation => "isolation",
        }
    }
}

/// Finding of a detector for a bug.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    /// The detector fails; its first reason.
    Caught(String),
    /// The detector passes, but its report shows a sign of the bug.
    Shown(String),
    /// The detector passes without any sign.
    Silent,
}

/// Length of the detectors' runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Length {
    /// Transactions of a run of TPC-E, and of a comparison.
    pub(crate) transactions: u64,
    /// Transactions of the lockstep sample of a run.
    pub(crate) sampled: u64,
    /// Whether `acid` runs too.
    pub(crate) acid: bool,
    /// Seeds of histories, 20,000 transactions with each.
    pub(crate) seeds: u64,
}

impl Length {
    /// Length for a build server.
    pub(crate) const SHORT: Self = Self { transactions: 1_000, sampled: 1_000, acid: false, seeds: 1 };
    /// Length for `cargo xtask planted`.
    pub(crate) const FULL: Self = Self { transactions: 4_000, sampled: 2_000, acid: true, seeds: 10 };

    /// Argument of the program that selects the length.
    pub(crate) fn argument(self) -> Option<&'static str> {
        match self {
            Self::FULL => Some("--full"),
            _ => self.acid.then_some("--acid"),
        }
    }
}

/// Reason without the engine's words, which may vary; these are printed for the person who examines the cause.
#[expect(clippy::print_stderr, reason = "a program for developers")]
pub(crate) fn short(reason: &str, words: &dyn Display) -> String {
    eprintln!("{reason}: {words}");
    reason.to_owned()
}

/// The result of a round or of checks; the finding with that reason if it failed, or if a fault ended it.
pub(crate) fn ended<T, F: Display>(
    reason: &str,
    result: Result<T, impl Display>,
    fault: impl Fn(&T) -> Option<&F>,
) -> Result<T, Found> {
    let result = result.map_err(|error| Found::Caught(short(reason, &error)))?;
    match fault(&result) {
        Some(fault) => Err(Found::Caught(short("fault", fault))),
        None => Ok(result),
    }
}

/// Findings of `run`, and then of `check` on the same database if it [is requested](is_asked), each with its duration.
pub(crate) fn run_and_check<W: Planted>(
    databases: &Databases<W>,
    bug: Option<&'static Bug>,
    name: &str,
    length: Length,
) -> ((Found, Duration), Option<(Found, Duration)>) {
    let began = Instant::now();
    let is_checked = is_asked(name, Detector::Check, length);
    let copy = match databases.copy(bug) {
        Ok(copy) => copy,
        // There is no database to check.
        Err(error) => {
            let ran = (Found::Caught(short("load", &error)), began.elapsed());
            return (ran, is_checked.then_some((Found::Silent, Duration::ZERO)));
        }
    };
    let ran = found_by_run(databases, &copy, length).unwrap_or_else(|found| found);
    let ran = (ran, began.elapsed());
    if !is_checked {
        return (ran, None);
    }
    let began = Instant::now();
    let engine = copy.right_engine();
    let checked = match check_all(&engine, copy.sampled.workload(), &copy.fingerprint(), Depth::Full, &mut |_| {}) {
        Err(error) => Found::Caught(short("cannot be checked", &error)),
        Ok(checked) => match checked.iter().find(|checked| !checked.passed()) {
            None => Found::Silent,
            Some(failed) => Found::Caught(failed.name.clone()),
        },
    };
    (ran, Some((checked, began.elapsed())))
}

/// Finding of `run`, in its order: checks before, the round with its reconciliation, checks after, the samples. What fails is
/// the error.
fn found_by_run<W: Planted>(databases: &Databases<W>, copy: &Copy<'_, W>, length: Length) -> Result<Found, Found> {
    let engine = copy.engine();
    let (workload, clock) = (copy.sampled.workload(), RealClock::start());
    let passed = |checks: &[Check]| {
        let failed = checks.iter().find(|check| check.status == CheckStatus::Failed);
        failed.map_or(Ok(()), |check| Err(Found::Caught(check.name.clone())))
    };
    copy.checked(|| {
        let before = before_run(&*engine, workload, &copy.fingerprint(), Depth::Full, &clock, &mut |_| {});
        passed(&ended("cannot be checked", before, |_| None::<&String>)?)
    })?;
    let (round, checks) = copy.sampled.run(copy.bug, &*engine, length)?;
    passed(&round.checks)?;
    passed(&checks)?;
    if let Some(why) = &round.void {
        return Err(Found::Caught(short("void", why)));
    }
    if round.failed() > 0 {
        return Err(Found::Caught("operations failed".to_owned()));
    }
    sampled(databases, copy.bug, length)?;
    Ok(shown(&round, engine.description().expect("describes itself").durability))
}

/// Finding of the samples at the end of a run: transactions that differ from the reference's or are missing, updates that one of
/// two sessions lost.
fn sampled<W: Planted>(databases: &Databases<W>, bug: Option<&'static Bug>, length: Length) -> Result<(), Found> {
    let copy = databases.copy(bug).expect("it was copied before");
    let (engine, reference) = (copy.engine(), copy.reference());
    let session = engine.session().expect("connects");
    let extent = (length.sampled, W::WHOLE_TABLES);
    plant(bug);
    let verdict = compare(&copy.sampled, ("sqlite", session), reference, extent, &mut |_| ControlFlow::Continue(()));
    if !verdict.is_ok_and(|verdict| verdict.difference.is_none() && verdict.missing().is_empty()) {
        plant(None);
        return Err(Found::Caught("lockstep sample".to_owned()));
    }
    let contention = copy.sampled.contend(&*engine, &AtomicBool::new(false));
    plant(None);
    let fault = contention.map_or_else(|error| Some(error.to_string()), |contention| contention.fault());
    fault.map_or(Ok(()), |fault| Err(Found::Caught(short("contention sample", &fault))))
}

/// Signs that the report of a run shows without failing.
fn shown(round: &Round, durability: Durability) -> Found {
    let operations = &round.operations;
    let of_mix = || operations.iter().filter(|operation| operation.mix_target_percent.is_some());
    let samples: u64 = of_mix().map(Operation::ended).sum();
    let strays = |operation: &&Operation| {
        let share = 100.0 * operation.ended() as f64 / samples.max(1) as f64;
        let expected = operation.mix_expected_percent.or(operation.mix_target_percent);
        let tolerance = operation.mix_tolerance_points;
        (share - expected.unwrap_or_default()).abs() > tolerance.unwrap_or_default()
    };
    if of_mix().any(|operation| strays(&operation)) {
        return Found::Shown("mix".to_owned());
    }
    if durability != Durability::Durable {
        return Found::Shown(format!("durability class {}", durability.name()));
    }
    // The clock is simulated but processor time is not, so its reading is usually late.
    match round.warnings.iter().find(|it| !matches!(it, Warning::UsageReadLate { .. })) {
        Some(warning) => Found::Shown(warning.to_string()),
        None => Found::Silent,
    }
}

/// Finding of `verify`. In a [short](Length::SHORT) matrix large tables are compared whole only where rows differ before the first
/// transaction, and for the control.
pub(crate) fn verified<W: Planted>(databases: &Databases<W>, bug: Option<&'static Bug>, length: Length) -> Found {
    let copy = match databases.copy(bug) {
        Ok(copy) => copy,
        Err(error) => return Found::Caught(short("load", &error)),
    };
    let (engine, reference) = (copy.engine(), copy.reference());
    let session = engine.session().expect("connects");
    let whole_tables = W::WHOLE_TABLES || length != Length::SHORT || bug.is_none_or(|bug| W::is_loaded_with(bug));
    let (compared, extent) = (W::with(bug).compared(), (length.transactions, whole_tables));
    plant(bug);
    let verdict = compare(&compared, ("sqlite", session), reference, extent, &mut |_| ControlFlow::Continue(()));
    plant(None);
    match verdict {
        Err(error) => Found::Caught(error.to_string()),
        Ok(verdict) => match verdict.difference {
            None => Found::Silent,
            Some(difference) => Found::Caught(match &difference.step {
                None => "before the first transaction".to_owned(),
                Some(step) => step.name.to_owned(),
            }),
        },
    }
}

/// Finding of `acid` without crashes, with the bug planted.
pub(crate) fn examined<W: Planted>(copy: &Copy<'_, W>, workload: &dyn AcidWorkload) -> Found {
    let engine = copy.engine();
    let described = engine.description().expect("describes itself");
    let subject = AcidSubject {
        engine: engine.as_ref(),
        workload,
        class: described.durability,
        may_lose: described.may_lose,
        class_reason: &described.durability_reason,
        site: None,
        config: TestConfig { repeats: 2, patience: Duration::from_millis(300), ..TestConfig::DEFAULT },
        interrupted: &AtomicBool::new(false),
    };
    plant(copy.bug);
    let tests = run_tests(&subject, &|id| !id.starts_with('D'), &mut |_| ());
    plant(None);
    match tests {
        Err(error) => Found::Caught(short("acid", &error)),
        Ok(tests) => {
            let failed = tests.iter().filter(|test| test.verdict == AcidVerdict::Failed);
            let failed: Vec<_> = failed.map(|test| test.id.as_str()).collect();
            if failed.is_empty() { Found::Silent } else { Found::Caught(failed.join(", ")) }
        }
    }
}
