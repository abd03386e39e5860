//! The process that is crashed: it works on a database and reports each acknowledged trade on stdout, until it is killed. Or
//! it records its file operations for a bounded time.

use crate::args::AcidLoad;
use crate::engines;
use crate::failure::{Exit, Failure, Result};
use crate::inputs::inputs;
use crate::interrupt;
use crate::output::write_new;
use crate::tpce::database::find_database;
use bourse_acid::TpceAcid;
use bourse_acid::sampled::LoadRecording;
use bourse_tpce::load::part_of;
use std::path::Path;

/// `bourse tpce acid-load`: ends by itself only if it records.
pub(crate) fn load(arguments: &AcidLoad) -> Result<()> {
    interrupt::die_with_parent()?;
    if let (Some(file), Some(copy), Some(of)) = (&arguments.record, &arguments.file, &arguments.of) {
        return record(arguments, copy, of, file);
    }
    let target = arguments.target.as_str();
    let engine = engines::open(target)?;
    let part = part_of(&find_database(target, engine.as_ref())?.fingerprint);
    let inputs = inputs(arguments.flat_in.as_deref())?;
    crate::commands::acid::load(target, engine.as_ref(), &TpceAcid { inputs: &inputs, part }, arguments.seed)
}

/// Records a load on the target, whose file `copy` is a copy of the target `of`.
fn record(arguments: &AcidLoad, copy: &Path, of: &str, file: &Path) -> Result<()> {
    let target = arguments.target.as_str();
    let cannot = |error| Failure::new(Exit::Target, format!("cannot record the load on {target}: {error}"));
    let inputs = inputs(arguments.flat_in.as_deref())?;
    // Before anything opens the file.
    let recording = LoadRecording::begin(copy, of, arguments.seed).map_err(cannot)?;
    let engine = engines::open(target)?;
    let part = part_of(&find_database(target, engine.as_ref())?.fingerprint);
    let trace = recording.run(engine, &TpceAcid { inputs: &inputs, part }).map_err(cannot)?;
    write_new(file, &trace.to_bytes())
}
