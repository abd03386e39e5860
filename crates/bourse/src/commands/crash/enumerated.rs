//! The enumerated states: found, stored as files, rebuilt.

use crate::args::{CrashArgs, CrashCases};
use crate::engines;
use crate::failure::{Exit, Failure, Result};
use crate::interrupt;
use crate::output::{free_path, print};
use crate::progress::ProgressStep;
use bourse_acid::AcidError;
use bourse_acid::states::{self, Cases, RecordedWork, Recordings, StatesOptions};
use bourse_crash::{Device, PROFILES};
use bourse_engine::{Engine, EngineError, ErrorKind};
use bourse_record::crash::StatesSection;
use std::io;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

/// Command of a process that does recorded work.
fn recorded(work: &str) -> io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["crash-work", work]);
    Ok(command)
}

/// `bourse crash-work`: does the work whose file operations are recorded.
pub(crate) fn work(work: &str) -> Result<()> {
    interrupt::die_with_parent()?;
    let done = RecordedWork::parse(work).and_then(|work| work.perform(&opened));
    done.map_err(|error| Failure::new(Exit::of(error.kind()), error.to_string()))
}

fn opened(target: &str) -> Result<Box<dyn Engine>, AcidError> {
    engines::open(target).map_err(|failure| AcidError::Engine(EngineError::new(ErrorKind::Other, failure.render())))
}

/// Targets enumerated besides SQLite, if none is named and this build has them.
const TARGETS: [&str; 5] =
    ["lmdb:?sync=full", "redb:?durability=immediate", "rocksdb:?sync=on", "fjall:?persist=sync_data", "turso:"];

/// Targets that are enumerated.
pub(super) fn targets(arguments: &CrashArgs) -> Vec<String> {
    match &arguments.target {
        Some(target) => vec![target.clone()],
        None => TARGETS.iter().filter(|target| engines::is_here(target).is_ok()).map(|it| (*it).to_owned()).collect(),
    }
}

/// Devices of these names.
///
/// # Errors
/// There is no such device.
pub(super) fn devices(names: &[String]) -> Result<Vec<Device>> {
    let known = |name: &String| {
        PROFILES.into_iter().find(|device| device.name == name).ok_or_else(|| {
            let words = PROFILES.map(|device| format!("{}: {}", device.name, device.title)).join("\n");
            Failure::usage(format!("unknown profile '{name}'")).hint(format!("profiles:\n{words}"))
        })
    };
    names.iter().map(known).collect()
}

/// Enumerates the states, and writes the files of violations below a folder; `None` if it was interrupted.
pub(super) fn states(arguments: &CrashArgs, folder: &Path, interrupted: &AtomicBool) -> Result<Option<StatesSection>> {
    let (targets, devices) = (targets(arguments), devices(&arguments.profile)?);
    let options = StatesOptions {
        cases: match (arguments.cases, &arguments.target) {
            (_, Some(_)) => Cases::None,
            (CrashCases::Usual, None) => Cases::Usual,
            (CrashCases::All, None) => Cases::All,
        },
        targets: &targets,
        devices: &devices,
        states: arguments.states.0,
        seed: arguments.seed,
        fault_runs: arguments.faults,
    };
    let recordings = Recordings::new(&recorded, interrupted).map_err(|error| Failure::usage(error.to_string()))?;
    let step = ProgressStep::waiting("enumerating the states that power losses leave".to_owned());
    let section = states::enumerate(&options, &recordings, folder, &|what| step.say(what.to_owned()));
    step.done();
    match section {
        _ if interrupted.load(Ordering::Relaxed) => Ok(None),
        Ok(section) => Ok(Some(section)),
        Err(error) => Err(Failure::new(Exit::of(error.kind()), format!("cannot enumerate the states: {error}"))),
    }
}

/// Rebuilds a state and reports what it is.
pub(super) fn replay(state: &str, seed: u64, below: &Path) -> Result<()> {
    let folder = free_path(&states::folder_of(state, below));
    let interrupted = interrupt::flag()?;
    let recordings = Recordings::new(&recorded, &interrupted).map_err(|error| Failure::usage(error.to_string()))?;
    let replayed =
        states::replay(&recordings, state, seed, &folder).map_err(|error| Failure::usage(error.to_string()))?;
    print(&format!(
        "{state} with seed {seed}: {}; {} commits were acknowledged\nfiles: {}\n",
        replayed.found,
        replayed.acknowledged,
        folder.display()
    ))?;
    if replayed.is_broken {
        return Err(Failure::new(Exit::Check, "this state violates the guarantee of its settings"));
    }
    Ok(())
}
