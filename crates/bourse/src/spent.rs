//! Time of this process by part: a stopwatch that is always on one part, so that no moment counts twice and the parts add up
//! to all of it.

use bourse_record::{PartOfTime, PhaseKind, Round, TimeSpent};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

bourse_engine::named! {
    /// Part of the time; in the order of the report.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub(crate) enum SpentPart {
        /// A database is loaded.
        Loading = "loading",
        /// The database is checked before it is used.
        ChecksBefore = "checks before use",
        /// Harness overhead and machine noise are measured.
        Calibration = "calibration",
        /// A copy of it is made.
        Copy = "taking a snapshot",
        /// The database is put back before a round.
        Restore = "restoring before rounds",
        /// A quiet machine is waited for.
        Quiet = "waiting for a quiet machine",
        /// A round is begun and ended: its process, its sessions and tables, and the checks of a microbenchmark.
        Rounds = "beginning and ending rounds",
        /// Rounds of a search for a rate.
        Search = "trying rates",
        /// Warm-up of a round.
        WarmUp = "warm-up",
        /// Measurement interval of a round.
        Interval = "measurement interval",
        /// Drain of a round.
        Drain = "drain",
        /// Response times at a part of a round's rate: all its phases.
        Latency = "phase at 70 % of the rate",
        /// The database is checked after a round.
        ChecksAfter = "checks after rounds",
        /// Instructions are counted.
        Instructions = "counting instructions",
        /// Transactions are compared with the model's.
        Sample = "lockstep sample",
        /// Databases are put back after the last round.
        PutBack = "restoring after the run",
        /// None of these.
        Other = "other",
    }
}

/// Time by part, in nanoseconds: as a child process reports it.
pub(crate) type SpentParts = BTreeMap<SpentPart, u64>;

/// A stopwatch that is always on one part.
#[derive(Debug)]
struct Stopwatch {
    part: SpentPart,
    /// Moment until which time is counted.
    until: Duration,
    spent: BTreeMap<SpentPart, Duration>,
}

impl Stopwatch {
    const fn new() -> Self {
        Self { part: SpentPart::Other, until: Duration::ZERO, spent: BTreeMap::new() }
    }

    /// Adds the time until `now` to the current part and switches to another; returns the part until then.
    fn switch(&mut self, now: Duration, to: SpentPart) -> SpentPart {
        *self.spent.entry(self.part).or_default() += now.saturating_sub(self.until);
        self.until = self.until.max(now);
        std::mem::replace(&mut self.part, to)
    }

    /// Moves time of one part to another, at most as much as there is.
    fn give(&mut self, now: Duration, from: SpentPart, to: SpentPart, time: Duration) {
        self.switch(now, self.part);
        let all = self.spent.entry(from).or_default();
        let given = time.min(*all);
        *all -= given;
        *self.spent.entry(to).or_default() += given;
    }

    /// The parts until a moment.
    fn parts(&mut self, now: Duration) -> BTreeMap<SpentPart, Duration> {
        self.switch(now, self.part);
        self.spent.clone()
    }
}

static STARTED: LazyLock<Instant> = LazyLock::new(Instant::now);
static WATCH: Mutex<Stopwatch> = Mutex::new(Stopwatch::new());

fn watch() -> (MutexGuard<'static, Stopwatch>, Duration) {
    let watch = WATCH.lock().unwrap_or_else(PoisonError::into_inner);
    (watch, STARTED.elapsed())
}

/// Begins to count.
pub(crate) fn begin() {
    LazyLock::force(&STARTED);
}

/// Counts to a part as long as the value lives; only the innermost of nested ones counts.
#[must_use]
pub(crate) fn on(part: SpentPart) -> Spending {
    let (mut watch, now) = watch();
    Spending { before: watch.switch(now, part), begun: now }
}

/// A running part of the time.
pub(crate) struct Spending {
    before: SpentPart,
    begun: Duration,
}

impl Spending {
    /// Ends the part and counts its time to none: nothing came of it.
    pub(crate) fn in_vain(self) {
        let (mut watch, now) = watch();
        let part = watch.switch(now, self.before);
        watch.give(now, part, SpentPart::Other, now.saturating_sub(self.begun));
    }
}

impl Drop for Spending {
    fn drop(&mut self) {
        let (mut watch, now) = watch();
        watch.switch(now, self.before);
    }
}

/// Time that this process has spent until now.
pub(crate) fn parts() -> SpentParts {
    let (mut watch, now) = watch();
    watch.parts(now).into_iter().map(|(part, time)| (part, time.as_nanos() as u64)).collect()
}

/// Assigns the time of a child process to its parts, out of the time for which its round was begun and ended here; its rest
/// stays there.
pub(crate) fn of_process(parts: &SpentParts) {
    let (mut watch, now) = watch();
    let named = parts.iter().filter(|(part, _)| !matches!(part, SpentPart::Rounds | SpentPart::Other));
    named.for_each(|(part, ns)| watch.give(now, SpentPart::Rounds, *part, Duration::from_nanos(*ns)));
}

/// Counts the phases of a round that was run while it was begun and ended here.
pub(crate) fn of_round(round: &Round, is_probe: bool) {
    let mut all = SpentParts::new();
    let mut add = |part, round: &Round, of: fn(PhaseKind, SpentPart) -> SpentPart| {
        for phase in &round.phases {
            let ns = ((phase.to_s - phase.from_s).max(0.0) * 1e9) as u64;
            *all.entry(of(phase.kind, part)).or_default() += ns;
        }
    };
    match is_probe {
        true => add(SpentPart::Search, round, |_, part| part),
        false => add(SpentPart::Interval, round, |kind, part| match kind {
            PhaseKind::WarmUp => SpentPart::WarmUp,
            PhaseKind::Measurement => part,
            PhaseKind::Drain => SpentPart::Drain,
        }),
    }
    if let Some(latency) = &round.latency {
        add(SpentPart::Latency, &latency.round, |_, part| part);
    }
    of_process(&all);
}

/// All of the time until now, for a document.
pub(crate) fn time_spent() -> TimeSpent {
    let (mut watch, now) = watch();
    let parts = watch.parts(now);
    let part =
        |(part, time): (SpentPart, Duration)| PartOfTime { name: part.name().to_owned(), seconds: time.as_secs_f64() };
    TimeSpent {
        total_s: now.as_secs_f64(),
        parts: parts.into_iter().filter(|(_, time)| !time.is_zero()).map(part).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_moment_counts_twice_and_none_is_lost() {
        let at = Duration::from_millis;
        let mut watch = Stopwatch::new();
        assert_eq!(watch.switch(at(5), SpentPart::Rounds), SpentPart::Other);
        assert_eq!(watch.switch(at(105), SpentPart::Loading), SpentPart::Rounds);
        assert_eq!(watch.switch(at(405), SpentPart::Rounds), SpentPart::Loading);
        // An interval within, assigned afterwards.
        watch.give(at(1_405), SpentPart::Rounds, SpentPart::Interval, at(900));
        watch.switch(at(1_455), SpentPart::Other);
        // At most the existing time is moved: the parts still sum to the clock's time.
        watch.give(at(1_500), SpentPart::Rounds, SpentPart::Drain, at(10_000));
        let parts = watch.parts(at(1_600));
        let expected = [
            (SpentPart::Loading, at(300)),
            (SpentPart::Rounds, at(0)),
            (SpentPart::Interval, at(900)),
            (SpentPart::Drain, at(250)),
            (SpentPart::Other, at(150)),
        ];
        assert_eq!(parts, BTreeMap::from(expected));
        assert_eq!(parts.values().sum::<Duration>(), at(1_600));
    }
}
