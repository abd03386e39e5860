//! The catalogue of faults.

use bourse_crash::preload::{Call, CallEffect};
use bourse_record::SplitMix;

/// A fault: an effect on one kind of system call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallFault {
    /// Name, for `--only` and documents.
    pub name: &'static str,
    /// Description in one line.
    pub title: &'static str,
    /// Kind of call that is hit.
    pub call: Call,
    /// Effect on that call.
    pub effect: CallEffect,
    /// Whether the power is lost afterwards, so that only synced data survives.
    pub loses_power: bool,
}

impl CallFault {
    /// Whether the engine can notice the fault: a lying disk and a loss of power give no sign.
    pub const fn is_visible(&self) -> bool {
        !matches!(self.effect, CallEffect::Lie | CallEffect::End)
    }
}

const fn fault(name: &'static str, title: &'static str, call: Call, effect: CallEffect) -> CallFault {
    CallFault { name, title, call, effect, loses_power: false }
}

/// All faults, in the order of the table.
pub const FAULTS: [CallFault; 16] = [
    fault("read-error", "read fails once (EIO)", Call::Read, CallEffect::FailOnce),
    fault("short-read", "read returns half", Call::Read, CallEffect::Half),
    fault("write-error", "write fails once (EIO)", Call::Write, CallEffect::FailOnce),
    fault("write-errors", "writes fail from one on (EIO)", Call::Write, CallEffect::FailOn),
    fault("short-write", "write writes half", Call::Write, CallEffect::Half),
    fault("disk-full", "disk full (ENOSPC)", Call::Grow, CallEffect::Full),
    fault("sync-error", "sync fails once (EIO)", Call::Sync, CallEffect::FailOnce),
    CallFault {
        loses_power: true,
        ..fault("sync-error-power", "sync fails once, power lost later", Call::Sync, CallEffect::FailOnce)
    },
    CallFault {
        loses_power: true,
        ..fault("sync-errors-power", "syncs fail from one on, power lost", Call::Sync, CallEffect::FailOn)
    },
    fault("two-errors", "write fails, and the next write or sync", Call::Write, CallEffect::FailTwice),
    CallFault {
        loses_power: true,
        ..fault("two-errors-power", "sync and the next call fail, power lost", Call::Sync, CallEffect::FailTwice)
    },
    fault("no-memory", "allocation of a transaction fails", Call::Allocate, CallEffect::FailOnce),
    fault("map-error", "mapped pages unreadable", Call::Write, CallEffect::Blind),
    fault("killed", "process killed before a write", Call::Write, CallEffect::End),
    CallFault { loses_power: true, ..fault("power", "power lost before a write", Call::Write, CallEffect::End) },
    CallFault {
        loses_power: true,
        ..fault("lying-disk", "syncs do nothing, power lost later", Call::Sync, CallEffect::Lie)
    },
];

/// Largest number of allocations that are hit, from the first on.
pub(super) const MOST_ALLOCATIONS: u64 = 1_000;

/// Numbers of the calls to hit, out of `calls`: `times` of them, one in each part of the work, drawn from the seed.
pub fn moments(calls: u64, times: u32, seed: u64) -> Vec<u64> {
    let mut random = SplitMix::new(seed);
    let times = u64::from(times);
    let part = |number: u64| calls * number / times.max(1);
    let mut all: Vec<u64> = (0..times)
        .map(|number| (part(number), part(number + 1)))
        .filter(|(from, to)| from < to)
        .map(|(from, to)| from + 1 + random.below(to - from))
        .collect();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_spread_over_the_work() {
        for seed in 0..50 {
            let found = moments(300, 3, seed);
            assert!(matches!(found[..], [1..=100, 101..=200, 201..=300]), "{found:?}");
            assert_eq!(moments(300, 3, seed), found, "a seed gives the same again");
        }
        assert_eq!(moments(1, 3, 1), [1], "one call can meet one fault");
        assert!(moments(0, 3, 1).is_empty());
    }

    #[test]
    fn names_are_told_apart() {
        let names: std::collections::HashSet<_> = FAULTS.iter().map(|fault| fault.name).collect();
        assert_eq!(names.len(), FAULTS.len());
    }
}
