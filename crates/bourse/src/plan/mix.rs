//! Workloads whose users draw transactions by their shares as jobs, and the plan of `bourse WORKLOAD run`.

use super::classic::{OpenLoopPlan, RateSearch, rounds_of};
use super::drivers::{Drivers, only_alone};
use super::sweep::{Sweep, not_through_server, on_each, with_options};
use super::targets::{self, Requirements, with_suffix};
use super::{CaseBlock, Plan, PlannedCase, nanoseconds, varied};
use crate::args::{CheckDepth, ConstraintsArg, GivenOptions, MixDatabase, MixRun, numbers};
use crate::engines;
use crate::failure::{Failure, Result};
use crate::oltp::mixed::{MixWorkload, find};
use bourse_serve::Address;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A round of such a workload, all of it but the target and the seed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct MixRound {
    /// Name of the workload.
    pub(crate) workload: String,
    /// Size of the database, in the workload's own unit.
    pub(crate) size: u64,
    /// Constraints that the database declares.
    pub(crate) constraints: ConstraintsArg,
    /// Options that were set explicitly; an existing database is otherwise used with its own size and constraints.
    pub(crate) set: GivenOptions,
    /// Whether an existing database is replaced.
    pub(crate) reload: bool,
    /// Number of users.
    pub(crate) users: usize,
    /// Transactions that are due, in an open loop.
    pub(crate) open_loop: Option<OpenLoopPlan>,
    /// Whether users are at terminals.
    pub(crate) terminals: bool,
    /// The search for the highest rate, if there is one.
    pub(crate) search: Option<RateSearch>,
    /// Warm-up, in nanoseconds.
    pub(crate) warm_up_ns: u64,
    /// Measurement interval, in nanoseconds.
    pub(crate) measure_ns: u64,
    /// Depth of the checks before the run.
    pub(crate) check: CheckDepth,
    /// Drivers that share a round.
    pub(crate) drivers: Drivers,
}

/// Users, unless set otherwise.
pub(super) const USERS: usize = 4;
/// Warm-up and interval, unless set otherwise.
const WARM_UP: Duration = Duration::from_secs(2);
const INTERVAL: Duration = Duration::from_secs(10);

impl MixRound {
    /// The workload.
    pub(crate) fn mixed(&self) -> Result<&'static dyn MixWorkload> {
        find(&self.workload).ok_or_else(|| Failure::usage(format!("unknown workload '{}'", self.workload)))
    }

    /// The requested size in words.
    pub(crate) fn size_text(&self) -> String {
        self.mixed().map_or_else(|_| self.size.to_string(), |mixed| mixed.workload().size_text(&mixed.size(self.size)))
    }

    /// Rows of the database, about.
    pub(crate) fn rows(&self) -> u64 {
        self.mixed().map_or(0, |mixed| mixed.workload().work(&mixed.size(self.size)) as u64)
    }

    /// Requirements of its rounds.
    pub(crate) fn requirements(&self) -> Result<Requirements<'_>> {
        Ok(Requirements {
            workload: self.mixed()?.workload().name(),
            needs: bourse_oltp::mix::needs,
            has_model: false,
            drivers: &self.drivers,
            reloads: self.reload,
            finds_max: self.search.is_some(),
        })
    }

    /// Refuses more processes than users.
    fn check_users(&self) -> Result<()> {
        let (users, processes) = (self.users, self.drivers.processes);
        if users >= processes as usize {
            return Ok(());
        }
        let why = format!("too few users for {processes} processes: {users}; each process needs one at least");
        Err(Failure::usage(why).hint("--users sets their number"))
    }

    fn of(mixed: &dyn MixWorkload, arguments: &MixRun) -> Self {
        let MixDatabase { size, constraints, reload, .. } = &arguments.database;
        Self {
            workload: mixed.workload().name().to_owned(),
            size: size.unwrap_or(mixed.usual()[0]),
            constraints: *constraints,
            set: arguments.given.clone(),
            reload: *reload,
            users: arguments.run.users.unwrap_or(USERS),
            open_loop: OpenLoopPlan::of(arguments.rate, arguments.run.arrivals),
            terminals: arguments.terminals,
            search: RateSearch::of(arguments.run.find_max, &arguments.limit, arguments.run.arrivals),
            warm_up_ns: nanoseconds(arguments.run.warmup.unwrap_or(WARM_UP)),
            measure_ns: nanoseconds(arguments.run.duration.unwrap_or(INTERVAL)),
            check: arguments.run.check,
            drivers: Drivers::of(arguments.run.processes, &arguments.drivers),
        }
    }
}

/// The plan of `bourse WORKLOAD run`.
pub(crate) fn plan(mixed: &dyn MixWorkload, arguments: &MixRun) -> Result<Plan> {
    let cases = cases(mixed, arguments)?;
    let drivers = Drivers::of(arguments.run.processes, &arguments.drivers);
    let others = [("--find-max", arguments.run.find_max), ("--sweep", !arguments.run.sweep.is_empty())];
    only_alone(&drivers, &arguments.targets, &others)?;
    let default = if cases.len() == 1 { 1 } else { rounds_of(cases.len()) };
    let block = CaseBlock { cases, rounds: arguments.run.rounds.unwrap_or(default) };
    let name = mixed.workload().name();
    let plan = Plan::of(name, block, &arguments.run.execution, &arguments.run.output);
    // One driver alone cannot repeat a round that all have run.
    let repeats_disturbed = plan.repeats_disturbed && drivers.coordinate.is_none();
    Plan { repeats_disturbed, memory: arguments.run.memory, ..plan }.checked()
}

/// A case of each target with each combination of the sweeps, everything checked.
pub(super) fn cases(mixed: &dyn MixWorkload, arguments: &MixRun) -> Result<Vec<PlannedCase>> {
    if arguments.run.duration == Some(Duration::ZERO) {
        return Err(Failure::usage("--for 0s leaves nothing to measure"));
    }
    let sweeps = Sweep::parse_all(&arguments.run.sweep)?;
    on_each(&arguments.targets, &sweeps, |target, chosen| case(mixed, target, arguments, chosen))
}

fn case(
    mixed: &dyn MixWorkload,
    target: Option<&String>,
    arguments: &MixRun,
    chosen: &[(&str, &str)],
) -> Result<PlannedCase> {
    let mut job = MixRound::of(mixed, arguments);
    let (mut of_target, mut sized) = (Vec::new(), false);
    for &(name, value) in chosen {
        let refused = |why: String| Failure::usage(format!("invalid value '{value}' for '--sweep {name}': {why}"));
        match name {
            "users" => job.users = numbers::threads(value).map_err(refused)?,
            "rate" => {
                let rate = numbers::operations_a_second(value).map_err(refused)?;
                job.open_loop = OpenLoopPlan::of(Some(rate), arguments.run.arrivals);
            }
            "processes" => job.drivers.processes = numbers::processes(value).map_err(refused)?,
            name if name == "size" || name == mixed.unit() => {
                if let Some(server) = target.filter(|target| Address::has_scheme(target)) {
                    return Err(not_through_server(name, server));
                }
                job.size = numbers::counted(value).map_err(refused)?;
                job.set.add("size");
                sized = true;
            }
            _ => of_target.push((name, value)),
        }
    }
    if job.terminals && !mixed.has_terminals() {
        return Err(Failure::usage(format!(
            "--terminals cannot be used with {}: its users do not pause",
            job.workload
        )));
    }
    if job.terminals && job.open_loop.is_some() {
        return Err(Failure::usage("--terminals cannot be used with --sweep rate: terminals have rates of their own"));
    }
    let size = mixed.size(job.size);
    mixed.workload().check_size(&size).map_err(Failure::usage)?;
    let suffix = format!("-{}", job.size);
    let target = match target {
        None => engines::usual_target(&format!("{}{suffix}", job.workload)),
        Some(target) if sized => with_suffix(target, &suffix),
        Some(target) => target.clone(),
    };
    let requirements = job.requirements()?;
    let own = ["users", "processes", "rate", "size"];
    let target = with_options(&target, &of_target, &own, |target| targets::check(target, &requirements))?;
    job.check_users()?;
    Ok(PlannedCase::of_database(target, job.into(), varied(chosen)))
}
