//! `bourse WORKLOAD …` of workloads whose users draw transactions by their shares.

use super::acid::{self, Examination, selected};
use crate::args::{
    ALL_GIVEN, AcidLoad, ConstraintsArg, GivenOptions, LoadArgs, MixAcidArgs, MixCommand, MixDatabase, MixVerify,
    ServeArgs,
};
use crate::failure::{Failure, Result};
use crate::oltp::database::{DatabaseOptions as _, find_database};
use crate::oltp::mixed::{MixWorkload, MixedDatabase};
use crate::oltp::verify::{Verification, compared};
use crate::output::{ResultFolder, print};
use crate::plan::mix;
use crate::progress::note;
use crate::{engines, hold, interrupt};
use bourse_acid::AcidWorkload;
use bourse_engine::Engine;
use bourse_oltp::Size;
use bourse_oltp::check::Depth;

/// Runs a command of a workload.
pub(crate) fn run(mixed: &'static dyn MixWorkload, command: MixCommand) -> Result<()> {
    match command {
        MixCommand::Run(arguments) => {
            super::run_oltp(&mix::plan(mixed, &arguments)?, &arguments.targets, &arguments.run)
        }
        MixCommand::Load(LoadArgs { target, database, plan }) => {
            super::oltp::load::load(&target, &of_run(mixed, &database, &ALL_GIVEN), plan)
        }
        MixCommand::Serve(ServeArgs { server, database, given }) => {
            super::oltp::serve::serve(&server, &of_run(mixed, &database, &given))
        }
        MixCommand::Check(arguments) => super::oltp::check::check(mixed.workload(), &arguments),
        MixCommand::Verify(arguments) => verify(mixed, &arguments),
        MixCommand::Acid(arguments) => examine(mixed, &arguments),
        MixCommand::AcidLoad(arguments) => acid_load(mixed, &arguments),
    }
}

/// Database of the usual size of runs, unless the options have another.
fn of_run<'d>(mixed: &'static dyn MixWorkload, database: &'d MixDatabase, set: &'d GivenOptions) -> MixedDatabase<'d> {
    let [usual, _] = mixed.usual();
    MixedDatabase::of(mixed, database, usual, set)
}

/// Tests of a workload on a database of that size.
fn tests(mixed: &dyn MixWorkload, size: &Size) -> Result<Box<dyn AcidWorkload>> {
    let name = mixed.workload().name();
    mixed.acid(size).ok_or_else(|| {
        Failure::usage(format!("{name} has no tests of atomicity, consistency, isolation and durability"))
            .hint("workloads that have them: bourse tpce acid, bourse tpcc acid")
    })
}

fn examine(mixed: &'static dyn MixWorkload, arguments: &MixAcidArgs) -> Result<()> {
    let MixAcidArgs { target, tests: options, reload, output } = arguments;
    let (workload, smallest) = (mixed.workload(), mixed.smallest());
    let specs = tests(mixed, &smallest)?;
    let only = selected(&options.only, specs.tests())?;
    let target = target.clone().unwrap_or_else(|| {
        let target = engines::usual_target(&format!("acid-{}", workload.name()));
        note(&format!("no target given: using {target}"));
        target
    });
    let database = MixDatabase { reload: *reload, ..MixDatabase::default() };
    // A database of any size is taken as it is.
    let wanted = MixedDatabase { mixed, size: smallest, options: &database, set: &GivenOptions::default() };
    let engine = engines::open(&target)?;
    engines::needs(&target, engine.as_ref(), wanted.needs())?;
    if options.plan.dry_run {
        let (name, (words, rows)) = (format!("{} acid", workload.name()), wanted.size()?);
        return print(&acid::steps(&name, &target, (&words, rows), specs.tests(), &only, (options, output)).show());
    }
    let interrupted = interrupt::flag()?;
    let _held = hold::for_writing([target.as_str()])?;
    let folder = ResultFolder::new(&output.directory, "acid")?;
    let found = wanted.ready(&target, engine.as_ref(), Depth::Quick, &interrupted)?;
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

fn verify(mixed: &'static dyn MixWorkload, arguments: &MixVerify) -> Result<()> {
    let (targets, settings) = (&arguments.targets, &arguments.settings);
    let [_, usual] = mixed.usual();
    let database = MixedDatabase::of(mixed, &arguments.database, usual, &ALL_GIVEN);
    let fits = |target: &str, engine: &dyn Engine| engines::needs(target, engine, database.needs());
    let Some(compared) = compared(targets, settings, &database, &fits)? else { return Ok(()) };
    let verification = Verification {
        targets,
        settings,
        database: &database,
        meaning: &|code| mixed.meaning(code),
        own_options: format!(" --size {}", arguments.database.size.unwrap_or(usual)),
        has_keys_only: arguments.database.constraints == ConstraintsArg::Keys,
    };
    mixed.verify(&verification, compared.systems, &database.size, &compared.interrupted)
}
