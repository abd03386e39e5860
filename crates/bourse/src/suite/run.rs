//! `bourse suite run`: every case of a suite, rounds in turn, and the report beside the published figures.

use super::brokerage;
use super::list::{find, refused};
use super::targets::{self, DataFolder};
use crate::args::SuiteRun;
use crate::failure::{Exit, Failure};
use crate::micro::child::{self, Answer, Order};
use crate::output::publish_suite;
use crate::progress::{Step, note};
use crate::{engines, interrupt, panics};
use bourse_record::{
    Build, Case, Conditions, FEWEST_ROUNDS, Interference, Machine, NameValue, RunFile, Warning, Workload, WorkloadKind,
};
use bourse_suite::document::{EngineUsed, Outcome, State, Telling, Trouble};
use bourse_suite::plan::PlannedCase;
use bourse_suite::{Plan, SuiteFile};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Runs a suite, writes its files, prints its report.
pub(crate) fn run(arguments: &SuiteRun) -> Result<(), Failure> {
    let suite = find(&arguments.name)?;
    let rounds = arguments.rounds.unwrap_or(suite.rounds);
    let cap_s = arguments.cap.map(|cap| cap.as_secs_f64());
    if cap_s == Some(0.0) {
        return Err(Failure::usage("a cap of no time measures nothing").hint("--cap 10s"));
    }
    let plan = Plan::new(&suite, arguments.scale, cap_s, &arguments.only).map_err(|error| refused(&error))?;
    let interrupted = interrupt::flag()?;
    let seed = arguments.seed.unwrap_or_else(|| jiff::Timestamp::now().as_microsecond().unsigned_abs() % 1_000_000_000);
    let data = DataFolder::new(&arguments.data, &suite.name)?;
    let (machine, build) = (Machine::this(), Build::of(env!("CARGO_PKG_VERSION")));
    let mut runner = Runner::new(&plan, &data, seed)?;
    let threads = runner.cases.iter().map(|case| case.threads).max().unwrap_or(1);
    runner.warnings.extend(bourse_record::noise(&build, &machine, threads));
    let head = crate::tpce::run::provenance(seed, build, machine);
    if (rounds as usize) < FEWEST_ROUNDS && !suite.findings.is_empty() {
        let few = Warning::TooFewRounds { rounds, needed: FEWEST_ROUNDS as u32 };
        note(&few.to_string());
        runner.warnings.push(few);
    }
    for (name, used) in &runner.engines {
        if let Some(why) = &used.not_run {
            note(&format!("{name}: not run: {why}"));
        }
    }
    runner.rounds(rounds, &interrupted);
    let disturbed = runner.disturbed();
    runner.warnings.extend(disturbed);
    let interrupted = interrupted.load(Ordering::Relaxed);
    let Runner { cases, engines, warnings, .. } = runner;
    let (outcomes, run_cases): (Vec<Outcome>, Vec<Option<Case>>) =
        cases.into_iter().map(|case| (case.outcome, case.case)).unzip();
    let telling = Telling { provenance: head.clone(), rounds, engines, warnings: warnings.clone(), interrupted };
    let file = SuiteFile::of(&plan, &outcomes, telling);
    if interrupted && !file.has_figures() {
        return Err(interrupt::interrupted("nothing was measured"));
    }
    let whole = RunFile {
        cases: run_cases.into_iter().flatten().collect(),
        warnings,
        interrupted,
        ..RunFile::new(suite.name.clone(), head)
    };
    publish_suite(&file, &whole, &arguments.output)?;
    verdict(&file)
}

/// A case on its way through the rounds.
struct Running {
    label: String,
    target: String,
    job: Job,
    workload: String,
    parameters: Vec<NameValue>,
    headline: (&'static str, &'static str),
    threads: u32,
    outcome: Outcome,
    /// The case with its whole rounds, for the run file.
    case: Option<Case>,
}

/// What a round of it is.
enum Job {
    Classic(Order),
    Brokerage(brokerage::Order),
}

impl Job {
    /// Runs round number `round`. Rounds differ in their keys, as two runs would, and still follow from the seed.
    fn run(&self, round: u32, interrupted: &AtomicBool) -> Result<Answer, Failure> {
        match self {
            Self::Classic(order) => {
                let order = Order { seed: order.seed.wrapping_add(u64::from(round)), ..order.clone() };
                child::run_quietly(&order, interrupted)
            }
            Self::Brokerage(order) => {
                let order = brokerage::Order { seed: order.seed.wrapping_add(u64::from(round)), ..order.clone() };
                brokerage::run(&order, interrupted)
            }
        }
    }
}

struct Runner {
    cases: Vec<Running>,
    engines: BTreeMap<String, EngineUsed>,
    warnings: Vec<Warning>,
    begin: Instant,
}

impl Runner {
    /// Everything is checked before anything runs; what cannot run is known.
    fn new(plan: &Plan<'_>, data: &DataFolder, seed: u64) -> Result<Self, Failure> {
        let mut engines = BTreeMap::new();
        let mut urls = BTreeMap::new();
        for name in plan.cases.iter().map(|case| &case.target) {
            if urls.contains_key(name) {
                continue;
            }
            let target = &plan.suite.targets[name];
            let url = targets::url(target, &data.path)
                .map_err(|why| target.hint.as_ref().map_or(why.clone(), |hint| format!("{why} ({hint})")))
                .and_then(|url| targets::usable(&url, target).map(|()| url))
                .and_then(|url| if target.served { brokerage::can_serve().map(|()| url) } else { Ok(url) });
            let not_run = url.as_ref().err().cloned();
            engines.insert(name.clone(), EngineUsed { title: target.title.clone(), engine: None, not_run });
            urls.insert(name.clone(), url);
        }
        let mut cases = Vec::with_capacity(plan.cases.len());
        for (at, case) in plan.cases.iter().enumerate() {
            let url = &urls[&case.target];
            cases.push(if case.workload == brokerage::WORKLOAD {
                brokerage_case(plan, at, case, url, seed, data)?
            } else {
                running(plan, at, case, url, seed)?
            });
        }
        Ok(Self { cases, engines, warnings: Vec::new(), begin: Instant::now() })
    }

    /// The rounds, in turn: A B C, C B A, A B C … What fails is left out from then on; the others go on.
    fn rounds(&mut self, rounds: u32, interrupted: &AtomicBool) {
        for round in 0..rounds {
            let mut order: Vec<usize> = (0..self.cases.len()).collect();
            if round % 2 == 1 {
                order.reverse();
            }
            let all = order.iter().filter(|at| self.cases[**at].outcome.trouble.is_none()).count();
            for (nth, at) in order
                .into_iter()
                .filter(|at| self.cases[*at].outcome.trouble.is_none())
                .collect::<Vec<_>>()
                .into_iter()
                .enumerate()
            {
                if interrupted.load(Ordering::Relaxed) {
                    return;
                }
                let place = format!("round {} of {rounds}, case {} of {all}", round + 1, nth + 1);
                self.round(at, round, &place, interrupted);
            }
        }
    }

    /// Whether others took processors away while rounds measured, in words: of many cells, how many and where most.
    fn disturbed(&self) -> Option<Warning> {
        let rounds = self.cases.iter().flat_map(|case| {
            let measured = case.case.iter().flat_map(|whole| &whole.rounds);
            measured.filter_map(|round| Some((round.interference?.from_us(), case.label.as_str())))
        });
        disturbed(rounds)
    }

    /// One round of one case, in a process of its own.
    fn round(&mut self, at: usize, round: u32, place: &str, interrupted: &AtomicBool) {
        let case = &mut self.cases[at];
        let step = Step::waiting(format!("{place}: {}", case.label));
        let offset_s = self.begin.elapsed().as_secs_f64();
        let answer = match panics::caught(|| case.job.run(round, interrupted)) {
            Ok(answer) => answer,
            Err(failure) => {
                step.abandon();
                if !interrupted.load(Ordering::Relaxed) {
                    note(&format!("{}: failed: {}", case.label, failure.line()));
                    case.outcome.trouble = Some(Trouble::Failed(failure.line()));
                }
                return;
            }
        };
        step.done();
        self.keep(at, answer, offset_s);
    }

    fn keep(&mut self, at: usize, answer: Answer, offset_s: f64) {
        let case = &mut self.cases[at];
        let Answer { mut round, engine, warnings, interrupted, fault } = answer;
        round.offset_s = offset_s;
        if let Some(used) = self.engines.get_mut(&case.target) {
            used.engine.get_or_insert_with(|| engine.clone());
        }
        for warning in warnings.into_iter().map(|text| Warning::Engine { target: case.target.clone(), text }) {
            if !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
        let (operation, unit) = case.headline;
        let whole = case.case.get_or_insert_with(|| Case {
            label: case.label.clone(),
            engine,
            varied: Vec::new(),
            search: None,
            origin: None,
            workload: Workload {
                name: case.workload.clone(),
                kind: match case.job {
                    Job::Classic(_) => WorkloadKind::Micro,
                    Job::Brokerage(_) => WorkloadKind::Brokerage,
                },
                parameters: case.parameters.clone(),
                headline_operation: operation.to_owned(),
                headline_unit: unit.to_owned(),
                nominal: None,
                outcomes: match case.job {
                    Job::Classic(_) => bourse_record::Outcome::PLAIN.to_vec(),
                    Job::Brokerage(_) => bourse_tpce::users::OUTCOMES.to_vec(),
                },
                metric_titles: Vec::new(),
                notice: Some(match case.job {
                    Job::Classic(_) => bourse_micro::NOTICE.to_owned(),
                    Job::Brokerage(_) => crate::args::NOTICE.to_owned(),
                }),
            },
            conditions: Conditions::default(),
            rounds: Vec::new(),
        });
        whole.rounds.push(round.clone());
        match fault {
            Some(fault) => case.outcome.trouble = Some(Trouble::Failed(fault)),
            // What was cut off in the middle is in the run file, but no figure of a table.
            None if interrupted => {}
            None => case.outcome.rounds.push(round),
        }
    }
}

/// Of rounds by the processors that others took in them: how many were disturbed, and where most.
fn disturbed<'a>(rounds: impl Iterator<Item = (f64, &'a str)>) -> Option<Warning> {
    let (mut all, mut noticed) = (0_u32, Vec::new());
    for round in rounds {
        all += 1;
        if round.0 > Interference::NOTICED {
            noticed.push(round);
        }
    }
    let (most, label) = noticed.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(Warning::DisturbedRounds {
        disturbed: noticed.len() as u32,
        known: all,
        most_in: (*label).to_owned(),
        most_cpus: *most,
    })
}

/// A case ready to run, or the reason why it will not be.
fn running(
    plan: &Plan<'_>,
    at: usize,
    case: &PlannedCase,
    url: &Result<String, String>,
    seed: u64,
) -> Result<Running, Failure> {
    let spec = bourse_micro::find(&case.workload).map_err(|error| Failure::usage(error.to_string()))?;
    let options = case.options.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let planned = spec.plan(options).map_err(|error| {
        Failure::usage(error.to_string()).hint("the scale may be too small for this suite's counts")
    })?;
    let trouble = match url {
        Err(why) => Some(why.clone()),
        Ok(url) => {
            let lacking = planned.lacking(&engines::open(url)?.capabilities());
            (!lacking.is_empty()).then(|| lacking.join("; "))
        }
    };
    let ns = |seconds: f64| (seconds * 1e9) as u64;
    let label = label(plan, at);
    Ok(Running {
        target: case.target.clone(),
        workload: case.workload.clone(),
        job: Job::Classic(Order {
            workload: case.workload.clone(),
            options: case.options.clone(),
            target: url.clone().unwrap_or_default(),
            warm_up_ns: ns(case.warm_up_s.unwrap_or(0.5)),
            measure_ns: Some(ns(case.seconds.unwrap_or(case.cap_s))),
            count: case.count,
            seed,
        }),
        parameters: planned
            .options
            .effective()
            .map(|(name, value)| NameValue { name: name.to_owned(), value: value.to_owned() })
            .collect(),
        headline: (planned.headline_operation(), planned.headline_unit()),
        threads: u32::try_from(planned.threads()).unwrap_or(u32::MAX),
        outcome: Outcome { rounds: Vec::new(), trouble: trouble.map(Trouble::NotRun) },
        case: None,
        label,
    })
}

/// A case of the brokerage workload.
fn brokerage_case(
    plan: &Plan<'_>,
    at: usize,
    case: &PlannedCase,
    url: &Result<String, String>,
    seed: u64,
    data: &DataFolder,
) -> Result<Running, Failure> {
    if let Some(option) = brokerage::unknown(&case.options) {
        return Err(Failure::usage(format!("the brokerage workload of a suite has no option {option:?}")));
    }
    let users = case.options.iter().find(|(name, _)| name == "users").and_then(|(_, users)| users.parse().ok());
    Ok(Running {
        target: case.target.clone(),
        workload: case.workload.clone(),
        job: Job::Brokerage(brokerage::Order {
            target: url.clone().unwrap_or_default(),
            served: plan.suite.targets[&case.target].served,
            options: case.options.clone(),
            seconds: case.seconds.unwrap_or(case.cap_s).min(case.cap_s),
            warm_up_s: case.warm_up_s.unwrap_or(5.0),
            seed,
            data: data.path.clone(),
        }),
        parameters: case
            .options
            .iter()
            .map(|(name, value)| NameValue { name: name.clone(), value: value.clone() })
            .collect(),
        headline: ("Trade-Result", "TR/s"),
        threads: users.unwrap_or(1),
        outcome: Outcome { rounds: Vec::new(), trouble: url.as_ref().err().cloned().map(Trouble::NotRun) },
        case: None,
        label: label(plan, at),
    })
}

/// The cells that a case fills: `1a/2/private`.
fn label(plan: &Plan<'_>, case: usize) -> String {
    let cells = plan.cells.iter().filter(|cell| cell.case == case).map(|cell| {
        let table = &plan.suite.tables[cell.table];
        format!("{}/{}/{}", table.id, table.rows[cell.row].id, table.columns[cell.column].id)
    });
    cells.collect::<Vec<_>>().join(", ")
}

/// The exit code that the cells call for.
fn verdict(file: &SuiteFile) -> Result<(), Failure> {
    let cells = || file.tables.iter().flat_map(|table| table.cells.iter().map(move |cell| (&table.id, cell)));
    let named = |wanted: fn(&State) -> bool| {
        cells()
            .filter(|(_, cell)| wanted(&cell.state))
            .map(|(table, cell)| format!("{table}/{}/{}", cell.row, cell.column))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let void = named(|state| matches!(state, State::Void(_)));
    if !void.is_empty() {
        return Err(Failure::new(Exit::Check, "figures are void: checks of the database failed").detail("cells", void));
    }
    if file.interrupted {
        return Err(interrupt::interrupted("what was measured until then is reported"));
    }
    let failed = named(|state| matches!(state, State::Failed(_)));
    if !failed.is_empty() {
        return Err(Failure::new(Exit::Target, "some cells failed; the others are reported").detail("cells", failed));
    }
    if !file.has_figures() {
        return Err(Failure::new(Exit::Target, "nothing could be run").hint("`bourse engines` tells what is here"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disturbed_rounds_are_told_of() {
        assert_eq!(disturbed([(0.02, "2a"), (0.1, "2b")].into_iter()), None);
        assert_eq!(disturbed([].into_iter()), None);
        let told = disturbed([(0.02, "2a"), (0.3, "2b"), (1.25, "2c"), (0.5, "2d")].into_iter());
        let expected = Warning::DisturbedRounds { disturbed: 3, known: 4, most_in: "2c".to_owned(), most_cpus: 1.25 };
        assert_eq!(told, Some(expected));
    }
}
