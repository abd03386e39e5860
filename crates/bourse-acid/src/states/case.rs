//! Cases: settings of SQLite on a device, with an activity that power losses interrupt.

use bourse_crash::{Device, Promise};
use bourse_engine::Durability;
use bourse_engine_sqlite::{SqliteJournal, SqliteSync, durability_on_disk};
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
pub(super) struct StateCase {
    pub(super) activity: Activity,
    pub(super) journal: SqliteJournal,
    pub(super) sync: SqliteSync,
    pub(super) device: Device,
}

/// Devices: one with the properties that SQLite assumes, and stricter ones.
const DEVICES: [Device; 3] = [Device::POWERSAFE, Device::garbling(512), Device::garbling(4_096)];
const JOURNALS: [SqliteJournal; 6] = [
    SqliteJournal::Delete,
    SqliteJournal::Truncate,
    SqliteJournal::Persist,
    SqliteJournal::Wal,
    SqliteJournal::Memory,
    SqliteJournal::Off,
];
const SYNCS: [SqliteSync; 4] = [SqliteSync::Extra, SqliteSync::Full, SqliteSync::Normal, SqliteSync::Off];

impl fmt::Display for StateCase {
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

impl FromStr for StateCase {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut of_all = all(&DEVICES).into_iter();
        of_all.find(|case| case.to_string() == text).ok_or_else(|| {
            format!("`{text}` is no case of the enumeration: expected JOURNAL-SYNC[-garbling-SECTOR], as wal-full or delete-extra-garbling-4096, or load-wal-full")
        })
    }
}

/// All cases on these devices.
fn all(devices: &[Device]) -> Vec<StateCase> {
    let mut cases = Vec::new();
    for device in devices {
        for journal in JOURNALS {
            for sync in SYNCS {
                cases.push(StateCase { activity: Activity::Work, journal, sync, device: *device });
            }
        }
        for activity in [Activity::Load, Activity::Reload] {
            for journal in [SqliteJournal::Delete, SqliteJournal::Wal] {
                cases.push(StateCase { activity, journal, sync: SqliteSync::Full, device: *device });
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
    pub(super) fn list(self) -> Vec<StateCase> {
        let everything = all(&DEVICES);
        match self {
            Self::All => everything,
            Self::Usual => {
                let is_usual = |case: &StateCase| match (case.activity, case.journal, case.sync) {
                    (Activity::Work, SqliteJournal::Memory, sync) => {
                        sync == SqliteSync::Full && case.device == Device::POWERSAFE
                    }
                    (Activity::Work, SqliteJournal::Off, _) => false,
                    (Activity::Work, SqliteJournal::Delete | SqliteJournal::Wal, _)
                        if case.device == Device::POWERSAFE =>
                    {
                        true
                    }
                    (Activity::Work, _, sync) if case.device == Device::POWERSAFE => sync == SqliteSync::Full,
                    (Activity::Work, SqliteJournal::Delete, sync) => sync == SqliteSync::Extra,
                    (Activity::Work, SqliteJournal::Wal, sync) => sync == SqliteSync::Full,
                    (Activity::Work, ..) => false,
                    (Activity::Load | Activity::Reload, ..) => case.device == Device::POWERSAFE,
                };
                everything.into_iter().filter(is_usual).collect()
            }
        }
    }
}

impl StateCase {
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
            (Activity::Work, SqliteJournal::Wal, SqliteSync::Full | SqliteSync::Extra) => 400,
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
        assert!("wal-fully".parse::<StateCase>().unwrap_err().contains("as wal-full or"));
    }

    #[test]
    fn the_usual_cases_hold_each_journal_each_device_and_settings_that_promise_nothing() {
        let usual = Cases::Usual.list();
        for journal in JOURNALS.into_iter().filter(|journal| *journal != SqliteJournal::Off) {
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
