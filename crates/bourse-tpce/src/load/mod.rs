//! Loading TPC-E's 33 tables by the harness, and recognising a database later.
//!
//! No statistics are gathered after loading: every join of the transactions is written in its order of execution and every
//! other choice is between a key and nothing, so plans are the same on every database and cannot change as it grows.

use crate::workload::{Egen, Tpce, size_of};
use bourse_egen::{Inputs, Part};
use bourse_engine::{Engine, Result};
use std::ops::ControlFlow;

pub use crate::workload::part_of;
pub use bourse_oltp::load::{
    Constraints, ExistingDatabase, Fingerprint, FoundDatabase, LoadError, LoadOptions, LoadPhase, LoadProgress,
    LoadReport,
};

/// Makes the rows of a part and loads them through an engine's loader, in the place of whatever is there.
///
/// `progress` is called after each batch, and can stop the load.
///
/// # Errors
/// [`LoadError`]; a database of before then still exists, where the engine can keep it.
pub fn load(
    engine: &dyn Engine,
    inputs: &Inputs,
    part: Part,
    options: &LoadOptions,
    progress: &mut dyn FnMut(LoadProgress) -> ControlFlow<()>,
) -> Result<LoadReport, LoadError> {
    bourse_oltp::load::load(engine, &Tpce, &Egen(inputs), &size_of(part), options, progress)
}

/// Fingerprint of a part's database as it would be loaded on an engine.
///
/// # Errors
/// [`Unsupported`](bourse_engine::ErrorKind::Unsupported) without SQL.
pub fn fingerprint(engine: &dyn Engine, inputs: &Inputs, part: Part, constraints: Constraints) -> Result<Fingerprint> {
    Fingerprint::of(engine, &Tpce, &Egen(inputs), &size_of(part), constraints)
}

/// Content of an engine's target, of any size: never [`ExistingDatabase::Differs`].
///
/// # Errors
/// The engine's, if the target cannot be examined.
pub fn identify(engine: &dyn Engine) -> Result<ExistingDatabase> {
    bourse_oltp::load::identify(engine, &Tpce)
}
