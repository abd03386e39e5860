//! A search for the highest rate, as data: its limits, and the jobs of its rounds.

use super::{Brokerage, Classic, Job, classic};
use crate::args::Timed;
use bourse_driver::{SECOND, Schedule};
use bourse_micro::Timing;
use bourse_record::{ResponseLimit, Round, is_of_customers};
use bourse_tpce::users::{self, RunOptions};

/// Parameters of a search for the highest rate.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Search {
    /// Unit of its rates.
    pub(crate) unit: &'static str,
    /// Highest rate that can be scheduled.
    pub(crate) most: f64,
    /// Limits that a rate must meet.
    pub(crate) limits: Vec<ResponseLimit>,
    /// Users among which due operations are distributed.
    pub(crate) users: usize,
    /// Advice if no rate meets the limits.
    pub(crate) hint: &'static str,
}

impl Job {
    /// The search for the highest rate, if the job is one.
    pub(crate) fn search(&self) -> Option<Search> {
        match self {
            Self::Brokerage(job) => job.find_max.then(|| Search {
                unit: "TR/s",
                most: *RunOptions::RATES.end(),
                limits: users::response_limits(),
                users: job.users,
                hint: "try fewer --users or --customers, other options of the target, or a longer --for",
            }),
            Self::Classic(job) => job.search.as_ref().map(|search| Search {
                unit: "operations/s",
                most: Schedule::HIGHEST,
                limits: search.limits.clone(),
                users: job.threads() as usize,
                hint: "try a higher --limit, fewer -s threads, other options of the target, or a longer --for",
            }),
        }
    }

    /// The job of a probe of a search: at that rate, or as fast as its users can.
    ///
    /// A third of the interval: long enough for a tenth of a second's backlog to show as a hundredth, short enough for a dozen
    /// of them.
    pub(crate) fn probe(&self, rate: Option<f64>) -> Self {
        let short = |ns: u64, least_s: u64| (ns / 3).clamp(least_s * SECOND, 60 * SECOND).min(ns);
        let probed = match self {
            Self::Brokerage(job) => Self::Brokerage(Box::new(Brokerage {
                warm_up_ns: job.warm_up_ns.min(5 * SECOND),
                measure_ns: short(job.measure_ns, 5),
                latency: None,
                ..*job.clone()
            })),
            Self::Classic(job) => Self::Classic(Classic {
                warm_up_ns: job.warm_up_ns.min(5 * SECOND),
                measure_ns: Some(short(job.measure_ns.unwrap_or(Timing::USUAL_NS), 1)),
                // Each operation is timed alone at a rate.
                timed: Timed::Single,
                ..job.clone()
            }),
        };
        match rate {
            Some(rate) => probed.at_rate(rate),
            None => probed,
        }
    }

    /// The job at that rate.
    pub(crate) fn at_rate(&self, rate: f64) -> Self {
        match self {
            Self::Brokerage(job) => Self::Brokerage(Box::new(Brokerage { rate: Some(rate), ..*job.clone() })),
            Self::Classic(job) => {
                let arrivals = job.search.as_ref().map(|search| search.arrivals).unwrap_or_default();
                let open_loop = Some(classic::OpenLoop { rate, arrivals });
                Self::Classic(Classic { open_loop, timed: Timed::default(), ..job.clone() })
            }
        }
    }

    /// Throughput of a round without a schedule, in the unit of the rate.
    pub(crate) fn capacity(&self, round: &Round) -> f64 {
        match self {
            Self::Brokerage(_) => RunOptions::rate_of_customers(customers_rate(round)),
            Self::Classic(_) => classic_rate(round),
        }
    }

    /// Throughput of a round at a rate, in the rate's unit; 0 for a void round.
    pub(crate) fn reached(&self, round: &Round) -> f64 {
        match self {
            _ if round.headline.is_nan() => 0.0,
            Self::Brokerage(_) => round.headline,
            Self::Classic(_) => classic_rate(round),
        }
    }
}

/// Customers' transactions a second.
pub(crate) fn customers_rate(round: &Round) -> f64 {
    let customers = round.operations.iter().filter(|it| is_of_customers(&it.name));
    a_second(customers.map(bourse_record::Operation::valid).sum(), round)
}

/// Operations a second of a round in which each is timed alone; at a rate the operations that were due.
fn classic_rate(round: &Round) -> f64 {
    let has_schedule = round.arrivals.is_some();
    let meant = round.operations.iter().filter(|it| it.by_schedule || !has_schedule);
    a_second(meant.map(|it| it.samples).sum(), round)
}

fn a_second(count: u64, round: &Round) -> f64 {
    if round.measured_s > 0.0 { count as f64 / round.measured_s } else { 0.0 }
}
