//! Order of transactions between users.

use super::steps::Unit;
use bourse_engine::locked;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Units that have ended, for those that wait for them.
#[derive(Debug)]
pub(super) struct Order {
    progress: Mutex<Progress>,
    changed: Condvar,
}

#[derive(Debug)]
struct Progress {
    /// Whether each unit has ended, by rank.
    ended: Vec<bool>,
    /// Number of ended units before the first that has not ended.
    all: usize,
    writers: usize,
    waiting: usize,
}

impl Progress {
    fn lets(&self, unit: &Unit) -> bool {
        self.all >= unit.after && (!unit.writes || self.writers >= unit.after_writers)
    }
}

impl Order {
    pub(super) fn of(units: usize) -> Self {
        let progress = Progress { ended: vec![false; units], all: 0, writers: 0, waiting: 0 };
        Self { progress: Mutex::new(progress), changed: Condvar::new() }
    }

    /// Waits until the unit may begin, at most so long; whether it may.
    pub(super) fn may_begin(&self, unit: &Unit, patience: Duration) -> bool {
        let mut progress = locked(&self.progress);
        if progress.lets(unit) {
            return true;
        }
        progress.waiting += 1;
        let waited = self.changed.wait_timeout_while(progress, patience, |it| !it.lets(unit));
        let (mut progress, _) = waited.unwrap_or_else(PoisonError::into_inner);
        progress.waiting -= 1;
        progress.lets(unit)
    }

    /// Ends a unit.
    pub(super) fn ended(&self, unit: &Unit) {
        let mut progress = locked(&self.progress);
        progress.ended[unit.rank] = true;
        progress.all += progress.ended[progress.all..].iter().take_while(|ended| **ended).count();
        progress.writers += usize::from(unit.writes);
        if progress.waiting > 0 {
            self.changed.notify_all();
        }
    }
}
