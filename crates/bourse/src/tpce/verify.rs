//! `bourse tpce verify`: the same transactions in the same order on each target, with all outputs and rows compared.

use super::database::{engine_failure, found, ready};
use super::whole;
use crate::args::{Constraints, ExplicitlySet, Verify};
use crate::failure::{Exit, Failure};
use crate::inputs::inputs;
use crate::output::print;
use crate::progress::Step;
use crate::{engines, hold, interrupt};
use bourse_egen::{Inputs, Part};
use bourse_engine::Engine;
use bourse_model::Model;
use bourse_tpce::check::Depth;
use bourse_tpce::verify::{Plan, Progress, Replayed, SqlSubject, Subject, Verdict, VerifyError, replay, verify};
use serde_json::json;
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

/// Rows of a result that a replay shows.
const ROWS_SHOWN: usize = 20;

/// Runs and compares, or with `--replay` shows one transaction.
pub(crate) fn run(arguments: &Verify) -> Result<(), Failure> {
    let part = whole(&arguments.database)?;
    let inputs = inputs(arguments.database.flat_in.as_deref())?;
    let interrupted = interrupt::flag()?;
    let plan = plan(arguments, part);
    let alone = arguments.replay.is_some();
    if arguments.targets.len() < if alone { 1 } else { 2 } {
        return Err(Failure::usage("invalid number of targets '1': expected two or more to compare")
            .hint(format!("add another target, as {}, the reference model", Model::NAME)));
    }
    // Refused before the first database is loaded. A server performs at its own pace and by its own clock.
    let in_engines = arguments.targets.iter().map(String::as_str).filter(|target| *target != Model::NAME);
    for target in in_engines.clone() {
        engines::needs_sql(target, engines::open(target)?.as_ref())?;
    }
    let _held = hold::for_writing(in_engines)?;
    // Engines outlive their sessions: a memory database is gone with its engine.
    let mut kept = Vec::new();
    let mut subjects: Vec<Box<dyn Subject>> = Vec::new();
    for target in &arguments.targets {
        if target == Model::NAME {
            let step = Step::waiting("filling the model");
            subjects.push(Box::new(Model::new(&inputs, part)));
            step.done();
        } else {
            let engine = open(target, arguments, &inputs, &interrupted)?;
            let session = engine.session().map_err(|error| engine_failure(target, &error))?;
            subjects.push(Box::new(SqlSubject::new(target, session, plan.database.first_free_trade())));
            kept.push(engine);
        }
    }
    match arguments.replay {
        Some(number) => show_one(&mut subjects, &inputs, &plan, number, &interrupted),
        None => compare(&mut subjects, &inputs, &plan, arguments, &interrupted),
    }
}

fn plan(arguments: &Verify, part: Part) -> Plan {
    let database = bourse_egen::driver::Database::of(part.total_customers(), part.scale_factor(), part.days());
    Plan {
        database,
        seed: arguments.seed,
        transactions: arguments.transactions,
        requests_per_second: arguments.rate,
        digest_every: arguments.digest_every,
    }
}

/// A target's engine with a fresh database.
fn open(
    target: &str,
    arguments: &Verify,
    inputs: &Inputs,
    interrupted: &AtomicBool,
) -> Result<Box<dyn Engine>, Failure> {
    let engine = engines::open(target)?;
    ready(target, engine.as_ref(), &arguments.database, ExplicitlySet::ALL, inputs, Depth::Quick, interrupted)?;
    match found(target, engine.as_ref())?.gained() {
        0 => Ok(engine),
        gained => Err(Failure::usage(format!("{target}: earlier runs have added {gained} trades"))
            .hint("verification needs a fresh database: --reload loads it anew")),
    }
}

/// Shows progress now and then, and ends the run when interrupted.
fn told(step: &Step, plan: &Plan, progress: Progress, interrupted: &AtomicBool) -> ControlFlow<()> {
    match progress {
        Progress::Transactions(done) if done.is_multiple_of(500) => {
            step.say(format!("{done} of {} transactions", plan.transactions));
        }
        Progress::Transactions(_) => {}
        Progress::Table(table, done) => step.say(format!("comparing {table} after {done} transactions")),
    }
    if interrupted.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

fn failed(error: &VerifyError) -> Failure {
    match error {
        VerifyError::Rows { subject, cause } => engine_failure(subject, cause),
        VerifyError::Config(_) | VerifyError::Subjects(_) => Failure::usage(error.to_string()),
        VerifyError::Order(_) => Failure::new(Exit::Target, error.to_string()),
    }
}

fn compare(
    subjects: &mut [Box<dyn Subject>],
    inputs: &Inputs,
    plan: &Plan,
    arguments: &Verify,
    interrupted: &AtomicBool,
) -> Result<(), Failure> {
    let step =
        Step::waiting(format!("comparing {} transactions on {}", plan.transactions, arguments.targets.join(", ")));
    let verdict = verify(subjects, inputs, plan, &mut |progress| told(&step, plan, progress, interrupted));
    step.done();
    let verdict = verdict.map_err(|error| failed(&error))?;
    print(&if arguments.json { as_json(&verdict, arguments) } else { in_words(&verdict, arguments) })?;
    if verdict.difference.is_some() {
        return Err(Failure::new(Exit::Check, "the targets differ"));
    }
    if verdict.interrupted {
        return Err(interrupt::interrupted(&format!("{} transactions were alike", verdict.transactions)));
    }
    Ok(())
}

fn in_words(verdict: &Verdict, arguments: &Verify) -> String {
    let mut text = String::new();
    let mut line = |line: String| writeln!(text, "{line}").expect("a String takes all");
    line(format!("{:<18} {:>6} {:>9}  meaning of the status", "transaction", "status", "count"));
    for ((transaction, status), count) in &verdict.outcomes {
        let meaning = status.meaning().filter(|_| status.code() != 0).unwrap_or_default();
        line(format!("{transaction:<18} {status:>6} {count:>9}  {meaning}").trim_end().to_owned());
    }
    if let Some(difference) = &verdict.difference {
        line(format!("{} transactions equal, then a difference:", verdict.transactions));
        line(difference.to_string().trim_end().to_owned());
        if let Some(step) = &difference.step {
            line(format!("replay: {}", again(arguments, step.number)));
        }
        return text;
    }
    line(format!(
        "{} transactions gave the same outputs on {}; {} changed rows compared after each transaction",
        verdict.transactions,
        arguments.targets.join(", "),
        verdict.rows_compared
    ));
    if !verdict.interrupted {
        let rows: u64 = verdict.digests.iter().map(|(_, digest)| digest.rows).sum();
        line(format!("all {} tables equal at the end, {rows} rows", verdict.digests.len()));
    }
    text
}

fn as_json(verdict: &Verdict, arguments: &Verify) -> String {
    let outcomes: Vec<_> = verdict
        .outcomes
        .iter()
        .map(|((transaction, status), count)| {
            json!({ "transaction": transaction.name(), "status": status.code(), "count": count })
        })
        .collect();
    let tables: Vec<_> = verdict
        .digests
        .iter()
        .map(|(table, digest)| json!({ "table": table.name, "rows": digest.rows, "digest": digest.hex() }))
        .collect();
    let number = verdict.difference.as_ref().and_then(|difference| difference.step.as_ref()).map(|step| step.number);
    let document = json!({
        "targets": arguments.targets,
        "seed": arguments.seed,
        "transactions": verdict.transactions,
        "rows_compared": verdict.rows_compared,
        "outcomes": outcomes,
        "tables": tables,
        "difference": verdict.difference.as_ref().map(ToString::to_string),
        "replay": number.map(|number| again(arguments, number)),
        "interrupted": verdict.interrupted,
    });
    format!("{document:#}\n")
}

/// The command that replays a transaction.
fn again(arguments: &Verify, number: u64) -> String {
    let Verify { database, .. } = arguments;
    let mut command = "bourse tpce verify".to_owned();
    for target in &arguments.targets {
        write!(command, " '{target}'").expect("a String takes all");
    }
    write!(
        command,
        " --reload --customers {} --days {} --scale-factor {} --seed {} --rate {} --transactions {} --replay {number}",
        database.customers,
        database.days,
        database.scale_factor,
        arguments.seed,
        arguments.rate,
        arguments.transactions
    )
    .expect("a String takes all");
    if let Some(folder) = &database.flat_in {
        write!(command, " --flat-in '{}'", folder.display()).expect("a String takes all");
    }
    if database.constraints == Constraints::Keys {
        command.push_str(" --constraints keys");
    }
    command
}

fn show_one(
    subjects: &mut [Box<dyn Subject>],
    inputs: &Inputs,
    plan: &Plan,
    number: u64,
    interrupted: &AtomicBool,
) -> Result<(), Failure> {
    if number == 0 || number > plan.transactions {
        return Err(Failure::usage(format!(
            "invalid value '{number}' for --replay: expected 1 to {}",
            plan.transactions
        )));
    }
    let step = Step::waiting(format!("running up to transaction {number}"));
    let replayed = replay(subjects, inputs, plan, number, &mut |progress| told(&step, plan, progress, interrupted));
    step.done();
    let replayed = replayed.map_err(|error| failed(&error))?;
    let Some(replayed) = replayed else {
        return Err(interrupt::interrupted("the transaction was not reached"));
    };
    print(&one(&replayed))
}

fn one(replayed: &Replayed) -> String {
    let Replayed { step, subjects } = replayed;
    let mut text = format!("transaction {}: {}, {}\n", step.number, step.request.transaction(), step.now);
    let mut line = |line: String| writeln!(text, "{line}").expect("a String takes all");
    line(format!("{:<18} {:>6} {:>9}  meaning of the status", "transaction", "status", "count"));
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
            Ok(output) => line(format!("  output: {output:#?}")),
            Err(why) => line(format!("  failed: {why}")),
        }
        for order in &performance.sent {
            line(format!("  sent to the market: {order:?}"));
        }
    }
    text
}
