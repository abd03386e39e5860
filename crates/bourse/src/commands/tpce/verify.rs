//! `bourse tpce verify`: targets and the reference model compared over the transactions of TPC-E.

use crate::args::{ConstraintsArg, DatabaseArgs, ExplicitlySet, TpceVerify};
use crate::failure::{Failure, Result};
use crate::inputs::inputs;
use crate::oltp::database::engine_failure;
use crate::oltp::database::refuse_used;
use crate::oltp::verify::{Verification, refuse_twice, steps};
use crate::output::print;
use crate::plan::work;
use crate::progress::{ProgressStep, note};
use crate::tpce::database::{find_database, ready, sized};
use crate::tpce::whole;
use crate::{engines, hold, interrupt};
use bourse_egen::{Inputs, Part};
use bourse_engine::Engine;
use bourse_schema::tables;
use bourse_tpce::check::Depth;
use bourse_tpce::model::Model;
use bourse_tpce::transactions::Status;
use bourse_tpce::verify::{Plan, TpceSubject, sql_subject};
use std::sync::atomic::AtomicBool;

/// Runs and compares, or with `--replay` shows one transaction.
pub(crate) fn run(arguments: &TpceVerify) -> Result<()> {
    let part = whole(&arguments.database)?;
    let interrupted = interrupt::flag()?;
    let plan = plan(arguments, part);
    let alone = arguments.settings.replay.is_some();
    if arguments.targets.len() < if alone { 1 } else { 2 } {
        return Err(Failure::usage("invalid number of targets '1': expected two or more to compare")
            .hint(format!("add another target, as {}, the reference model", Model::NAME)));
    }
    // Refused before the first database is loaded. A server performs at its own pace and by its own clock.
    let in_engines = arguments.targets.iter().map(String::as_str).filter(|target| *target != Model::NAME);
    refuse_twice(in_engines.clone())?;
    for target in in_engines.clone() {
        engines::needs_sql(target, engines::open(target)?.as_ref(), "tpce")?;
    }
    let inputs = inputs(arguments.database.flat_in.as_deref())?;
    let DatabaseArgs { customers, days, .. } = arguments.database;
    let words = format!("{} of trades", sized(customers, days.into()));
    let steps = steps("tpce verify", &arguments.targets, &arguments.settings, &words, work::rows(customers, days));
    if arguments.settings.plan.dry_run {
        return print(&steps.show());
    }
    steps.announced().iter().for_each(|words| note(words));
    let _held = hold::for_writing(in_engines)?;
    // Engines outlive their sessions: a memory database is gone with its engine.
    let mut engines = Vec::new();
    let mut subjects: Vec<Box<TpceSubject>> = Vec::new();
    for target in &arguments.targets {
        if target == Model::NAME {
            let step = ProgressStep::waiting("filling the model");
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
        extent: plan.extent(),
        settings: &arguments.settings,
        tables: tables::all(),
        meaning: &|code| Status::of(code).meaning().filter(|_| code != 0),
        workload: "tpce",
        own_options: own_options(arguments),
        has_keys_only: arguments.database.constraints == ConstraintsArg::Keys,
    };
    verification.run(&mut subjects, &mut stream, &interrupted)
}

fn plan(arguments: &TpceVerify, part: Part) -> Plan {
    let database = bourse_egen::driver::Database::of(part.total_customers(), part.scale_factor(), part.days());
    Plan {
        database,
        seed: arguments.settings.seed,
        transactions: arguments.settings.transactions,
        requests_per_second: arguments.rate,
        digest_every: arguments.settings.digest_every,
    }
}

/// A target's engine with a fresh database.
fn open(target: &str, arguments: &TpceVerify, inputs: &Inputs, interrupted: &AtomicBool) -> Result<Box<dyn Engine>> {
    let engine = engines::open(target)?;
    ready(target, engine.as_ref(), &arguments.database, ExplicitlySet::ALL, inputs, Depth::Quick, interrupted)?;
    refuse_used(target, &find_database(target, engine.as_ref())?)?;
    Ok(engine)
}

/// Options of the command that repeats the verification, those of TPC-E alone.
fn own_options(arguments: &TpceVerify) -> String {
    let TpceVerify { database: DatabaseArgs { customers, days, scale_factor, flat_in, .. }, rate, .. } = arguments;
    let folder = flat_in.as_ref().map(|folder| format!(" --flat-in '{}'", folder.display())).unwrap_or_default();
    format!(" --customers {customers} --days {days} --scale-factor {scale_factor} --rate {rate}{folder}")
}
