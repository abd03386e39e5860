//! A search for the highest rate, as data: its limits, and the jobs of its rounds.

use crate::failure::{Failure, Result};
use bourse_engine::did_you_mean;
use bourse_record::{ResponseLimit, Round, is_of_customers};

/// Parameters of a search for the highest rate.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SearchPlan {
    /// Unit of its rates.
    pub(crate) unit: &'static str,
    /// Lowest rate that is tried in short rounds, and the highest that can be scheduled.
    pub(crate) range: [f64; 2],
    /// Limits that a rate must meet.
    pub(crate) limits: Vec<ResponseLimit>,
    /// Users among which due operations are distributed.
    pub(crate) users: usize,
    /// Advice if no rate meets the limits.
    pub(crate) hint: &'static str,
}

impl SearchPlan {
    /// Refuses limits of operations that the workload does not have.
    pub(super) fn check(&self, operations: &[&str]) -> Result<()> {
        let mut named = self.limits.iter().filter_map(|limit| limit.operation.as_deref());
        let Some(name) = named.find(|name| !operations.contains(name)) else { return Ok(()) };
        let near = did_you_mean(name, operations.iter().copied());
        Err(Failure::usage(format!("unknown operation '{name}' in --limit{near}"))
            .hint(format!("operations of this workload: {}", operations.join(", "))))
    }
}

/// Customers' transactions a second.
pub(crate) fn customers_rate(round: &Round) -> f64 {
    let customers = round.operations.iter().filter(|it| is_of_customers(&it.name));
    a_second(customers.map(bourse_record::Operation::valid).sum(), round)
}

/// Operations a second of a round in which each is timed alone; at a rate the operations that were due.
pub(super) fn rate_of_all(round: &Round) -> f64 {
    let has_schedule = round.arrivals.is_some();
    let meant = round.operations.iter().filter(|it| it.by_schedule || !has_schedule);
    a_second(meant.map(|it| it.samples).sum(), round)
}

fn a_second(count: u64, round: &Round) -> f64 {
    if round.measured_s > 0.0 { count as f64 / round.measured_s } else { 0.0 }
}
