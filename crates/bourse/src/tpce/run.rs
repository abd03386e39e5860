//! `bourse tpce run`: load if needed, run in turn on each target, check, report.

use super::database::{self, Ready};
use super::venue::Venue;
use crate::args::{Arrivals, Run};
use crate::failure::{Exit, Failure};
use crate::inputs::inputs;
use crate::interrupt;
use crate::output::publish;
use crate::progress::{Step, note};
use bourse_driver::{Clock as _, Plan, Progress, RealClock};
use bourse_egen::Inputs;
use bourse_engine::{Engine, Isolation};
use bourse_record::{Build, Case, Check, CheckStatus, Machine, NameValue, RunFile, SCHEMA_VERSION};
use bourse_tpce::users::{self, Ran, RunError, RunOptions};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// One target with all that a round on it needs.
struct Contender {
    target: String,
    venue: Venue,
    ready: Ready,
    options: RunOptions,
    case: Case,
}

/// Runs, writes the run's files, prints the report.
pub(crate) fn run(arguments: &Run) -> Result<(), Failure> {
    let targets = targets(arguments)?;
    let venues = targets.iter().map(|target| Venue::open(target, arguments)).collect::<Result<Vec<_>, _>>()?;
    let seed = arguments.settings.seed.unwrap_or_else(drawn_seed);
    let options = options(arguments, seed)?;
    let inputs = inputs(arguments.settings.database.flat_in.as_deref())?;
    let interrupted = interrupt::flag()?;
    let clock = RealClock::start();

    let mut contenders = Vec::new();
    for (target, venue) in targets.into_iter().zip(venues) {
        let ready = venue.ready(&target, arguments, &inputs, &interrupted)?;
        contenders.push(Contender::new(target, venue, ready, options, arguments)?);
    }
    let machine = Machine::this();
    let build = Build::of(env!("CARGO_PKG_VERSION"));
    let threads = u32::try_from(options.users + options.market_users).unwrap_or(u32::MAX);
    let mut file = RunFile {
        schema_version: SCHEMA_VERSION,
        name: "tpce".to_owned(),
        started_at: jiff::Zoned::now().strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
        command: std::env::args().collect(),
        seed,
        warnings: bourse_record::noise(&build, &machine, threads),
        build,
        machine,
        cases: Vec::new(),
        interrupted: false,
    };
    let outcome = rounds(&mut contenders, arguments.settings.rounds, &inputs, &clock, &interrupted);
    file.interrupted = interrupted.load(Ordering::Relaxed);
    file.cases =
        contenders.into_iter().map(|contender| contender.case).filter(|case| !case.rounds.is_empty()).collect();
    if file.cases.is_empty() {
        outcome?;
        return Err(interrupt::interrupted("nothing was measured"));
    }
    publish(&file, &arguments.settings.output)?;
    outcome?;
    verdict(&file)
}

/// The exit code that the figures themselves call for.
fn verdict(file: &RunFile) -> Result<(), Failure> {
    let checks = || file.cases.iter().flat_map(|case| &case.rounds).flat_map(|round| &round.checks);
    let broken: Vec<&str> =
        checks().filter(|check| check.status == CheckStatus::Failed).map(|check| check.name.as_str()).collect();
    if !broken.is_empty() {
        return Err(Failure::new(Exit::Check, "the figures are void: checks of the database failed")
            .detail("failed", broken.join(", ")));
    }
    if file.interrupted {
        return Err(interrupt::interrupted("what was measured until then is reported"));
    }
    Ok(())
}

/// The rounds, in turn: A B, B A, A B … The first failure ends them; what was measured stays.
fn rounds(
    contenders: &mut [Contender],
    rounds: u32,
    inputs: &Inputs,
    clock: &RealClock,
    interrupted: &AtomicBool,
) -> Result<(), Failure> {
    let begin = clock.now();
    for round in 0..rounds {
        let mut order: Vec<usize> = (0..contenders.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for index in order {
            if interrupted.load(Ordering::Relaxed) {
                return Ok(());
            }
            let offset_s = (clock.now() - begin) as f64 / 1e9;
            contenders[index].round(round, rounds, offset_s, inputs, clock, interrupted)?;
        }
    }
    Ok(())
}

impl Contender {
    fn new(target: String, venue: Venue, ready: Ready, options: RunOptions, arguments: &Run) -> Result<Self, Failure> {
        let engine = venue.engine();
        let described = engine.description().map_err(|error| database::engine_failure(&target, &error))?;
        let options = RunOptions { part: ready.fingerprint.part, ..options };
        let data = match &arguments.settings.database.flat_in {
            None => "built-in".to_owned(),
            Some(folder) => format!("files of {}", folder.display()),
        };
        let parameters = vec![
            named("constraints", ready.fingerprint.constraints.to_string()),
            named("isolation", isolation(engine)),
            named("input data", data),
            named("seed", options.seed.to_string()),
        ];
        let case = Case {
            label: target.clone(),
            workload: users::workload(&options, parameters),
            engine: described_engine(described),
            varied: Vec::new(),
            search: None,
            origin: None,
            rounds: Vec::new(),
        };
        Ok(Self { target, venue, ready, options, case })
    }

    /// Runs a round with its checks and keeps it, whatever ended it.
    fn round(
        &mut self,
        number: u32,
        of: u32,
        offset_s: f64,
        inputs: &Inputs,
        clock: &RealClock,
        interrupted: &AtomicBool,
    ) -> Result<(), Failure> {
        let label = if of > 1 { format!("{}, round {} of {of}", self.target, number + 1) } else { self.target.clone() };
        let step = Step::waiting(format!("running on {label}"));
        // Rounds differ in their requests, as two runs would, and still follow from the run's seed.
        let options = RunOptions { seed: self.options.seed.wrapping_add(u64::from(number)), ..self.options };
        let ran = self.venue.run(inputs, &options, clock, interrupted, &mut |progress| {
            step.say(live(&label, progress));
        });
        let mut ran = match ran {
            Ok(ran) => {
                step.done();
                ran
            }
            Err(error) => {
                step.abandon();
                return Err(run_failure(&self.target, &error));
            }
        };
        ran.round.offset_s = offset_s;
        ran.round.shared = self.venue.shared(&options);
        ran.round.facts.insert(0, named("database", self.ready.history.clone()));
        self.ready.history = "as the round before left it".to_owned();
        let mut outcome = Ok(());
        match ran.fault.take() {
            Some(fault) => {
                ran.round.warnings.push(fault.to_string());
                self.venue.abandon();
                outcome = Err(Failure::new(Exit::Target, format!("the run on {} was ended", self.target))
                    .detail("cause", fault.to_string()));
            }
            None => match self.check(&mut ran, clock) {
                Ok(checks) => ran.round.checks = checks,
                Err(failure) => {
                    ran.round.warnings.push("the database could not be checked".to_owned());
                    outcome = Err(failure);
                }
            },
        }
        self.case.rounds.push(ran.round);
        outcome
    }

    fn check(&self, ran: &mut Ran, clock: &RealClock) -> Result<Vec<Check>, Failure> {
        let step = Step::waiting(format!("checking {}", self.target));
        let checked = self.venue.check(&self.target, &self.options, ran, clock, &mut |name| step.say(name));
        step.done();
        checked
    }
}

pub(super) fn described_engine(described: bourse_engine::Description) -> bourse_record::Engine {
    bourse_record::Engine {
        name: described.engine,
        version: described.version,
        target: described.target,
        durability: described.durability.name().to_owned(),
        durability_reason: described.durability_reason,
        settings: described.settings.into_iter().map(|setting| named(&setting.name, setting.value)).collect(),
        compile_options: described.compile_options,
    }
}

/// What the transactions get, in the terms of the report's rules.
fn isolation(engine: &dyn Engine) -> String {
    let offered = engine.capabilities().isolation;
    if !engine.capabilities().concurrent_writers && offered.contains(&Isolation::Serializable) {
        "serializable throughout: one writer at a time".to_owned()
    } else {
        "by transaction, as the specification demands".to_owned()
    }
}

fn named(name: &str, value: String) -> NameValue {
    NameValue { name: name.to_owned(), value }
}

/// One line of live figures.
fn live(label: &str, progress: &Progress) -> String {
    let results = progress.throughput.get(bourse_tpce::transactions::Transaction::TradeResult as usize).copied();
    let all: f64 = progress.throughput.iter().sum();
    let phase = match progress.phase {
        bourse_record::PhaseKind::WarmUp => "warm-up",
        bourse_record::PhaseKind::Measurement => "measuring",
        bourse_record::PhaseKind::Drain => "drain",
    };
    let waiting = progress.queue_length.unwrap_or(0);
    let p90 = progress.response_ns.map_or_else(String::new, |[_, p90, _]| format!(", p90 {:.2} ms", p90 / 1e6));
    format!(
        "{label}  {phase} {:.0} of {:.0} s  {:.0} TR/s, {all:.0} transactions/s{p90}, {waiting} waiting",
        progress.elapsed_s.min(progress.planned_s),
        progress.planned_s,
        results.unwrap_or(0.0),
    )
}

fn run_failure(target: &str, error: &RunError) -> Failure {
    match error {
        RunError::Options(error) => Failure::usage(error.to_string()),
        RunError::Engine(error) => database::engine_failure(target, error),
        RunError::Interrupted => interrupt::interrupted("the other drivers had not come"),
        RunError::Refused(why) => {
            Failure::new(Exit::Target, format!("{target} does not run this round")).detail("cause", why)
        }
        other => Failure::new(Exit::Target, format!("the run on {target} could not begin"))
            .detail("cause", other.to_string()),
    }
}

/// The targets named, or a file of our own whose name tells what is in it.
fn targets(arguments: &Run) -> Result<Vec<String>, Failure> {
    if arguments.settings.rounds == 0 {
        return Err(Failure::usage("0 rounds measure nothing").hint("--rounds 1 or more"));
    }
    if arguments.settings.duration < Duration::from_secs(1) {
        return Err(Failure::usage("a measurement interval of less than a second measures nothing").hint("--for 30s"));
    }
    super::whole(&arguments.settings.database)?;
    if !arguments.targets.is_empty() {
        return Ok(arguments.targets.clone());
    }
    let database = &arguments.settings.database;
    let mut name = format!("tpce-c{}-d{}", database.customers, database.days);
    if database.scale_factor != 500 {
        name.push_str(&format!("-f{}", database.scale_factor));
    }
    if database.constraints == crate::args::Constraints::Keys {
        name.push_str("-keys");
    }
    if database.flat_in.is_some() {
        name.push_str("-official");
    }
    let target = format!("sqlite:{}/{name}.db", super::DATA_FOLDER);
    note(&format!("no target named: running on {target}"));
    Ok(vec![target])
}

fn options(arguments: &Run, seed: u64) -> Result<RunOptions, Failure> {
    let ns = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let default = RunOptions::new(super::whole(&arguments.settings.database)?);
    let settings = &arguments.settings;
    let options = RunOptions {
        users: settings.users.unwrap_or(default.users),
        market_users: settings.market_users.unwrap_or(default.market_users),
        load: settings
            .rate
            .map_or(default.load, |rate| RunOptions::at_rate(rate, settings.arrivals == Arrivals::Constant)),
        backlog: settings.backlog,
        plan: Plan { warm_up_ns: ns(settings.warmup), measure_ns: ns(arguments.settings.duration), ..default.plan },
        seed,
        share: arguments.part.unwrap_or(default.share),
        ..default
    };
    options.check().map_err(|error| Failure::usage(error.to_string()))?;
    Ok(options)
}

/// A seed nobody named: from the clock, kept small enough to be typed again.
fn drawn_seed() -> u64 {
    jiff::Timestamp::now().as_microsecond().unsigned_abs() % 1_000_000_000
}
