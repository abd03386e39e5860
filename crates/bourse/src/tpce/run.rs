//! `bourse tpce run`: load if needed, run in turn on each target, check, report.

use super::contender::{Contender, Slots, Stage, rounds};
use super::find_max::find_max;
use super::sample::sample_all;
use super::venue::{self, Venue};
use crate::args::{Arrivals, CheckDepth, Constraints, Database, Run, RunSettings, numbers};
use crate::failure::{Exit, Failure};
use crate::inputs::inputs;
use crate::output::publish;
use crate::progress::{Step, note};
use crate::{engines, interrupt};
use bourse_driver::{Plan, RealClock, calibrate};
use bourse_micro::sweep::{Sweep, combinations, with_option};
use bourse_record::{Build, CheckStatus, Machine, NameValue, Outcome, Provenance, RunFile, Steadiness, Steady};
use bourse_serve::Address;
use bourse_tpce::users::{self, RunOptions};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Runs, writes the run's files, prints the report.
pub(crate) fn run(arguments: &Run) -> Result<(), Failure> {
    let settings = &arguments.settings;
    let (file, outcome) = measure("tpce", arguments)?;
    publish(&file, &settings.output)?;
    outcome?;
    verdict(&file, settings.require_steady)
}

/// Runs on each target with each combination of the sweeps: what was measured, and what ended it.
pub(crate) fn measure(name: &str, arguments: &Run) -> Result<(RunFile, Result<(), Failure>), Failure> {
    let settings = &arguments.settings;
    // Everything is checked before anything is loaded.
    let seed = settings.seed.unwrap_or_else(drawn_seed);
    let planned = plan(arguments, seed)?;
    let inputs = inputs(settings.database.flat_in.as_deref())?;
    let interrupted = interrupt::flag()?;
    let clock = RealClock::start();
    let stage = Stage { inputs: &inputs, clock: &clock, interrupted: &interrupted, wait_quiet: settings.wait_quiet };

    let mut slots = Slots::default();
    let mut contenders = Vec::new();
    for Planned { target, run, options, varied } in planned {
        let slot = slots.ready(&target, &run, &stage)?;
        let data = match &run.settings.database.flat_in {
            None => "built-in".to_owned(),
            Some(folder) => format!("files of {}", folder.display()),
        };
        contenders.push(Contender::new(&slots, slot, options, data, varied)?);
    }
    let (mut machine, build) = (Machine::this(), Build::of(env!("CARGO_PKG_VERSION")));
    let threads = contenders.iter().map(|it| it.options.users + it.options.market_users).max().unwrap_or(1);
    let mut warnings = bourse_record::noise(&build, &machine, u32::try_from(threads).unwrap_or(u32::MAX));
    let step = Step::waiting("measuring the harness and the machine alone".to_owned());
    let calibration = calibrate(&clock);
    step.done();
    warnings.extend(calibration.warnings());
    machine.details.extend(calibration.details());
    let notice = Some(users::NOTICE.to_owned());
    let mut file = RunFile { warnings, notice, ..RunFile::new(name, provenance(seed, build, machine)) };
    let count = settings.rounds.unwrap_or(1);
    let mut outcome = if settings.find_max {
        let evenly = settings.arrivals == Arrivals::Constant;
        let mut each = contenders.iter_mut();
        each.try_for_each(|contender| find_max(contender, &mut slots, count, evenly, &stage))
    } else {
        rounds(&mut contenders, &mut slots, count, &stage)
    };
    if outcome.is_ok() && settings.check == CheckDepth::Full && !interrupted.load(Ordering::Relaxed) {
        outcome = sample_all(&mut contenders, &slots, &stage);
    }
    file.interrupted = interrupted.load(Ordering::Relaxed);
    file.cases =
        contenders.into_iter().map(|contender| contender.case).filter(|case| !case.rounds.is_empty()).collect();
    if file.cases.is_empty() {
        outcome?;
        if file.interrupted {
            return Err(interrupt::interrupted("nothing was measured"));
        }
        return Err(Failure::new(Exit::Target, "no rate was found that keeps every response limit")
            .hint("fewer --users or --customers, other settings of the target, or a longer --for"));
    }
    Ok((file, outcome))
}

/// The exit code that the figures themselves call for.
pub(crate) fn verdict(file: &RunFile, require_steady: bool) -> Result<(), Failure> {
    let checks = || file.cases.iter().flat_map(|case| &case.rounds).flat_map(|round| &round.checks);
    let broken: Vec<&str> =
        checks().filter(|check| check.status == CheckStatus::Failed).map(|check| check.name.as_str()).collect();
    if !broken.is_empty() {
        return Err(Failure::new(Exit::Check, "the figures are void: checks of the database failed")
            .detail("failed", broken.join(", ")));
    }
    if let Some(failed) = failed_operations(file) {
        return Err(failed);
    }
    if file.interrupted {
        return Err(interrupt::interrupted("what was measured until then is reported"));
    }
    let mut rounds = file.cases.iter().flat_map(|case| case.rounds.iter().map(move |round| (case, round)));
    if let Some((case, round, why)) = rounds.find_map(|(case, round)| Some((case, round, round.void.as_deref()?))) {
        let failed = round.operations.iter().flat_map(|it| &it.outcomes).any(|it| it.outcome == Outcome::Failed);
        let exit = if failed { Exit::Target } else { Exit::Usage };
        return Err(Failure::new(exit, format!("no figure of {} on {}", case.workload.name, case.engine.target))
            .detail("cause", why)
            .hint("a longer --for, fewer --users, or a higher --rate"));
    }
    if !require_steady {
        return Ok(());
    }
    let mut unsteady = Vec::new();
    for case in &file.cases {
        for (at, round) in case.rounds.iter().enumerate() {
            let found = Steadiness::of(round, &case.workload.headline_operation);
            if found.steady != Steady::Yes {
                let (word, evidence) = (found.steady.name(), found.evidence());
                unsteady.push(format!("{}, round {}: {word}; {evidence}", case.label, at + 1));
            }
        }
    }
    if unsteady.is_empty() {
        return Ok(());
    }
    Err(Failure::new(Exit::NotSteady, "a steady state is demanded and was not shown")
        .detail("found", unsteady.join("\n"))
        .hint("a longer --warmup lets more settle, a longer --for shows more"))
}

/// How many failed operations a round may have: none, by the specification.
const ALLOWED_FAILURES: u64 = 0;

/// The failure of a run whose operations failed more often than is allowed, with an example of each case.
fn failed_operations(file: &RunFile) -> Option<Failure> {
    let rounds = || file.cases.iter().flat_map(|case| case.rounds.iter().map(move |round| (case, round)));
    let mut found = Vec::new();
    for (case, round) in rounds().filter(|(_, round)| round.failed() > ALLOWED_FAILURES) {
        for operation in &round.operations {
            let failed = || operation.outcomes.iter().filter(|it| it.outcome == Outcome::Failed);
            let count: u64 = failed().map(|it| it.count).sum();
            if count > 0 {
                let example = failed().find_map(|it| it.example.as_deref()).unwrap_or("no example was kept");
                found.push(format!("{}: {count} of {}, as {example}", case.label, operation.name));
            }
        }
    }
    if found.is_empty() {
        return None;
    }
    let all: u64 = rounds().map(|(_, round)| round.failed()).sum();
    let operations = if all == 1 { "operation" } else { "operations" };
    Some(
        Failure::new(Exit::Target, format!("{all} {operations} failed: at most {ALLOWED_FAILURES} may"))
            .detail("failed", found.join("\n")),
    )
}

/// A case before its database is there: everything checked.
struct Planned {
    target: String,
    run: Run,
    options: RunOptions,
    varied: Vec<NameValue>,
}

fn plan(arguments: &Run, seed: u64) -> Result<Vec<Planned>, Failure> {
    let Run { targets, settings, .. } = arguments;
    if settings.duration < Duration::from_secs(1) {
        return Err(Failure::usage("a measurement interval of less than a second measures nothing").hint("--for 30s"));
    }
    let mut sweeps = Vec::new();
    for text in &settings.sweep {
        sweeps.push(text.parse::<Sweep>().map_err(|error| Failure::usage(error.to_string()))?);
    }
    if settings.find_max && sweeps.iter().any(|sweep| sweep.name == "rate") {
        return Err(Failure::usage("--find-max looks for a rate, so rates cannot be swept"));
    }
    let named: Vec<Option<&String>> = if targets.is_empty() { vec![None] } else { targets.iter().map(Some).collect() };
    let mut planned = Vec::new();
    for target in named {
        for chosen in combinations(&sweeps) {
            planned.push(planned_case(target, arguments, &chosen, seed)?);
        }
    }
    Ok(planned)
}

fn planned_case(
    target: Option<&String>,
    arguments: &Run,
    chosen: &[(&str, &str)],
    seed: u64,
) -> Result<Planned, Failure> {
    let mut run = arguments.clone();
    let settings = &mut run.settings;
    let mut of_target = Vec::new();
    let mut sized = false;
    let is_server = target.is_some_and(|target| Address::is_meant(target));
    for &(name, value) in chosen {
        match vary(settings, name, value)? {
            Varied::Target | Varied::Database if is_server => {
                let target = target.map_or("", String::as_str);
                return Err(Failure::usage(format!("--sweep {name}: {target} has opened its database already"))
                    .hint("serve each setting, or size, on a port of its own and name those servers; users, market-users, rate \
                           and backlog are the driver's and can be swept"));
            }
            Varied::Target => of_target.push((name, value)),
            Varied::Database => sized = true,
            Varied::Run => {}
        }
    }
    super::whole(&settings.database)?;
    let mut target = match target {
        None => default_target(&settings.database),
        Some(target) if sized => with_size(target, &settings.database),
        Some(target) => target.clone(),
    };
    for (name, value) in of_target {
        target = with_option(&target, name, value);
    }
    // A server is called when its turn comes: one that is asked twice would take us for two drivers.
    if is_server {
        venue::caller(&target, &run)?;
    } else {
        Venue::open(&target, &run)?;
    }
    let options = options(&run, seed)?;
    let varied =
        chosen.iter().map(|&(name, value)| NameValue { name: name.to_owned(), value: value.to_owned() }).collect();
    Ok(Planned { target, run, options, varied })
}

/// What a swept option belongs to.
enum Varied {
    Run,
    /// Another value is another database.
    Database,
    Target,
}

/// Sets a swept option, unless it is the target's.
fn vary(settings: &mut RunSettings, name: &str, value: &str) -> Result<Varied, Failure> {
    let refused = |why: String| Failure::usage(format!("invalid value '{value}' for '--sweep {name}': {why}"));
    match name.replace('_', "-").as_str() {
        "users" => settings.users = Some(numbers::threads(value).map_err(refused)?),
        "market-users" => settings.market_users = Some(numbers::threads(value).map_err(refused)?),
        "rate" => settings.rate = Some(numbers::rate(value).map_err(refused)?),
        "backlog" => settings.backlog = Some(numbers::backlog(value).map_err(refused)?),
        "customers" => {
            settings.database.customers = numbers::customers(value).map_err(refused)?;
            return Ok(Varied::Database);
        }
        "days" => {
            settings.database.days = numbers::days(value).map_err(refused)?;
            return Ok(Varied::Database);
        }
        "scale-factor" => {
            settings.database.scale_factor = numbers::scale_factor(value).map_err(refused)?;
            return Ok(Varied::Database);
        }
        _ => return Ok(Varied::Target),
    }
    Ok(Varied::Run)
}

/// A file of our own whose name tells what is in it.
fn default_target(database: &Database) -> String {
    let mut name = format!("tpce{}", size(database));
    if database.constraints == Constraints::Keys {
        name.push_str("-keys");
    }
    if database.flat_in.is_some() {
        name.push_str("-official");
    }
    let target = format!("sqlite:{}/{name}.db", super::DATA_FOLDER);
    note(&format!("no target named: running on {target}"));
    target
}

/// What tells databases of different sizes apart, in a name.
fn size(database: &Database) -> String {
    let mut size = format!("-c{}-d{}", database.customers, database.days);
    if database.scale_factor != 500 {
        size.push_str(&format!("-f{}", database.scale_factor));
    }
    size
}

/// The target for a database of another size: files of different sizes need names of their own.
fn with_size(target: &str, database: &Database) -> String {
    let (place, query) = target.split_once('?').map_or((target, None), |(place, query)| (place, Some(query)));
    if engines::sqlite_file(target).is_none() {
        return target.to_owned();
    }
    let size = size(database);
    let place = match place.rsplit_once('.').filter(|(_, ending)| !ending.contains('/')) {
        Some((stem, ending)) => format!("{stem}{size}.{ending}"),
        None => format!("{place}{size}"),
    };
    query.map_or(place.clone(), |query| format!("{place}?{query}"))
}

fn options(run: &Run, seed: u64) -> Result<RunOptions, Failure> {
    let settings = &run.settings;
    let ns = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let default = RunOptions::new(super::whole(&settings.database)?);
    let evenly = settings.arrivals == Arrivals::Constant;
    let options = RunOptions {
        users: settings.users.unwrap_or(default.users),
        market_users: settings.market_users.unwrap_or(default.market_users),
        load: settings.rate.map_or(default.load, |rate| RunOptions::at_rate(rate, evenly)),
        backlog: settings.backlog,
        plan: Plan { warm_up_ns: ns(settings.warmup), measure_ns: ns(settings.duration), ..default.plan },
        seed,
        share: run.part.unwrap_or(default.share),
        ..default
    };
    options.check().map_err(|error| Failure::usage(error.to_string()))?;
    Ok(options)
}

/// The head of a document of this program that begins now.
pub(crate) fn provenance(seed: u64, build: Build, machine: Machine) -> Provenance {
    let started_at = jiff::Zoned::now().strftime("%Y-%m-%dT%H:%M:%S%:z").to_string();
    Provenance { started_at, command: std::env::args().collect(), seed, build, machine }
}

/// A seed nobody named: from the clock, kept small enough to be typed again.
fn drawn_seed() -> u64 {
    jiff::Timestamp::now().as_microsecond().unsigned_abs() % 1_000_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_other_sizes_have_other_names() {
        let database = Database {
            customers: 5_000,
            days: 2,
            scale_factor: 500,
            flat_in: None,
            constraints: Constraints::Full,
            threads: None,
            reload: false,
        };
        for (target, sized) in [
            ("sqlite:x.db?journal=wal", "sqlite:x-c5000-d2.db?journal=wal"),
            ("sqlite-lean:x.db", "sqlite-lean:x-c5000-d2.db"),
            ("sqlite-lean::memory:", "sqlite-lean::memory:"),
            ("sqlite:a.b/x", "sqlite:a.b/x-c5000-d2"),
            ("sqlite::memory:?memory=memdb", "sqlite::memory:?memory=memdb"),
        ] {
            assert_eq!(with_size(target, &database), sized);
        }
    }
}
