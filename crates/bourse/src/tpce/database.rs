//! The database of a target for TPC-E: the options of the command line as a size.

use super::{threads, whole};
use crate::args::{DatabaseArgs, ExplicitlySet};
use crate::failure::Result;
use crate::inputs::inputs;
use crate::oltp::database::{self, ReadyDatabase, WantedDatabase};
use crate::oltp::serve::ServedDatabase;
use bourse_egen::Inputs;
use bourse_engine::Engine;
use bourse_oltp::Size;
use bourse_tpce::check::Depth;
use bourse_tpce::load::{Constraints, Fingerprint, FoundDatabase, part_of};
use bourse_tpce::workload::{Egen, Tpce, size_of};
use std::sync::atomic::AtomicBool;

/// Makes sure that a target holds the database that is wanted, and checks it. An existing one is used with its own size where the
/// options of it are not `set`.
pub(crate) fn ready(
    target: &str,
    engine: &dyn Engine,
    database: &DatabaseArgs,
    set: ExplicitlySet,
    inputs: &Inputs,
    depth: Depth,
    interrupted: &AtomicBool,
) -> Result<ReadyDatabase> {
    wanted(database, set, inputs, &mut |wanted| database::ready(target, engine, wanted, depth, interrupted))
}

/// Calls `then` with the database that the options describe.
pub(crate) fn wanted<T>(
    wanted: &DatabaseArgs,
    set: ExplicitlySet,
    inputs: &Inputs,
    then: &mut dyn FnMut(&WantedDatabase<'_>) -> Result<T>,
) -> Result<T> {
    then(&WantedDatabase {
        workload: &Tpce,
        generator: &Egen(inputs),
        size: size_of(whole(wanted)?),
        constraints: wanted.constraints.into(),
        adopt: &|found| size_as_loaded(found, wanted, set),
        smaller: "fewer --customers or --days need less room",
        reload: wanted.reload,
        threads: threads(wanted.threads),
    })
}

/// Calls `then` with the database that the options describe, as it is served.
pub(crate) fn served(
    target: &str,
    database: &DatabaseArgs,
    set: ExplicitlySet,
    then: impl FnOnce(&ServedDatabase<'_>) -> Result<()>,
) -> Result<()> {
    whole(database)?;
    then(&ServedDatabase {
        workload: &Tpce,
        needs: bourse_tpce::users::needs,
        ready: &|engine, interrupted| {
            let inputs = inputs(database.flat_in.as_deref())?;
            ready(target, engine, database, set, &inputs, Depth::Full, interrupted)
        },
    })
}

/// The database that a target holds, of any size.
pub(crate) fn find_database(target: &str, engine: &dyn Engine) -> Result<FoundDatabase> {
    database::find_database(target, engine, &Tpce)
}

/// Size of a database as text: `1000 customers, 1 day`.
pub(crate) fn sized(customers: impl std::fmt::Display, days: i64) -> String {
    format!("{customers} customers, {days} {}", if days == 1 { "day" } else { "days" })
}

/// Size and constraints of an existing database, with those in their place that were set explicitly.
fn size_as_loaded(found: &Fingerprint, wanted: &DatabaseArgs, set: ExplicitlySet) -> (Size, Constraints) {
    let part = part_of(found);
    let mut sized = wanted.clone();
    let mut declared = wanted.constraints.into();
    // A part of a larger database cannot be requested.
    if part.customers() == part.total_customers() {
        if let (false, Ok(customers)) = (set.customers, u64::try_from(part.customers())) {
            sized.customers = customers;
        }
        if let (false, Ok(days)) = (set.days, u32::try_from(part.days())) {
            sized.days = days;
        }
        if let (false, Ok(scale_factor)) = (set.scale_factor, u32::try_from(part.scale_factor())) {
            sized.scale_factor = scale_factor;
        }
        if !set.constraints {
            declared = found.constraints;
        }
    }
    // A size that cannot be is refused with the reason when it is checked.
    let signed = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    let (customers, scale_factor, days) = (signed(sized.customers), sized.scale_factor.into(), sized.days.into());
    (Size(vec![1, customers, customers, scale_factor, days]), declared)
}
