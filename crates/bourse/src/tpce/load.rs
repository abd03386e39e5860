//! `bourse tpce load`: makes a database, and runs nothing on it.

use super::database;
use crate::args::{ExplicitlySet, Load};
use crate::failure::Failure;
use crate::inputs::inputs;
use crate::progress::note;
use crate::{engines, hold, interrupt};
use bourse_engine::Location;
use bourse_tpce::check::Depth;

/// Loads the database, or reports that it exists already.
pub(crate) fn load(arguments: &Load) -> Result<(), Failure> {
    super::whole(&arguments.database)?;
    let engine = engines::open(&arguments.target)?;
    engines::needs_tpce(&arguments.target, engine.as_ref())?;
    if matches!(engine.location(), Location::Memory | Location::Nowhere) {
        return Err(Failure::usage(format!(
            "cannot load {}: a database in memory ends with this command",
            arguments.target
        ))
        .hint("name a file or a server; `bourse tpce run` loads a database in memory by itself"));
    }
    let _held = hold::for_writing([arguments.target.as_str()])?;
    let inputs = inputs(arguments.database.flat_in.as_deref())?;
    let interrupted = interrupt::flag()?;
    database::ready(
        &arguments.target,
        engine.as_ref(),
        &arguments.database,
        ExplicitlySet::ALL,
        &inputs,
        Depth::Full,
        &interrupted,
    )?;
    let sizes = engine.footprint().map_err(|error| database::engine_failure(&arguments.target, &error))?;
    note(&format!("{}: {:.1} MB", arguments.target, sizes.data_bytes as f64 / 1e6));
    Ok(())
}
