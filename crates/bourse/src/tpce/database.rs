//! The database of a target for TPC-E: the options of the command line as a size.

use super::{threads, whole};
use crate::args::{DatabaseArgs, GivenOptions};
use crate::failure::Result;
use crate::inputs::inputs;
use crate::oltp::database::{self, DatabaseOptions, ReadyDatabase, WantedDatabase, WithWanted};
use crate::oltp::served::ServedWorkload;
use crate::plan::work::rows;
use bourse_egen::Inputs;
use bourse_engine::{Capabilities, Engine};
use bourse_oltp::Size;
use bourse_tpce::load::{Constraints, Fingerprint, FoundDatabase, part_of};
use bourse_tpce::workload::{Egen, Tpce, size_of};
use std::cell::OnceCell;

/// Options of a database. An existing one is used with its own size where the options of it are not `set`.
pub(crate) struct TpceDatabase<'d> {
    pub(crate) options: &'d DatabaseArgs,
    set: &'d GivenOptions,
    inputs: OnceCell<Inputs>,
}

impl<'d> TpceDatabase<'d> {
    pub(crate) fn of(options: &'d DatabaseArgs, set: &'d GivenOptions) -> Self {
        Self { options, set, inputs: OnceCell::new() }
    }

    /// Input data of its rows, read once.
    pub(crate) fn inputs(&self) -> Result<&Inputs> {
        if self.inputs.get().is_none() {
            let _ = self.inputs.set(inputs(self.options.flat_in.as_deref())?);
        }
        Ok(self.inputs.get_or_init(Inputs::builtin))
    }
}

impl DatabaseOptions for TpceDatabase<'_> {
    fn served(&self) -> &'static dyn ServedWorkload {
        &Tpce
    }
    fn needs(&self) -> fn(&Capabilities) -> Vec<String> {
        bourse_tpce::users::needs
    }
    fn size(&self) -> Result<(String, u64)> {
        whole(self.options)?;
        let DatabaseArgs { customers, days, .. } = *self.options;
        Ok((format!("{} of trades", sized(customers, days.into())), rows(customers, days)))
    }
    fn reloads(&self) -> bool {
        self.options.reload
    }
    fn wanted(&self, then: WithWanted<'_>) -> Result<ReadyDatabase> {
        wanted(self.options, self.set, self.inputs()?, then)
    }
}

/// Calls `then` with the database that the options describe.
pub(crate) fn wanted(
    wanted: &DatabaseArgs,
    set: &GivenOptions,
    inputs: &Inputs,
    then: WithWanted<'_>,
) -> Result<ReadyDatabase> {
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

/// The database that a target holds, of any size.
pub(crate) fn find_database(target: &str, engine: &dyn Engine) -> Result<FoundDatabase> {
    database::find_database(target, engine, &Tpce)
}

/// Size of a database as text: `1000 customers, 1 day`.
pub(crate) fn sized(customers: impl std::fmt::Display, days: i64) -> String {
    format!("{customers} customers, {days} {}", if days == 1 { "day" } else { "days" })
}

/// Size and constraints of an existing database, with those in their place that were set explicitly.
fn size_as_loaded(found: &Fingerprint, wanted: &DatabaseArgs, set: &GivenOptions) -> (Size, Constraints) {
    let part = part_of(found);
    let mut sized = wanted.clone();
    let mut declared = wanted.constraints.into();
    // A part of a larger database cannot be requested.
    if part.customers() == part.total_customers() {
        if let (false, Ok(customers)) = (set.given("customers"), u64::try_from(part.customers())) {
            sized.customers = customers;
        }
        if let (false, Ok(days)) = (set.given("days"), u32::try_from(part.days())) {
            sized.days = days;
        }
        if let (false, Ok(scale_factor)) = (set.given("scale_factor"), u32::try_from(part.scale_factor())) {
            sized.scale_factor = scale_factor;
        }
        if !set.given("constraints") {
            declared = found.constraints;
        }
    }
    // A size that cannot be is refused with the reason when it is checked.
    let signed = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    let (customers, scale_factor, days) = (signed(sized.customers), sized.scale_factor.into(), sized.days.into());
    (Size(vec![1, customers, customers, scale_factor, days]), declared)
}
