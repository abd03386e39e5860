//! TPC-E as the program's commands have it.

pub(crate) mod database;

use crate::args::DatabaseArgs;
use crate::failure::{Failure, Result};
use bourse_egen::Part;

pub(crate) use crate::args::DATA_FOLDER;

/// Number of threads as given, or the number of CPUs.
pub(crate) fn threads(given: Option<usize>) -> usize {
    given.unwrap_or_else(processors)
}

/// Processors available to this process.
pub(crate) fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The whole database that the options describe.
pub(crate) fn whole(database: &DatabaseArgs) -> Result<Part> {
    part(1, database.customers, database.customers, database.scale_factor, database.days)
}

/// A part of a database; a failure with the reason if there is no such part.
pub(crate) fn part(first: u64, count: u64, total: u64, scale_factor: u32, days: u32) -> Result<Part> {
    let signed = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    Part::new(signed(first), signed(count), signed(total), scale_factor.into(), days.into())
        .map_err(|error| Failure::usage(error.to_string()))
}
