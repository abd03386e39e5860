//! The process that meets the faults, and the one that examines the database afterwards: `bourse fault-work`.

use crate::args::FaultWork;
use crate::engines;
use crate::failure::{Exit, Failure, Result};
use crate::interrupt;
use bourse_acid::known_work::{self as work, WorkEvent};
use bourse_crash::preload::{ControlFile, ProcessFiles};
use std::io::Write as _;

/// Runs transactions or looks at the database, and reports each event on stdout.
pub(crate) fn work(arguments: &FaultWork) -> Result<()> {
    interrupt::die_with_parent()?;
    let engine = engines::open(&arguments.target)?;
    let mut tell = |event: WorkEvent| {
        // One write for a line, so that the end of this process cannot leave half of one.
        let line = serde_json::to_string(&event).map(|line| format!("{line}\n"));
        let mut stdout = std::io::stdout().lock();
        let told = line.map_err(std::io::Error::from).and_then(|line| stdout.write_all(line.as_bytes()));
        if told.and_then(|()| stdout.flush()).is_err() {
            // The parent is gone.
            std::process::exit(Exit::Target as i32);
        }
    };
    if arguments.look {
        tell(work::look(engine.as_ref(), arguments.seed));
        return Ok(());
    }
    let control = ProcessFiles::of_this_process().map(|places| ControlFile::open(&places.control)).transpose();
    let control = control.map_err(|error| Failure::usage(format!("the control file cannot be read: {error}")))?;
    let window = |is_open| {
        // A control file that cannot be written counts no allocation.
        let _ = control.as_ref().map(|control| control.set_changing(is_open));
    };
    let session = work::work_with(engine.as_ref(), arguments.seed, arguments.transactions, &window, &mut tell);
    if arguments.leave_open {
        // The power is lost next: writes of a clean close must not happen.
        std::process::exit(0);
    }
    drop(session);
    Ok(())
}
