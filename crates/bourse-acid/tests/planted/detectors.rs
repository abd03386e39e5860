//! Detectors: commands that run, check and compare, and their findings for a bug.

use crate::databases::{Copy, Databases, database, part};
use crate::expected::is_asked;
use bourse_acid::{AcidSubject, TestConfig, run_tests};
use bourse_driver::RealClock;
use bourse_engine::Durability;
use bourse_record::acid::AcidVerdict;
use bourse_record::{Check, CheckStatus, Operation, Warning};
use bourse_tpce::check::{Depth, check_all};
use bourse_tpce::planted::{Bug, plant};
use bourse_tpce::users::simulated::simulate;
use bourse_tpce::users::{RunOptions, RunResult, before_run, verify};
use bourse_tpce::verify::{Plan, TpceSubject, contend, sample, sql_subject};
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// A command that may detect a bug.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Detector {
    /// `bourse tpce run`: checks before and after a round, and the round itself.
    Run,
    /// `bourse tpce check` of the database after a run with the bug.
    Check,
    /// `bourse tpce verify` against the model.
    Verify,
    /// `bourse tpce acid`, without crashes.
    Acid,
}

impl Detector {
    /// All detectors.
    pub(crate) const ALL: [Self; 4] = [Self::Run, Self::Check, Self::Verify, Self::Acid];

    /// Name of the command.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Check => "check",
            Self::Verify => "verify",
            Self::Acid => "acid",
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
    /// Transactions of a run, and of a comparison.
    pub(crate) transactions: u64,
    /// Transactions of the lockstep sample of a run.
    pub(crate) sampled: u64,
    /// Customers' requests per simulated second of a run.
    pub(crate) requests_per_second: u32,
    /// Customers' requests per simulated second of a comparison.
    pub(crate) compared_per_second: u32,
    /// Whether `acid` runs too.
    pub(crate) acid: bool,
}

impl Length {
    /// Length for a build server.
    pub(crate) const SHORT: Self =
        Self { transactions: 1_000, sampled: 1_000, requests_per_second: 2, compared_per_second: 8, acid: false };
    /// Length for `cargo xtask planted`.
    pub(crate) const FULL: Self =
        Self { transactions: 4_000, sampled: 2_000, requests_per_second: 2, compared_per_second: 8, acid: true };

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
fn short(reason: &str, words: &dyn std::fmt::Display) -> String {
    eprintln!("{reason}: {words}");
    reason.to_owned()
}

/// Findings of `run`, and then of `check` on the same database if it [is requested](is_asked), each with its duration.
pub(crate) fn run_and_check(
    databases: &Databases,
    bug: Option<Bug>,
    length: Length,
    began: Instant,
) -> ((Found, Duration), Option<(Found, Duration)>) {
    let is_checked = is_asked(bug, Detector::Check, length);
    let copy = match databases.copy(bug) {
        Ok(copy) => copy,
        // There is no database to check.
        Err(error) => {
            let ran = (Found::Caught(short("load", &error)), began.elapsed());
            return (ran, is_checked.then_some((Found::Silent, Duration::ZERO)));
        }
    };
    let ran = found_by_run(databases, &copy, bug, length);
    let ran = (ran, began.elapsed());
    if !is_checked {
        return (ran, None);
    }
    let began = Instant::now();
    let engine = copy.right_engine();
    let checked = match check_all(&engine, &copy.fingerprint(), &mut |_| {}) {
        Err(error) => Found::Caught(short("cannot be checked", &error)),
        Ok(checked) => match checked.iter().find(|checked| !checked.passed()) {
            None => Found::Silent,
            Some(failed) => Found::Caught(failed.name.clone()),
        },
    };
    (ran, Some((checked, began.elapsed())))
}

/// Finding of `run`, in its order: checks before, the round with its reconciliation, checks after, the samples.
fn found_by_run(databases: &Databases, copy: &Copy<'_>, bug: Option<Bug>, length: Length) -> Found {
    if bug == Some(Bug::CleanupLeavesSubmitted) {
        copy.leave_orders();
    }
    let engine = copy.engine();
    let clock = RealClock::start();
    let failed = |checks: &[Check]| {
        let failed = checks.iter().find(|check| check.status == CheckStatus::Failed)?;
        Some(Found::Caught(failed.name.clone()))
    };
    match before_run(&*engine, &copy.fingerprint(), Depth::Full, &clock, &mut |_| {}) {
        Err(error) => return Found::Caught(short("cannot be checked", &error)),
        Ok(checks) => {
            if let Some(found) = failed(&checks) {
                return found;
            }
        }
    }
    let options = RunOptions { users: 1, ..RunOptions::new(part()) };
    plant(bug);
    let ran = simulate(&*engine, copy.inputs, &options, length.transactions, length.requests_per_second);
    plant(None);
    let ran = match ran {
        Ok(ran) => ran,
        Err(error) => return Found::Caught(short("cannot begin", &error)),
    };
    if let Some(fault) = &ran.fault {
        return Found::Caught(short("fault", fault));
    }
    let checks = match verify(&*engine, part(), Some(&ran), &clock, &mut |_| {}) {
        Ok(checks) => checks,
        Err(error) => return Found::Caught(short("cannot be checked", &error)),
    };
    if let Some(found) = failed(&ran.round.checks).or_else(|| failed(&checks)) {
        return found;
    }
    if let Some(why) = &ran.round.void {
        return Found::Caught(short("void", why));
    }
    if ran.round.failed() > 0 {
        return Found::Caught("operations failed".to_owned());
    }
    if let Some(found) = sampled(databases, bug, length) {
        return found;
    }
    shown(&ran, engine.description().expect("describes itself").durability)
}

/// Finding of the samples at the end of a run: transactions that differ from the model's, updates that one of two
/// sessions lost.
fn sampled(databases: &Databases, bug: Option<Bug>, length: Length) -> Option<Found> {
    let copy = databases.copy(bug).expect("it was copied before");
    let mut subjects = subjects(&copy);
    // As `run` has it, but for the number.
    let plan = Plan { transactions: length.sampled, requests_per_second: 2, ..Plan::of(database()) };
    plant(bug);
    let verdict = sample(&mut subjects, copy.inputs, &plan, &mut |_| ControlFlow::Continue(()));
    if verdict.is_err() || verdict.is_ok_and(|verdict| verdict.difference.is_some()) {
        plant(None);
        return Some(Found::Caught("lockstep sample".to_owned()));
    }
    let contention = contend(&*copy.engine(), copy.inputs, part(), &AtomicBool::new(false));
    plant(None);
    let fault = contention.map_or_else(|error| Some(error.to_string()), |contention| contention.fault());
    fault.map(|fault| Found::Caught(short("contention sample", &fault)))
}

/// The database of a bug, and the model.
fn subjects(copy: &Copy<'_>) -> [Box<TpceSubject>; 2] {
    let session = copy.engine().session().expect("connects");
    let subject = sql_subject("sqlite", session, database().first_free_trade());
    [Box::new(subject), Box::new(copy.model())]
}

/// Signs that the report of a run shows without failing.
fn shown(ran: &RunResult, durability: Durability) -> Found {
    let operations = &ran.round.operations;
    let of_mix = || operations.iter().filter(|operation| operation.mix_target_percent.is_some());
    let samples: u64 = of_mix().map(bourse_record::Operation::ended).sum();
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
    match ran.round.warnings.iter().find(|it| !matches!(it, Warning::UsageReadLate { .. })) {
        Some(warning) => Found::Shown(warning.to_string()),
        None => Found::Silent,
    }
}

/// Finding of `verify`.
pub(crate) fn verified(databases: &Databases, bug: Option<Bug>, length: Length) -> Found {
    let copy = match databases.copy(bug) {
        Ok(copy) => copy,
        Err(error) => return Found::Caught(short("load", &error)),
    };
    let mut subjects = subjects(&copy);
    let plan = Plan {
        transactions: length.transactions,
        requests_per_second: length.compared_per_second,
        ..Plan::of(database())
    };
    plant(bug);
    let verdict = bourse_tpce::verify::verify(&mut subjects, copy.inputs, &plan, &mut |_| ControlFlow::Continue(()));
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

/// Finding of `acid` without crashes.
pub(crate) fn examined(databases: &Databases, bug: Option<Bug>) -> Found {
    let copy = match databases.copy(bug) {
        Ok(copy) => copy,
        Err(error) => return Found::Caught(short("load", &error)),
    };
    let engine = copy.engine();
    let described = engine.description().expect("describes itself");
    let (part, database) = (part(), database());
    let subject = AcidSubject {
        engine: &*engine,
        part,
        first_free: database.first_free_trade(),
        class: described.durability,
        may_lose: described.may_lose,
        class_reason: &described.durability_reason,
        inputs: copy.inputs,
        site: None,
        config: TestConfig { repeats: 2, patience: Duration::from_millis(300), ..TestConfig::DEFAULT },
        interrupted: &AtomicBool::new(false),
    };
    plant(bug);
    let tests = run_tests(&subject, &|id| !id.starts_with('D'), &mut |_| ());
    plant(None);
    match tests {
        Err(error) => Found::Caught(error.to_string()),
        Ok(tests) => {
            let failed: Vec<_> =
                tests.iter().filter(|test| test.verdict == AcidVerdict::Failed).map(|test| test.id.as_str()).collect();
            if failed.is_empty() { Found::Silent } else { Found::Caught(failed.join(", ")) }
        }
    }
}
