//! The default job as a whole, with shorter phases: its figures and their text, its checks, the time it took, and the
//! database afterwards.
#![cfg(test)]

use crate::args::{Arguments, Command, TpceCommand, TpceRun};
use crate::execute;
use crate::output::ResultFolder;
use crate::plan::brokerage::{LatencyPlan, plan};
use crate::plan::{Job, Plan};
use bourse_driver::{MS, SECOND};
use bourse_record::{CheckStatus, Durability, PhaseKind, Round, RunFile, StoppingRule};
use clap::CommandFactory as _;
use std::path::Path;

fn typed(arguments: &[&str]) -> Command {
    let matches = Arguments::command().try_get_matches_from([&["bourse"], arguments].concat()).unwrap();
    Arguments::of(&matches).unwrap().command
}

/// The plan of a run with only a target, and with quick checks.
fn default_plan(target: &str) -> (Box<TpceRun>, Plan) {
    let Command::Tpce(TpceCommand::Run(run)) = typed(&["tpce", "run", target, "--check", "quick"]) else {
        panic!("another command")
    };
    let plan = plan(&run).unwrap();
    (run, plan)
}

/// Returns the plan with phases a tenth as long.
fn shortened(mut plan: Plan) -> Plan {
    for case in plan.blocks.iter_mut().flat_map(|block| &mut block.cases) {
        let Job::Brokerage(job) = &mut case.job else { panic!("the brokerage workload") };
        assert_eq!(
            (job.warm_up_ns, job.measure_ns, job.until),
            (30 * SECOND, 40 * SECOND, Some(StoppingRule::RateLevel))
        );
        let latency = LatencyPlan { warm_up_ns: 5 * SECOND, measure_ns: 20 * SECOND };
        assert_eq!(job.latency, Some(latency));
        (job.warm_up_ns, job.measure_ns) = (3 * SECOND, 4 * SECOND);
        job.latency = Some(LatencyPlan { warm_up_ns: 500 * MS, measure_ns: 2 * SECOND });
    }
    plan
}

fn ran(folder: &Path, target: &str) -> (RunFile, String) {
    let (run, plan) = default_plan(target);
    let plan = shortened(plan);
    let results = ResultFolder::new(folder, &plan.name).unwrap();
    let (file, outcome) = execute::run(&plan, &run.settings.run.execution, &results).unwrap().measured().unwrap();
    outcome.unwrap();
    let screen = bourse_report::screen(&file, 200, false, None);
    (file, screen)
}

fn seconds(round: &Round, kind: PhaseKind) -> f64 {
    round.phases.iter().filter(|it| it.kind == kind).map(|it| it.to_s - it.from_s).sum()
}

#[test]
fn the_default_job_stands_behind_its_number_and_leaves_the_database_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.db");
    let target = format!("sqlite:{}", path.display());
    let Command::Tpce(load) = typed(&["tpce", "load", &target, "--days", "1"]) else { panic!("another command") };
    crate::commands::tpce::run(&load).unwrap();
    let before = std::fs::read(&path).unwrap();
    let (file, screen) = ran(folder.path(), &target);
    let after = std::fs::read(&path).unwrap();
    assert!(before == after, "the file is not the one it was: {} and {} bytes", before.len(), after.len());

    let [case] = file.cases.as_slice() else { panic!("{} cases", file.cases.len()) };
    let [round] = case.rounds.as_slice() else { panic!("{} rounds", case.rounds.len()) };
    let phases = [PhaseKind::WarmUp, PhaseKind::Measurement, PhaseKind::Drain];
    assert_eq!(round.phases.iter().map(|it| it.kind).collect::<Vec<_>>(), phases);
    assert!((0.9..3.5).contains(&seconds(round, PhaseKind::WarmUp)), "{:?}", round.phases);
    assert!((3.9..4.5).contains(&seconds(round, PhaseKind::Measurement)), "{:?}", round.phases);
    let stopping = round.stopping.expect("a rule ends it");
    assert!(stopping.rule == StoppingRule::RateLevel && stopping.looks == 0 && !stopping.reached, "{stopping:?}");
    assert!(round.checks.len() > 90, "{} checks", round.checks.len());
    let passed = |round: &Round| round.checks.iter().all(|check| check.status != CheckStatus::Failed);
    assert!(passed(round) && round.void.is_none(), "{:#?}", round.checks);

    // The headline: with its interval, or the series is too short for one, which needs longer then.
    assert!(screen.contains(" transactions/s"), "{screen}");
    match round.estimate(&case.workload).interval {
        Some(_) => assert!(screen.contains(" ± "), "{screen}"),
        // No interval below 60 steps.
        None => assert!(!screen.contains(" ± "), "{screen}"),
    }
    assert!(case.engine.durability == Durability::Durable && screen.contains(" durable "), "{screen}");

    let latency = round.latency.as_deref().expect("it has a second phase");
    let rate = round.figure(&case.workload);
    assert!(latency.per_second > 0.5 * rate && latency.per_second < 0.75 * rate, "{} of {rate}", latency.per_second);
    assert!(passed(&latency.round), "{:#?}", latency.round.checks);
    assert!(screen.contains("what a customer waits at 70 % of the customers' rate"), "{screen}");
    let words = if latency.kept_pace() { "p50 " } else { "(99 % required)" };
    assert!(screen.contains(words), "{screen}");

    let spent = file.time_spent.as_ref().expect("it is told");
    let part = |name: &str| spent.parts.iter().find(|it| it.name == name).map_or(0.0, |it| it.seconds);
    let sum: f64 = spent.parts.iter().map(|it| it.seconds).sum();
    assert!((sum - spent.total_s).abs() < 1e-3, "{sum} of {spent:?}");
    for name in ["checks before use", "calibration", "taking a snapshot", "restoring before rounds", "drain", "other"] {
        assert!(part(name) > 0.0, "no {name} in {spent:?}");
    }
    for name in ["checks after rounds", "restoring after the run", "beginning and ending rounds"] {
        assert!(part(name) > 0.0, "no {name} in {spent:?}");
    }
    let told =
        |name: &str, seconds: f64| assert!((part(name) - seconds).abs() < 1e-3, "{name}: {seconds} in {spent:?}");
    told("warm-up", seconds(round, PhaseKind::WarmUp));
    told("measurement interval", seconds(round, PhaseKind::Measurement));
    told("phase at 70 % of the rate", phases.map(|kind| seconds(&latency.round, kind)).iter().sum());
    // Line breaks depend on the numbers.
    let report = bourse_report::terminal(&file, 120, false).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(report.contains("time spent: ") && report.contains("phase at 70 % of the rate"), "{report}");
}
