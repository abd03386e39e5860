//! `bourse tpce verify`: targets and the reference model compared over the transactions of TPC-E.

use super::database::{found, ready};
use super::whole;
use crate::args::{Constraints, ExplicitlySet, Verify};
use crate::failure::Failure;
use crate::inputs::inputs;
use crate::oltp::database::engine_failure;
use crate::oltp::verify::Verification;
use crate::progress::Step;
use crate::{engines, hold, interrupt};
use bourse_egen::{Inputs, Part};
use bourse_engine::Engine;
use bourse_model::Model;
use bourse_schema::tables;
use bourse_tpce::check::Depth;
use bourse_tpce::transactions::Status;
use bourse_tpce::verify::{Plan, TpceSubject, sql_subject};
use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;

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
        engines::needs_sql(target, engines::open(target)?.as_ref(), "tpce")?;
    }
    let _held = hold::for_writing(in_engines)?;
    // Engines outlive their sessions: a memory database is gone with its engine.
    let mut engines = Vec::new();
    let mut subjects: Vec<Box<TpceSubject>> = Vec::new();
    for target in &arguments.targets {
        if target == Model::NAME {
            let step = Step::waiting("filling the model");
            subjects.push(Box::new(Model::new(&inputs, part)));
            step.done();
        } else {
            let engine = open(target, arguments, &inputs, &interrupted)?;
            let session = engine.session().map_err(|error| engine_failure(target, &error))?;
            subjects.push(Box::new(sql_subject(target, session, plan.database.first_free_trade())));
            engines.push(engine);
        }
    }
    let mut stream = plan.stream(&inputs).map_err(|error| Failure::usage(error.to_string()))?;
    let verification = Verification {
        targets: &arguments.targets,
        seed: arguments.seed,
        extent: plan.extent(true),
        replay: arguments.replay,
        json: arguments.json,
        tables: tables::all(),
        meaning: &|code| Status::of(code).meaning().filter(|_| code != 0),
        command: command(arguments),
    };
    verification.run(&mut subjects, &mut stream, &interrupted)
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
    match found(target, engine.as_ref())?.gained {
        0 => Ok(engine),
        gained => Err(Failure::usage(format!("{target}: earlier runs have added {gained} trades"))
            .hint("verification needs a fresh database: --reload loads it anew")),
    }
}

/// The command that repeats the verification.
fn command(arguments: &Verify) -> String {
    let Verify { database, .. } = arguments;
    let mut command = "bourse tpce verify".to_owned();
    for target in &arguments.targets {
        write!(command, " '{target}'").expect("a String takes all");
    }
    write!(
        command,
        " --reload --customers {} --days {} --scale-factor {} --seed {} --rate {} --transactions {}",
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
