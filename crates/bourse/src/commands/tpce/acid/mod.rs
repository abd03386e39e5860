//! `bourse tpce acid`: the specification's tests of atomicity, consistency, isolation and durability.

mod load;

pub(crate) use load::load;

use crate::args::{self, TpceAcid};
use crate::commands::acid::{Examination, selected, steps};
use crate::failure::{Exit, Failure, Result};
use crate::oltp::database::{DatabaseOptions as _, engine_failure};
use crate::output::{ResultFolder, print};
use crate::progress::note;
use crate::tpce::database::{TpceDatabase, sized};
use crate::{engines, hold, interrupt};
use bourse_acid::{TESTS, TpceAcid as TpceTests};
use bourse_engine::Engine;
use bourse_tpce::check::Depth;
use bourse_tpce::load::{ExistingDatabase, FoundDatabase, identify, part_of};
use bourse_tpce::users;
use std::sync::atomic::AtomicBool;

/// Examines a target, writes the evidence, prints the verdicts.
pub(crate) fn run(arguments: &TpceAcid) -> Result<()> {
    let TpceAcid { database: wanted, tests: options, output, .. } = arguments;
    let only = selected(&options.only, TESTS)?;
    let wanted = TpceDatabase::of(wanted, args::ExplicitlySet::ALL);
    let (words, rows) = wanted.size()?;
    let target = arguments.target.clone().unwrap_or_else(|| default_target(wanted.options));
    let engine = engines::open(&target)?;
    engines::needs_tpce(&target, engine.as_ref())?;
    if options.plan.dry_run {
        return print(&steps("tpce acid", &target, (&words, rows), TESTS, &only, (options, output)).show());
    }
    let interrupted = interrupt::flag()?;
    let _held = hold::for_writing([target.as_str()])?;
    let folder = ResultFolder::new(&output.directory, "acid")?;
    let (found, history) = database(&target, engine.as_ref(), &wanted, &interrupted)?;
    Examination {
        target: &target,
        engine: engine.as_ref(),
        name: "tpce",
        workload: &TpceTests { inputs: wanted.inputs()?, part: part_of(&found.fingerprint) },
        only: &only,
        options,
        output,
        database: describe_database(&found, &history),
        isolation: users::isolation(&engine.capabilities()),
        notice: None,
        flat_in: wanted.options.flat_in.as_deref(),
        interrupted: &interrupted,
    }
    .run(&folder)
}

/// A file apart from those of runs: the tests leave trades in it.
pub(crate) fn default_target(database: &args::DatabaseArgs) -> String {
    let target = format!("sqlite:{}/acid-c{}-d{}.db", crate::tpce::DATA_FOLDER, database.customers, database.days);
    note(&format!("no target given: using {target}"));
    target
}

/// The existing database of whatever size, or a new one of the requested size.
pub(crate) fn database(
    target: &str,
    engine: &dyn Engine,
    wanted: &TpceDatabase<'_>,
    interrupted: &AtomicBool,
) -> Result<(FoundDatabase, String)> {
    let look = || identify(engine).map_err(|error| engine_failure(target, &error));
    if !wanted.reloads()
        && let ExistingDatabase::Matches(found) = look()?
    {
        if found.fingerprint.inputs != format!("{:032x}", wanted.inputs()?.fingerprint()) {
            return Err(Failure::usage(format!("{target} was loaded with other input data"))
                .hint("give --flat-in with the folder of that input data"));
        }
        let words = ExistingDatabase::Matches(found.clone()).to_string();
        note(&format!("{target}: {words}"));
        return Ok((found, words));
    }
    let history = wanted.ready(target, engine, Depth::Quick, interrupted)?.history;
    match look()? {
        ExistingDatabase::Matches(found) => Ok((found, history)),
        other => Err(Failure::new(Exit::Target, format!("{target}: {other}"))),
    }
}

pub(crate) fn describe_database(found: &FoundDatabase, history: &str) -> String {
    let part = part_of(&found.fingerprint);
    format!(
        "{} of trades, constraints {}; {history}",
        sized(part.customers(), part.days()),
        found.fingerprint.constraints
    )
}
