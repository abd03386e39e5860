//! The plan of `bourse quick`: every available engine that works in this process, chosen by its capabilities; with `--all`
//! private servers and clusters too.

use super::brokerage::Brokerage;
use super::classic::{self, ClassicArgs};
use super::targets::{self, size};
use super::{CaseBlock, Job, OnFailure, Plan, PlannedCase, RoundProcess, about, nanoseconds};
use crate::args::{CheckDepth, DatabaseArgs, QuickArgs};
use crate::engines;
use crate::failure::{Failure, Result};
use crate::tpce::DATA_FOLDER;
use bourse_driver::SECOND;
use bourse_engine::{EngineKind, Location, did_you_mean};
use bourse_micro::RoundExtent;
use bourse_tpce::users;
use std::time::Duration;

/// Default measurement interval of the brokerage workload; of a classic workload it is a tenth.
const INTERVAL: Duration = Duration::from_secs(10);
/// Warm-up of the brokerage workload; of a classic workload it is a tenth.
const WARM_UP: Duration = Duration::from_secs(5);
/// Rounds of a classic workload whose intervals are a tenth: more rounds share their time.
const ROUNDS: u32 = 7;
/// Longest duration without repeated rounds.
const LONGEST_NS: u64 = 6 * 60 * SECOND;
/// Longest planned duration: the times of engines are known only approximately.
const PLANNED_NS: u64 = LONGEST_NS / 10 * 9;

/// The plan of `bourse quick`: within six minutes, unless a time or all engines are requested.
///
/// If many engines are available, warm-up and interval have half their length, or a third. Where that does not suffice, those
/// cases are left out that would take longest, most of it for loading: as few as possible, then with the longest intervals.
pub(crate) fn plan(arguments: &QuickArgs) -> Result<Plan> {
    let mut plan = with_times(arguments, WARM_UP, arguments.duration.unwrap_or(INTERVAL))?;
    if arguments.duration.is_none() && !arguments.all {
        shorten(&mut plan);
        for part in 2..=3 {
            let mut shorter = with_times(arguments, WARM_UP / part, INTERVAL / part)?;
            shorten(&mut shorter);
            if shorter.left_out.len() < plan.left_out.len() {
                plan = shorter;
            }
        }
    }
    // Repeated rounds, and work that other processes slow down, make it longer by a half at most.
    plan.at_most_ns = Some(about::about_ns(&plan) / 2 * 3);
    Ok(plan)
}

/// Takes out the cases that take longest, but not the last of a workload, until the plan is short enough.
fn shorten(plan: &mut Plan) {
    while about::about_ns(plan) > PLANNED_NS {
        let others = plan.blocks.iter().enumerate().filter(|(_, block)| block.cases.len() > 1);
        let timed = others.flat_map(|(at, block)| {
            let takes_ns = |case| about::alone_ns(case).saturating_mul(u64::from(block.rounds));
            block.cases.iter().enumerate().map(move |(case_at, case)| (takes_ns(case), at, case_at))
        });
        let Some((takes_ns, at, case_at)) = timed.max() else { return };
        let case = plan.blocks[at].cases.remove(case_at);
        let workload = case.job.noun();
        plan.left_out.push(format!(
            "{}: no {workload}, about {} s, or all would take longer than {}; --all runs it",
            case.target,
            takes_ns / SECOND,
            super::show::minutes(LONGEST_NS)
        ));
    }
}

/// A block for the brokerage workload, and one for each classic workload.
fn with_times(arguments: &QuickArgs, warm_up: Duration, interval: Duration) -> Result<Plan> {
    let classic = named(&arguments.workloads)?;
    // Its one round has the interval of its series. Each server is there for its own round alone.
    let (of_servers, here): (Vec<_>, Vec<_>) = brokerage_cases(arguments, warm_up, interval)?
        .into_iter()
        .partition(|case| engines::starts_s(&case.target) > 0);
    let brokerage = CaseBlock { cases: here, rounds: 1 };
    let mut plan = Plan::of("quick", brokerage, &arguments.execution, &arguments.output);
    plan.blocks.extend(of_servers.into_iter().map(|case| CaseBlock { cases: vec![case], rounds: 1 }));
    for workload in classic {
        let asked = ClassicArgs {
            workload,
            // Work that ends a round is not cut short.
            duration: Some(if is_timed(workload) { interval / 10 } else { interval.max(INTERVAL) }),
            warmup: warm_up / 10,
            ..ClassicArgs::default()
        };
        let cases = classic_cases(&asked, arguments.all)?;
        plan.blocks.push(in_rounds(cases, asked, arguments)?);
    }
    plan.on_failure = OnFailure::LeaveOutCase;
    if arguments.all {
        let unavailable = engines::kinds().filter(|kind| is_included(kind, true)).filter_map(unavailable);
        plan.left_out = unavailable.chain(engines::left_out()).collect();
    }
    plan.checked()
}

/// The cases of a classic workload with as many rounds as their ratios need: more than [`ROUNDS`] are shorter, unless a time or
/// the rounds are requested.
fn in_rounds(mut cases: Vec<PlannedCase>, mut asked: ClassicArgs<'_>, arguments: &QuickArgs) -> Result<CaseBlock> {
    // A durability class has cases in memory or others.
    let is_in_memory =
        |case: &&PlannedCase| engines::location(&case.target).is_ok_and(|it| matches!(it, Location::Memory));
    let run = cases.iter().filter(|case| case.not_run.is_none());
    let (in_memory, stored): (Vec<_>, Vec<_>) = run.partition(is_in_memory);
    let needed = classic::rounds_of(in_memory.len().max(stored.len())).max(ROUNDS);
    if arguments.rounds.is_none() && arguments.duration.is_none() && is_timed(asked.workload) {
        asked.duration = asked.duration.map(|it| it * ROUNDS / needed);
        for case in &mut cases {
            case.job = asked.job()?.into();
        }
    }
    Ok(CaseBlock { cases, rounds: arguments.rounds.unwrap_or(needed) })
}

/// Whether a time ends the rounds of a classic workload, rather than their work.
fn is_timed(workload: &str) -> bool {
    bourse_micro::find(workload).is_ok_and(|spec| spec.extent != RoundExtent::Work)
}

/// The classic workloads of these names; a failure for an unknown one.
fn named(names: &[String]) -> Result<Vec<&'static str>> {
    // Workloads that run a file of statements need the file.
    let known = || bourse_micro::WORKLOADS.iter().filter(|spec| !spec.takes_file()).map(|spec| spec.name);
    let find = |name: &String| {
        known().find(|known| known == name).ok_or_else(|| {
            Failure::usage(format!("unknown workload '{name}' in --workloads{}", did_you_mean(name, known())))
                .hint(format!("workloads: {}", known().collect::<Vec<_>>().join(", ")))
        })
    };
    names.iter().map(find).collect()
}

/// Whether an engine is part of the plan, if it is available: those that work in this process, or with `all` those that need
/// no place of the user. The null engine is part of every report already.
fn is_included(kind: &EngineKind, all: bool) -> bool {
    match &kind.in_process {
        Some(it) => all || !it.is_asked_for,
        None => all && kind.starts_s.is_some(),
    }
}

/// An engine that is not available, with the reason.
fn unavailable(kind: &EngineKind) -> Option<String> {
    engines::version(kind).err().map(|why| format!("{}: {why}", kind.scheme))
}

/// The engines that are part of the plan and available.
fn here(all: bool) -> impl Iterator<Item = &'static EngineKind> {
    engines::kinds().filter(move |kind| is_included(kind, all) && engines::version(kind).is_ok())
}

/// Whether an engine is another build of one that is available too.
fn is_variant(kind: &EngineKind) -> bool {
    kind.in_process.as_ref().is_some_and(|it| it.variant_of.is_some())
}

/// The brokerage workload on every engine that can run it: in a file if it stores its data, or else in memory.
fn brokerage_cases(arguments: &QuickArgs, warm_up: Duration, interval: Duration) -> Result<Vec<PlannedCase>> {
    let mut cases = Vec::new();
    for kind in here(arguments.all).filter(|kind| !is_variant(kind)) {
        let job = Brokerage {
            warm_up_ns: nanoseconds(warm_up),
            measure_ns: nanoseconds(interval.max(Duration::from_secs(1))),
            check: CheckDepth::Quick,
            ..Brokerage::on(DatabaseArgs::of_days(arguments.days))?
        };
        let file = kind.file_target(DATA_FOLDER, &format!("tpce{}", size(&job.database)));
        let server = kind.private_target(false);
        for target in file.into_iter().chain(kind.memory_target()).chain(server) {
            if !users::needs(&engines::open(&target)?.capabilities()).is_empty() {
                continue;
            }
            let (job, rounds_in) = (Job::from(job), RoundProcess::of_brokerage(&target));
            cases.push(PlannedCase::new(target.clone(), target, job, rounds_in));
            break;
        }
    }
    Ok(cases)
}

/// A target on every engine that is part of the plan: in a file or on a private server's disk, or in memory if it stores
/// nothing.
pub(super) fn targets_here(all: bool, name: &str) -> impl Iterator<Item = String> {
    here(all).filter_map(move |kind| {
        // Builds of one engine have files of their own.
        let file = kind.file_target(DATA_FOLDER, &format!("{name}-{}", kind.scheme));
        file.or_else(|| kind.memory_target()).or_else(|| kind.private_target(false))
    })
}

/// A classic workload on every engine: in a file or on a private server's disk, so that a database that syncs is compared with
/// others that do. Then in memory, on every engine with databases there but further builds of one. Labels contain the workload.
fn classic_cases(asked: &ClassicArgs<'_>, all: bool) -> Result<Vec<PlannedCase>> {
    let mut cases = Vec::new();
    let mut targets: Vec<String> = targets_here(all, "quick").collect();
    let in_memory: Vec<String> =
        here(all).filter(|kind| !is_variant(kind)).filter_map(EngineKind::memory_target).collect();
    targets.extend(in_memory.into_iter().filter(|target| !targets.contains(target)).collect::<Vec<_>>());
    for target in targets {
        let job = asked.job()?;
        let lacking = targets::lacking(&target, &job)?;
        let label = format!("{}, {target}", asked.workload);
        let not_run = (!lacking.is_empty()).then(|| lacking.join("; "));
        let case = PlannedCase::new(label, target, job.into(), RoundProcess::Child);
        cases.push(PlannedCase { not_run, ..case });
    }
    Ok(cases)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Arguments, Command};
    use clap::Parser as _;

    fn planned(arguments: &[&str]) -> Plan {
        let Command::Quick(arguments) = Arguments::parse_from([&["bourse", "quick"], arguments].concat()).command
        else {
            panic!("another command")
        };
        plan(&arguments).unwrap()
    }

    #[test]
    fn a_library_that_stays_loaded_has_a_process_for_each_round() {
        for plan in [planned(&[]), planned(&["--all"])] {
            for case in plan.cases().filter(|case| engines::stays_loaded(&case.target)) {
                assert_eq!(case.rounds_in, RoundProcess::Child, "{}", case.label);
            }
        }
        assert_eq!(RoundProcess::of_brokerage("sqlite+lib:x.db"), RoundProcess::Child);
        assert_eq!(RoundProcess::of_brokerage("sqlite:x.db"), RoundProcess::ThisProcess);
    }

    #[test]
    fn three_engines_have_rounds_enough_for_their_ratios_and_no_more_threads_than_usual() {
        let plan = planned(&["--workloads", "update"]);
        let of = |workload| plan.blocks.iter().filter(move |block| block.cases[0].job.workload() == workload);
        assert!(of("update").all(|block| block.rounds >= crate::plan::classic::rounds_of(3)));
        let jobs: Vec<&Job> = of("tpce").flat_map(|block| &block.cases).map(|case| &case.job).collect();
        assert!(!jobs.is_empty() && jobs.iter().all(|job| job.threads() == job.usual_threads()));
    }

    #[test]
    fn rounds_suffice_for_the_ratios_of_all_engines_and_share_the_time_of_seven() {
        let planned_for = |engines: usize, workload, options: &[&str]| {
            let Command::Quick(arguments) = Arguments::parse_from([&["bourse", "quick"], options].concat()).command
            else {
                panic!("another command")
            };
            let asked = ClassicArgs { workload, duration: Some(Duration::from_secs(1)), ..ClassicArgs::default() };
            let case = classic_cases(&asked, false).unwrap().remove(0);
            let on = |at| PlannedCase { target: format!("sqlite:{at}.db"), ..case.clone() };
            let block = in_rounds((0..engines).map(on).collect(), asked, &arguments).unwrap();
            (block.rounds, block.cases[0].job.lasts_ns())
        };
        assert_eq!(planned_for(3, "update", &[]), (7, Some(SECOND)));
        let (rounds, Some(lasts_ns)) = planned_for(9, "update", &[]) else { panic!("it is timed") };
        assert!(rounds == 9 && (6_999_999_990..=7 * SECOND).contains(&(9 * lasts_ns)), "{lasts_ns}");
        assert_eq!(planned_for(14, "update", &[]).0, 10);
        assert_eq!(planned_for(9, "bulk-load", &[]), (9, None), "work is not cut short");
        assert_eq!(planned_for(9, "update", &["--for", "10s"]), (9, Some(SECOND)));
        assert_eq!(planned_for(9, "update", &["--rounds", "3"]), (3, Some(SECOND)));
    }

    #[test]
    fn engines_are_measured_where_they_store_their_data_and_in_memory() {
        let plan = planned(&["--workloads", "update"]);
        let (in_file, in_memory): (Vec<_>, Vec<_>) = plan
            .cases()
            .filter(|case| case.job.workload() == "update")
            .map(|case| case.target.as_str())
            .partition(|target| engines::location(target).unwrap().file().is_some());
        assert!(in_file[0].starts_with("sqlite:") && in_memory[0] == "sqlite::memory:", "{in_file:?} {in_memory:?}");
        for kind in here(false) {
            let has = |targets: &[&str]| targets.iter().any(|it| it.starts_with(&format!("{}:", kind.scheme)));
            assert_eq!(has(&in_file), kind.file_target("", "").is_some(), "{}", kind.scheme);
            assert_eq!(has(&in_memory), kind.memory_target().is_some() && !is_variant(kind), "{}", kind.scheme);
        }
        // The brokerage's database is loaded once, where it is stored.
        assert!(plan.cases().all(|case| case.job.workload() == "update" || case.target != "sqlite::memory:"));
    }

    #[test]
    fn all_engines_are_run_or_named_with_a_reason() {
        let plan = planned(&["--all", "--workloads", "point-read"]);
        assert_eq!(plan.on_failure, OnFailure::LeaveOutCase);
        for kind in engines::kinds().filter(|kind| kind.in_process.is_some() || kind.starts_s.is_some()) {
            let beginning = format!("{}:", kind.scheme);
            let runs = plan.cases().any(|case| case.target.starts_with(&beginning));
            let is_left_out = plan.left_out.iter().any(|words| words.starts_with(&beginning));
            assert!(runs != is_left_out, "{}: {:?}", kind.scheme, plan.left_out);
        }
        // Concurrent servers would disturb one another.
        let servers = |block: &CaseBlock| block.cases.iter().filter(|case| engines::starts_s(&case.target) > 0).count();
        let brokerage = |block: &&CaseBlock| block.cases.iter().all(|case| case.job.workload() == "tpce");
        assert!(plan.blocks.iter().filter(brokerage).all(|block| servers(block) == 0 || block.cases.len() == 1));
        let asked = |plan: &Plan| plan.cases().any(|case| case.target.starts_with("sqlite+lib:"));
        assert!(!asked(&planned(&[])), "nobody has asked for a library");
    }
}
