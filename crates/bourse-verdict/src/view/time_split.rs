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
    /// All of them, in the order of rows and bars.
    pub const ALL: [Self; 11] = [
        Self::Cpu,
        Self::Harness,
        Self::Runnable,
        Self::Blocked(BlockedOn::Sync),
        Self::Blocked(BlockedOn::Lock),
        Self::Blocked(BlockedOn::Storage),
        Self::Blocked(BlockedOn::Server),
        Self::Blocked(BlockedOn::Other),
        Self::Blocked(BlockedOn::BackOff),
        Self::Blocked(BlockedOn::Queue),
        Self::Blocked(BlockedOn::Schedule),
    ];

    /// Name in tables and charts.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cpu => "on a CPU",
            Self::Harness => "harness",
            Self::Runnable => "waiting for a CPU",
            Self::Blocked(on) => match on {
                BlockedOn::Sync => "syncs",
                BlockedOn::Lock => "locks",
                BlockedOn::Storage => "reads and writes",
                BlockedOn::Server => "server and network",
                BlockedOn::Other => "other waits",
                BlockedOn::BackOff => "back-off",
                BlockedOn::Queue => "driver's queue",
                BlockedOn::Schedule => "not due yet",
            },
        }
    }

    /// Name in tables for programs.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Harness => "harness_cpu",
            Self::Runnable => "runnable",
            Self::Blocked(on) => match on {
                BlockedOn::Sync => "sync",
                BlockedOn::Lock => "lock",
                BlockedOn::Storage => "storage",
                BlockedOn::Server => "server",
                BlockedOn::Other => "other",
                BlockedOn::BackOff => "back_off",
                BlockedOn::Queue => "queue",
                BlockedOn::Schedule => "schedule",
            },
        }
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
    /// Seconds, in the order of [`TimePart::ALL`].
    seconds: [f64; TimePart::ALL.len()],
}

impl RoleSplit {
    /// Seconds of a part.
    pub fn seconds(&self, part: TimePart) -> f64 {
        TimePart::ALL.iter().zip(self.seconds).find(|(it, _)| **it == part).map_or(0.0, |(_, seconds)| seconds)
    }

    /// The share of a part, from 0 to 1.
    pub fn share(&self, part: TimePart) -> f64 {
        if self.wall_s > 0.0 { self.seconds(part) / self.wall_s } else { 0.0 }
    }

    /// The share in which it had something to do.
    pub fn busy(&self) -> f64 {
        1.0 - TimePart::ALL.iter().filter(|part| part.is_idle()).map(|part| self.share(*part)).sum::<f64>()
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
            let seconds = TimePart::ALL.map(|part| match part {
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
