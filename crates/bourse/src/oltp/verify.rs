//! `bourse WORKLOAD verify`: the same transactions in the same order on each target, everything compared.

use super::database::{DatabaseOptions, engine_failure, find_database, refuse_used};
use crate::args::VerifySettings;
use crate::failure::{Exit, Failure, Result};
use crate::hold::{self, HeldDatabases};
use crate::output::{named, print, wrapped};
use crate::plan::show::{LOADED, Steps, files};
use crate::progress::{ProgressStep, note};
use crate::{engines, interrupt};
use bourse_engine::{Engine, Location, Session};
use bourse_oltp::Workload;
use bourse_oltp::check::Depth;
use bourse_oltp::verify::{
    Extent, MODEL, Progress, ReplayedTransaction, Script, Subject, Verdict, VerifyError, lockstep,
};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::{Debug, Write as _};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Rows of a result that a replay shows.
const ROWS_SHOWN: usize = 20;

/// Hint for a database that is given twice.
const OTHERS: &str = "name two databases, or model:, the reference";

/// Request of a verification, whatever the workload.
pub(crate) struct Verification<'v> {
    /// Targets as typed.
    pub(crate) targets: &'v [String],
    /// Seed, and what is shown.
    pub(crate) settings: &'v VerifySettings,
    /// The database of each.
    pub(crate) database: &'v dyn DatabaseOptions,
    /// Meaning of a status code, for the list of outcomes.
    pub(crate) meaning: &'v dyn Fn(i32) -> Option<&'static str>,
    /// Options of this workload alone, for the command that repeats the verification.
    pub(crate) own_options: String,
    /// Whether the databases have no constraints but keys.
    pub(crate) has_keys_only: bool,
}

/// Refuses a database that is given twice: each side would find the other's changes. One in memory, or of a private server, is
/// another each time.
fn refuse_twice<'t>(targets: impl Iterator<Item = &'t str>) -> Result<()> {
    let mut places = BTreeMap::new();
    for target in targets {
        let (place, location) = (target.split('?').next().unwrap_or_default(), engines::location(target)?);
        let place = match location.file() {
            Some(file) => hold::resolved(file),
            None if matches!(location, Location::Memory | Location::ServerFolder(_)) => continue,
            None => place.into(),
        };
        if let Some(first) = places.insert(place, target) {
            return Err(Failure::usage(format!(
                "'{first}' and '{target}' are one database: each would find the other's changes"
            ))
            .hint(OTHERS));
        }
    }
    Ok(())
}

/// Plan of a verification on databases that `words` describe, of about so many `rows` each.
fn steps<'c>(name: &'c str, targets: &[String], settings: &VerifySettings, words: &str, rows: u64) -> Steps<'c> {
    /// Rows that an engine loads in the time of a transaction, about: 0.5 ms on SQLite.
    const ROWS: u64 = 350;
    let (transactions, does) = match settings.replay {
        Some(last) => (last, "until the last one, which is shown"),
        None => (settings.transactions, "on each target, every output compared, then every row"),
    };
    let loaded = targets.iter().map(|target| format!("{target}: {words}, {LOADED}"));
    let all = rows.saturating_add(transactions.saturating_mul(ROWS));
    Steps {
        name,
        steps: loaded.chain([format!("{transactions} transactions {does}")]).collect(),
        seed: Some(settings.seed),
        about_ns: targets.iter().map(|target| engines::loading_ns(target, all)).fold(0, u64::saturating_add),
        writes: files(targets.iter().map(|target| (target.as_str(), LOADED.to_owned()))),
    }
}

/// Systems that a verification compares.
pub(crate) struct ComparedSystems {
    /// Each target with a session; the reference has none.
    pub(crate) systems: Vec<(String, Option<Box<dyn Session>>)>,
    pub(crate) interrupted: Arc<AtomicBool>,
    /// Engines outlive their sessions: a memory database is gone with its engine.
    _engines: Vec<Box<dyn Engine>>,
    _held: HeldDatabases,
}

/// Prepares the databases of targets that are to be compared; `None` if only the plan was to be shown. `fits` refuses an engine
/// that cannot have the database.
pub(crate) fn compared(
    targets: &[String],
    settings: &VerifySettings,
    database: &dyn DatabaseOptions,
    fits: &dyn Fn(&str, &dyn Engine) -> Result<()>,
) -> Result<Option<ComparedSystems>> {
    let (words, rows) = database.size()?;
    if targets.len() < if settings.replay.is_some() { 1 } else { 2 } {
        return Err(Failure::usage("invalid number of targets '1': expected two or more to compare")
            .hint(format!("add another target, as {MODEL}, the reference")));
    }
    let in_engines = targets.iter().map(String::as_str).filter(|target| *target != MODEL);
    refuse_twice(in_engines.clone())?;
    in_engines.clone().try_for_each(|target| fits(target, engines::open(target)?.as_ref()))?;
    let workload = database.served().workload();
    let name = format!("{} verify", workload.name());
    let steps = steps(&name, targets, settings, &words, rows);
    if settings.plan.dry_run {
        return print(&steps.show()).map(|()| None);
    }
    steps.announced().iter().for_each(|words| note(words));
    let (interrupted, held) = (interrupt::flag()?, hold::for_writing(in_engines)?);
    held.refuse_again().map_err(|failure| failure.hint(OTHERS))?;
    let (mut engines, mut systems) = (Vec::new(), Vec::new());
    for target in targets {
        let mut session = None;
        if target != MODEL {
            let engine = engines::open(target)?;
            database.ready(target, engine.as_ref(), Depth::Quick, &interrupted)?;
            refuse_used(target, &find_database(target, engine.as_ref(), workload)?)?;
            session = Some(engine.session().map_err(|error| engine_failure(target, &error))?);
            engines.push(engine);
        }
        systems.push((target.clone(), session));
    }
    Ok(Some(ComparedSystems { systems, interrupted, _engines: engines, _held: held }))
}

impl Verification<'_> {
    fn workload(&self) -> &'static dyn Workload {
        self.database.served().workload()
    }

    fn extent(&self) -> Extent {
        let VerifySettings { transactions, digest_every, .. } = *self.settings;
        Extent { transactions, digest_every, whole_tables: true }
    }

    /// Runs and compares, or shows one transaction.
    pub(crate) fn run<S: Script>(
        &self,
        subjects: &mut [Box<dyn Subject<S::Request>>],
        script: &mut S,
        interrupted: &AtomicBool,
    ) -> Result<()> {
        match self.settings.replay {
            Some(number) => self.show_one(subjects, script, number, interrupted),
            None => self.compare(subjects, script, interrupted),
        }
    }

    fn compare<S: Script>(
        &self,
        subjects: &mut [Box<dyn Subject<S::Request>>],
        script: &mut S,
        interrupted: &AtomicBool,
    ) -> Result<()> {
        let transactions = self.settings.transactions;
        let step =
            ProgressStep::waiting(format!("comparing {transactions} transactions on {}", self.targets.join(", ")));
        let mut progress = |progress| show_progress(&step, transactions, progress, interrupted);
        let verdict = lockstep::verify(subjects, script, self.workload().tables(), &self.extent(), &mut progress);
        step.done();
        let verdict = verdict.map_err(|error| failed(&error))?;
        print(&if self.settings.json { self.as_json(&verdict) } else { self.verdict_text(&verdict) })?;
        if verdict.difference.is_some() {
            return Err(Failure::new(Exit::Check, "the targets differ"));
        }
        if verdict.interrupted {
            return Err(interrupt::interrupted(&format!("{} transactions were alike", verdict.transactions)));
        }
        Ok(())
    }

    fn verdict_text<R: Debug>(&self, verdict: &Verdict<R>) -> String {
        let mut text = String::new();
        let mut line = |line: String| writeln!(text, "{line}").expect("a String takes all");
        line(format!("{HEAD}{MEANING}"));
        for ((kind, status), count) in &verdict.outcomes {
            let (transaction, status) = (verdict.kinds[*kind], Code(*status));
            let meaning = (self.meaning)(status.0).unwrap_or_default();
            let counted = format!("{transaction:<24} {status:>6} {count:>9}");
            line(named(&counted, HEAD.len() - 1, meaning).trim_end().to_owned());
        }
        if let Some(difference) = &verdict.difference {
            line(format!("{} transactions equal, then a difference:", verdict.transactions));
            line(difference.to_string().trim_end().to_owned());
            if let Some(step) = &difference.step {
                line(format!("replay: {}", self.again(step.number)));
            }
            return text;
        }
        let alike =
            format!("{} transactions gave the same outputs on {}", verdict.transactions, self.targets.join(", "));
        // An SQL engine does not report which rows a transaction changed; the reference model does.
        let alike = match verdict.rows_compared {
            0 => alike,
            rows => format!("{alike}; {rows} changed rows compared after each transaction"),
        };
        line(wrapped(&alike).trim_end().to_owned());
        if !verdict.interrupted {
            let rows: u64 = verdict.digests.iter().map(|(_, digest)| digest.rows).sum();
            line(format!("all {} tables equal at the end, {rows} rows", verdict.digests.len()));
        }
        text
    }

    fn as_json<R: Debug>(&self, verdict: &Verdict<R>) -> String {
        let outcomes: Vec<_> = verdict
            .outcomes
            .iter()
            .map(|((kind, status), count)| {
                json!({ "transaction": verdict.kinds[*kind], "status": status, "count": count })
            })
            .collect();
        let tables: Vec<_> = verdict
            .digests
            .iter()
            .map(|(table, digest)| json!({ "table": table.name, "rows": digest.rows, "digest": digest.hex() }))
            .collect();
        let step = verdict.difference.as_ref().and_then(|difference| difference.step.as_ref());
        let document = json!({
            "targets": self.targets,
            "seed": self.settings.seed,
            "transactions": verdict.transactions,
            "rows_compared": verdict.rows_compared,
            "outcomes": outcomes,
            "tables": tables,
            "difference": verdict.difference.as_ref().map(ToString::to_string),
            "replay": step.map(|step| self.again(step.number)),
            "interrupted": verdict.interrupted,
        });
        format!("{document:#}\n")
    }

    /// The command that replays a transaction.
    fn again(&self, number: u64) -> String {
        let mut command = format!("bourse {} verify", self.workload().name());
        for target in self.targets {
            write!(command, " '{target}'").expect("a String takes all");
        }
        let VerifySettings { seed, transactions, .. } = self.settings;
        let constraints = if self.has_keys_only { " --constraints keys" } else { "" };
        let own = &self.own_options;
        format!("{command} --reload --seed {seed} --transactions {transactions}{own}{constraints} --replay {number}")
    }

    fn show_one<S: Script>(
        &self,
        subjects: &mut [Box<dyn Subject<S::Request>>],
        script: &mut S,
        number: u64,
        interrupted: &AtomicBool,
    ) -> Result<()> {
        let transactions = self.settings.transactions;
        if number == 0 || number > transactions {
            return Err(Failure::usage(format!("invalid value '{number}' for --replay: expected 1 to {transactions}")));
        }
        let step = ProgressStep::waiting(format!("running up to transaction {number}"));
        let mut progress = |progress| show_progress(&step, transactions, progress, interrupted);
        let replayed = lockstep::replay(subjects, script, transactions, number, &mut progress);
        step.done();
        let replayed = replayed.map_err(|error| failed(&error))?;
        let Some(replayed) = replayed else {
            return Err(interrupt::interrupted("the transaction was not reached"));
        };
        print(&one(&replayed))
    }
}

/// Head of the list of outcomes.
const HEAD: &str = "transaction              status     count  ";
/// Head of its last column.
const MEANING: &str = "meaning of the status";

/// A status code as a person reads it: with its sign, but for 0.
struct Code(i32);

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0 == 0 { f.pad("0") } else { f.pad(&format!("{:+}", self.0)) }
    }
}

/// Shows progress now and then, and ends the run when interrupted.
fn show_progress(
    step: &ProgressStep,
    transactions: u64,
    progress: Progress,
    interrupted: &AtomicBool,
) -> ControlFlow<()> {
    match progress {
        Progress::Transactions(done) if done.is_multiple_of(500) => {
            step.say(format!("{done} of {transactions} transactions"));
        }
        Progress::Transactions(_) => {}
        Progress::Table(table, done) => step.say(format!("comparing {table} after {done} transactions")),
    }
    if interrupted.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

fn failed(error: &VerifyError) -> Failure {
    match error {
        VerifyError::Rows { subject, cause } => engine_failure(subject, cause),
        VerifyError::Script(_) | VerifyError::Subjects(_) => Failure::usage(error.to_string()),
        VerifyError::Message(_) => Failure::new(Exit::Target, error.to_string()),
    }
}

fn one<R: Debug>(replayed: &ReplayedTransaction<R>) -> String {
    let ReplayedTransaction { step, subjects } = replayed;
    let mut text = format!("transaction {}: {}, {}\n", step.number, step.name, step.now);
    let mut line = |line: String| writeln!(text, "{line}").expect("a String takes all");
    line(format!("input: {:#?}", step.request));
    for (name, performance, statements) in subjects {
        line(format!("\non {name}"));
        for statement in statements {
            line(format!("  {statement}"));
            for row in statement.rows.iter().take(ROWS_SHOWN) {
                line(format!("    {}", row.join(" | ")));
            }
            if statement.rows.len() > ROWS_SHOWN {
                line(format!("    … {} more", statement.count - ROWS_SHOWN as u64));
            }
        }
        match &performance.outcome {
            Ok(answer) => line(format!("  output, status {}: {:#}", answer.status, answer.output)),
            Err(why) => line(format!("  failed: {why}")),
        }
        for order in &performance.sent {
            line(format!("  sent: {order}"));
        }
    }
    text
}
