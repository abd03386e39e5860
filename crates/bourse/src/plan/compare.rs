//! The plan of `bourse compare` on two targets: the brokerage workload, or any classic one.

use super::brokerage::{self, WORKLOAD};
use super::classic::{ClassicArgs, OpenLoopPlan};
use super::{CaseBlock, ComparisonPlan, InstructionPlan, Plan, PlannedCase, mix, refuse_unsupported};
use crate::args::{
    CompareArgs, CompareFormat, CountedWorkArgs, DriverArgs, Inconclusive, InstructionArgs, MixDatabase, MixRun,
    TimingMode, TokenFile, TpceRun, WorkloadArgs,
};
use crate::failure::{Failure, Result};
use crate::oltp::mixed::find;
use crate::output::files;
use bourse_stats::sequential;
use std::time::Duration;

/// Default number of rounds on each of two targets: even, so that each side comes first as often, and large enough for a
/// verdict on every metric.
const ROUNDS: u32 = 8;
/// Default limit of the rounds of a comparison that ends when it is decided.
const MOST_ROUNDS: u32 = 32;
/// Default limit of a round's wait for a quiet machine.
const QUIET_LIMIT: Duration = Duration::from_secs(20);
/// Default interval of rounds that show the time next to instructions, which decide.
const SHOWN: Duration = Duration::from_secs(1);
/// Default warm-up of a classic workload.
const WARM_UP: Duration = Duration::from_millis(500);

/// Options of the brokerage workload alone, by their names here and on the command line.
const OF_BROKERAGE: [(&str, &str); 16] = [
    ("customers", "--customers"),
    ("days", "--days"),
    ("scale_factor", "--scale-factor"),
    ("flat_in", "--flat-in"),
    ("constraints", "--constraints"),
    ("threads", "--load-threads"),
    ("reload", "--reload"),
    ("users", "--users"),
    ("market_users", "--market-users"),
    ("processes", "--processes"),
    ("backlog", "--backlog"),
    ("market", "--market"),
    ("until_steady", "--until-steady"),
    ("latency", "--latency"),
    ("check", "--check"),
    ("path", "--token-file"),
];

/// The plan of `bourse compare` with two targets.
pub(crate) fn plan(arguments: &CompareArgs) -> Result<Plan> {
    let settings = &arguments.settings;
    if settings.until_steady.is_some() {
        return Err(Failure::usage(
            "--until-steady cannot be used with compare: both sides have the same warm-up and interval",
        ));
    }
    if !settings.run.sweep.is_empty() || settings.run.find_max {
        return Err(Failure::usage(
            "--sweep and --find-max cannot be used with compare: it runs each target with one setting",
        ));
    }
    let cases = cases(arguments, std::iter::once(&arguments.base).chain(&arguments.head).cloned().collect())?;
    let rounds = settings.run.rounds.unwrap_or(if arguments.until_decided { MOST_ROUNDS } else { ROUNDS });
    let looks = if arguments.until_decided { sequential::looks(rounds) } else { Vec::new() };
    if arguments.until_decided && looks.len() < 2 {
        return Err(Failure::usage(format!("{rounds} rounds are too few for --until-decided"))
            .hint("give --rounds 12 or more, or no --until-decided"));
    }
    let instructions = InstructionPlan::of(arguments.instructions, settings.run.memory, &cases)?;
    let block = CaseBlock { cases, rounds };
    let plan = Plan::of("compare", block, &settings.run.execution, &settings.run.output);
    let files = files::OF_RUN.iter().chain([&files::COMPARISON]).map(|name| (*name).to_owned()).collect();
    let wait_quiet_ns = settings.run.execution.wait_quiet_ns(Some(QUIET_LIMIT).filter(|_| instructions.is_none()));
    let tolerance = arguments.tolerance();
    Plan {
        compares: Some(ComparisonPlan { tolerance, looks }),
        instructions,
        wait_quiet_ns,
        files,
        memory: settings.run.memory,
        ..plan
    }
    .checked()
}

/// Arguments of the cases of a workload that may be counted; `command` runs them all alike.
pub(super) fn counted(work: &CountedWorkArgs, command: &str) -> Result<CompareArgs> {
    let CountedWorkArgs { count, of, instructions } = work;
    if of.settings.run.find_max || !of.settings.run.sweep.is_empty() || of.settings.until_steady.is_some() {
        return Err(Failure::usage(format!(
            "--find-max, --sweep and --until-steady cannot be used with {command}: all rounds are alike"
        )));
    }
    Ok(self::work(of, *count, *instructions))
}

/// Arguments of a workload's cases in commands that choose the targets: a round of theirs is one of `compare`.
pub(super) fn work(of: &WorkloadArgs, count: Option<u64>, instructions: InstructionArgs) -> CompareArgs {
    let mut settings = of.settings.clone();
    settings.run.sweep.clear();
    let (mut workload, mut set) = (of.workload.clone(), of.set.clone());
    if let Some(trace) = &of.trace {
        workload = "replay".to_owned();
        set.push(format!("file={}", trace.display()));
    } else {
        let is_transactional = workload == WORKLOAD || find(&workload).is_some();
        let [interval, warm_up] =
            if is_transactional { [4_000, 2_000] } else { [1_000, 250] }.map(Duration::from_millis);
        settings.run.duration.get_or_insert(interval);
        settings.run.warmup.get_or_insert(warm_up);
    }
    CompareArgs {
        base: String::new(),
        head: None,
        workload,
        set,
        count,
        timing: TimingMode::Batched,
        fail_above: None,
        until_decided: false,
        instructions,
        noise: None,
        baseline: None,
        inconclusive: Inconclusive::Fail,
        format: CompareFormat::Text,
        settings,
        token: TokenFile { path: None },
        given: of.given.clone(),
    }
}

/// A case of the workload on each target, all checked.
pub(super) fn cases(arguments: &CompareArgs, targets: Vec<String>) -> Result<Vec<PlannedCase>> {
    if arguments.workload == WORKLOAD {
        if !arguments.set.is_empty() || arguments.count.is_some() || arguments.timing != TimingMode::Batched {
            return Err(Failure::usage("--set, --count and --timing cannot be used with the brokerage workload")
                .hint("choose a microbenchmark, as --workload point-read; `bourse micro list` lists them"));
        }
        let CompareArgs { settings, token, given, .. } = arguments.clone();
        brokerage::cases(&TpceRun { targets, settings, drivers: DriverArgs::alone(token), given })
    } else if let Some(mixed) = find(&arguments.workload) {
        only_mix(arguments)?;
        mix::cases(mixed, &of_mix(arguments, targets))
    } else {
        classic(arguments).cases(&targets).and_then(|cases| {
            only_classic(arguments, cases.first().map(|case| &case.job))?;
            Ok(cases)
        })
    }
}

/// Arguments of a run of a workload whose users draw transactions by their shares.
fn of_mix(arguments: &CompareArgs, targets: Vec<String>) -> MixRun {
    let settings = &arguments.settings;
    let default = MixDatabase::default();
    MixRun {
        targets,
        run: settings.run.clone(),
        rate: settings.rate,
        terminals: false,
        limit: Vec::new(),
        drivers: DriverArgs::alone(arguments.token.clone()),
        // `compare` has no option `size`: an existing database is used with its own.
        given: arguments.given.clone(),
        database: MixDatabase {
            constraints: settings.database.constraints,
            reload: settings.database.reload,
            ..default
        },
    }
}

/// Refuses options that a workload with a mix cannot follow.
fn only_mix(arguments: &CompareArgs) -> Result<()> {
    const FOLLOWED: [&str; 6] = ["users", "processes", "constraints", "reload", "check", "path"];
    let workload = &arguments.workload;
    if !arguments.set.is_empty() || arguments.count.is_some() || arguments.timing != TimingMode::Batched {
        return Err(Failure::usage(format!("--set, --count and --timing cannot be used with {workload}")));
    }
    only_brokerage(arguments, &FOLLOWED, || format!("`bourse {workload} load TARGET` loads databases of another size"))
}

/// Refuses options of the brokerage workload, except those that another workload can follow too.
fn only_brokerage(arguments: &CompareArgs, followed: &[&str], hint: impl Fn() -> String) -> Result<()> {
    let mut others = OF_BROKERAGE.iter().filter(|(id, _)| !followed.contains(id));
    let Some((_, typed)) = others.find(|(id, _)| arguments.given.typed(id)) else { return Ok(()) };
    let workload = &arguments.workload;
    Err(Failure::usage(format!("{typed} can only be used with the brokerage workload, not with {workload}"))
        .hint(hint()))
}

fn classic(arguments: &CompareArgs) -> ClassicArgs<'_> {
    let settings = &arguments.settings;
    ClassicArgs {
        workload: &arguments.workload,
        set: &arguments.set,
        count: arguments.count,
        duration: settings.run.duration.or(arguments.instructions.instructions.then_some(SHOWN)),
        // A warm-up long enough for customers is much too long for reads.
        warmup: settings.run.warmup.unwrap_or(WARM_UP),
        timed: arguments.timing,
        open_loop: OpenLoopPlan::of(settings.rate, settings.run.arrivals),
        ..ClassicArgs::default()
    }
}

/// Refuses options that a classic workload cannot apply.
fn only_classic(arguments: &CompareArgs, job: Option<&super::Job>) -> Result<()> {
    let workload = &arguments.workload;
    if let Some(job) = job.filter(|_| arguments.settings.rate.is_some()) {
        refuse_unsupported(workload, "--rate", job.abilities()?.rate)?;
    }
    only_brokerage(arguments, &[], || format!("`bourse micro list {workload}` lists the options for -s"))
}
