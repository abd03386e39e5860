//! A snapshot of the database, from which the rounds of a run begin alike.

use super::{Shared, lock};
use crate::protocol::control::Beginning;
use bourse_engine::{ErrorKind, Snapshot};
use bourse_oltp::sut::SharedWorkload;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Stored snapshot: a single one, of the last run that requested it.
pub(super) struct Copy {
    number: u64,
    snapshot: Box<dyn Snapshot>,
    /// Rounds that had changed the database when it was taken.
    rounds: u64,
}

/// Preparation of the database before a round.
#[derive(Default)]
pub(super) struct PreparedRound {
    /// Number of the snapshot that was taken.
    pub(super) kept: Option<u64>,
    /// Preparation that was made, as a sentence; empty if there was none.
    pub(super) words: String,
}

/// Brings the database into the state that a round begins with. No transaction may be running.
///
/// # Errors
/// The reason, as a sentence.
pub(super) fn prepare<W: SharedWorkload>(
    shared: &Shared<'_, W>,
    beginning: Beginning,
) -> Result<PreparedRound, String> {
    if beginning == Beginning::AsItIs {
        return Ok(PreparedRound::default());
    }
    // Sessions would go on with what is replaced.
    shared.pool.close_idle();
    let mut copy = lock(&shared.copy);
    let begun = Instant::now();
    if let Beginning::PutBack { copy: wanted } = beginning {
        let Some(found) = copy.as_ref().filter(|copy| copy.number == wanted) else {
            return Err("the snapshot of the database is gone: another run has taken one".to_owned());
        };
        found.snapshot.restore().map_err(|error| format!("cannot restore the database: {error}"))?;
        shared.rounds.opened.store(found.rounds, Ordering::Relaxed);
        let (seconds, how) = (begun.elapsed().as_secs_f64(), found.snapshot.method());
        let words = format!("restored in {seconds:.1} s to the state before the first round ({how})");
        return Ok(PreparedRound { kept: None, words });
    }
    // The old one goes first: two may be more than there is room for.
    *copy = None;
    match shared.offer.engine.snapshot() {
        Ok(snapshot) => {
            let number = super::listener::random_number();
            let taken = begun.elapsed().as_secs_f64();
            // The first round begins from the copy as the others do.
            snapshot.restore().map_err(|error| format!("cannot restore the database: {error}"))?;
            let restored = begun.elapsed().as_secs_f64() - taken;
            let words = format!(
                "snapshot for further rounds taken in {taken:.1} s and put back in {restored:.1} s, as before each round"
            );
            *copy = Some(Copy { number, snapshot, rounds: shared.rounds.opened.load(Ordering::Relaxed) });
            Ok(PreparedRound { kept: Some(number), words })
        }
        Err(error) if matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::Full) => {
            let words = format!("further rounds begin with the database as this one leaves it: {}", error.message());
            Ok(PreparedRound { kept: None, words })
        }
        Err(error) => Err(format!("cannot take a snapshot of the database: {error}")),
    }
}
