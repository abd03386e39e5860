//! `bourse WORKLOAD …` of workloads whose users draw transactions by their shares.

use super::acid::{self, Examination, selected};
use crate::args::{AcidLoad, ConstraintsArg, MixAcidArgs, MixCommand, MixDatabase, MixLoad, MixServe, MixVerify};
use crate::failure::{Failure, Result};
use crate::oltp::database::{engine_failure, find_database, ready, refuse_used};
use crate::oltp::mixed::{MixWorkload, SetOptions, wanted, wanted_of_size};
use crate::oltp::serve::ServedDatabase;
use crate::oltp::verify::{Verification, refuse_twice, steps};
use crate::output::{ResultFolder, print};
use crate::plan::mix;
use crate::progress::note;
use crate::{engines, hold, interrupt};
use bourse_acid::AcidWorkload;
use bourse_engine::Engine;
use bourse_oltp::Size;
use bourse_oltp::check::Depth;
use bourse_oltp::mix::needs;
use bourse_oltp::verify::{Extent, MODEL};
use std::sync::atomic::AtomicBool;

/// Runs a command of a workload.
pub(crate) fn run(mixed: &'static dyn MixWorkload, command: MixCommand) -> Result<()> {
    match command {
        MixCommand::Run(arguments) => {
            let plan = mix::plan(mixed, &arguments)?;
            if arguments.targets.is_empty()
                && let Some(case) = plan.cases().next()
            {
                note(&format!("no target given: running on {}", case.target));
            }
            super::run(&plan, &arguments.run.execution, &arguments.run.output)
        }
        MixCommand::Load(MixLoad { target, database, plan }) => {
            let [usual, _] = mixed.usual();
            let (name, size) = (mixed.workload().name(), mixed.size(database.size.unwrap_or(usual)));
            mixed.workload().check_size(&size).map_err(Failure::usage)?;
            let described = (mixed.workload().size_text(&size), rows(mixed, &size), database.reload);
            super::oltp::load::load(&target, name, needs, described, plan, |then| {
                wanted(mixed, &database, usual, SetOptions::ALL, then)
            })
        }
        MixCommand::Serve(arguments) => serve(mixed, &arguments),
        MixCommand::Check(arguments) => super::oltp::check::check(mixed.workload(), &arguments),
        MixCommand::Verify(arguments) => verify(mixed, &arguments),
        MixCommand::Acid(arguments) => examine(mixed, &arguments),
        MixCommand::AcidLoad(arguments) => acid_load(mixed, &arguments),
    }
}

/// Serves a database.
fn serve(mixed: &'static dyn MixWorkload, arguments: &MixServe) -> Result<()> {
    let MixServe { server, database, given } = arguments;
    let target = server.target.as_str();
    let ready = |engine: &dyn Engine, interrupted: &AtomicBool| {
        let [usual, _] = mixed.usual();
        wanted(mixed, database, usual, SetOptions::of(given), &mut |wanted| {
            ready(target, engine, wanted, Depth::Full, interrupted)
        })
    };
    super::oltp::serve::serve(server, &ServedDatabase { workload: mixed, needs, ready: &ready })
}

/// Rows of a database of that size, about.
fn rows(mixed: &dyn MixWorkload, size: &Size) -> u64 {
    mixed.workload().work(size) as u64
}

/// Tests of a workload on a database of that size.
fn tests(mixed: &dyn MixWorkload, size: &Size) -> Result<Box<dyn AcidWorkload>> {
    let name = mixed.workload().name();
    mixed.acid(size).ok_or_else(|| {
        Failure::usage(format!("{name} has no tests of atomicity, consistency, isolation and durability"))
            .hint("workloads that have them: bourse tpce acid, bourse tpcc acid")
    })
}

fn examine(mixed: &dyn MixWorkload, arguments: &MixAcidArgs) -> Result<()> {
    let MixAcidArgs { target, tests: options, reload, output } = arguments;
    let (workload, smallest) = (mixed.workload(), mixed.smallest());
    let specs = tests(mixed, &smallest)?;
    let only = selected(&options.only, specs.tests())?;
    let target = target.clone().unwrap_or_else(|| {
        let target = engines::usual_target(&format!("acid-{}", workload.name()));
        note(&format!("no target given: using {target}"));
        target
    });
    let engine = engines::open(&target)?;
    engines::needs(&target, engine.as_ref(), needs)?;
    if options.plan.dry_run {
        let (name, size) = (format!("{} acid", workload.name()), workload.size_text(&smallest));
        return print(
            &acid::steps(&name, &target, (&size, rows(mixed, &smallest)), specs.tests(), &only, (options, output))
                .show(),
        );
    }
    let interrupted = interrupt::flag()?;
    let _held = hold::for_writing([target.as_str()])?;
    let folder = ResultFolder::new(&output.directory, "acid")?;
    engines::make_folder(&target)?;
    let database = MixDatabase { reload: *reload, ..MixDatabase::default() };
    // A database of any size is taken as it is.
    let set = SetOptions { size: false, constraints: false };
    let found = wanted_of_size(mixed, smallest, &database, set, &mut |wanted| {
        ready(&target, engine.as_ref(), wanted, Depth::Quick, &interrupted)
    })?;
    let size = &found.fingerprint.size;
    Examination {
        target: &target,
        engine: engine.as_ref(),
        name: workload.name(),
        workload: &*tests(mixed, size)?,
        only: &only,
        options,
        output,
        database: format!("{}; {}", workload.size_text(size), found.history),
        isolation: mixed.isolation(&engine.capabilities()),
        notice: Some(mixed.notice()),
        flat_in: None,
        interrupted: &interrupted,
    }
    .run(&folder)
}

/// The process that is crashed.
fn acid_load(mixed: &dyn MixWorkload, arguments: &AcidLoad) -> Result<()> {
    interrupt::die_with_parent()?;
    let target = arguments.target.as_str();
    let engine = engines::open(target)?;
    let size = find_database(target, engine.as_ref(), mixed.workload())?.fingerprint.size;
    acid::load(target, engine.as_ref(), &*tests(mixed, &size)?, arguments.seed)
}

fn verify(mixed: &dyn MixWorkload, arguments: &MixVerify) -> Result<()> {
    let (targets, settings) = (&arguments.targets, &arguments.settings);
    let [_, usual] = mixed.usual();
    let number = arguments.database.size.unwrap_or(usual);
    let size = mixed.size(number);
    let alone = settings.replay.is_some();
    if targets.len() < if alone { 1 } else { 2 } {
        return Err(Failure::usage("invalid number of targets '1': expected two or more to compare")
            .hint(format!("add another target, as {MODEL}, the reference")));
    }
    let in_engines = targets.iter().map(String::as_str).filter(|target| *target != MODEL);
    refuse_twice(in_engines.clone())?;
    for target in in_engines.clone() {
        engines::needs(target, engines::open(target)?.as_ref(), needs)?;
    }
    if settings.plan.dry_run {
        mixed.workload().check_size(&size).map_err(Failure::usage)?;
        let name = format!("{} verify", mixed.workload().name());
        return print(&steps(&name, targets, settings, &mixed.workload().size_text(&size), rows(mixed, &size)).show());
    }
    let interrupted = interrupt::flag()?;
    let _held = hold::for_writing(in_engines)?;
    // Engines outlive their sessions: a memory database is gone with its engine.
    let mut engines: Vec<Box<dyn Engine>> = Vec::new();
    let mut systems = Vec::new();
    for target in targets {
        if target == MODEL {
            systems.push((target.clone(), None));
            continue;
        }
        let engine = engines::open(target)?;
        engines::make_folder(target)?;
        wanted(mixed, &arguments.database, usual, SetOptions::ALL, &mut |wanted| {
            ready(target, engine.as_ref(), wanted, Depth::Quick, &interrupted)
        })?;
        refuse_used(target, &find_database(target, engine.as_ref(), mixed.workload())?)?;
        let session = engine.session().map_err(|error| engine_failure(target, &error))?;
        systems.push((target.clone(), Some(session)));
        engines.push(engine);
    }
    let verification = Verification {
        targets,
        extent: Extent { transactions: settings.transactions, digest_every: settings.digest_every, whole_tables: true },
        settings,
        tables: mixed.workload().tables(),
        meaning: &|code| mixed.meaning(code),
        workload: mixed.workload().name(),
        own_options: format!(" --size {number}"),
        has_keys_only: arguments.database.constraints == ConstraintsArg::Keys,
    };
    mixed.verify(&verification, systems, &size, &interrupted)
}
