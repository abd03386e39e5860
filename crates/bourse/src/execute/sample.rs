//! The lockstep sample of a run's checks: some thousand transactions compared with the model, each output and each row that
//! changes, on a small database of its own with the target's engine and settings. Then, on the same database, two sessions
//! that change the same rows concurrently.
//!
//! The database of the run itself is not used: the model has the generator's rows, which earlier runs have changed,
//! and needs memory for all of them. The sample comes after the rounds, so that neither its memory nor its pending writes
//! are in their figures.

use super::child::{self, Request};
use super::{CaseRun, RunContext};
use crate::failure::{Exit, Failure};
use crate::oltp::database::engine_failure;
use crate::progress::{Step, note};
use crate::work_folder::WorkFolder;
use crate::{engines, interrupt, spent};
use bourse_driver::Clock as _;
use bourse_egen::{Inputs, Part};
use bourse_engine::{Engine, EngineError, ErrorKind, Hosting, Location, target_with_path};
use bourse_record::{Check, CheckStatus};
use bourse_serve::Address;
use bourse_tpce::check::reconciliation::AcknowledgedCommits;
use bourse_tpce::load::{LoadError, LoadOptions, load};
use bourse_tpce::model::Model;
use bourse_tpce::verify::contention::{ContentionError, contend};
use bourse_tpce::verify::{Plan, TpceSubject, Verdict, VerifyError, sample, sql_subject};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

/// Customers and days of the sample's database: the smallest there is.
const SIZE: (i64, i64) = (1_000, 1);

/// Name, condition and source of the checks, in the order of [`SampleResult`].
const CHECKS: [(&str, &str, &str); 2] = [
    (
        "lockstep sample",
        "transactions do what the specification says: the same outputs and rows as the model's",
        "Clause 3.3",
    ),
    (
        "contention sample",
        "two sessions that change the same rows at once, statement by statement, lose nothing that was committed",
        "Clauses 7.3 and 7.4",
    ),
];

/// Results of a sample: of the transactions in lockstep, and of two concurrent sessions.
pub(super) type SampleResult = [SampleCheck; 2];

/// Result of a check.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct SampleCheck {
    status: CheckStatus,
    evidence: String,
    took_s: f64,
}

impl SampleCheck {
    fn not_run(why: &str) -> Self {
        Self { status: CheckStatus::NotApplicable, evidence: format!("not run: {why}"), took_s: 0.0 }
    }
}

/// Samples each target once whose transactions are to be checked in full, and adds the result to the first round of each of
/// its cases.
pub(super) fn sample_all(cases: &mut [CaseRun], context: &RunContext) -> Result<(), Failure> {
    let mut sampled: BTreeMap<String, SampleResult> = BTreeMap::new();
    for case in cases {
        let Some(sample) = case.planned.job.sample().filter(|_| case.failure.is_none()) else { continue };
        let Some(round) = case.case.as_mut().and_then(|case| case.rounds.first_mut()) else { continue };
        let target = case.planned.target.clone();
        let found = match sampled.get(&target) {
            Some(found) => found.clone(),
            None => {
                let _spending = spent::on(spent::Part::Sample);
                let begin = context.clock.now();
                let found: SampleResult = match sample.elsewhere {
                    Some(why) => [(); 2].map(|()| SampleCheck::not_run(why)),
                    _ if engines::stays_loaded(&target) => {
                        let step = Step::waiting(format!("sampling transactions on {target}"));
                        let flat_in = sample.flat_in.map(Path::to_owned);
                        let request = Request::Sample { target: target.clone(), flat_in };
                        let what = format!("the sample of transactions on {target}");
                        let sampled = child::ask(&request, &target, &what, &context.interrupted);
                        match &sampled {
                            Ok(_) => step.done(),
                            Err(_) => step.abandon(),
                        }
                        sampled?
                    }
                    _ => {
                        let inputs = context.inputs(sample.flat_in)?;
                        of_target(&target, &inputs, context)?
                    }
                };
                for ((name, ..), SampleCheck { status, evidence, took_s }) in CHECKS.iter().zip(&found) {
                    let took =
                        if *status == CheckStatus::NotApplicable { String::new() } else { format!(", {took_s:.1} s") };
                    note(&format!("{target}: {name}{took}: {evidence}"));
                }
                if found.iter().all(|it| it.status == CheckStatus::NotApplicable) {
                    let took = Duration::from_nanos(context.clock.now() - begin);
                    spent::count_in_vain(spent::Part::Sample, took);
                }
                sampled.insert(target, found.clone());
                found
            }
        };
        for ((name, condition, source), SampleCheck { status, evidence, took_s }) in CHECKS.iter().zip(found) {
            let [name, condition, source] = [name, condition, source].map(|text| (*text).to_owned());
            round.checks.push(Check { name, condition, source, status, evidence, took_s });
        }
    }
    Ok(())
}

/// Result of a target's sample, with its evidence.
pub(super) fn of_target(target: &str, inputs: &Inputs, context: &RunContext) -> Result<SampleResult, Failure> {
    let begin = context.clock.now();
    let alone = |status, evidence| {
        [SampleCheck { status, evidence, took_s: 0.0 }, SampleCheck::not_run("the lockstep sample failed")]
    };
    let side = match SampleDatabase::of(target)? {
        Ok(side) => side,
        Err(why) => return Ok([(); 2].map(|()| SampleCheck::not_run(&why))),
    };
    let (customers, days) = SIZE;
    let part = Part::whole(customers, days).expect("the smallest database is one");
    let step = Step::waiting(format!("sampling transactions on {target}"));
    let go_on = || if context.is_interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let (loaded, model) = std::thread::scope(|scope| {
        let model = scope.spawn(|| Model::new(inputs, part));
        let loaded = load(&*side.engine, inputs, part, &LoadOptions::default(), &mut |_| go_on());
        (loaded, model.join())
    });
    let outcome = match (loaded, model) {
        (Err(LoadError::Stopped), _) => Err(interrupt::interrupted("the sample of transactions was not ended")),
        (Err(LoadError::Engine(error)), _) if rules_out_sample(error.kind()) => {
            let why = format!("no database for it: {}", error.message());
            Ok([(); 2].map(|()| SampleCheck::not_run(&why)))
        }
        (Err(LoadError::Engine(error)), _) => Err(engine_failure(target, &error)),
        (Err(error), _) => Ok(alone(CheckStatus::Failed, format!("its database: {error}"))),
        (Ok(_), Err(_)) => Err(Failure::new(Exit::Target, "cannot fill the reference model")),
        (Ok(_), Ok(model)) => {
            compare(target, &*side.engine, model, part, inputs, &mut go_on.clone()).and_then(|(status, evidence)| {
                let mut found = alone(status, evidence);
                found[0].took_s = (context.clock.now() - begin) as f64 / 1e9;
                if status == CheckStatus::Passed {
                    found[1] = run_two_sessions(target, &*side.engine, part, inputs, context)?;
                }
                Ok(found)
            })
        }
    };
    match &outcome {
        Ok(_) => step.done(),
        Err(_) => step.abandon(),
    }
    let removed = side.remove();
    let outcome = outcome?;
    removed.map(|()| outcome)
}

fn compare(
    target: &str,
    engine: &dyn Engine,
    model: Model,
    part: Part,
    inputs: &Inputs,
    go_on: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<(CheckStatus, String), Failure> {
    let database = bourse_egen::driver::Database::of(part.total_customers(), part.scale_factor(), part.days());
    let plan = Plan::of_sample(database);
    let session = engine.session().map_err(|error| engine_failure(target, &error))?;
    let subject = sql_subject(target, session, database.first_free_trade());
    let mut subjects: Vec<Box<TpceSubject>> = vec![Box::new(subject), Box::new(model)];
    let verdict = sample(&mut subjects, inputs, &plan, &mut |_| go_on()).map_err(|error| match error {
        VerifyError::Rows { cause, .. } => engine_failure(target, &cause),
        other => Failure::new(Exit::Target, other.to_string()),
    })?;
    if verdict.interrupted {
        return Err(interrupt::interrupted(&format!("{} sampled transactions were alike", verdict.transactions)));
    }
    Ok(judged(&verdict, part))
}

/// Runs two sessions on the same rows.
fn run_two_sessions(
    target: &str,
    engine: &dyn Engine,
    part: Part,
    inputs: &Inputs,
    context: &RunContext,
) -> Result<SampleCheck, Failure> {
    let begin = context.clock.now();
    let contention = contend(engine, inputs, part, &context.interrupted).map_err(|error| match error {
        ContentionError::Engine(error) => engine_failure(target, &error),
        other => Failure::new(Exit::Target, other.to_string()),
    })?;
    if context.is_interrupted() {
        return Err(interrupt::interrupted("the sample of two sessions at once was not ended"));
    }
    let AcknowledgedCommits { orders, results, .. } = contention.acknowledged;
    let work =
        format!("{orders} Trade-Orders and {results} Trade-Results of two sessions, {} retries", contention.retries);
    let (status, evidence) = match contention.fault() {
        Some(fault) => (CheckStatus::Failed, format!("{work}: {fault}")),
        None => (CheckStatus::Passed, format!("{work}: nothing lost")),
    };
    Ok(SampleCheck { status, evidence, took_s: (context.clock.now() - begin) as f64 / 1e9 })
}

fn judged(verdict: &Verdict, part: Part) -> (CheckStatus, String) {
    let done = verdict.transactions;
    if let Some(difference) = &verdict.difference {
        return (
            CheckStatus::Failed,
            format!("{done} transactions alike, then: {}", difference.to_string().trim_end()),
        );
    }
    let missing = verdict.missing();
    if !missing.is_empty() {
        return (CheckStatus::Failed, format!("of {done} transactions none was {}", missing.join(", none ")));
    }
    let rows = verdict.rows_compared;
    let (customers, days) = (part.customers(), part.days());
    let words = format!(
        "{done} transactions of all kinds and {rows} rows alike, on a database of its own ({customers} customers, {days} day)"
    );
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
    FromServer(Box<dyn FnOnce() -> Result<(), EngineError>>),
}

impl SampleDatabase {
    /// Makes a database next to a target's, or returns the reason why there can be none.
    fn of(target: &str) -> Result<Result<Self, String>, Failure> {
        if Address::has_scheme(target) {
            return Ok(Err("the transactions are performed where the server runs".to_owned()));
        }
        let place = target.split_once('?').map_or(target, |(place, _)| place);
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
        let is_own_server = matches!(engine.hosting(), Hosting::OwnedServer(_));
        let names_a_place = place.split_once(':').is_some_and(|(_, place)| !place.is_empty());
        match location {
            Location::Memory => Ok(Ok(Self { engine, removal: Removal::None })),
            _ if is_own_server && names_a_place => {
                Ok(Err("a private server with a directory of its own cannot be started twice".to_owned()))
            }
            // Another private server.
            _ if is_own_server => Ok(Ok(Self { engine, removal: Removal::None })),
            _ => Self::on_server(target, &*engine),
        }
    }

    fn on_server(target: &str, engine: &dyn Engine) -> Result<Result<Self, String>, Failure> {
        match engine.side_database("sample") {
            Ok(side) => Ok(Ok(Self { engine: side.engine, removal: Removal::FromServer(side.remove) })),
            Err(error) if rules_out_sample(error.kind()) => Ok(Err(error.message().to_owned())),
            Err(error) => Err(engine_failure(target, &error)),
        }
    }

    fn remove(self) -> Result<(), Failure> {
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
