//! Classic workloads as jobs, and the plan of `bourse micro run`.

use super::sweep::{Sweep, combinations, with_options};
use super::{CaseBlock, InstructionPlan, Plan, PlannedCase, RoundProcess, SearchPlan, nanoseconds, targets, varied};
use crate::args::{ArrivalsArg, ConductArgs, MicroRun, ReplayArgs, TimingMode};
use crate::engines;
use crate::failure::{Failure, Result};
use bourse_driver::Schedule;
use bourse_micro::{FROM, NOTHING, OptionError, Timing, WorkloadSpec, find};
use bourse_record::{ResponseLimit, Search};
use bourse_stats::signed_rank::{fewest, level_of_each};
use bourse_verdict::units::{count, printable};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Default target of classic workloads.
const DEFAULT_TARGET: &str = "sqlite::memory:";

/// A round of a classic workload, all of it but the target and the seed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ClassicRound {
    /// Name of the workload.
    pub(crate) workload: String,
    /// Its options that differ from the defaults.
    pub(crate) options: Vec<(String, String)>,
    /// Warm-up, in nanoseconds.
    pub(crate) warm_up_ns: u64,
    /// The measurement interval, or the longest a round may measure.
    pub(crate) measure_ns: Option<u64>,
    /// Operations of each thread, instead of a time.
    pub(crate) count: Option<u64>,
    /// Operations that are timed.
    pub(crate) timed: TimingMode,
    /// The schedule of an open loop.
    pub(crate) open_loop: Option<OpenLoopPlan>,
    /// The search for the highest rate, if there is one.
    pub(crate) search: Option<RateSearch>,
    /// Copy of the database of the option `from`, once it is made.
    pub(crate) copy: Option<String>,
    /// Length of the recording that is replayed, in nanoseconds; `None` of other workloads.
    pub(crate) recorded_ns: Option<u64>,
}

/// Schedule of operations at a rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct OpenLoopPlan {
    /// Operations a second, of all threads together.
    pub(crate) rate: f64,
    /// Distances of the arrivals, and the assignment to users.
    pub(crate) arrivals: ArrivalsArg,
}

impl From<OpenLoopPlan> for bourse_driver::OpenLoop {
    fn from(OpenLoopPlan { rate, arrivals }: OpenLoopPlan) -> Self {
        Self { per_second: rate, evenly: arrivals.is_even(), shared: arrivals.is_shared() }
    }
}

/// Search for the highest rate of a classic workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RateSearch {
    /// Limits that a rate must meet.
    pub(crate) limits: Vec<ResponseLimit>,
    /// Arrivals at the rates that are tried.
    pub(crate) arrivals: ArrivalsArg,
}

impl OpenLoopPlan {
    /// Schedule at the requested rate, if there is one.
    pub(crate) fn of(rate: Option<f64>, arrivals: Option<ArrivalsArg>) -> Option<Self> {
        rate.map(|rate| Self { rate, arrivals: arrivals.unwrap_or_default() })
    }
}

impl RateSearch {
    /// Search with these limits, if it is wanted.
    pub(crate) fn of(is_wanted: bool, limits: &[ResponseLimit], arrivals: Option<ArrivalsArg>) -> Option<Self> {
        let arrivals = arrivals.unwrap_or(ArrivalsArg::Shared);
        is_wanted.then(|| Self { limits: limits.to_vec(), arrivals })
    }

    /// The search in this unit, with so many users.
    pub(crate) fn search(&self, unit: &'static str, users: usize, hint: &'static str) -> SearchPlan {
        // A recording ends the search at its own pace, below which rounds would last ever longer.
        let least = if unit == Search::PACE { 1.0 } else { 0.0 };
        SearchPlan { unit, range: [least, Schedule::HIGHEST], limits: self.limits.clone(), users, hint }
    }
}

/// Name of the workload that replays a recording.
const REPLAY: &str = "replay";

/// Hint at the example of the workload `sql`.
const EXAMPLE: &str =
    "`bourse micro run sql example TARGET` runs a small shop, whose file `bourse micro list sql` prints";

impl ClassicRound {
    /// Refuses a search with a limit of more executions than any operation has in a round.
    fn can_be_searched(&self) -> Result<()> {
        let Some(search) = &self.search else { return Ok(()) };
        let case = self.case()?;
        let Some(executions) = case.executions() else { return Ok(()) };
        let counted = || case.operations().into_iter().zip(&executions);
        let most = |limit: &ResponseLimit| {
            let limited = counted().filter(|(name, _)| limit.operation.as_ref().is_none_or(|it| it == name));
            limited.map(|(_, count)| *count).max().unwrap_or(0)
        };
        let Some(limit) = search.limits.iter().find(|limit| most(limit) < limit.needed()) else { return Ok(()) };
        let (name, most, needed) = (limit.quantile_name(), most(limit), limit.needed());
        let what = match &limit.operation {
            Some(operation) => format!("'{}' is executed {} times", printable(operation), count(most)),
            None => format!("no statement is executed more than {} times", count(most)),
        };
        let told = ResponseLimit::QUANTILES
            .iter()
            .rev()
            .map(|(name, quantile)| (*name, ResponseLimit { quantile: *quantile, ..limit.clone() }.needed()));
        let told = told.filter(|(_, needed)| *needed > 1 && *needed <= most).map(|(name, _)| name).next();
        let failure = Failure::usage(format!(
            "--limit {name} is known of {} executions of a statement and more, and in {} {what}",
            count(needed),
            self.options.iter().find(|(name, _)| name == "file").map_or("the recording", |(_, file)| file.as_str())
        ));
        let failure =
            told.into_iter().fold(failure, |failure, told| failure.hint(format!("--limit {told}=TIME is known here")));
        Err(failure.hint("a longer recording has more executions"))
    }

    /// Specification of the workload.
    pub(crate) fn spec(&self) -> Result<&'static WorkloadSpec> {
        known(&self.workload)
    }

    /// Database of a person's own that a round begins with.
    pub(crate) fn from(&self) -> Option<&str> {
        let (_, from) = self.options.iter().rev().find(|(name, _)| name == FROM)?;
        (from != NOTHING).then_some(from.as_str())
    }

    /// The workload with its options.
    pub(crate) fn case(&self) -> Result<bourse_micro::WorkloadCase> {
        let spec = self.spec()?;
        let options = self.options.iter().map(|(name, value)| match &self.copy {
            Some(copy) if name == FROM => (FROM, copy.as_str()),
            _ => (name.as_str(), value.as_str()),
        });
        spec.plan(options).map_err(|error| match (spec.name, &error) {
            ("sql", _) => Failure::usage(error.to_string()).hint(EXAMPLE),
            ("replay", OptionError::File { .. }) => Failure::usage(error.to_string()),
            (name, _) => Failure::usage(error.to_string()).hint(format!("`bourse micro list {name}`")),
        })
    }

    /// Phases of a round, and its rate.
    pub(crate) fn timing(&self, statements: bool) -> Timing {
        let open_loop = self.open_loop.map(Into::into);
        let timed = match self.timed {
            TimingMode::Batched => bourse_micro::TimedOperations::Batched,
            TimingMode::Sampled => bourse_micro::TimedOperations::Sampled,
            TimingMode::Single => bourse_micro::TimedOperations::Single,
        };
        Timing {
            warm_up_ns: self.warm_up_ns,
            measure_ns: self.measure_ns,
            count: self.count,
            timed,
            open_loop,
            statements,
        }
    }
}

/// The workload of that name.
fn known(name: &str) -> Result<&'static WorkloadSpec> {
    find(name).map_err(|error| Failure::usage(error.to_string()).hint("`bourse micro list` describes them"))
}

/// Workload arguments shared by `micro run`, `compare` and `quick`.
#[derive(Default)]
pub(crate) struct ClassicArgs<'a> {
    /// Name of the workload.
    pub(crate) workload: &'a str,
    /// Options of the workload, each in the form `rows=1000`.
    pub(crate) set: &'a [String],
    /// Sweeps of its options, or the targets'.
    pub(crate) sweep: &'a [String],
    /// Threads, if not by `set`.
    pub(crate) threads: Option<u64>,
    /// Database that the rounds begin with, if not by `set`.
    pub(crate) from: Option<&'a str>,
    /// Operations of each thread.
    pub(crate) count: Option<u64>,
    /// The measurement interval.
    pub(crate) duration: Option<Duration>,
    /// Warm-up.
    pub(crate) warmup: Duration,
    /// Operations that are timed.
    pub(crate) timed: TimingMode,
    /// Operations that are due.
    pub(crate) open_loop: Option<OpenLoopPlan>,
    /// The search for the highest rate.
    pub(crate) search: Option<RateSearch>,
}

/// Rounds of each case at the rate that a search has found.
const ROUNDS_OF_SEARCH: u32 = 1;

/// Default number of rounds of each of so many cases: enough for the ratios of a table to have intervals that hold together.
pub(super) fn rounds_of(cases: usize) -> u32 {
    fewest(level_of_each(cases.saturating_sub(1)))
}

/// The plan of `bourse micro run`.
pub(crate) fn plan(arguments: &MicroRun) -> Result<Plan> {
    let asked = ClassicArgs {
        workload: &arguments.workload,
        set: &arguments.set,
        sweep: &arguments.sweep,
        threads: arguments.threads,
        from: arguments.from.as_deref(),
        count: arguments.count,
        duration: arguments.duration,
        warmup: arguments.warmup,
        timed: arguments.timing,
        open_loop: OpenLoopPlan::of(arguments.rate, arguments.arrivals),
        search: RateSearch::of(arguments.find_max, &arguments.limit, arguments.arrivals),
    };
    let name = format!("micro-{}", arguments.workload);
    asked.plan(name, &arguments.targets, arguments.rounds, &arguments.conduct)
}

/// The plan of `bourse replay`.
pub(crate) fn replay(arguments: &ReplayArgs) -> Result<Plan> {
    let pace = arguments.pace.iter().map(|pace| format!("pace={pace}"));
    let set: Vec<String> = pace.chain(arguments.database.iter().map(|name| format!("database={name}"))).collect();
    let asked = ClassicArgs {
        workload: REPLAY,
        set: &set,
        sweep: &arguments.sweep,
        duration: arguments.duration,
        search: RateSearch::of(arguments.find_max, &arguments.limit, None),
        ..ClassicArgs::default()
    };
    let targets: Vec<String> = std::iter::once(&arguments.trace).chain(&arguments.targets).cloned().collect();
    asked.plan("replay".to_owned(), &targets, arguments.rounds, &arguments.conduct)
}

impl ClassicArgs<'_> {
    /// The plan of a command that runs these alone.
    fn plan(&self, name: String, targets: &[String], rounds: Option<u32>, conduct: &ConductArgs) -> Result<Plan> {
        let ConductArgs { instructions, memory, execution, output } = conduct;
        let cases = self.cases(targets)?;
        let default = if self.search.is_some() { ROUNDS_OF_SEARCH } else { rounds_of(cases.len()) };
        let instructions = InstructionPlan::of(*instructions, *memory, &cases)?;
        let block = CaseBlock { cases, rounds: rounds.unwrap_or(default) };
        Plan { instructions, memory: *memory, ..Plan::of(name, block, execution, output) }.checked()
    }

    /// A case of each target with each combination of the sweeps, all checked.
    pub(crate) fn cases(&self, targets: &[String]) -> Result<Vec<PlannedCase>> {
        let spec = known(self.workload)?;
        let mut fixed = self.set.iter().map(|text| Sweep::parse_one(text)).collect::<Result<Vec<_>>>()?;
        fixed.extend(self.threads.map(|threads| ("threads".to_owned(), threads.to_string())));
        fixed.extend(self.from.map(|from| (FROM.to_owned(), from.to_owned())));
        let sweeps = Sweep::parse_all(self.sweep)?;
        let mut targets = targets.to_vec();
        if spec.takes_file() {
            fixed.extend(file_of(spec, &mut targets, &fixed)?.map(|file| ("file".to_owned(), file)));
        }
        if targets.is_empty() {
            targets.push(DEFAULT_TARGET.to_owned());
        }
        let mut cases = Vec::new();
        for target in &targets {
            for chosen in combinations(&sweeps) {
                cases.push(self.case(spec, target, &fixed, &chosen)?);
            }
        }
        Ok(cases)
    }

    /// The job, with default options of the workload.
    pub(super) fn job(&self) -> Result<ClassicRound> {
        if self.duration == Some(Duration::ZERO) {
            let hint = match self.workload {
                REPLAY => "without --for a replay lasts as long as its recording takes",
                _ => "--for is the length of the measurement interval, 3s by default",
            };
            return Err(Failure::usage("--for 0s leaves nothing to measure").hint(hint));
        }
        Ok(ClassicRound {
            workload: known(self.workload)?.name.to_owned(),
            warm_up_ns: nanoseconds(self.warmup),
            measure_ns: self.duration.map(nanoseconds),
            count: self.count,
            timed: self.timed,
            open_loop: self.open_loop,
            search: self.search.clone(),
            ..ClassicRound::default()
        })
    }

    fn case(
        &self,
        spec: &'static WorkloadSpec,
        target: &str,
        fixed: &[(String, String)],
        chosen: &[(&str, &str)],
    ) -> Result<PlannedCase> {
        let mut options = fixed.to_vec();
        let (mut of_target, mut label) = (Vec::new(), Vec::new());
        for &(name, value) in chosen {
            // The workload's own options first; an option that it does not have is the target's.
            if spec.options.iter().any(|option| option.name == name) {
                options.retain(|(known, _)| known != name);
                options.push((name.to_owned(), value.to_owned()));
                label.push(format!("{name}={value}"));
            } else {
                of_target.push((name, value));
            }
        }
        if self.timed != TimingMode::Batched && options.iter().any(|(name, _)| name == "batch") {
            return Err(Failure::usage(
                "batch=N cannot be used with --timing: it is the size of the batches that are timed",
            )
            .hint("leave out --timing to time batches, or batch=N to time operations alone"));
        }
        let mut job = ClassicRound { options, ..self.job()? };
        if spec.has_pace() {
            job.recorded_ns = job.at_pace(1.0).case().ok().and_then(|case| case.expected_ns());
        }
        job.can_be_searched()?;
        let own: Vec<&str> = spec.options.iter().map(|option| option.name).collect();
        let target = with_options(target, &of_target, &own, |target| {
            let lacking = targets::lacking(target, &job)?;
            if lacking.is_empty() {
                return Ok(());
            }
            Err(Failure::usage(format!("{target} cannot run {}: {}", spec.name, lacking.join("; "))))
        })?;
        label.insert(0, target.clone());
        let case = PlannedCase::new(label.join(" "), target, job.into(), RoundProcess::Child);
        Ok(PlannedCase { varied: varied(chosen), ..case })
    }
}

/// Takes the workload's file from before the targets, unless an option names one.
fn file_of(spec: &WorkloadSpec, targets: &mut Vec<String>, fixed: &[(String, String)]) -> Result<Option<String>> {
    if fixed.iter().any(|(name, _)| name == "file") {
        return Ok(None);
    }
    match targets.first() {
        Some(first) if !engines::is_target(first) => Ok(Some(targets.remove(0))),
        _ if spec.name == "ycsb" => Ok(None),
        _ if spec.name == REPLAY => {
            Err(Failure::usage("the workload replay needs a recording").hint("bourse replay TRACE TARGET…"))
        }
        _ => Err(Failure::usage("the workload sql needs a file of statements")
            .hint("bourse micro run sql FILE.toml TARGET…")
            .hint(EXAMPLE)),
    }
}
