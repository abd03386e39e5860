//! `bourse micro run`: cases of a workload on targets, rounds in turn, report.

use super::child::{self, Order};
use crate::args::MicroRun;
use crate::failure::{Exit, Failure};
use crate::output::publish;
use crate::progress::Step;
use crate::tpce::database::refuse_foreign;
use crate::{engines, interrupt, panics};
use bourse_micro::sweep::{Sweep, combinations, with_option};
use bourse_micro::{NOTICE, WorkloadSpec, find};
use bourse_record::{
    Build, Case, CheckStatus, Machine, NameValue, Outcome, RunFile, SCHEMA_VERSION, Workload, median_interval,
};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// What one case is run with: everything checked.
struct Contender {
    label: String,
    order: Order,
    case: Option<Case>,
    parameters: Vec<NameValue>,
    varied: Vec<NameValue>,
    headline: (&'static str, &'static str),
}

/// Runs, writes the run's files, prints the report.
pub(crate) fn run(arguments: &MicroRun) -> Result<(), Failure> {
    let (file, outcome) = measure(arguments)?;
    publish(&file, &arguments.output)?;
    outcome?;
    verdict(&file)
}

/// Runs on each target with each combination of the sweeps: what was measured, and what ended it.
pub(crate) fn measure(arguments: &MicroRun) -> Result<(RunFile, Result<(), Failure>), Failure> {
    let usage = |error: &dyn std::fmt::Display| Failure::usage(error.to_string());
    let spec = find(&arguments.workload).map_err(|error| usage(&error).hint("`bourse micro list` explains them"))?;
    let mut fixed = Vec::new();
    for text in &arguments.set {
        let sweep: Sweep = text.parse().map_err(|error| usage(&error))?;
        let [value] = sweep.values.as_slice() else {
            return Err(Failure::usage(format!("--set {text} has several values")).hint(format!("--sweep {text}")));
        };
        fixed.push((sweep.name.clone(), value.clone()));
    }
    fixed.extend(arguments.threads.map(|threads| ("threads".to_owned(), threads.to_string())));
    let mut sweeps = Vec::new();
    for text in &arguments.sweep {
        sweeps.push(text.parse::<Sweep>().map_err(|error| usage(&error))?);
    }
    let seed = arguments.seed.unwrap_or_else(|| jiff::Timestamp::now().as_microsecond().unsigned_abs() % 1_000_000_000);
    let mut targets = arguments.targets.clone();
    if spec.takes_file() {
        fixed.extend(statements_file(&mut targets, &fixed)?.map(|file| ("file".to_owned(), file)));
    }
    if targets.is_empty() {
        targets.push("sqlite::memory:".to_owned());
    }

    // Everything is checked before anything runs.
    let mut contenders = Vec::new();
    for target in &targets {
        for chosen in combinations(&sweeps) {
            contenders.push(contender(spec, target, &fixed, &chosen, arguments, seed)?);
        }
    }
    let interrupted = interrupt::flag()?;
    let (machine, build) = (Machine::this(), Build::of(env!("CARGO_PKG_VERSION")));
    let threads = contenders.iter().map(|it| it.threads(spec)).max().unwrap_or(1);
    let mut file = RunFile {
        schema_version: SCHEMA_VERSION,
        name: format!("micro-{}", spec.name),
        started_at: jiff::Zoned::now().strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
        command: std::env::args().collect(),
        seed,
        warnings: bourse_record::noise(&build, &machine, threads),
        build,
        machine,
        cases: Vec::new(),
        interrupted: false,
    };
    let outcome = rounds(&mut contenders, arguments.rounds, &interrupted, &mut file.warnings);
    file.interrupted = interrupted.load(Ordering::Relaxed);
    file.cases = contenders.into_iter().filter_map(Contender::finished).collect();
    if file.cases.is_empty() {
        outcome?;
        return Err(interrupt::interrupted("nothing was measured"));
    }
    Ok((file, outcome))
}

/// The file that stands before the targets, taken from them, unless an option names one.
fn statements_file(targets: &mut Vec<String>, fixed: &[(String, String)]) -> Result<Option<String>, Failure> {
    if fixed.iter().any(|(name, _)| name == "file") {
        return Ok(None);
    }
    match targets.first() {
        Some(first) if !engines::is_target(first) => Ok(Some(targets.remove(0))),
        _ => Err(Failure::usage("the workload needs a file of statements before its targets")
            .hint("bourse micro run sql FILE.toml TARGET…")
            .hint("-s file=example runs a small shop, to see what a file looks like: `bourse micro list sql`")),
    }
}

fn contender(
    spec: &'static WorkloadSpec,
    target: &str,
    fixed: &[(String, String)],
    chosen: &[(&str, &str)],
    arguments: &MicroRun,
    seed: u64,
) -> Result<Contender, Failure> {
    let mut options = fixed.to_vec();
    let mut target = target.to_owned();
    let mut label = Vec::new();
    for &(name, value) in chosen {
        // The workload's own options first; what it does not know is the target's.
        if spec.options.iter().any(|option| option.name == name) {
            options.retain(|(known, _)| known != name);
            options.push((name.to_owned(), value.to_owned()));
            label.push(format!("{name}={value}"));
        } else {
            target = with_option(&target, name, value);
        }
    }
    label.insert(0, target.clone());
    let case = spec
        .plan(options.iter().map(|(name, value)| (name.as_str(), value.as_str())))
        .map_err(|error| Failure::usage(error.to_string()).hint(format!("`bourse micro list {}`", spec.name)))?;
    let engine = engines::open(&target)?;
    let mut lacking = case.lacking(&engine.capabilities());
    if let Ok(sql) = engine.sql() {
        lacking.extend(case.wordless(sql.dialect()));
    }
    if !lacking.is_empty() {
        return Err(Failure::usage(format!("{target} cannot run {}: {}", spec.name, lacking.join("; "))));
    }
    refuse_foreign(&target, engine.as_ref())?;
    let ns = |time: std::time::Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let parameters =
        case.options.effective().map(|(name, value)| NameValue { name: name.to_owned(), value: value.to_owned() });
    Ok(Contender {
        label: label.join(" "),
        parameters: parameters.collect(),
        varied: chosen
            .iter()
            .map(|&(name, value)| NameValue { name: name.to_owned(), value: value.to_owned() })
            .collect(),
        headline: (case.headline_operation(), case.headline_unit()),
        order: Order {
            workload: spec.name.to_owned(),
            options,
            target,
            warm_up_ns: ns(arguments.warmup),
            measure_ns: arguments.duration.map(ns),
            count: arguments.count,
            seed,
        },
        case: None,
    })
}

/// The rounds, in turn: A B, B A, A B … The first failure ends them; what was measured stays.
fn rounds(
    contenders: &mut [Contender],
    rounds: u32,
    interrupted: &AtomicBool,
    warnings: &mut Vec<String>,
) -> Result<(), Failure> {
    let begin = Instant::now();
    for round in 0..rounds {
        let mut order: Vec<usize> = (0..contenders.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for index in order {
            if interrupted.load(Ordering::Relaxed) {
                return Ok(());
            }
            panics::caught(|| {
                panics::asked_for(&format!("round {}", round + 1));
                contenders[index].round(round, rounds, begin, interrupted, warnings)
            })?;
        }
    }
    Ok(())
}

impl Contender {
    fn threads(&self, spec: &'static WorkloadSpec) -> u32 {
        let options = self.order.options.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        spec.plan(options).map_or(1, |case| u32::try_from(case.threads()).unwrap_or(u32::MAX))
    }

    /// Runs a round in a process of its own and keeps it, whatever ended it.
    fn round(
        &mut self,
        number: u32,
        of: u32,
        begin: Instant,
        interrupted: &AtomicBool,
        warnings: &mut Vec<String>,
    ) -> Result<(), Failure> {
        let step = Step::waiting(format!("{}, round {} of {of}", self.label, number + 1));
        let offset_s = begin.elapsed().as_secs_f64();
        // Rounds differ in their keys, as two runs would, and still follow from the run's seed.
        let order = Order { seed: self.order.seed.wrapping_add(u64::from(number)), ..self.order.clone() };
        let answer = match child::run(&order, interrupted) {
            Ok(answer) => answer,
            Err(failure) => {
                step.abandon();
                if failure.exit == Exit::Target && self.case.is_some() {
                    warnings.push(format!(
                        "round {} was lost, those before it are reported: {}",
                        number + 1,
                        failure.line()
                    ));
                }
                return Err(failure);
            }
        };
        step.done();
        let mut round = answer.round;
        round.offset_s = offset_s;
        round.warnings.extend(answer.fault.clone());
        for warning in answer.warnings.into_iter().map(|warning| format!("{}: {warning}", self.label)) {
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
        let (operation, unit) = self.headline;
        let case = self.case.get_or_insert_with(|| Case {
            label: self.label.clone(),
            engine: answer.engine,
            workload: Workload {
                name: order.workload.clone(),
                parameters: self.parameters.clone(),
                headline_operation: operation.to_owned(),
                headline_unit: unit.to_owned(),
                nominal: None,
                notice: Some(NOTICE.to_owned()),
            },
            varied: self.varied.clone(),
            search: None,
            origin: None,
            rounds: Vec::new(),
        });
        case.rounds.push(round);
        match answer.fault {
            Some(fault) => Err(Failure::new(Exit::Target, format!("the run on {} was ended", self.order.target))
                .detail("cause", fault)),
            None => Ok(()),
        }
    }

    /// The case with its interval, if a round of it was run.
    fn finished(self) -> Option<Case> {
        let mut case = self.case?;
        let figures: Vec<f64> = case.rounds.iter().map(|round| round.headline).collect();
        let counts = case.rounds.iter().all(|round| round.void.is_none());
        if let Some(interval) = median_interval(&figures).filter(|_| counts) {
            let unit = &case.workload.headline_unit;
            let value = format!("{:.1} to {:.1} {unit}, of {} rounds", interval.low, interval.high, figures.len());
            case.workload.parameters.push(NameValue { name: "95 % interval of the median".to_owned(), value });
        }
        Some(case)
    }
}

/// The exit code that the figures themselves call for.
pub(crate) fn verdict(file: &RunFile) -> Result<(), Failure> {
    let rounds = || file.cases.iter().flat_map(|case| &case.rounds);
    let broken: Vec<&str> = rounds()
        .flat_map(|round| &round.checks)
        .filter(|check| check.status == CheckStatus::Failed)
        .map(|check| check.name.as_str())
        .collect();
    if !broken.is_empty() {
        return Err(Failure::new(Exit::Check, "the figures are void: checks of the database failed")
            .detail("failed", broken.join(", ")));
    }
    if file.interrupted {
        return Err(interrupt::interrupted("what was measured until then is reported"));
    }
    let mut void = file.cases.iter().flat_map(|case| case.rounds.iter().map(move |round| (case, round)));
    if let Some((case, why, failed)) = void.find_map(|(case, round)| {
        let failed = round.operations.iter().flat_map(|it| &it.outcomes).any(|it| it.outcome == Outcome::Failed);
        Some((case, round.void.as_deref()?, failed))
    }) {
        let error = |exit| {
            Failure::new(exit, format!("no figure of {} on {}", case.workload.name, case.engine.target))
                .detail("cause", why)
        };
        return Err(if failed {
            error(Exit::Target)
        } else {
            error(Exit::Usage).hint("a longer --for, or fewer rows")
        });
    }
    Ok(())
}
