//! `bourse crash`: tests which commits each durability setting really preserves.

mod drawn;
mod enumerated;

pub(crate) use enumerated::work;

use crate::args::{CrashArgs, CrashCases, CrashPart};
use crate::commands::acid::FileSite;
use crate::commands::tpce::acid::{default_target, describe_database};
use crate::failure::{Exit, Failure, Result};
use crate::oltp::database::{DatabaseOptions as _, engine_failure};
use crate::output::{PublishedDocument, ResultFolder, print};
use crate::plan::show::{LOADED, Steps, files};
use crate::plan::sweep::{Sweep, combinations, with_option};
use crate::plan::work::load_ns;
use crate::progress::{ProgressStep, note};
use crate::provenance::provenance;
use crate::tpce::database::TpceDatabase;
use crate::{engines, hold, interrupt};
use bourse_acid::durability_matrix::crashed;
use bourse_acid::states::folder_of;
use bourse_acid::{AcidSubject, Site, TestConfig, TpceAcid};
use bourse_driver::SECOND;
use bourse_engine::{Hosting, locked};
use bourse_record::crash::{CrashFile, CrashRow};
use bourse_tpce::check::Depth;
use bourse_tpce::load::part_of;
use drawn::Traces;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Enumerates states, crashes every target, writes the evidence, prints the tables.
pub(crate) fn run(arguments: &CrashArgs) -> Result<()> {
    if let Some(state) = &arguments.replay {
        let trace = drawn::parse(state);
        only_of_replay(arguments, if trace.is_some() { "flat_in" } else { "seed" })?;
        return match trace {
            Some((trace, number)) => drawn::replay(&trace, number, arguments),
            None => enumerated::replay(state, arguments.seed, &arguments.output.directory),
        };
    }
    crate::tpce::whole(&arguments.database)?;
    enumerated::devices(&arguments.profile)?;
    let (wants_states, wants_load) = match (arguments.only, &arguments.target) {
        (Some(CrashPart::States), Some(target)) => {
            // It uses its own small database.
            crate::commands::faults::parted(target)?;
            engines::open(&bourse_engine::target_with_path(target, Path::new("x")))?;
            (true, false)
        }
        (Some(CrashPart::States), None) => (true, false),
        (Some(CrashPart::Load), _) | (None, Some(_)) => (false, true),
        (None, None) => match bourse_crash::preload::library() {
            Ok(_) => (true, true),
            Err(why) => {
                note(&format!("disk states are not enumerated: {why}"));
                (false, true)
            }
        },
    };
    only_of_parts(arguments, wants_states, wants_load)?;
    let target = match wants_load {
        true => Some(arguments.target.clone().unwrap_or_else(|| default_target(&arguments.database))),
        false => None,
    };
    let targets = target.as_ref().map_or(Ok(Vec::new()), |target| targets(target, &arguments.sweep))?;
    // Everything is checked before anything is loaded.
    let mut external = None;
    for target in &targets {
        let engine = engines::open(target)?;
        engines::needs_sql(target, engine.as_ref(), "a crash under load")
            .map_err(|failure| failure.hint(OF_RECORDS))?;
        engines::needs_tpce(target, engine.as_ref())?;
        if matches!(engine.hosting(), Hosting::External) {
            external = Some((target.as_str(), "Bourse did not start this server"));
        }
    }
    let plan = steps(arguments, wants_states, &targets);
    if arguments.plan.dry_run {
        return print(&plan.show());
    }
    plan.announced().iter().for_each(|words| note(words));
    let _held = hold::for_writing(targets.iter().map(String::as_str))?;
    if external.is_some() {
        return Err(Failure::all_unavailable(external.into_iter()).hint(CAN_BE_CRASHED));
    }
    let interrupted = interrupt::flag()?;
    let folder = ResultFolder::new(&arguments.output.directory, "crash")?;
    let shared = Mutex::new(CrashFile::new(provenance(arguments.seed)));
    let traces = Traces::new()?;
    let states = wants_states.then(|| enumerated::states(arguments, folder.path(), &interrupted)).transpose()?;
    locked(&shared).states = states.flatten();
    let save = || {
        let mut file = locked(&shared);
        file.interrupted = true;
        if let Err(failure) = publish(&mut file, &traces, &folder, arguments) {
            note(&failure.line());
        }
    };
    let crash_all = || crash_all(&targets, &traces, arguments, &interrupted, &shared);
    interrupt::with_forced_end(crash_all, save)??;
    let mut file = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
    file.interrupted = interrupted.load(Ordering::Relaxed);
    publish(&mut file, &traces, &folder, arguments)?;
    let untried = file.untried().iter().map(|row| (&*row.target, &*row.not_tried));
    super::judged([file.violated(), file.tried()], file.interrupted, "crashes", untried, CAN_BE_CRASHED)
}

/// Options of the enumerated states alone, by their ids.
const OF_STATES: [&str; 4] = ["states", "cases", "profile", "faults"];
/// Options of the crashes under load alone, by their ids.
const OF_LOAD: [&str; 10] =
    ["sweep", "times", "samples", "customers", "days", "scale_factor", "flat_in", "constraints", "threads", "reload"];

/// Refuses the typed options without effect on a state that is rebuilt; `own` is the id of one that has.
fn only_of_replay(arguments: &CrashArgs, own: &str) -> Result<()> {
    let others = arguments.given.typed_of("crash", |id| !["replay", "directory", own].contains(&id));
    if others.is_empty() {
        return Ok(());
    }
    let why = format!("{others} cannot be used with --replay: the state's name or trace says it");
    Err(Failure::usage(why).hint("a profile is part of the name: wal-full@ext4-ordered/12:one-3"))
}

/// Refuses the typed options of a part that does not run.
fn only_of_parts(arguments: &CrashArgs, wants_states: bool, wants_load: bool) -> Result<()> {
    let parts = [
        (wants_states, &OF_STATES[..], "of the enumerated disk states", "states"),
        (wants_load, &OF_LOAD[..], "of the crashes under load", "load"),
    ];
    for (_, ids, of, part) in parts.into_iter().filter(|(is_wanted, ..)| !is_wanted) {
        let typed = arguments.given.typed_of("crash", |id| ids.contains(&id));
        if !typed.is_empty() {
            let why = match (part, arguments.only) {
                ("states", None) if arguments.target.is_some() => "with a TARGET only load runs",
                ("states", None) => "no disk state can be enumerated on this machine",
                ("states", Some(_)) => "--only load leaves them out",
                _ => "--only states leaves them out",
            };
            return Err(Failure::usage(format!("{typed} cannot be used here: an option {of}, and {why}"))
                .hint(format!("use --only {part}, or leave out {typed}")));
        }
    }
    Ok(())
}

/// The database crashed under load on each target; rows of `shared` are complete.
fn crash_all(
    targets: &[String],
    traces: &Traces,
    arguments: &CrashArgs,
    interrupted: &AtomicBool,
    shared: &Mutex<CrashFile>,
) -> Result<()> {
    for (number, target) in targets.iter().enumerate() {
        if interrupted.load(Ordering::Relaxed) {
            break;
        }
        let step = ProgressStep::waiting(format!("crashing {target} ({} of {})", number + 1, targets.len()));
        let row = row(target, number + 1, traces, arguments, interrupted, shared);
        step.done();
        match row {
            // A test that was interrupted shows nothing.
            Ok(_) | Err(_) if interrupted.load(Ordering::Relaxed) => {}
            row => {
                let row = row?;
                locked(shared).rows.push(row);
            }
        }
    }
    Ok(())
}

/// Plan of the command.
fn steps(arguments: &CrashArgs, wants_states: bool, targets: &[String]) -> Steps<'static> {
    /// Targets that take as long as the usual settings of SQLite, or all, which are shared out over CPUs.
    const SETTINGS: [usize; 2] = [5, 15];
    /// Time of a crash with its recovery and checks, and of two sampled states, as multiples of loading the database.
    const CRASHED: u64 = 3;
    let CrashArgs { times, samples, seed, states, cases, faults, .. } = *arguments;
    let (mut all, mut about_ns) = (Vec::new(), 0_u64);
    if wants_states {
        let number = states.0.map_or("every".to_owned(), |number| format!("about {number}"));
        let others = enumerated::targets(arguments);
        let sqlite = if arguments.target.is_none() { vec!["SQLite".to_owned()] } else { Vec::new() };
        let engines = [&sqlite[..], &others].concat().join(", ");
        all.push(format!(
            "disk states that power losses leave of small databases ({engines}): {number} for each setting"
        ));
        let settings = sqlite.len() * SETTINGS[usize::from(cases == CrashCases::All)];
        let each = states.0.map(|each| each.saturating_mul(arguments.profile.len().max(1) as u64));
        let timed = std::iter::repeat_n("sqlite:", settings).chain(others.iter().map(String::as_str));
        about_ns = timed.filter_map(|it| Some(engines::states_ns(it, each?, faults))).fold(0, u64::saturating_add);
    }
    for target in targets {
        let starts_s = engines::starts_s(target);
        let (ways, sampled) = if starts_s == 0 { (2, u64::from(samples) / 2) } else { (1, 0) };
        let works = ways * CRASHED * u64::from(times) + sampled;
        let once_ns = load_ns(target, arguments.database.customers, arguments.database.days);
        about_ns = about_ns.saturating_add(once_ns.saturating_mul(works)).saturating_add(starts_s * SECOND);
        let drawn =
            if sampled > 0 { format!(", {samples} disk states drawn from a recorded load") } else { String::new() };
        all.push(format!("{target}: {times} crashes of each kind under load{drawn}"));
    }
    let folder = arguments.output.directory.display();
    let mut writes = vec![format!("{folder}/<time>-crash/: crash.json, crash.html, traces and states")];
    writes.extend(files(targets.iter().map(|target| (target.as_str(), LOADED.to_owned()))));
    Steps { name: "crash", steps: all, seed: Some(seed), about_ns, writes }
}

const OF_RECORDS: &str = "`--only states` crashes engines of records too, named without a path, as redb:";

const CAN_BE_CRASHED: &str =
    "targets that can be crashed: files of SQLite and other engines in process, private servers";

/// The target with every combination of its sweeps.
fn targets(target: &str, sweeps: &[String]) -> Result<Vec<String>> {
    let usual = engines::crash_sweeps(target).unwrap_or_default();
    let given = |text: &&str| {
        let name = text.split('=').next().unwrap_or_default();
        target.contains(&format!("?{name}=")) || target.contains(&format!("&{name}="))
    };
    let usual = usual.iter().copied().filter(|text| sweeps.is_empty() && !given(text));
    let texts = usual.chain(sweeps.iter().map(String::as_str));
    let sweeps: Vec<Sweep> = texts.map(Sweep::parse).collect::<Result<_, _>>()?;
    let with = |chosen: &Vec<(&str, &str)>| {
        chosen.iter().fold(target.to_owned(), |target, (name, value)| with_option(&target, name, value))
    };
    Ok(combinations(&sweeps).iter().map(with).collect())
}

fn row(
    target: &str,
    number: usize,
    traces: &Traces,
    arguments: &CrashArgs,
    interrupted: &AtomicBool,
    shared: &Mutex<CrashFile>,
) -> Result<CrashRow> {
    let engine = engines::open(target)?;
    let flat_in = arguments.database.flat_in.as_deref();
    let wanted = TpceDatabase::of(&arguments.database, &arguments.given);
    let found = wanted.ready(target, engine.as_ref(), Depth::Quick, interrupted)?;
    locked(shared).database = describe_database(&found);
    let described = engine.description().map_err(|error| engine_failure(target, &error))?;
    let site = FileSite::of("tpce", target, flat_in)?;
    let subject = AcidSubject {
        engine: engine.as_ref(),
        workload: &TpceAcid { inputs: wanted.inputs()?, part: part_of(&found.fingerprint) },
        class: described.durability,
        may_lose: described.may_lose,
        class_reason: &described.durability_reason,
        site: site.as_ref().map(|site| site as &dyn Site),
        config: TestConfig { seed: arguments.seed, ..TestConfig::DEFAULT },
        interrupted,
    };
    let mut row = crashed(&subject, target, arguments.times)
        .map_err(|error| Failure::new(Exit::of(error.kind()), format!("cannot test crashes of {target}: {error}")))?;
    if !interrupted.load(Ordering::Relaxed) {
        traces.sample(&subject, &mut row, number, arguments.samples)?;
    }
    Ok(row)
}

fn publish(file: &mut CrashFile, traces: &Traces, folder: &ResultFolder, arguments: &CrashArgs) -> Result<()> {
    traces.publish(file, folder.path())?;
    for example in file.states.iter().flat_map(|states| states.violations()) {
        note(&format!("state:    {}", folder_of(&example.state, folder.path()).display()));
    }
    PublishedDocument { document: &*file, sheet: bourse_report::crash(file) }.put(folder, &arguments.output)
}
