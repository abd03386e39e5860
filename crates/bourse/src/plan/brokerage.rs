//! The brokerage workload as a job, and the plan of `bourse tpce run`.

use super::drivers::{Drivers, only_alone};
use super::sweep::{Sweep, not_through_server, on_each, with_options};
use super::targets::{self, Requirements, default_target, with_size};
use super::{CaseBlock, Plan, PlannedCase, nanoseconds, varied};
use crate::args::{
    ALL_GIVEN, ArrivalsArg, CheckDepth, DatabaseArgs, GivenOptions, MarketAge, RunSettings, TpceRun, numbers,
};
use crate::failure::{Failure, Result};
use crate::tpce::whole;
use bourse_driver::{OpenLoop, SECOND};
use bourse_oltp::history::HistoryOptions;
use bourse_record::{NameValue, PageCache, StoppingRule};
use bourse_serve::Address;
use bourse_tpce::users::{OptionsError, RunOptions};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Part of a round's rate at which response times are measured after it.
pub(crate) const LATENCY_PART: f64 = 0.7;
/// Default phase at that rate.
const LATENCY: LatencyPlan = LatencyPlan { warm_up_ns: 5 * SECOND, measure_ns: 20 * SECOND };

/// Durations of the phase at a part of a round's rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LatencyPlan {
    /// Warm-up of the phase, in nanoseconds.
    pub(crate) warm_up_ns: u64,
    /// Measurement interval of the phase, in nanoseconds.
    pub(crate) measure_ns: u64,
}

/// Name of the workload.
pub(crate) const WORKLOAD: &str = "tpce";

/// A round of the brokerage workload, all of it but the target and the seed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Brokerage {
    /// Options of the database.
    pub(crate) database: DatabaseArgs,
    /// The database's options that were set explicitly.
    pub(crate) explicitly_set: GivenOptions,
    /// Customers' threads.
    pub(crate) users: usize,
    /// Threads that run the market's requests.
    pub(crate) market_users: usize,
    /// Requested rate in Trade-Results a second; `None` in a closed loop.
    pub(crate) rate: Option<f64>,
    /// Distances of the arrivals at a rate, and the assignment to users.
    pub(crate) arrivals: ArrivalsArg,
    /// Age of the market when a round begins.
    pub(crate) market: MarketAge,
    /// Most transactions that may be due and wait.
    pub(crate) backlog: Option<usize>,
    /// Whether to search for the highest rate that meets every response limit.
    pub(crate) find_max: bool,
    /// Warm-up, in nanoseconds.
    pub(crate) warm_up_ns: u64,
    /// The measurement interval, in nanoseconds.
    pub(crate) measure_ns: u64,
    /// The rule that may end warm-up and interval sooner.
    pub(crate) until: Option<StoppingRule>,
    /// The phase at a part of the rate after the round, in which response times are measured.
    pub(crate) latency: Option<LatencyPlan>,
    /// Whether a single round begins with a restored database, as each of several rounds does, wherever the database is
    /// stored. Files are restored after every run.
    pub(crate) puts_back: bool,
    /// Drivers that share a round.
    pub(crate) drivers: Drivers,
    /// Depth of the checks of database and transactions.
    pub(crate) check: CheckDepth,
    /// Whether an application server started by Bourse runs between the users and the database.
    pub(crate) served: bool,
    /// Options of recorded histories, in which isolation is examined; `None` records nothing.
    pub(crate) history: Option<HistoryOptions>,
}

impl Brokerage {
    /// Requirements of its rounds.
    pub(crate) fn requirements(&self) -> Requirements<'_> {
        Requirements {
            workload: WORKLOAD,
            needs: bourse_tpce::users::needs,
            has_model: true,
            drivers: &self.drivers,
            reloads: self.database.reload,
            finds_max: self.find_max,
        }
    }

    /// The options of the latency phase after a round with `per_second` customers' transactions a second.
    pub(crate) fn latency_options(&self, plan: LatencyPlan, round: &RunOptions, per_second: f64) -> RunOptions {
        let open_loop = Some(OpenLoop { per_second: LATENCY_PART * per_second, evenly: false, shared: true });
        RunOptions {
            open_loop,
            // The market of this rate, which is known now.
            aged_at: round.aged_at.and(RunOptions { open_loop, ..round.clone() }.requested_rate()),
            backlog: None,
            plan: bourse_driver::RoundPlan {
                warm_up_ns: plan.warm_up_ns,
                measure_ns: plan.measure_ns,
                until: None,
                // The round has timed them, and has begun with what was asked.
                statements: false,
                page_cache: None,
                ..round.plan
            },
            // Other requests than those of the round.
            seed: round.seed.wrapping_add(1_000_003),
            // The round has one.
            history: None,
            ..round.clone()
        }
    }

    /// The options of a round with this seed.
    pub(crate) fn options(&self, seed: u64) -> Result<RunOptions> {
        let default = RunOptions::new(whole(&self.database)?);
        let options = RunOptions {
            users: self.users,
            market_users: self.market_users,
            processes: self.drivers.processes,
            open_loop: self.rate.map(|rate| OpenLoop {
                shared: self.arrivals.is_shared(),
                ..RunOptions::at_rate(rate, self.arrivals.is_even())
            }),
            backlog: self.backlog,
            aged_at: match self.market {
                MarketAge::New => None,
                // A search may go above it; the report names the rate at which the market was aged.
                MarketAge::Aged if self.find_max => self.rate.map(|rate| rate.min(RunOptions::MOST_AGED_AT)),
                MarketAge::Aged => self.rate,
                MarketAge::AgedAt(rate) => Some(rate),
            },
            plan: bourse_driver::RoundPlan {
                warm_up_ns: self.warm_up_ns,
                measure_ns: self.measure_ns,
                until: self.until,
                ..default.plan
            },
            seed,
            share: self.drivers.driver().unwrap_or(default.share),
            history: self.history.clone(),
            ..default
        };
        let refused = |error: OptionsError| Failure::usage(error.to_string());
        options.check().map_err(refused)?;
        match self.drivers.process() {
            None => Ok(options),
            Some(process) => options.of_process(process.number).map_err(refused),
        }
    }

    /// The workload on that database with default options otherwise.
    pub(super) fn on(database: DatabaseArgs) -> Result<Self> {
        let default = RunOptions::new(whole(&database)?);
        Ok(Self {
            database,
            explicitly_set: ALL_GIVEN.clone(),
            users: default.users,
            market_users: default.market_users,
            rate: None,
            arrivals: ArrivalsArg::default(),
            backlog: None,
            market: MarketAge::New,
            find_max: false,
            warm_up_ns: default.plan.warm_up_ns,
            measure_ns: default.plan.measure_ns,
            until: None,
            latency: None,
            puts_back: false,
            drivers: Drivers::ALONE,
            check: CheckDepth::Full,
            served: false,
            history: None,
        })
    }

    fn of(arguments: &TpceRun) -> Result<Self> {
        let settings = &arguments.settings;
        let default = Self::on(settings.database.clone())?;
        let users = settings.run.users.unwrap_or(default.users);
        Ok(Self {
            explicitly_set: arguments.given.clone(),
            users,
            market_users: settings
                .market_users
                .unwrap_or_else(|| RunOptions::market_users_in(users, settings.run.processes)),
            rate: settings.rate,
            arrivals: settings.run.arrivals.unwrap_or_default(),
            backlog: settings.backlog,
            market: settings.market,
            find_max: settings.run.find_max,
            warm_up_ns: nanoseconds(settings.run.warmup.unwrap_or(WARM_UP)),
            measure_ns: nanoseconds(settings.run.duration.unwrap_or(INTERVAL)),
            latency: settings.latency.then_some(LATENCY),
            drivers: Drivers::of(settings.run.processes, &arguments.drivers),
            check: settings.run.check,
            history: settings.history.clone().map(|folder| HistoryOptions { folder }),
            ..default
        })
    }
}

/// Default warm-up and interval of a fixed length.
const WARM_UP: Duration = Duration::from_secs(10);
const INTERVAL: Duration = Duration::from_secs(30);
/// The longest warm-up of the default job, which may end from a third of it on, and its interval.
const LONGEST_WARM_UP_NS: u64 = 30 * SECOND;
const DEFAULT_INTERVAL_NS: u64 = 40 * SECOND;

/// The plan of `bourse tpce run`.
pub(crate) fn plan(arguments: &TpceRun) -> Result<Plan> {
    let settings = &arguments.settings;
    let rounds = settings.run.rounds.unwrap_or(1);
    let mut jobs = jobs(arguments)?;
    let is_alone = jobs.len() == 1 && rounds == 1;
    let is_server = arguments.targets.iter().any(|target| Address::has_scheme(target));
    if is_server && settings.latency {
        return Err(Failure::usage("--latency cannot be used with a server: its rounds are checked as they end"));
    }
    let run = &settings.run;
    let others = [
        ("--find-max", run.find_max),
        ("--latency", settings.latency),
        ("--until-steady", settings.until_steady.is_some()),
        ("--sweep", !run.sweep.is_empty()),
        ("--market aged", settings.market != MarketAge::New),
    ];
    let drivers = Drivers::of(run.processes, &arguments.drivers);
    only_alone(&drivers, &arguments.targets, &others)?;
    let has_processes = jobs.iter().any(|it| it.job.drivers.processes > 1);
    if has_processes && settings.latency {
        return Err(Failure::usage(
            "--latency cannot be used with --processes: there is no one stream of arrivals for all",
        )
        .hint("--rate N --arrivals shared gives each process a stream for its users"));
    }
    if has_processes && settings.until_steady.is_some() {
        return Err(Failure::usage(
            "--until-steady cannot be used with --processes: all of them measure for a fixed time",
        )
        .hint("--for sets it"));
    }
    if let Some(longest) = settings.until_steady {
        until_steady(&mut jobs, longest, is_alone && !is_server)?;
    }
    let is_fixed = settings.run.duration.is_some()
        || settings.run.warmup.is_some()
        || settings.run.rounds.is_some()
        || settings.until_steady.is_some()
        || settings.rate.is_some()
        || settings.run.find_max
        || has_processes
        || drivers.coordinate.is_some()
        || !settings.run.sweep.is_empty()
        || run.memory.cache == Some(PageCache::Cold);
    for JobOnTarget { job, .. } in jobs.iter_mut().filter(|_| is_alone && !is_server && !is_fixed) {
        (job.warm_up_ns, job.measure_ns) = (LONGEST_WARM_UP_NS, DEFAULT_INTERVAL_NS);
        (job.until, job.latency, job.puts_back) = (Some(StoppingRule::RateLevel), Some(LATENCY), true);
    }
    let cases = jobs.into_iter().map(PlannedCase::from).collect();
    let block = CaseBlock { cases, rounds };
    let plan = Plan::of(WORKLOAD, block, &settings.run.execution, &settings.run.output);
    // One driver alone cannot repeat a round that all have run.
    let repeats_disturbed = plan.repeats_disturbed && drivers.coordinate.is_none();
    Plan { repeats_disturbed, memory: run.memory, ..plan }.checked()
}

/// Lets a single round last until its throughput is found to be steady or not.
fn until_steady(jobs: &mut [JobOnTarget], longest: Duration, is_alone: bool) -> Result<()> {
    if !is_alone {
        return Err(Failure::usage(
            "--until-steady needs a single round on a single target in this process: rounds that are compared last alike",
        ));
    }
    if longest < Duration::from_secs(30) {
        return Err(Failure::usage("invalid value for --until-steady: expected 30s or more")
            .hint("for instance --until-steady 5m"));
    }
    for JobOnTarget { job, .. } in jobs {
        let longest = nanoseconds(longest);
        job.warm_up_ns = longest / 5 * 2;
        job.measure_ns = longest - job.warm_up_ns;
        job.until = Some(StoppingRule::SteadinessDecided);
    }
    Ok(())
}

/// A job on a target, with the values of the sweeps.
struct JobOnTarget {
    target: String,
    job: Brokerage,
    varied: Vec<NameValue>,
}

impl From<JobOnTarget> for PlannedCase {
    fn from(JobOnTarget { target, job, varied }: JobOnTarget) -> Self {
        Self::of_database(target, job.into(), varied)
    }
}

/// A case of each target with each combination of the sweeps, all checked.
pub(super) fn cases(arguments: &TpceRun) -> Result<Vec<PlannedCase>> {
    Ok(jobs(arguments)?.into_iter().map(PlannedCase::from).collect())
}

fn jobs(arguments: &TpceRun) -> Result<Vec<JobOnTarget>> {
    let TpceRun { targets, settings, .. } = arguments;
    if settings.run.duration.is_some_and(|duration| duration < Duration::from_secs(1)) {
        return Err(Failure::usage("invalid value for --for: expected 1s or more").hint("for instance --for 30s"));
    }
    let sweeps = Sweep::parse_all(&settings.run.sweep)?;
    if settings.run.find_max && sweeps.iter().any(|sweep| sweep.name == "rate") {
        return Err(Failure::usage("--find-max cannot be combined with --sweep rate"));
    }
    on_each(targets, &sweeps, |target, chosen| job(target, arguments, chosen))
}

fn job(target: Option<&String>, arguments: &TpceRun, chosen: &[(&str, &str)]) -> Result<JobOnTarget> {
    let mut run = arguments.clone();
    let settings = &mut run.settings;
    let mut of_target = Vec::new();
    let mut sized = false;
    let is_server = target.is_some_and(|target| Address::has_scheme(target));
    for &(name, value) in chosen {
        match vary(settings, name, value)? {
            SweepScope::Database if is_server => {
                return Err(not_through_server(name, target.map_or("", String::as_str)));
            }
            SweepScope::Target => of_target.push((name, value)),
            SweepScope::Database => sized = true,
            SweepScope::Run => {}
        }
    }
    let mut job = Brokerage::of(&run)?;
    if sized {
        job.explicitly_set = ALL_GIVEN.clone();
    }
    if job.market != MarketAge::New && job.drivers.processes > 1 {
        return Err(Failure::usage(
            "--market aged cannot be used with --processes: the pending orders are in one process's market",
        ));
    }
    if job.market != MarketAge::New && is_server {
        return Err(Failure::usage(
            "--market aged cannot be used with a server: its orders are placed in bulk, on an engine in this process",
        ));
    }
    if job.history.is_some() && is_server {
        return Err(Failure::usage(
            "--history cannot be used with a server: it does not say which isolation its engine promises",
        ));
    }
    if job.market == MarketAge::Aged && job.rate.is_none() && !job.find_max {
        return Err(Failure::usage("--market aged needs a rate: as many orders are pending as customers ask for")
            .hint("--rate N asks for N Trade-Results a second; --market aged=N is the market of that rate in a closed loop"));
    }
    let target = match target {
        None => default_target(&job.database),
        Some(target) if sized => with_size(target, &job.database),
        Some(target) => target.clone(),
    };
    let requirements = job.requirements();
    let target = with_options(&target, &of_target, &SWEPT, |target| targets::check(target, &requirements))?;
    job.options(0)?;
    Ok(JobOnTarget { target, job, varied: varied(chosen) })
}

/// Scope of a swept option.
enum SweepScope {
    Run,
    /// Another value needs another database.
    Database,
    Target,
}

/// Options of the workload that can be swept.
const SWEPT: [&str; 9] =
    ["users", "market-users", "processes", "rate", "backlog", "market", "customers", "days", "scale-factor"];

/// Sets a swept option, unless it belongs to the target.
fn vary(settings: &mut RunSettings, name: &str, value: &str) -> Result<SweepScope> {
    let refused = |why: String| Failure::usage(format!("invalid value '{value}' for '--sweep {name}': {why}"));
    let name = name.replace('_', "-");
    match &*name {
        "users" => settings.run.users = Some(numbers::threads(value).map_err(refused)?),
        "market-users" => settings.market_users = Some(numbers::threads(value).map_err(refused)?),
        "processes" => settings.run.processes = numbers::processes(value).map_err(refused)?,
        "rate" => settings.rate = Some(numbers::rate(value).map_err(refused)?),
        "backlog" => settings.backlog = Some(numbers::backlog(value).map_err(refused)?),
        "market" => settings.market = numbers::market(value).map_err(refused)?,
        "customers" => settings.database.customers = numbers::customers(value).map_err(refused)?,
        "days" => settings.database.days = numbers::days(value).map_err(refused)?,
        "scale-factor" => settings.database.scale_factor = numbers::scale_factor(value).map_err(refused)?,
        _ => return Ok(SweepScope::Target),
    }
    let is_size = ["customers", "days", "scale-factor"].contains(&&*name);
    Ok(if is_size { SweepScope::Database } else { SweepScope::Run })
}
