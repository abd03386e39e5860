//! Cases: settings of SQLite on a device, with an activity that power losses interrupt.

use bourse_crash::{Device, Promise};
use bourse_engine::Durability;
use bourse_engine_sqlite::{Journal, Sync, durability_on_disk};
use std::fmt;
use std::str::FromStr;

/// Activity that power losses interrupt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Activity {
    /// Transactions, with the checkpoints of a log.
    Work,
    /// Load of a new database.
    Load,
    /// Load that replaces a database.
    Reload,
}

/// Case of the enumeration. Its name describes it completely: `wal-full`, `delete-extra-garbling-4096` or `load-wal-full`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Case {
    pub(super) activity: Activity,
    pub(super) journal: Journal,
    pub(super) sync: Sync,
    pub(super) device: Device,
}

/// Devices: one with the properties that SQLite assumes, and stricter ones.
const DEVICES: [Device; 3] = [Device::POWERSAFE, Device::garbling(512), Device::garbling(4_096)];
const JOURNALS: [Journal; 6] =
    [Journal::Delete, Journal::Truncate, Journal::Persist, Journal::Wal, Journal::Memory, Journal::Off];
const SYNCS: [Sync; 4] = [Sync::Extra, Sync::Full, Sync::Normal, Sync::Off];

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.activity {
            Activity::Work => {}
            Activity::Load => f.write_str("load-")?,
            Activity::Reload => f.write_str("reload-")?,
        }
        write!(f, "{}-{}", self.journal.word(), self.sync.word())?;
        match self.device.powersafe_overwrite {
            true => Ok(()),
            false => write!(f, "-garbling-{}", self.device.sector_bytes),
        }
    }
}

impl FromStr for Case {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut of_all = all(&DEVICES).into_iter();
        of_all.find(|case| case.to_string() == text).ok_or_else(|| {
            format!("`{text}` is no case of the enumeration: expected JOURNAL-SYNC[-garbling-SECTOR], as wal-full or delete-extra-garbling-4096, or load-wal-full")
        })
    }
}

/// All cases on these devices.
fn all(devices: &[Device]) -> Vec<Case> {
    let mut cases = Vec::new();
    for device in devices {
        for journal in JOURNALS {
            for sync in SYNCS {
                cases.push(Case { activity: Activity::Work, journal, sync, device: *device });
            }
        }
        for activity in [Activity::Load, Activity::Reload] {
            for journal in [Journal::Delete, Journal::Wal] {
                cases.push(Case { activity, journal, sync: Sync::Full, device: *device });
            }
        }
    }
    cases
}

/// Selection of cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cases {
    /// Settings in common use, each on the device SQLite assumes, some on stricter ones, and two that guarantee nothing.
    Usual,
    /// Each journal mode with each sync setting, on each device.
    All,
}

impl Cases {
    /// Selected cases, in order.
    pub(super) fn list(self) -> Vec<Case> {
        let everything = all(&DEVICES);
        match self {
            Self::All => everything,
            Self::Usual => {
                let is_usual = |case: &Case| match (case.activity, case.journal, case.sync) {
                    (Activity::Work, Journal::Memory, sync) => sync == Sync::Full && case.device == Device::POWERSAFE,
                    (Activity::Work, Journal::Off, _) => false,
                    (Activity::Work, Journal::Delete | Journal::Wal, _) if case.device == Device::POWERSAFE => true,
                    (Activity::Work, _, sync) if case.device == Device::POWERSAFE => sync == Sync::Full,
                    (Activity::Work, Journal::Delete, sync) => sync == Sync::Extra,
                    (Activity::Work, Journal::Wal, sync) => sync == Sync::Full,
                    (Activity::Work, ..) => false,
                    (Activity::Load | Activity::Reload, ..) => case.device == Device::POWERSAFE,
                };
                everything.into_iter().filter(is_usual).collect()
            }
        }
    }
}

impl Case {
    /// Durability class of the settings, with the reason.
    pub(super) fn class(&self) -> (Durability, String) {
        match self.activity {
            Activity::Work => durability_on_disk(self.journal, self.sync),
            Activity::Load | Activity::Reload => (
                Durability::Durable,
                "a load is synced, renamed over the old database, and the directory synced, whatever the settings"
                    .into(),
            ),
        }
    }

    /// Guarantee that must hold after a power loss.
    pub(super) fn promise(&self) -> Promise {
        match self.class().0 {
            Durability::Unknown | Durability::Volatile | Durability::Process => Promise::Nothing,
            Durability::Consistent => Promise::Whole,
            Durability::Durable => Promise::Everything,
        }
    }

    /// Number of commits of the workload: enough for some hundred syncs. A log is synced once per commit, a journal four times.
    pub(super) fn commits(&self) -> u64 {
        match (self.activity, self.journal, self.sync) {
            (Activity::Work, Journal::Wal, Sync::Full | Sync::Extra) => 400,
            (Activity::Work, ..) => 120,
            // The database that is replaced.
            (Activity::Load | Activity::Reload, ..) => 5,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_s_name_is_read_back() {
        let cases = Cases::All.list();
        for case in &cases {
            assert_eq!(case.to_string().parse(), Ok(*case));
        }
        assert_eq!(cases.len(), 3 * (6 * 4 + 4));
        assert!("wal-fully".parse::<Case>().unwrap_err().contains("as wal-full or"));
    }

    #[test]
    fn the_usual_cases_hold_each_journal_each_device_and_settings_that_promise_nothing() {
        let usual = Cases::Usual.list();
        for journal in JOURNALS.into_iter().filter(|journal| *journal != Journal::Off) {
            assert!(usual.iter().any(|case| case.journal == journal), "{journal:?}");
        }
        for device in DEVICES {
            assert!(usual.iter().any(|case| case.device == device), "{device:?}");
        }
        for promise in [Promise::Nothing, Promise::Whole, Promise::Everything] {
            assert!(usual.iter().any(|case| case.promise() == promise), "{promise:?}");
        }
    }
}
