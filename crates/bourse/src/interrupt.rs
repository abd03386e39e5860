//! Ctrl-C and SIGTERM: the first asks for a clean end, the second ends at once.

use crate::failure::{Exit, Failure};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that is set by the first interruption; a second one ends the program at once.
pub(crate) fn flag() -> Result<Arc<AtomicBool>, Failure> {
    let flag = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&flag);
    ctrlc::set_handler(move || {
        if seen.swap(true, Ordering::SeqCst) {
            std::process::exit(Exit::Interrupted as i32);
        }
    })
    .map_err(|error| Failure::usage(format!("interruptions cannot be caught: {error}")))?;
    Ok(flag)
}

/// The failure of work that was interrupted before there was anything to report.
pub(crate) fn interrupted(what: &str) -> Failure {
    Failure::new(Exit::Interrupted, format!("interrupted: {what}"))
}
