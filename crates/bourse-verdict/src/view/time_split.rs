//! Split of the users' time, over all rounds of a case.

use super::CaseView;
use bourse_record::{BlockedOn, TimeSplit};

/// A part of the users' time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimePart {
    /// Time on a processor.
    Cpu,
    /// Time in the driver's own code.
    Harness,
    /// Time ready to run, waiting for a processor.
    Runnable,
    /// Time blocked on something else.
    Blocked(BlockedOn),
}

impl TimePart {
    /// Each with its name in tables and charts, and that in tables for programs, in the order of rows and bars.
    const NAMED: [(Self, &'static str, &'static str); 11] = [
        (Self::Cpu, "on a CPU", "cpu"),
        (Self::Harness, "harness", "harness_cpu"),
        (Self::Runnable, "waiting for a CPU", "runnable"),
        (Self::Blocked(BlockedOn::Sync), "syncs", "sync"),
        (Self::Blocked(BlockedOn::Lock), "locks", "lock"),
        (Self::Blocked(BlockedOn::Storage), "reads and writes", "storage"),
        (Self::Blocked(BlockedOn::Server), "server and network", "server"),
        (Self::Blocked(BlockedOn::Other), "other waits", "other"),
        (Self::Blocked(BlockedOn::BackOff), "back-off", "back_off"),
        (Self::Blocked(BlockedOn::Queue), "driver's queue", "queue"),
        (Self::Blocked(BlockedOn::Schedule), "not due yet", "schedule"),
    ];

    /// All of them, in the order of rows and bars.
    pub fn all() -> [Self; Self::NAMED.len()] {
        Self::NAMED.map(|(part, ..)| part)
    }

    fn named(self) -> (&'static str, &'static str) {
        let named = Self::NAMED.into_iter().find(|(part, ..)| *part == self);
        named.map(|(_, name, key)| (name, key)).expect("each part is listed")
    }

    /// Name in tables and charts.
    pub fn name(self) -> &'static str {
        self.named().0
    }

    /// Name in tables for programs.
    pub fn key(self) -> &'static str {
        self.named().1
    }

    /// Whether the thread had nothing to do: time that a faster engine would not save.
    pub const fn is_idle(self) -> bool {
        matches!(self, Self::Blocked(BlockedOn::Queue | BlockedOn::Schedule))
    }
}

/// The time of one kind of user. The parts sum to the whole.
#[derive(Debug, Clone, PartialEq)]
pub struct RoleSplit {
    /// Kind of user.
    pub role: String,
    /// Threads of a round.
    pub threads: u64,
    /// Wall-clock time of all its threads, in seconds.
    pub wall_s: f64,
    /// Seconds, in the order of [`TimePart::all`].
    seconds: [f64; TimePart::NAMED.len()],
}

impl RoleSplit {
    /// Seconds of a part.
    pub fn seconds(&self, part: TimePart) -> f64 {
        TimePart::all().iter().zip(self.seconds).find(|(it, _)| **it == part).map_or(0.0, |(_, seconds)| seconds)
    }

    /// The share of a part, from 0 to 1.
    pub fn share(&self, part: TimePart) -> f64 {
        if self.wall_s > 0.0 { self.seconds(part) / self.wall_s } else { 0.0 }
    }

    /// The share in which it had something to do.
    pub fn busy(&self) -> f64 {
        1.0 - TimePart::all().iter().filter(|part| part.is_idle()).map(|part| self.share(*part)).sum::<f64>()
    }

    fn add(&mut self, other: &Self) {
        self.threads = self.threads.max(other.threads);
        self.wall_s += other.wall_s;
        self.seconds.iter_mut().zip(other.seconds).for_each(|(sum, each)| *sum += each);
    }
}

/// The users' time by kind of user; empty if it is unknown for any round.
pub fn roles(view: &CaseView<'_>) -> Vec<RoleSplit> {
    let mut sum: Vec<RoleSplit> = Vec::new();
    for round in view.case.rounds.iter().filter(|round| round.measured_s > 0.0) {
        let Some(TimeSplit::Measured(roles)) = &round.time_split else { return Vec::new() };
        for role in roles {
            let calibrated = view.machine().harness_ns.unwrap_or(0.0) / 1e9 * role.operations as f64;
            let harness = (calibrated + role.pause_cpu_s).clamp(0.0, role.cpu_s.max(0.0));
            let seconds = TimePart::all().map(|part| match part {
                TimePart::Cpu => role.cpu_s - harness,
                TimePart::Harness => harness,
                TimePart::Runnable => role.runnable_s,
                TimePart::Blocked(on) => role.blocked_on(on),
            });
            let split = RoleSplit { role: role.role.clone(), threads: role.threads, wall_s: role.wall_s, seconds };
            match sum.iter_mut().find(|it| it.role == split.role) {
                Some(it) => it.add(&split),
                None => sum.push(split),
            }
        }
    }
    sum
}

/// Reason why the split is unknown, if the system does not report it.
pub fn not_available<'a>(view: &CaseView<'a>) -> Option<&'a str> {
    view.case.rounds.iter().find_map(|round| match round.time_split.as_ref()? {
        TimeSplit::NotAvailable(why) => Some(why.as_str()),
        TimeSplit::Measured(_) => None,
    })
}
