//! `bourse tpce acid`: the specification's tests of atomicity, consistency, isolation and durability.

mod load;

pub(crate) use load::load;

use crate::args::{self, TpceAcid};
use crate::commands::acid::{Examination, selected, steps};
use crate::failure::Result;
use crate::oltp::database::{DatabaseOptions as _, ReadyDatabase};
use crate::output::{ResultFolder, print};
use crate::progress::note;
use crate::tpce::database::{TpceDatabase, sized};
use crate::{engines, hold, interrupt};
use bourse_acid::{TESTS, TpceAcid as TpceTests};
use bourse_tpce::check::Depth;
use bourse_tpce::load::part_of;
use bourse_tpce::users;

/// Examines a target, writes the evidence, prints the verdicts.
pub(crate) fn run(arguments: &TpceAcid) -> Result<()> {
    let TpceAcid { database: wanted, tests: options, output, given, .. } = arguments;
    let only = selected(&options.only, TESTS)?;
    let wanted = TpceDatabase::of(wanted, given);
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
    let found = wanted.ready(&target, engine.as_ref(), Depth::Quick, &interrupted)?;
    Examination {
        target: &target,
        engine: engine.as_ref(),
        name: "tpce",
        workload: &TpceTests { inputs: wanted.inputs()?, part: part_of(&found.fingerprint) },
        only: &only,
        options,
        output,
        database: describe_database(&found),
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

/// The database that is tested, for its report.
pub(crate) fn describe_database(ReadyDatabase { fingerprint, history, .. }: &ReadyDatabase) -> String {
    let part = part_of(fingerprint);
    format!("{} of trades, constraints {}; {history}", sized(part.customers(), part.days()), fingerprint.constraints)
}
