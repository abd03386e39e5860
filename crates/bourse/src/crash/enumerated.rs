//! The enumerated states: found, stored as files, rebuilt.

use crate::args::{Crash, CrashCases};
use crate::failure::{Exit, Failure};
use crate::output::{free_path, print};
use crate::progress::Step;
use bourse_acid::states::{self, Cases, StatesOptions};
use bourse_record::crash::StatesSection;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Enumerates the states, and writes the files of violations below a folder; `None` if it was interrupted.
pub(super) fn states(
    arguments: &Crash,
    folder: &Path,
    interrupted: &AtomicBool,
) -> Result<Option<StatesSection>, Failure> {
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
    let section = states::enumerate(&options, folder, interrupted, &|what| step.say(what.to_owned()));
    step.done();
    match section {
        _ if interrupted.load(Ordering::Relaxed) => Ok(None),
        Ok(section) => Ok(Some(section)),
        Err(error) => Err(Failure::new(Exit::Target, format!("cannot enumerate the states: {error}"))),
    }
}

/// Rebuilds a state and reports what it is.
pub(super) fn replay(state: &str, seed: u64, below: &Path) -> Result<(), Failure> {
    let folder = free_path(&states::folder_of(state, below));
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
