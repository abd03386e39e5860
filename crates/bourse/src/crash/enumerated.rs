//! The enumerated states: found, kept as files, made again.

use crate::args::{Crash, CrashCases};
use crate::failure::{Exit, Failure};
use crate::output::print;
use crate::progress::Step;
use bourse_acid::states::{self, Cases, StatesOptions};
use bourse_record::crash::StatesSection;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Enumerates the states; `None` if that was cut short.
pub(super) fn states(arguments: &Crash, interrupted: &AtomicBool) -> Result<Option<StatesSection>, Failure> {
    let options = StatesOptions {
        cases: match arguments.cases {
            CrashCases::Usual => Cases::Usual,
            CrashCases::All => Cases::All,
        },
        states: arguments.states.0,
        seed: arguments.seed,
        fault_runs: arguments.faults,
    };
    let step = Step::waiting("enumerating the states that power losses leave".to_owned());
    let section = states::enumerate(&options, interrupted, &|what| step.say(what.to_owned()));
    step.done();
    match section {
        _ if interrupted.load(Ordering::Relaxed) => Ok(None),
        Ok(section) => Ok(Some(section)),
        Err(error) => Err(Failure::new(Exit::Target, format!("cannot enumerate the states: {error}"))),
    }
}

/// The folder of a state below another.
fn folder_of(state: &str, below: &Path) -> PathBuf {
    below.join("states").join(state.replace(['/', ':'], "_"))
}

/// Writes the files of a state.
pub(super) fn keep(state: &str, seed: u64, below: &Path) -> Result<PathBuf, Failure> {
    let folder = folder_of(state, below);
    states::replay(state, seed, &folder).map_err(|error| Failure::new(Exit::Target, error.to_string()))?;
    Ok(folder)
}

/// Makes a state again and says what it is.
pub(super) fn replay(state: &str, seed: u64, below: &Path) -> Result<(), Failure> {
    let folder = folder_of(state, below);
    let replayed = states::replay(state, seed, &folder).map_err(|error| Failure::usage(error.to_string()))?;
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
