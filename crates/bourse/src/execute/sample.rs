//! The samples of a run's checks: some thousand transactions compared with the workload's reference, each output and each row that
//! changes, on a small database of its own with the target's engine and settings. Then, on the same database, two sessions
//! that change the same rows concurrently.
//!
//! The database of the run itself is not used: the reference has the generator's rows, which earlier runs have changed,
//! and needs memory for all of them. The samples come after the rounds, so that neither their memory nor their pending writes
//! are in the figures.

use super::child::{self, ChildRequest};
use super::{CaseRun, RunContext};
use crate::failure::{Exit, Failure, Result};
use crate::oltp::database::engine_failure;
use crate::plan::Drivers;
use crate::progress::{ProgressStep, note};
use crate::work_folder::WorkFolder;
use crate::{engines, interrupt, spent};
use bourse_driver::Clock as _;
use bourse_engine::{Capabilities, Engine, ErrorKind, Guarantee, Hosting, Isolation, Location, target_with_path};
use bourse_oltp::load::{LoadError, LoadOptions, load};
use bourse_oltp::verify::sample::{TRANSACTIONS, compare};
use bourse_oltp::verify::{Sampled, Verdict, VerifyError};
use bourse_record::{Check, CheckStatus};
use bourse_serve::Address;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::ops::ControlFlow;

/// Name and condition of the check of each sample.
const CHECKS: [(&str, &str); 2] = [
    ("lockstep sample", "transactions do what the specification says: the same outputs and rows as the model's"),
    (
        "contention sample",
        "two sessions that change the same rows at once, statement by statement, lose nothing that was committed",
    ),
];

/// The checks of a target's samples: of the transactions in lockstep, and of two concurrent sessions.
pub(crate) type SampleChecks = Vec<Check>;

/// Result of a sample, with its evidence.
type SampleResult = (CheckStatus, String);

fn not_run(why: &str) -> SampleResult {
    (CheckStatus::NotApplicable, format!("not run: {why}"))
}

/// The checks of samples that are not run.
fn none<S: Sampled>(why: &str) -> SampleChecks {
    checks::<S>([(); 2].map(|()| (not_run(why), 0.0)))
}

/// The checks of samples with their results and seconds.
fn checks<S: Sampled>(results: [(SampleResult, f64); 2]) -> SampleChecks {
    let check =
        |((&(name, condition), source), ((status, evidence), took_s)): ((&(&str, &str), &str), (SampleResult, _))| {
            Check { took_s, ..Check::new(name, condition, source, status, evidence) }
        };
    CHECKS.iter().zip(S::SOURCES).zip(results).map(check).collect()
}

/// Samples each target once whose transactions are to be checked in full, and adds the checks to the first round of each of
/// its cases.
pub(super) fn sample_all(cases: &mut [CaseRun], context: &RunContext) -> Result<()> {
    let mut sampled: BTreeMap<(String, String), SampleChecks> = BTreeMap::new();
    for case in cases {
        let job = &case.planned.job;
        if !job.samples() || case.failure.is_some() {
            continue;
        }
        let Some(round) = case.case.as_mut().and_then(|case| case.rounds.first_mut()) else { continue };
        let target = &case.planned.target;
        let key = (job.workload().to_owned(), target.clone());
        if !sampled.contains_key(&key) {
            let spending = spent::on(spent::SpentPart::Sample);
            let found: SampleChecks = if engines::stays_loaded(target) {
                let step =
                    ProgressStep::waiting(format!("sampling the transactions of {target} on a database of their own"));
                let request = ChildRequest::Sample { target: target.clone(), job: Box::new(job.clone()) };
                let what = format!("the sample of transactions on {target}");
                let sampled = child::ask(&request, target, &what, None, &context.interrupted);
                step.end(&sampled);
                sampled?
            } else {
                job.rounds().sample(target, context)?
            };
            for Check { name, status, evidence, took_s, .. } in &found {
                let took =
                    if *status == CheckStatus::NotApplicable { String::new() } else { format!(", {took_s:.1} s") };
                note(&format!("{target}: {name}{took}: {evidence}"));
            }
            if found.iter().all(|it| it.status == CheckStatus::NotApplicable) {
                spending.in_vain();
            }
            sampled.insert(key.clone(), found);
        }
        round.checks.extend(sampled[&key].iter().cloned());
    }
    Ok(())
}

/// Samples the transactions of a workload on a database next to a target's.
pub(crate) fn of_target<S: Sampled>(
    sampled: &S,
    target: &str,
    drivers: &Drivers,
    context: &RunContext,
) -> Result<SampleChecks> {
    // One sample for all drivers is enough.
    if drivers.joins_another() && drivers.coordinate.is_some() {
        return Ok(none::<S>("driver 1 samples the transactions"));
    }
    let begin = context.clock.now();
    let took_s = |begin| (context.clock.now() - begin) as f64 / 1e9;
    let alone =
        |found: SampleResult, took_s| checks::<S>([(found, took_s), (not_run("the lockstep sample failed"), 0.0)]);
    let side = match SampleDatabase::of(target)? {
        Ok(side) => side,
        Err(why) => return Ok(none::<S>(&why)),
    };
    let step = ProgressStep::waiting(format!("sampling the transactions of {target} on a database of their own"));
    let go_on = || if context.is_interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let (loaded, reference) = std::thread::scope(|scope| {
        let reference = scope.spawn(|| sampled.reference());
        let (workload, generator) = (sampled.workload(), sampled.generator());
        let (size, options) = (sampled.size(), LoadOptions::default());
        let loaded = load(&*side.engine, workload, generator, &size, &options, &mut |_| go_on());
        (loaded, reference.join())
    });
    let outcome = match (loaded, reference) {
        (Err(LoadError::Stopped), _) => Err(interrupt::interrupted("the sample of transactions was not ended")),
        (Err(LoadError::Engine(error)), _) if rules_out_sample(error.kind()) => {
            Ok(none::<S>(&format!("no database for it: {}", error.message())))
        }
        (Err(LoadError::Engine(error)), _) => Err(engine_failure(target, &error)),
        (Err(error), _) => Ok(alone((CheckStatus::Failed, format!("its database: {error}")), 0.0)),
        (Ok(_), Err(_)) => Err(Failure::new(Exit::Target, "cannot fill the reference model")),
        (Ok(_), Ok(reference)) => {
            lockstep(sampled, target, &*side.engine, reference, &mut go_on.clone()).and_then(|found| {
                let compared_s = took_s(begin);
                if found.0 != CheckStatus::Passed {
                    return Ok(alone(found, compared_s));
                }
                let begin = context.clock.now();
                let contended = contend(sampled, target, &*side.engine, context)?;
                Ok(checks::<S>([(found, compared_s), (contended, took_s(begin))]))
            })
        }
    };
    step.end(&outcome);
    let removed = side.remove();
    let outcome = outcome?;
    removed.map(|()| outcome)
}

/// Compares the transactions with the reference's.
fn lockstep<S: Sampled>(
    sampled: &S,
    target: &str,
    engine: &dyn Engine,
    reference: S::Reference,
    go_on: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<SampleResult> {
    let session = engine.session().map_err(|error| engine_failure(target, &error))?;
    let extent = (TRANSACTIONS, S::WHOLE_TABLES);
    let verdict = compare(sampled, (target, session), reference, extent, &mut |_| go_on());
    let verdict = verdict.map_err(|error| match error {
        VerifyError::Rows { cause, .. } => engine_failure(target, &cause),
        other => Failure::new(Exit::Target, other.to_string()),
    })?;
    if verdict.interrupted {
        return Err(interrupt::interrupted(&format!("{} sampled transactions were alike", verdict.transactions)));
    }
    Ok(judged(&verdict, &sampled.workload().size_text(&sampled.size())))
}

/// Runs two sessions on the same rows.
fn contend(sampled: &impl Sampled, target: &str, engine: &dyn Engine, context: &RunContext) -> Result<SampleResult> {
    let contended = sampled.contend(engine, &context.interrupted);
    let contention = contended.map_err(|error| engine_failure(target, &error))?;
    if context.is_interrupted() {
        return Err(interrupt::interrupted("the sample of two sessions at once was not ended"));
    }
    let work = format!("{} of two sessions, {} retries", contention.work, contention.retries);
    Ok(match contention.fault() {
        Some(fault) => (CheckStatus::Failed, format!("{work}: {fault}{}", weaker_words(&engine.capabilities()))),
        None => (CheckStatus::Passed, format!("{work}: nothing lost")),
    })
}

/// The cause of most faults at an engine without serializable transactions, as TiDB: it promises less.
fn weaker_words(capabilities: &Capabilities) -> String {
    match capabilities.guarantee(Isolation::Serializable) {
        Guarantee::Serializable => String::new(),
        weaker => format!("; the engine promises {} where serializable was asked for", weaker.name()),
    }
}

fn judged<R: Debug>(verdict: &Verdict<R>, size: &str) -> SampleResult {
    let (done, missing) = (verdict.transactions, verdict.missing());
    if let Some(difference) = &verdict.difference {
        let difference = difference.to_string();
        return (CheckStatus::Failed, format!("{done} transactions alike, then: {}", difference.trim_end()));
    }
    if !missing.is_empty() {
        return (CheckStatus::Failed, format!("of {done} transactions none was {}", missing.join(", none ")));
    }
    let rows = verdict.rows_compared;
    let words = format!("{done} transactions of all kinds and {rows} rows alike, on a database of its own ({size})");
    (CheckStatus::Passed, words)
}

/// The sample's own database.
struct SampleDatabase {
    engine: Box<dyn Engine>,
    /// Way to remove it, once the engine is closed.
    removal: Removal,
}

/// Way to remove a sample's database.
enum Removal {
    /// Removed with its engine, which has it in memory or on a private server.
    None,
    /// Removed with its folder and everything in it.
    Folder(WorkFolder),
    /// Dropped by the engine of the target's database, on the same server.
    FromServer(Box<dyn FnOnce() -> bourse_engine::Result<()>>),
}

impl SampleDatabase {
    /// Makes a database next to a target's, or returns the reason why there can be none.
    fn of(target: &str) -> Result<Result<Self, String>> {
        if Address::has_scheme(target) {
            return Ok(Err("the transactions are performed where the server runs".to_owned()));
        }
        let location = engines::location(target)?;
        if matches!(location, Location::Nowhere) {
            return Ok(Err("the target has no database".to_owned()));
        }
        if let Some(folder) = location.folder().filter(|_| location.file().is_some()) {
            let made = match WorkFolder::new(".bourse-sample-", &folder) {
                Ok(made) => made,
                Err(error) => return Ok(Err(format!("cannot make a folder in {}: {error}", folder.display()))),
            };
            let engine = engines::open(&target_with_path(target, &made.path().join("sample.db")))?;
            return Ok(Ok(Self { engine, removal: Removal::Folder(made) }));
        }
        let engine = engines::open(target)?;
        match location {
            Location::Memory => Ok(Ok(Self { engine, removal: Removal::None })),
            // Another private server, in a folder of its own.
            _ if matches!(engine.hosting(), Hosting::OwnedServer(_)) => Ok(Ok(Self { engine, removal: Removal::None })),
            _ => Self::on_server(target, &*engine),
        }
    }

    fn on_server(target: &str, engine: &dyn Engine) -> Result<Result<Self, String>> {
        match engine.side_database("sample") {
            Ok(side) => Ok(Ok(Self { engine: side.engine, removal: Removal::FromServer(side.remove) })),
            Err(error) if rules_out_sample(error.kind()) => Ok(Err(error.message().to_owned())),
            Err(error) => Err(engine_failure(target, &error)),
        }
    }

    fn remove(self) -> Result<()> {
        drop(self.engine);
        match self.removal {
            Removal::None => Ok(()),
            Removal::Folder(folder) => {
                let path = folder.path().display().to_string();
                folder.close().map_err(|error| {
                    Failure::new(Exit::Target, format!("cannot remove {path}")).detail("cause", error.to_string())
                })
            }
            Removal::FromServer(remove) => {
                remove().map_err(|error| engine_failure("removing the sample's database", &error))
            }
        }
    }
}

/// Whether an error means that there can be no database for a sample: it is not run then.
fn rules_out_sample(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Full | ErrorKind::Unsupported | ErrorKind::Denied | ErrorKind::Refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_has_no_database_or_is_elsewhere_has_no_sample() {
        let of = |target: &str| SampleDatabase::of(target).expect("a target").map(drop);
        for target in ["sqlite::memory:", "postgres+private:", "postgres+private:data?synchronous_commit=off"] {
            assert_eq!(of(target), Ok(()), "{target}");
        }
        assert_eq!(of("null:"), Err("the target has no database".to_owned()));
        assert!(of("bourse://127.0.0.1:4780").is_err());
    }

    #[test]
    fn a_fault_at_an_engine_that_promises_less_than_serializable_says_so() {
        let words = |guarantees| weaker_words(&Capabilities { guarantees, ..Capabilities::OF_SQL });
        assert_eq!(words(Guarantee::BY_LEVEL), "");
        assert!(words(Guarantee::ALWAYS_SNAPSHOT).contains("promises snapshot where serializable"));
    }
}
