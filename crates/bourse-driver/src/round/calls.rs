//! Calls in progress: the driver waits for every call of a user, and reports those that continue after the interval.

use crate::{Nanos, RoundControl, SECOND, UserSpec};
use bourse_record::{LiveCell, OperationSpec};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A call that continues after the measurement interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallInProgress {
    /// Name of the session's user.
    pub user: String,
    /// Operation of the call, if known before it ends.
    pub operation: Option<String>,
    /// Seconds since the call began.
    pub for_s: f64,
}

/// Last pass of the thread that samples this process's round or, if that is later, the end of its interval; `Nanos::MAX` without a
/// round.
static LAST_PASS: AtomicU64 = AtomicU64::new(Nanos::MAX);

/// Nanoseconds at `now` for which a call to the engine has held the thread that samples this process's round, after the
/// measurement interval: who looks for calls that never return is that thread.
pub fn sampling_held_ns(now: Nanos) -> Nanos {
    now.saturating_sub(LAST_PASS.load(Ordering::Relaxed))
}

/// Sampling of a round by a thread that is watched until this is dropped.
pub(super) struct WatchedSampling;

impl WatchedSampling {
    /// Notes a pass of the thread.
    pub(super) fn passes(&self, now: Nanos, control: &RoundControl) {
        LAST_PASS.store(now.max(control.measure_to()), Ordering::Relaxed);
    }
}

impl Drop for WatchedSampling {
    fn drop(&mut self) {
        LAST_PASS.store(Nanos::MAX, Ordering::Relaxed);
    }
}

/// A user whose calls are watched.
struct WatchedUser {
    name: String,
    live: Arc<LiveCell>,
    /// Operation of the user, if it has only one.
    only: Option<usize>,
}

/// The users of a round whose calls are watched.
#[derive(Default)]
pub(super) struct Calls(Vec<WatchedUser>);

impl Calls {
    /// Adds a user of a workload with `operations` operations.
    pub(super) fn watch(&mut self, user_spec: &UserSpec<'_>, live: Arc<LiveCell>, operations: usize) {
        let mut performed = (0..operations).filter(|operation| user_spec.user.performs(*operation));
        let only = performed.next().filter(|_| performed.next().is_none());
        self.0.push(WatchedUser { name: user_spec.name.clone(), live, only });
    }

    /// Calls in progress at `now`, once the interval has ended; the longest first.
    pub(super) fn after_interval(
        &self,
        now: Nanos,
        control: &RoundControl,
        operations: &[OperationSpec],
    ) -> Vec<CallInProgress> {
        if !control.draining(now) {
            return Vec::new();
        }
        let in_progress = |watched: &WatchedUser| {
            let (since, operation) = watched.live.call()?;
            let operation = operation.or(watched.only).and_then(|at| operations.get(at));
            Some(CallInProgress {
                user: watched.name.clone(),
                operation: operation.map(|spec| spec.name.to_owned()),
                for_s: now.saturating_sub(since) as f64 / SECOND as f64,
            })
        };
        let mut calls: Vec<_> = self.0.iter().filter_map(in_progress).collect();
        calls.sort_by(|one, other| other.for_s.total_cmp(&one.for_s));
        calls
    }
}
